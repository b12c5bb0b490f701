//! What a binding is handed, already opened: byte streams with or without TLS or a WebSocket around
//! them, sockets for datagrams, and WebSocket framing.
//!
//! What it deliberately does not do: no protocol above it, no policy, no hub. The decision worth
//! arguing: reading and writing are `poll` functions on one enum, not trait objects, so that an idle
//! connection is a socket and nothing more.
//!
//! It touches the network, by sockets that it is handed or asked to open, and files of certificates.
//!
//! ```
//! use weir_carrier::backoff::Backoff;
//! use weir_sansio::Duration;
//!
//! // Who lost a peer comes back, ever later, and not with all others at once.
//! let mut backoff = Backoff::new(Duration::from_secs(30));
//! assert!(backoff.wait() <= Duration::from_millis(500));
//! assert!(backoff.wait() <= Duration::from_secs(1));
//! backoff.reset();
//! assert!(backoff.wait() <= Duration::from_millis(500));
//! ```
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
