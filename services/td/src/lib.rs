//! `/td`, `/openapi.json`, `/asyncapi.json`: W3C Thing Descriptions 1.1, OpenAPI 3.1 and AsyncAPI 3.0 of this
//! gateway as it is: its catalog, its formats, what is open, and what the caller may do; and host metadata
//! (RFC 6415), by what else it is reached.
//!
//! What it deliberately does not do: know a protocol or another service. Bindings say their ways
//! ([`weir_service::Way`]), services their paths; here they are put together. The decision worth arguing:
//! descriptions are made for the caller, so they need no rule of their own of who may see what, and a form
//! that is there can be used.
#![forbid(unsafe_code)]

mod asyncapi;
mod caller;
mod directory;
mod fault;
mod form;
mod host;
mod limits;
mod openapi;
mod schema;
mod security;
mod thing;

use caller::Caller;
use fault::refuse;
use std::sync::Arc;
use weir_service::{Answer, Call, Length, Premises, Response, Service, answer_of, check_keys};

/// What this service serves, as part of an OpenAPI document.
pub const OPENAPI: &str = include_str!("../openapi.json");

/// The service.
pub struct Td {
    premises: Arc<Premises>,
}

impl Td {
    /// The service that describes these premises.
    pub fn new(premises: &Premises) -> Self {
        Self {
            premises: Arc::new(premises.clone()),
        }
    }
}

impl Service for Td {
    fn name(&self) -> &'static str {
        "td"
    }

    fn mounts(&self) -> &'static [&'static str] {
        &[
            "/td",
            "/openapi.json",
            "/asyncapi.json",
            host::XRD,
            host::JRD,
        ]
    }

    fn call(&self, call: Call) -> Answer {
        if call.method != "GET" {
            let sentence = format!("{} is not possible here; GET is", call.method);
            return Answer::Now(refuse(405, sentence).header("allow", "GET"));
        }
        let (premises, workers) = (self.premises.clone(), call.workers.clone());
        answer_of(&*workers, Length::Long, move || {
            answer(&premises, &call).unwrap_or_else(|refusal| refusal)
        })
    }
}

fn answer(premises: &Premises, call: &Call) -> Result<Response, Response> {
    let caller = Caller::of(premises, call)?;
    let known: &[&str] = match call.path.as_str() {
        "/td" | "/td/" => directory::KEYS,
        // Who asks for a host's metadata may name what of.
        host::XRD | host::JRD => &["resource", "rel"],
        "/asyncapi.json" => &["as", "topic"],
        _ => &["as"],
    };
    check_keys(call, known, &["as", "rel", "topic"]).map_err(|sentence| refuse(400, sentence))?;
    match call.path.as_str() {
        "/td" | "/td/" => directory::list(&caller, call),
        "/openapi.json" => Ok(json("application/json", &openapi::document(&caller))),
        "/asyncapi.json" => {
            let document = asyncapi::document(&caller, call);
            document.map(|it| json("application/json", &it))
        }
        host::XRD => Ok(host::xrd(&premises.links)),
        host::JRD => Ok(host::jrd(&premises.links)),
        path => match path.strip_prefix("/td/") {
            Some(thing) => directory::one(&caller, thing),
            None => Err(refuse(404, format!("no resource `{path}`"))),
        },
    }
}

/// An answer that is this caller's alone.
fn json(media: &str, body: &serde_json::Value) -> Response {
    let response = Response::with_body(200, media, body.to_string());
    response
        .header("cache-control", "no-cache")
        .header("vary", "authorization, host")
}

#[cfg(test)]
mod tests;
