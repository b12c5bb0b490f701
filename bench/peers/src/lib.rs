//! The peers' other side: one blocking client a protocol, over sockets that count what passes them.
//!
//! One thread, one peer: who waits for an answer has nothing else to do meanwhile. They drive the machines of our
//! protocols, against every server alike. What they deliberately do not do: measure, or know what is measured; the
//! device that waits for its echoes ([`device`]) does. What many connections at once need is the load's.

// The bench measures real time, real processes and real files; the bans guard deterministic code.
#![allow(clippy::disallowed_methods)]
// What is printed goes where the caller says: a reader that is gone is no panic.
#![deny(clippy::print_stdout)]

pub mod amqp;
pub mod coap;
pub mod dds;
pub mod device;
mod error;
pub mod http1;
pub mod http2;
pub mod mqtt;
pub mod oscore;
pub mod sockets;
pub mod websocket;
pub mod xmpp;

pub use error::{Cause, Error, unless_silent};
pub use sockets::{Peer, Traffic};
