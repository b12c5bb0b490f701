//! Client sockets that count what passes them: all that bare datagrams and a bare stream need.
//!
//! One thread, blocking: who waits for an answer has nothing else to do meanwhile. What they deliberately do not do:
//! serve, or measure time.

pub(crate) mod driven;
pub(crate) mod modem;
mod tcp;
mod tcp_info;
pub mod traffic;
mod udp;

use std::net::SocketAddr;
use std::time::Duration;

pub use tcp::Tcp;
pub(crate) use tcp::traffic_of;
pub use traffic::Traffic;
pub use udp::Udp;

/// Whom a client speaks to.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Where it listens.
    pub address: SocketAddr,
    /// How long an answer may take.
    pub wait: Duration,
    /// Whether a modem stands before the link.
    pub modem: bool,
    /// Its certificate, where it speaks TLS.
    pub certificate: Option<Vec<u8>>,
}
