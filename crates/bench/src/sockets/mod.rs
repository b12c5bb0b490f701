//! Client sockets that count what passes them, and the machine of CoAP on them.
//!
//! A device or a caller opens them itself, one thread, blocking: it has nothing else to do meanwhile. What
//! they deliberately do not do: serve, or measure time.

mod coap;
pub(crate) mod http1;
pub(crate) mod modem;
pub(crate) mod oscore;
mod tcp;
mod tcp_info;
pub(crate) mod tls;
pub(crate) mod traffic;
mod udp;

use std::net::SocketAddr;
use std::time::Duration;

pub(crate) use coap::{Carrier, CoapOver, challenge, check};
pub(crate) use tcp::{Tcp, traffic_of};
pub(crate) use traffic::Traffic;
pub(crate) use udp::{Udp, open as datagrams_to};

/// Whom a client speaks to.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    /// Where it listens.
    pub(crate) address: SocketAddr,
    /// How long an answer may take.
    pub(crate) wait: Duration,
    /// Whether a modem stands before the link.
    pub(crate) modem: bool,
    /// Its certificate, where it speaks TLS.
    pub(crate) certificate: Option<Vec<u8>>,
}
