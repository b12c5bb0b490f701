//! What a machine gives to who drives it.

use super::calls::Failure;
use super::ids::{CallId, ExchangeId, ObservationId};
use crate::wire::Message;

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

impl<A> Incoming<A> {
    /// The method as HTTP spells it.
    pub fn method(&self) -> &'static str {
        self.message.code.method().unwrap_or("")
    }
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
