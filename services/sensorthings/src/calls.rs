//! Calls in, answers out.

use crate::conformance::CONFORMANCE;
use crate::fault::{Fault, Result};
use crate::kind::Kind;
use crate::limits::TOP_DEFAULT;
use crate::path::Path;
use crate::service::{BASE, Inner, SensorThings, rest, root};
use crate::write::Writing;
use crate::{batch, live, read, write};
use serde_json::json;
use weir_service::{Answer, Busy, Call, Length, Response, Service, Watched, answer_of, hand_over};

const MOUNTS: &[&str] = &["/sta"];

/// Topics begin with the version (18-088 section 14.2).
// [STA-A.7.1.1-1]
const TOPICS: &[(&str, &str)] = &[("v1.1", BASE)];

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
        if live::is_meant(&call) {
            return live::open(self, call).unwrap_or_else(|fault| Answer::Now(fault.response()));
        }
        // Each request of a batch comes here too.
        if let Err(fault) = self.inner.hub().caller(call.now, &call.principal) {
            return Answer::Now(Fault::from(fault).response());
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
    fn get(&self, call: &Call) -> Result<Response> {
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
    if call.query.iter().any(is_long) {
        Length::Long
    } else {
        Length::Short
    }
}
