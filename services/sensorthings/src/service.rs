//! Calls in, answers out.

use crate::fault::{Fault, Result};
use crate::kind::Kind;
use crate::node::Context;
use crate::path::Path;
use crate::view::View;
use crate::{batch, read, write};
use serde_json::json;
use std::cell::Cell;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use weir_binding::{Answer, Call, Response, Service, answer_of};
use weir_hub::Hub;

/// The service.
#[derive(Clone)]
pub struct SensorThings {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    hub: Arc<Hub>,
    view: RwLock<View>,
}

impl SensorThings {
    /// The service of a hub.
    pub fn new(hub: Arc<Hub>) -> Self {
        let view = RwLock::default();
        Self {
            inner: Arc::new(Inner { hub, view }),
        }
    }
}

const MOUNTS: &[&str] = &["/sta"];
/// Where the version begins.
pub(crate) const BASE: &str = "/sta/v1.1";

impl Service for SensorThings {
    fn name(&self) -> &'static str {
        "sensorthings"
    }

    fn mounts(&self) -> &'static [&'static str] {
        MOUNTS
    }

    fn call(&self, call: Call) -> Answer {
        if call.method == "POST" && rest(&call).is_ok_and(batch::is_batch) {
            return batch::answer(self, call).unwrap_or_else(|fault| Answer::Now(fault.response()));
        }
        let inner = self.inner.clone();
        match &*call.method {
            "GET" | "HEAD" => {
                let workers = call.workers.clone();
                answer_of(&*workers, move || {
                    inner.get(&call).unwrap_or_else(|fault| fault.response())
                })
            }
            "POST" | "PATCH" | "PUT" | "DELETE" => {
                let answer = inner.change(&call);
                answer.unwrap_or_else(|fault| Answer::Now(fault.response()))
            }
            other => {
                let fault = Fault::new(405, format!("{other} is not possible here"));
                let allowed = "GET, POST, PATCH, PUT, DELETE";
                Answer::Now(fault.response().header("allow", allowed))
            }
        }
    }
}

impl Inner {
    fn get(self: &Arc<Self>, call: &Call) -> Result<Response> {
        let root = root(call);
        let rest = rest(call)?;
        if rest.is_empty() {
            return Ok(index(&root));
        }
        let path = Path::parse(rest)?;
        let view = self.current()?;
        let context = self.context(&view, call, &root);
        read::answer(&context, &path, &call.query)
    }

    fn change(self: &Arc<Self>, call: &Call) -> Result<Answer> {
        let root = root(call);
        let rest = rest(call)?;
        let mut view = self.writing();
        view.update(&self.hub)?;
        if rest == "CreateObservations" && call.method == "POST" {
            return write::in_bulk(self, &view, call, &root);
        }
        let path = Path::parse(rest)?;
        write::answer(self, &mut view, call, &root, &path)
    }

    pub(crate) fn context<'a>(
        &'a self,
        view: &'a View,
        call: &'a Call,
        root: &'a str,
    ) -> Context<'a> {
        Context {
            hub: &self.hub,
            view,
            principal: &call.principal,
            now: call.now,
            root,
            rendered: Cell::new(0),
            scanned: Cell::new(0),
        }
    }

    pub(crate) fn hub(&self) -> &Arc<Hub> {
        &self.hub
    }

    /// The view as of now.
    fn current(&self) -> Result<RwLockReadGuard<'_, View>> {
        {
            let view = self.view.read().unwrap_or_else(PoisonError::into_inner);
            if view.is_current(&self.hub) {
                return Ok(view);
            }
        }
        self.writing().update(&self.hub)?;
        Ok(self.view.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn writing(&self) -> RwLockWriteGuard<'_, View> {
        self.view.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The root's URL as the client wrote it.
pub(crate) fn root(call: &Call) -> String {
    let forwarded = call.header("x-forwarded-proto");
    let scheme = forwarded.unwrap_or("http");
    let host = call.header("x-forwarded-host").or(call.header("host"));
    match host.or(call.header(":authority")) {
        Some(host) => format!("{scheme}://{host}{BASE}"),
        None => BASE.to_owned(),
    }
}

/// The path below the version.
pub(crate) fn rest(call: &Call) -> Result<&str> {
    let rest = call
        .path
        .strip_prefix(BASE)
        .filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let rest = rest.ok_or_else(|| Fault::missing(format!("`{}`: try {BASE}", call.path)))?;
    Ok(rest.trim_matches('/'))
}

/// What is implemented, by the requirements' URIs (18-088 section 9.2.1 and annex A).
const CONFORMANCE: &[&str] = &[
    "http://www.opengis.net/spec/iot_sensing/1.1/req/datamodel",
    "http://www.opengis.net/spec/iot_sensing/1.1/req/resource-path/resource-path-to-entities",
    "http://www.opengis.net/spec/iot_sensing/1.1/req/request-data",
    "http://www.opengis.net/spec/iot_sensing/1.1/req/create-update-delete",
    "http://www.opengis.net/spec/iot_sensing/1.1/req/batch-request/batch-request",
    "http://www.opengis.net/spec/iot_sensing/1.1/req/data-array/data-array",
    "https://fraunhoferiosb.github.io/FROST-Server/extensions/JsonBatchRequest.html",
    "https://fraunhoferiosb.github.io/FROST-Server/extensions/GeoJSON-ResultFormat.html",
    concat!(
        "https://github.com/INSIDE-information-systems/SensorThingsAPI/blob/master/",
        "CSV-ResultFormat/CSV-ResultFormat.md"
    ),
];

/// The entity sets, and what the service conforms to.
fn index(root: &str) -> Response {
    let sets = Kind::ALL.iter().map(|kind| {
        let name = kind.set();
        json!({"name": name, "url": format!("{root}/{name}")})
    });
    let body = json!({
        "value": sets.collect::<Vec<_>>(),
        "serverSettings": {"conformance": CONFORMANCE},
    });
    Response::with_body(200, "application/json", body.to_string())
}
