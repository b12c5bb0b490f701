//! What a binding is handed, already opened: byte streams with or without TLS or a WebSocket around
//! them, sockets for datagrams, and WebSocket framing.
//!
//! What it deliberately does not do: no protocol above it, no policy, no hub. The decision worth
//! arguing: reading and writing are `poll` functions on one enum, not trait objects, so that an idle
//! connection is a socket and nothing more.
#![forbid(unsafe_code)]

pub mod backoff;
mod batch;
pub mod clock;
pub mod crowd;
mod datagram;
pub mod driver;
mod interfaces;
pub mod limits;
pub mod linger;
mod link;
pub mod outbox;
mod own;
pub mod tls;
pub mod validity;
pub mod websocket;

pub use batch::{Arrived, Batch, Leaving};
pub use datagram::Datagrams;
pub use interfaces::multicast_addresses;
pub use link::{Link, Stream};
