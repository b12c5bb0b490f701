//! Client sockets that count what passes them, and the machine of CoAP on them.
//!
//! A device or a caller opens them itself, one thread, blocking: it has nothing else to do meanwhile. What
//! they deliberately do not do: serve, or measure time.

mod coap;
pub mod http1;
pub mod modem;
pub mod oscore;
mod tcp;
mod tcp_info;
pub mod tls;
pub mod traffic;
mod udp;

use std::net::SocketAddr;
use std::time::Duration;

pub use coap::{Carrier, CoapOver, challenge, check};
pub use tcp::{Tcp, traffic_of};
pub use traffic::Traffic;
pub use udp::{Udp, open as datagrams_to};

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
