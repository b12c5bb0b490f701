//! What a bridge remembers of a message over which the broker ended a connection: any of those under way may be it.
//!
//! So the next connection sends them one at a time, and the one over which it ends as well is set aside. Without that
//! one message would hold up all others for ever.

use std::collections::VecDeque;
use weir_binding::Part;
use weir_model::Cursor;

/// How careful a bridge is with what goes out.
#[derive(Debug, Default)]
pub(super) struct Wary {
    /// Up to here messages go one at a time.
    upto: Cursor,
    /// Of this message all is done with but so many of its parts, the last ones.
    left: Option<(Cursor, usize)>,
}

impl Wary {
    /// Whether one message goes at a time, where all up to a cursor are confirmed.
    pub(super) fn is_on(&self, confirmed: Cursor) -> bool {
        confirmed < self.upto
    }

    /// The broker ended a connection over one of the messages up to here.
    pub(super) fn suspect(&mut self, upto: Cursor) {
        self.upto = self.upto.max(upto);
    }

    /// A part of a message was set aside; so many behind it are to go out yet.
    pub(super) fn leave(&mut self, cursor: Cursor, parts: usize) {
        self.left = Some((cursor, parts));
    }

    /// Those of a message's parts that are to go out.
    pub(super) fn left(&self, cursor: Cursor, mut parts: VecDeque<Part>) -> VecDeque<Part> {
        if let Some((_, left)) = self.left.filter(|(of, _)| *of == cursor) {
            parts.drain(..parts.len().saturating_sub(left));
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_goes_at_a_time_up_to_the_last_suspect_and_of_a_message_only_parts_behind_a_refused_one()
    {
        let mut wary = Wary::default();
        assert!(!wary.is_on(Cursor::default()));
        wary.suspect(Cursor::new(1, 7));
        wary.suspect(Cursor::new(1, 3));
        assert!(wary.is_on(Cursor::new(1, 6)) && !wary.is_on(Cursor::new(1, 7)));
        let parts = ["a", "b", "c"].map(|topic| Part {
            topic: topic.into(),
            payload: bytes::Bytes::new(),
            format: None,
        });
        wary.leave(Cursor::new(1, 3), 1);
        let left = |at| wary.left(Cursor::new(1, at), parts.clone().into());
        assert_eq!((left(3).len(), &*left(3)[0].topic), (1, "c"));
        assert_eq!(left(4).len(), 3);
    }
}
