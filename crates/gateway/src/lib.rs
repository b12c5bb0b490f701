//! Composes the house: configuration, listeners, TLS, access, metrics, and the dashboard's files.
//!
//! What it deliberately does not do: it knows no protocol and no service by name; it loops over the
//! registry's lists. The decision worth arguing: every listener, certificate and thread is owned here,
//! so that a binding is handed a link already opened and one policy holds for all.
//!
//! It touches the clock, the network, threads, and the files that the configuration names.
//!
//! ```
//! use std::path::Path;
//! use weir_gateway::{Config, check};
//!
//! let text = "[http]\nlisten = \"127.0.0.1:8080\"\n[mqtt]\nlistne = \"127.0.0.1:1883\"\n";
//! let config = Config::from_text(Path::new("weir.toml"), text.to_owned()).unwrap();
//! // All that is wrong is told before anything is opened, each with its line.
//! let problems = check(&config);
//! assert_eq!(problems.len(), 1);
//! assert_eq!(problems[0].place, "weir.toml:4:1");
//! ```
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
