//! MQTT 3.1.1 and 5.0: packets, the server's and the client's session, and the binding over the hub.
//!
//! What it deliberately does not do: no queue of its own for clients that are away; the log is that
//! queue. The decision worth arguing: packets are read where they lie and written by hand
//! (`docs/decisions`), so that every rule of the standards is answered with its reason code and the
//! byte that broke it.
#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "net"), no_std)]

extern crate alloc;

pub mod limits;

pub mod session;
pub mod wire;

#[cfg(feature = "net")]
mod net;
#[cfg(feature = "net")]
pub use net::{Mqtt, records};
