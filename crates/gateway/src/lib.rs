//! Composes the house: configuration, listeners, TLS, access, metrics, and the dashboard's files.
//!
//! What it deliberately does not do: it knows no protocol and no service by name; it loops over the
//! registry's lists. The decision worth arguing: every listener, certificate and thread is owned here,
//! so that a binding is handed a link already opened and one policy holds for all.
#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    reason = "clock, files, threads and tasks are owned here"
)]

mod access;
mod acme;
mod assets;
mod audit;
mod clock;
mod config;
mod context;
#[cfg(test)]
mod echo;
mod entries;
mod fault;
mod fetch;
mod give_way;
mod health;
mod identity;
mod inspect;
mod issuers;
mod jwt;
mod keeper;
mod keys;
mod limits;
mod listen;
mod memory;
mod metrics;
mod policy;
mod problems;
mod run;
mod secrets;
mod settings;
mod sockets;
#[cfg(test)]
mod testing;
mod timers;
mod trace;
mod traffic;
mod workers;

pub use clock::now;
pub use config::Config;
pub use fault::{Problem, RunFault};
pub use give_way::{GaveWay, give_way};
pub use inspect::{Certificate, Listens, certificate, listens};
pub use keys::new_oscore;
pub use limits::*;
pub use memory::there_is as memory_there_is;
pub use run::{Gateway, move_history};
pub use secrets::{hash_password, new_token};
pub use settings::check;
