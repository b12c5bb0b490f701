//! THE lists of protocols, services and stores, and no logic: adding one costs its folder and a line.
//!
//! What it deliberately does not do: decide anything. The decision worth arguing: each line is a name
//! and a function that makes the thing from its own section of the configuration, so that no list and
//! no configuration type knows what a plug-in's keys are.
//!
//! It touches what the plug-ins touch that it makes: stores open files and connections.
//!
//! ```
//! use weir_registry::{BINDINGS, SERVICES, binding_of_url};
//!
//! assert!(BINDINGS.iter().any(|line| line.name == "mqtt"));
//! assert!(SERVICES.iter().any(|line| line.name == "live"));
//! assert!(binding_of_url("mqtt://broker.example/river/level").is_some());
//! assert!(binding_of_url("gopher://broker.example").is_none());
//! ```
#![forbid(unsafe_code)]

mod bindings;
mod clients;
mod history;
mod services;
mod stores;

pub use bindings::{BINDINGS, BindingLine, binding_of_url};
pub use clients::{CLIENTS, ClientLine, client_of_url, client_schemes};
#[cfg(all(feature = "postgres", feature = "embedded"))]
pub use history::move_history;
pub use history::{
    HISTORY_KEYS, STORE_KEYS, check_history, check_store, open_history, reach_store,
};
pub use services::{Make, SERVICES, ServiceLine};
pub use stores::{
    BUS_KEYS, LOG_KEYS, Open, STORES, Sections, StoreLine, check_bus, check_log, open_log,
    reach_bus,
};
