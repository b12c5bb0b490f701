//! Datastreams that were forgotten while the log still holds what was published of them.

use std::collections::HashMap;
use std::sync::Arc;
use weir_model::Cursor;

/// Up to where in the log each topic is forgotten.
#[derive(Debug, Default)]
pub(crate) struct Forgotten {
    by_topic: HashMap<Arc<str>, Cursor>,
    /// With so many, those that the log holds nothing of any more are looked for.
    many: usize,
}

/// Fewest of which that is worth it.
const MANY: usize = 1024;

impl Forgotten {
    /// Notes that a topic is forgotten up to a place in the log, which begins behind `tail`.
    pub(crate) fn put(&mut self, topic: &str, upto: Cursor, tail: Cursor) {
        self.by_topic.insert(topic.into(), upto);
        if self.by_topic.len() > self.many.max(MANY) {
            let is_held = |upto: Cursor| upto.sequence() > tail.sequence();
            self.by_topic.retain(|_, upto| is_held(*upto));
            self.many = self.by_topic.len() * 2;
        }
    }

    /// Whether what stands there in the log is of a topic as it was before it was forgotten.
    pub(crate) fn is_of_before(&self, topic: &str, cursor: Cursor) -> bool {
        let upto = self.by_topic.get(topic);
        upto.is_some_and(|upto| cursor.sequence() <= upto.sequence())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_log_holds_nothing_of_is_remembered_no_more() {
        let mut forgotten = Forgotten::default();
        let at = |sequence| Cursor::new(1, sequence);
        for number in 0..10_000_u64 {
            let tail = at(number.saturating_sub(10));
            forgotten.put(&format!("t/{number}"), at(number), tail);
        }
        assert!(forgotten.by_topic.len() <= MANY + 1);
        assert!(forgotten.is_of_before("t/9999", at(9999)));
        assert!(!forgotten.is_of_before("t/9999", at(10_000)));
        assert!(!forgotten.is_of_before("other", at(1)));
    }
}
