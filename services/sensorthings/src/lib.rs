//! `/sta/v1.1`: the OGC SensorThings API 1.1 (18-088), over the hub's datastreams and its history.
//!
//! What it deliberately does not do: keep anything of its own. Datastreams are those of the catalog,
//! observations those of the history, and what else there is lies in the log as records of entities; what
//! other protocols publish is here without more ado. The decision worth arguing: the view of all entities
//! is in memory and brought up to date before each request from what changed, so that links are followed
//! without a query.
#![forbid(unsafe_code)]

mod asked;
mod batch;
mod calls;
pub mod client;
mod commit;
mod computed;
mod conformance;
mod context;
mod create;
mod data_array;
mod draft;
mod ended;
mod entity;
mod fault;
mod features;
mod filter;
mod geojson;
mod history;
mod id;
mod join;
mod kind;
mod late;
mod limits;
mod links;
mod live;
mod lock;
mod members;
mod memo;
mod message;
mod multi;
mod newest;
mod node;
mod observations;
mod observed;
mod page;
mod patch;
mod path;
mod placed;
mod places;
mod query;
mod read;
mod render;
mod result_format;
mod rights;
mod said;
mod scope;
mod service;
mod sorted;
mod stays;
mod swe;
mod tasking;
mod values;
mod view;
mod walk;
mod whereabouts;
mod write;

pub use service::SensorThings;

/// What this service serves, as part of an OpenAPI document.
pub const OPENAPI: &str = include_str!("../openapi.json");

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_batch;
#[cfg(test)]
mod tests_formats;
#[cfg(test)]
mod tests_live;
