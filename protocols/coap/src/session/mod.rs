//! The machines: an endpoint of datagrams and a connection over a byte stream.

mod assemblies;
mod bodies;
mod calls;
mod connection;
mod echo;
mod endpoint;
mod observers;
mod parameters;
mod peers;
mod random;
mod recent;
mod seen;
mod slots;

pub use calls::Failure;
pub use connection::{Connection, ConnectionFault};
pub use endpoint::{Arrival, Endpoint};
pub use parameters::Parameters;

use crate::wire::Message;
use core::fmt::Debug;
use core::hash::Hash;

/// Whom an endpoint talks to: a socket address, or anything that tells peers apart.
pub trait Address: Copy + Ord + Hash + Debug {}

impl<A: Copy + Ord + Hash + Debug> Address for A {}

/// A request that waits for its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExchangeId(pub(crate) u64);

/// A peer's interest in a resource (RFC 7641 section 1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObservationId(pub(crate) u64);

/// A request of ours that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub(crate) u64);

/// A request, whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incoming<A> {
    /// To answer it by.
    pub exchange: ExchangeId,
    /// Who asks.
    pub peer: A,
    /// What is asked, with the whole body; options of blocks are taken away.
    pub message: Message,
    /// Whether it was sent to a group.
    pub multicast: bool,
    /// Whether the peer wants to observe the resource.
    pub observe: bool,
}

/// What an endpoint tells the layer above.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<A> {
    /// A request came.
    Request(Incoming<A>),
    /// A peer's interest ended.
    Ended(ObservationId),
    /// The answer to a request of ours; it is over, but for one to a group.
    Response(CallId, A, Message),
    /// A notification of an observation of ours; more follow.
    Notification(CallId, Message),
    /// A request of ours failed; it is over.
    Failed(CallId, Failure),
}

/// Bytes for a peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing<A> {
    /// To whom.
    pub peer: A,
    /// A whole datagram.
    pub bytes: bytes::Bytes,
}

impl<A> AsRef<[u8]> for Outgoing<A> {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}
