//! `/grafana`: a data source for Grafana over last values and history, as its JSON data sources ask.
//!
//! What it deliberately does not do: a plug-in of its own, a language of queries. The requests are those of
//! the plug-in `simpod-json-datasource` and of `simple-json` before it; a target is a topic filter. The
//! decision worth arguing: what fits into a panel is given as it is, and only what does not is thinned out,
//! so that nobody sees means where there are values (docs/decisions/0052).
#![forbid(unsafe_code)]

mod annotate;
mod ask;
mod asked;
mod limits;
mod list;
mod query;
mod target;

use ask::{Answered, Ask, refuse};
use serde::de::DeserializeOwned;
use std::sync::Arc;
use weir_hub::Hub;
use weir_service::{Answer, Call, Length, Response, Service, answer_of};

/// What this service serves, as part of an OpenAPI document.
pub const OPENAPI: &str = include_str!("../openapi.json");

/// The service.
pub struct Grafana {
    hub: Arc<Hub>,
}

/// What answers a question, of whoever asks and the body.
type Answering = fn(&Ask, &[u8]) -> Answered;

/// What can be asked below the mount.
const QUESTIONS: &[(&str, Answering)] = &[
    ("query", |ask, body| query::answer(ask, &read(body)?)),
    ("metrics", |ask, _| list::metrics(ask)),
    ("metric-payload-options", |ask, body| {
        list::options(ask, &read(body)?)
    }),
    ("search", |ask, body| list::search(ask, &read(body)?)),
    ("variable", |ask, body| list::variable(ask, &read(body)?)),
    ("tag-keys", |_, _| Ok(list::tag_keys())),
    ("tag-values", |ask, body| {
        list::tag_values(ask, &read(body)?)
    }),
    ("annotations", |ask, body| {
        annotate::answer(ask, &read(body)?)
    }),
];

impl Grafana {
    /// The service on this hub.
    pub fn new(hub: Arc<Hub>) -> Self {
        Self { hub }
    }
}

impl Service for Grafana {
    fn name(&self) -> &'static str {
        "grafana"
    }

    fn mounts(&self) -> &'static [&'static str] {
        &["/grafana"]
    }

    fn call(&self, call: Call) -> Answer {
        let below = call.path.strip_prefix("/grafana").unwrap_or_default();
        let name = below.trim_start_matches('/');
        if name.is_empty() {
            return Answer::Now(greet(&call));
        }
        let Some((_, question)) = QUESTIONS.iter().find(|(known, _)| *known == name) else {
            return Answer::Now(Response::text(404, format!("no resource `{}`", call.path)));
        };
        if call.method != "POST" {
            return Answer::Now(not_allowed(&call.method, "POST"));
        }
        if let Err(fault) = self.hub.caller(call.now, &call.principal) {
            return Answer::Now(refuse(&fault));
        }
        let ask = Ask {
            hub: self.hub.clone(),
            now: call.now,
            principal: call.principal,
        };
        let body = call.body;
        answer_of(&*call.workers, Length::Long, move || {
            respond(question(&ask, &body))
        })
    }
}

/// The answer to "Save & test".
fn greet(call: &Call) -> Response {
    match call.method.as_str() {
        "GET" => Response::text(
            200,
            "weir: a target is a topic filter, such as heating/+/supply",
        ),
        other => not_allowed(other, "GET"),
    }
}

fn not_allowed(method: &str, allowed: &'static str) -> Response {
    let sentence = format!("{method} is not possible here; {allowed} is");
    Response::text(405, sentence).header("allow", allowed)
}

fn respond(answered: Answered) -> Response {
    match answered {
        Ok(json) => {
            let body = serde_json::to_vec(&json).unwrap_or_default();
            Response::with_body(200, "application/json", body)
        }
        Err(refusal) => refusal,
    }
}

/// Reads a question; nothing at all is one that says nothing.
fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Response> {
    let text = if body.is_empty() { b"{}" } else { body };
    weir_hub::json::read_as(text)
        .map_err(|error| Response::text(400, format!("not what Grafana asks: {error}")))
}

#[cfg(test)]
mod tests;
