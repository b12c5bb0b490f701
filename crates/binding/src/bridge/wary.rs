//! What a bridge remembers of a message over which the broker ended a connection: any of those under way may be it.
//!
//! So a next connection sends them one at a time, and the one over which it ends as well is set aside: at once where
//! the broker said that it is a message's fault, else when that was so several times. Without that one message would
//! hold up all others for ever.

use crate::Part;
use std::collections::VecDeque;
use weir_model::Cursor;

/// So many connections in a row that end over the first message under way, and all go one at a time.
const ENDS_TO_SUSPECT: u32 = 2;
/// So many that end over one that went alone, and it is set aside.
const ENDS_TO_BLAME: u32 = 3;

/// A message, or a part of one: its cursor, and what tells it from the other parts.
pub type Sent = (Cursor, u32);

/// How careful a bridge is with what goes out.
#[derive(Debug, Default)]
pub struct Wary {
    /// Up to here messages go one at a time.
    upto: Cursor,
    /// Of this message all is done with but so many of its parts, the last ones.
    left: Option<(Cursor, usize)>,
    /// What was under way first when connections ended, and how many in a row.
    ends: Option<(Sent, u32)>,
}

impl Wary {
    /// Whether one message goes at a time, where all up to a cursor are confirmed.
    pub fn is_on(&self, confirmed: Cursor) -> bool {
        confirmed < self.upto
    }

    /// The broker ended a connection over one of the messages up to here.
    pub fn suspect(&mut self, upto: Cursor) {
        self.upto = self.upto.max(upto);
    }

    /// A connection ended, nobody said why, while this was the first of what was under way, up to `upto`; says
    /// whether it is to be set aside.
    pub fn ended(&mut self, first: Sent, is_alone: bool, upto: Cursor) -> bool {
        let before = self.ends.filter(|(sent, _)| *sent == first);
        let times = before.map_or(0, |(_, times)| times) + 1;
        self.ends = Some((first, times));
        if times >= ENDS_TO_SUSPECT {
            self.suspect(upto);
        }
        let is_blamed = is_alone && times >= ENDS_TO_BLAME;
        if is_blamed {
            self.ends = None;
        }
        is_blamed
    }

    /// A part of a message was set aside; so many behind it are to go out yet.
    pub fn leave(&mut self, cursor: Cursor, parts: usize) {
        self.left = Some((cursor, parts));
    }

    /// Those of a message's parts that are to go out.
    pub fn left(&self, cursor: Cursor, mut parts: VecDeque<Part>) -> VecDeque<Part> {
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
    fn one_goes_at_a_time_up_to_the_last_suspect() {
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

    #[test]
    fn a_message_is_blamed_when_connections_end_over_it_alone() {
        let mut wary = Wary::default();
        let at = |sequence| Cursor::new(1, sequence);
        let mut ended = |first, is_alone| wary.ended((at(first), 0), is_alone, at(9));
        assert!(!ended(1, false));
        assert!(!ended(2, false) && !ended(2, false));
        assert!(!ended(2, false), "it was never alone");
        assert!(ended(2, true));
        // What is lost once, and gets through then, is nothing to be blamed for.
        assert!(!ended(3, true) && !ended(4, true) && !ended(3, true));
        assert!(wary.is_on(at(8)) && !wary.is_on(at(9)));
    }

    #[test]
    fn a_connection_lost_once_makes_nobody_wary() {
        let mut wary = Wary::default();
        let (first, last) = (Cursor::new(1, 1), Cursor::new(1, 9));
        assert!(!wary.ended((first, 0), true, last) && !wary.is_on(first));
    }
}
