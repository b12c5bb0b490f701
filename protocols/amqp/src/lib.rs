//! AMQP 1.0 (OASIS, ISO/IEC 19464): types, frames, performatives, the client's machine and the server's
//! session, and the binding over the hub; and AMQP 0.9.1, to brokers that speak no other.
//!
//! What it deliberately does not do: no queues of its own (a source is a filter over the log, a target a
//! topic), no transactions (part 4), no pre-1.0 dialects. The decision worth arguing: the codec and the
//! machine are our own (`docs/decisions`), so that an idle connection is a socket and a few words, and
//! every broken rule is answered with its condition.
#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "net"), no_std)]

extern crate alloc;

pub mod client;
pub mod limits;
pub mod session;
pub mod v091;
pub mod wire;

#[cfg(feature = "net")]
mod net;
#[cfg(feature = "net")]
pub use net::{Amqp, records};
