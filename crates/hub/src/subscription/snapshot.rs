//! The last values that a subscription begins with, piece by piece.

use crate::access::Verb;
use crate::hub::Hub;
use crate::interest::{Interest, Shape};
use crate::message::{Content, Message};
use crate::selection;
use crate::state::catalog::{Last, push_last};
use crate::subscription::{Next, Subscription};
use std::ops::RangeInclusive;
use std::sync::Arc;
use weir_model::{Batch, BatchBuilder, Cursor, Time};

/// A part of a snapshot.
pub(crate) struct Piece {
    pub(crate) next: Option<Next>,
    /// Where the next one begins, unless this is the last.
    pub(crate) upto: Option<Arc<str>>,
}

/// One page of last values with cursors behind the begin of `due` and up to its end.
fn last_values(
    hub: &Hub,
    interest: &Interest,
    but_through: Option<&str>,
    due: RangeInclusive<Cursor>,
    upto: Option<&str>,
) -> (Batch, Option<Arc<str>>) {
    let is_due = |last: &Last| {
        let is_theirs = but_through.is_some_and(|origin| !last.is_of_others(origin));
        last.cursor > *due.start() && last.cursor <= *due.end() && !is_theirs
    };
    let mut builder = BatchBuilder::new();
    let core = hub.core();
    let (found, next) = core.catalog.page(&interest.filters, upto);
    for entry in found {
        let wanted = entry.last.as_ref().is_some_and(is_due);
        if wanted && interest.grants.allow(Verb::Read, &entry.topic) {
            push_last(&mut builder, entry);
        }
    }
    (builder.finish(), next)
}

impl Subscription {
    /// Some last values with cursors after `after` and up to `head`, of topics behind `upto`, as one
    /// message; only the last piece says the head, so that who breaks off in the middle begins again.
    pub(crate) fn snapshot(&mut self, after: Cursor, head: Cursor, upto: Option<&str>) -> Piece {
        let (group, but_through) = (self.group.clone(), self.but_through.as_deref());
        let (batch, upto) =
            last_values(&self.hub, &group.interest, but_through, after..=head, upto);
        let cursor = if upto.is_some() { after } else { head };
        self.position = self.position.max(cursor);
        let format = match &group.interest.shape {
            Shape::Framed(format, _) => format,
            Shape::Items => &weir_codec::FORMATS[0],
        };
        let content = Content::Observations { batch, format };
        let message = Message::new(cursor, Time::from_nanos(0), "".into(), content);
        let item = selection::selected(&Arc::new(message), &group);
        let next = item.and_then(|item| self.hand_over(vec![item]));
        Piece { next, upto }
    }
}
