//! Whom a socket of datagrams talks to.

use bytes::Bytes;
use std::net::{IpAddr, SocketAddr};
use weir_carrier::Leaving;

/// Whom a socket talks to, and from which of the machine's addresses where that matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Path {
    pub(super) peer: SocketAddr,
    pub(super) local: Option<IpAddr>,
}

impl Path {
    /// Bytes on their way there.
    pub(super) fn leaving(self, bytes: Bytes) -> Leaving {
        Leaving {
            bytes,
            to: self.peer,
            from: self.local,
        }
    }
}
