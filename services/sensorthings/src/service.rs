//! Calls in, answers out.

use crate::conformance::CONFORMANCE;
use crate::fault::{Fault, Result};
use crate::kind::Kind;
use crate::limits::{SCANNED_MAX, TOP_DEFAULT, VISITED_MAX};
use crate::node::Context;
use crate::path::Path;
use crate::places::Late;
use crate::view::View;
use crate::write::Writing;
use crate::{batch, live, read, write};
use serde_json::json;
use std::cell::{Cell, RefCell};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use weir_hub::Hub;
use weir_service::{Answer, Busy, Call, Length, Response, Service, Watched, answer_of, hand_over};

/// The service.
#[derive(Clone)]
pub struct SensorThings {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    hub: Arc<Hub>,
    /// Held while it is brought up to date or copied, and no longer.
    view: Mutex<View>,
    /// Held by who changes entities, from looking at them to the change.
    changing: Mutex<()>,
    pub(crate) late: Mutex<Late>,
    pub(crate) renderings: live::Renderings,
    pub(crate) placing: live::Placing,
    /// Observations that one request may look at.
    pub(crate) scanned_max: usize,
}

impl SensorThings {
    /// The service of a hub.
    pub fn new(hub: Arc<Hub>) -> Self {
        let inner = Inner {
            hub,
            view: Mutex::default(),
            changing: Mutex::default(),
            late: Mutex::default(),
            renderings: live::Renderings::default(),
            placing: live::Placing::default(),
            scanned_max: SCANNED_MAX,
        };
        Self {
            inner: Arc::new(inner),
        }
    }
}

const MOUNTS: &[&str] = &["/sta"];
/// Topics begin with the version (18-088 section 14.2).
// [STA-A.7.1.1-1]
const TOPICS: &[(&str, &str)] = &[("v1.1", BASE)];
/// Where the version begins.
pub(crate) const BASE: &str = "/sta/v1.1";

impl Service for SensorThings {
    fn name(&self) -> &'static str {
        "sensorthings"
    }

    fn mounts(&self) -> &'static [&'static str] {
        MOUNTS
    }

    fn call(&self, mut call: Call) -> Answer {
        if call.method == "POST" && rest(&call).is_ok_and(batch::is_batch) {
            return batch::answer(self, call).unwrap_or_else(|fault| Answer::Now(fault.response()));
        }
        if live::is_meant(&call) {
            return live::open(self, call).unwrap_or_else(|fault| Answer::Now(fault.response()));
        }
        // Each request of a batch comes here too.
        match self.inner.hub.count(call.now, &call.principal) {
            Ok(principal) => call.principal = principal,
            Err(fault) => return Answer::Now(Fault::from(fault).response()),
        }
        let inner = self.inner.clone();
        match &*call.method {
            "GET" | "HEAD" => {
                let workers = call.workers.clone();
                answer_of(&*workers, length(&call), move || {
                    inner.get(&call).unwrap_or_else(|fault| fault.response())
                })
            }
            "POST" | "PATCH" | "PUT" | "DELETE" => {
                let workers = call.workers.clone();
                match hand_over(&*workers, Length::Short, move || {
                    write::answer(&inner, &call)
                }) {
                    Ok(outcome) => Answer::Later(Box::new(Writing::Working(outcome))),
                    Err(Busy) => {
                        let fault = Fault::new(503, "too much waits to be written: try again");
                        Answer::Now(fault.response().header("retry-after", "1"))
                    }
                }
            }
            other => {
                let fault = Fault::new(405, format!("{other} is not possible here"));
                let allowed = "GET, POST, PATCH, PUT, DELETE";
                Answer::Now(fault.response().header("allow", allowed))
            }
        }
    }

    fn topics(&self) -> &'static [(&'static str, &'static str)] {
        TOPICS
    }

    fn watch(&self, call: &Call) -> std::result::Result<Watched, Response> {
        live::watch(self, call).map_err(|fault| fault.response())
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

    pub(crate) fn context<'a>(
        &'a self,
        view: &'a View,
        call: &'a Call,
        root: &'a str,
    ) -> Context<'a> {
        Context {
            hub: &self.hub,
            view,
            late: &self.late,
            principal: &call.principal,
            now: call.now,
            root,
            rendered: Cell::new(0),
            written: Cell::new(0),
            scans_left: Cell::new(self.scanned_max),
            visits_left: Cell::new(VISITED_MAX),
            incoming: call.incoming,
            extent: RefCell::default(),
        }
    }

    /// The view as of now, which stays as it is.
    pub(crate) fn current(&self) -> Result<View> {
        let mut view = lock(&self.view);
        view.update(&self.hub)?;
        Ok(view.clone())
    }

    pub(crate) fn hub(&self) -> &Arc<Hub> {
        &self.hub
    }

    /// Keeps others from changing entities.
    pub(crate) fn changing(&self) -> MutexGuard<'_, ()> {
        lock(&self.changing)
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The root's URL as the client wrote it; where that is none, links begin at the root's path. Nothing in an
/// origin needs an escape in JSON.
pub(crate) fn root(call: &Call) -> String {
    call.origin().unwrap_or_default() + BASE
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

/// The entity sets, and what the service conforms to.
fn index(root: &str) -> Response {
    let sets = Kind::ALL.iter().filter(|kind| kind.is_of_sensing());
    let sets = sets.map(|kind| {
        let name = kind.set();
        json!({"name": name, "url": format!("{root}/{name}")})
    });
    let body = json!({
        "value": sets.collect::<Vec<_>>(),
        "serverSettings": {"conformance": CONFORMANCE},
    });
    Response::with_body(200, "application/json", body.to_string())
}

/// Pages a client shows are read soon; what is searched, sorted, joined or long may take its time.
fn length(call: &Call) -> Length {
    let is_long = |(key, value): &(String, String)| match key.trim_start_matches('$') {
        "expand" | "filter" | "orderby" | "count" | "skip" => true,
        "top" => value.parse().unwrap_or(0) > TOP_DEFAULT,
        _ => false,
    };
    match call.query.iter().any(is_long) {
        true => Length::Long,
        false => Length::Short,
    }
}
