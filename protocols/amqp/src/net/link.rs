//! A link that messages go out by: one of the hub's subscriptions, and what is under way.

use super::filter::Wanted;
use crate::session::{LinkId, Token};
use std::collections::VecDeque;
use std::sync::Arc;
use weir_binding::Part;
use weir_hub::{Gap, Item, Message, Subscription};
use weir_model::Cursor;

/// One receiver's link.
pub(super) struct Outward {
    pub(super) id: LinkId,
    pub(super) wanted: Wanted,
    /// Nothing once it has ended.
    pub(super) source: Option<Box<Subscription>>,
    /// Up to where messages were handed over.
    pub(super) delivered: Cursor,
    pub(super) work: Option<Box<Work>>,
}

/// What was taken and is not sent, or is sent and not settled.
#[derive(Default)]
pub(super) struct Work {
    pub(super) items: VecDeque<Item>,
    /// The parts of the first item.
    pub(super) parts: VecDeque<Part>,
    /// Which of them is next.
    pub(super) part: u32,
    /// Messages are missing before what comes next.
    pub(super) gap: Option<Gap>,
    /// Sent and not settled, in order.
    pub(super) taken: VecDeque<Taken>,
    pub(super) taken_bytes: usize,
    /// Given back by the client, to be sent once more.
    pub(super) again: VecDeque<Taken>,
}

/// A part of a message that is the client's as long as it has not settled it.
pub(super) struct Taken {
    pub(super) token: Token,
    pub(super) message: Arc<Message>,
    pub(super) part: Part,
    /// How often the client has failed with it.
    pub(super) failed: u32,
}
