//! OSCORE (RFC 8613): messages that are secret and whole between a device and the gateway, whatever
//! network, address translation or proxy lies between them.
//!
//! What it deliberately does not do: agree on keys (they are set), group communication, outer block-wise
//! transfer. The decision worth arguing: a datagram is opened before the endpoint sees it and closed after
//! the endpoint made it, so that exchanges, blocks and observation are the same machine with and without.

mod context;
mod guard;
mod header;
mod numbers;
mod protect;
mod replay;
mod table;

pub use context::{Context, Material, MaterialFault};
pub use guard::{Contexts, Guard, Opened};
pub use header::{Header, PartialIv};
pub use numbers::{Numbers, SEQUENCE_MAX};
pub use protect::{Binding, Fault};
pub use replay::Window;

use core::fmt;

/// Number of the option that says how a message is protected (RFC 8613 section 2).
pub const OSCORE: crate::wire::Number = crate::wire::Number(9);

/// Which context a message belongs to, by its place among those of a guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContextId(pub u32);

/// Whom an endpoint talks to where some peers are secured: an address, and by which keys.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Remote<A> {
    /// Where datagrams go.
    pub address: A,
    /// The keys that what comes from there was opened with; none where it is in the clear.
    pub context: Option<ContextId>,
}

impl<A> Remote<A> {
    /// A peer that talks in the clear.
    pub const fn plain(address: A) -> Self {
        Self {
            address,
            context: None,
        }
    }
}

impl<A: fmt::Debug> fmt::Debug for Remote<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.context {
            None => self.address.fmt(f),
            Some(ContextId(number)) => write!(f, "{:?} (context {number})", self.address),
        }
    }
}
