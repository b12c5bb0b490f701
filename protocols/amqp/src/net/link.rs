//! A link that messages go out by: one of the hub's subscriptions, and what is under way.

use super::durable::Durable;
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
    /// Nothing once it has ended, of which the link is let go.
    pub(super) source: Option<Box<Subscription>>,
    /// Up to where messages were handed over.
    pub(super) delivered: Cursor,
    pub(super) work: Option<Box<Work>>,
    /// Where it is kept beyond its connection.
    pub(super) durable: Option<Box<Durable>>,
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

impl Outward {
    /// Up to where nothing is left that its client has not settled.
    fn settled(&self) -> Cursor {
        let work = self.work.iter();
        let under_way = work.flat_map(|work| work.taken.iter().chain(&work.again));
        let cursors = under_way.map(|taken| taken.token.cursor);
        // Of a message that is sent in parts the rest may still wait.
        let waiting = self.work.iter().flat_map(|work| &work.items);
        let cursors = cursors.chain(waiting.map(|item| item.message.cursor.bits()));
        match cursors.min() {
            Some(first) => before(Cursor::from_bits(first)).min(self.delivered),
            None => self.delivered,
        }
    }

    /// Keeps where its client is, if that is kept.
    pub(super) fn record(&mut self) {
        let position = self.settled();
        if let Some(durable) = &mut self.durable {
            durable.record(position);
        }
    }

    /// Ends it; for good where its client closed it.
    pub(super) fn leave(&mut self, closed: bool) {
        let position = self.settled();
        if let Some(mut durable) = self.durable.take() {
            durable.leave(position, closed);
        }
    }
}

/// Broken off: as if its connection had ended.
impl Drop for Outward {
    fn drop(&mut self) {
        self.leave(false);
    }
}

/// The cursor just before.
fn before(cursor: Cursor) -> Cursor {
    Cursor::new(cursor.epoch(), cursor.sequence().saturating_sub(1))
}
