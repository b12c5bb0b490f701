//! The experiments, a folder each, and their list ([`experiments`]).

// The bench measures real time, real processes and real files; the bans guard deterministic code.
#![allow(clippy::disallowed_methods)]
// What is printed goes where the caller says: a reader that is gone is no panic.
#![deny(clippy::print_stdout)]

pub mod encoding;
pub mod experiments;
pub mod link_efficiency;
pub mod messaging;
pub mod notification;
pub mod planfile;
pub mod sensor_web;
pub mod services;
pub mod web_delivery;
