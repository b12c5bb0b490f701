//! `/sos`: OGC's Sensor Observation Service, 1.0.0 (OGC 06-009r6) and 2.0.0 (OGC 12-006).
//!
//! One set of operations under several bindings: KVP, XML (POX), SOAP 1.1 and 1.2, EXI and JSON. What is
//! offered is the hub's catalog: a procedure is a sensor, an offering a name for what one observes, and
//! things that publish over any other protocol are there without being registered.
//!
//! What it deliberately does not do: no store and no data model of its own, and no pushing of alerts, which
//! is `where` of a subscription. The decision worth arguing: requests of all bindings become the same list
//! of parameters ([`params`]) before an operation looks at them, so that an exception names the same
//! parameter whatever the binding.
#![forbid(unsafe_code)]

mod answer;
mod area;
mod ask;
mod availability;
mod back;
mod bindings;
mod by_id;
mod capabilities;
mod catalog;
pub mod client;
mod comparison;
mod constellation;
mod delivered;
mod describe;
mod exception;
mod features;
mod features1;
mod gml;
mod identifiers;
mod insertion;
mod insertion_json;
mod inventory;
mod limits;
mod lists;
mod models;
mod moment;
mod named;
mod names;
mod observations;
mod observed;
mod offerings;
mod operations;
mod pages;
mod params;
mod records;
mod region;
mod related;
mod relation;
mod reply;
mod results;
mod results1;
mod room;
mod selection;
mod sensorml;
mod sensors;
mod spatial;
mod types1;
mod whereabouts;
mod written;

use answer::House;
use std::sync::Arc;
use weir_hub::Hub;
use weir_service::{Answer, Call, Response, Service};

/// What this service serves, as part of an OpenAPI document.
pub const OPENAPI: &str = include_str!("../openapi.json");

/// The service.
pub struct Sos {
    house: House,
}

impl Sos {
    /// The service of a hub.
    pub fn new(hub: Arc<Hub>) -> Self {
        let house = House {
            hub,
            catalog: Arc::default(),
            unwanted_max: limits::UNWANTED_MAX,
        };
        Self { house }
    }
}

impl Service for Sos {
    fn name(&self) -> &'static str {
        "sos"
    }

    fn mounts(&self) -> &'static [&'static str] {
        &["/sos"]
    }

    fn call(&self, call: Call) -> Answer {
        match (call.path.trim_end_matches('/'), call.method.as_str()) {
            ("/sos", "GET" | "POST") => answer::answer(&self.house, call),
            ("/sos", other) => {
                let sentence = format!("{other} is not possible here; GET and POST are");
                Answer::Now(Response::text(405, sentence).header("allow", "GET, POST"))
            }
            (other, _) => Answer::Now(Response::text(404, format!("no resource `{other}`"))),
        }
    }
}

#[cfg(test)]
mod tests;
