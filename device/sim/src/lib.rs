//! Experiments in virtual time: the server of the device, the serial line, clients with another's TCP or CoAP.
//!
//! What it deliberately does not do: no clock, no socket, no thread but to use all processors; a run is a
//! function of its setting and its seed. The decision worth arguing: the server is not modelled, it is the
//! one that the board runs ([`weir_comet`]); the clients' TCP is smoltcp and their CoAP the gateway's machine, so that
//! nobody's line of code is on both ends.
#![forbid(unsafe_code)]

mod addresses;
mod board;
mod client;
mod crowd;
mod datagram;
mod energy;
mod grid;
mod line;
mod medium;
mod observer;
mod refresh;
mod response;
mod setting;
mod summary;
mod tally;
mod tcp;
mod time;
mod way;
mod web;
mod world;

pub use board::CLIENTS_MAX;
pub use crowd::{Clients, Crowd, Outlet, Probe};
pub use energy::INSTRUCTIONS_A_SECOND;
pub use grid::{Cell, Metric, Outcome, grid, run, run_in};
pub use line::Passed;
pub use setting::{
    CLIENTS, Duplex, Line, Publication, SCHEMES, Scheme, Setting, Window, settings, settings_of,
};
pub use summary::csv;
pub use tally::Figures;
pub use time::{Nanos, SECOND};
pub use world::{simulate, simulate_in};
