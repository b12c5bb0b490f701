//! A subscription of a client: where its messages come from, and what of them is not done.

use super::filter::Conversion;
use super::packets::Part;
use super::service::Followed;
use super::share::Share;
use crate::session::Token;
use crate::wire::SubscriptionOptions;
use std::collections::VecDeque;
use std::sync::Arc;
use std::task;
use weir_binding::Outcome;
use weir_hub::{Gap, Item, Subscription};
use weir_model::Cursor;

/// One subscription; where several match, each delivers a copy [MQTT-3.3.4-2].
pub(super) struct Subscribed {
    /// The filter as it stood in the packet.
    pub(super) text: Box<str>,
    pub(super) options: SubscriptionOptions,
    pub(super) identifier: Option<u32>,
    pub(super) wants_cursor: bool,
    pub(super) key: u32,
    /// What it takes to give messages in another format than as published.
    pub(super) conversion: Option<Box<Conversion>>,
    pub(super) source: Source,
    /// Up to where messages were handed over.
    pub(super) delivered: Cursor,
    /// What an earlier connection left; few have had one, so it is apart.
    pub(super) before: Option<Box<Before>>,
    pub(super) work: Option<Box<Work>>,
}

/// An earlier connection's part in a subscription.
pub(super) struct Before {
    /// Up to where only what is unacknowledged since then is sent.
    pub(super) resumed: Cursor,
    /// Up to where a crash left it open what was sent.
    pub(super) doubtful: Cursor,
}

/// Where messages come from.
pub(super) enum Source {
    /// Packets that others share.
    Framed(Box<Subscription>),
    /// Messages, each with a head of its own.
    Items(Box<Subscription>),
    /// Some of the messages, in turns with others.
    Shared(Arc<Share>, u64),
    /// What changes in a service.
    Followed(Box<Followed>),
    /// Nothing more.
    Ended,
}

impl Source {
    /// Says whether there may be more at once, or wakes `cx` when there is; takes nothing.
    pub(super) fn poll_more(&mut self, cx: &mut task::Context<'_>) -> bool {
        match self {
            Self::Framed(subscription) | Self::Items(subscription) => subscription.poll_more(cx),
            Self::Shared(..) | Self::Followed(_) => true,
            Self::Ended => false,
        }
    }
}

/// What was taken and is not sent yet.
#[derive(Default)]
pub(super) struct Work {
    pub(super) items: VecDeque<Item>,
    /// The packets of the first item.
    pub(super) parts: VecDeque<Part>,
    /// The same, where a service reads of the past to tell them: it does so where that holds up nobody.
    pub(super) telling: Option<Outcome<Vec<Part>>>,
    /// Which of them is next.
    pub(super) part: u32,
    /// Messages are missing before what comes next.
    pub(super) gap: Option<Gap>,
    /// QoS 1 messages of a share that the client has not acknowledged.
    pub(super) taken: Vec<(Token, Item)>,
    /// What was under way to this member of a share when its connection broke.
    pub(super) again: Option<Box<Again>>,
    /// How many of the items are such.
    pub(super) again_items: usize,
}

/// Messages that are read once more, since they are one member's to complete [MQTT-4.8.2-4].
pub(super) struct Again {
    pub(super) subscription: Box<Subscription>,
    /// Which of those that come, ascending.
    pub(super) due: Vec<Cursor>,
}

impl Subscribed {
    /// Leaves a share; what was not sent, and QoS 1 messages that were not acknowledged, go to the others,
    /// QoS 2 ones that were sent to nobody [MQTT-4.8.2-5].
    pub(super) fn leave(&mut self) {
        let Source::Shared(share, member) = &self.source else {
            return;
        };
        let work = self.work.take().unwrap_or_default();
        let taken = work.taken.into_iter().map(|(_, item)| item);
        let unsent = work.items.into_iter().skip(work.again_items);
        share.leave(*member, taken.chain(unsent).collect());
        self.source = Source::Ended;
    }

    /// Notes that a message of a share is the client's now.
    pub(super) fn acknowledged(&mut self, token: &Token) {
        if let Some(work) = &mut self.work {
            work.taken.retain(|(taken, _)| taken != token);
            let sending = work.items.front().map(|item| item.message.cursor.bits());
            if sending != Some(token.cursor) {
                self.settle(Cursor::from_bits(token.cursor));
            }
        }
    }

    /// Notes a message of a share as done, unless a part of it is unacknowledged.
    pub(super) fn settle(&self, cursor: Cursor) {
        let Source::Shared(share, _) = &self.source else {
            return;
        };
        let taken = self.work.iter().flat_map(|work| &work.taken);
        if !taken
            .into_iter()
            .any(|(token, _)| token.cursor == cursor.bits())
        {
            share.done(cursor);
        }
    }

    /// Up to where messages were handed over, by the share if it is one.
    pub(super) fn position(&self) -> Cursor {
        match &self.source {
            Source::Shared(share, _) => share.position(),
            _ => self.delivered,
        }
    }

    /// Whether something holds of what an earlier connection left.
    pub(super) fn before(&self, holds: impl Fn(&Before) -> bool) -> bool {
        self.before.as_deref().is_some_and(holds)
    }

    /// Whether it is one of a share.
    pub(super) fn is_shared(&self) -> bool {
        matches!(self.source, Source::Shared(..))
    }
}

impl Drop for Subscribed {
    fn drop(&mut self) {
        self.leave();
    }
}
