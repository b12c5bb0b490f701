//! Idempotency keys: what was published before is acknowledged again and not stored twice.

use crate::limits::{KEY_AGE_NANOS, KEYS_MAX};
use std::collections::{HashMap, VecDeque};
use weir_model::{Cursor, Time};

/// The keys of the last day, each with the record it stands for.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    known: HashMap<Box<[u8]>, Cursor>,
    order: VecDeque<(Time, Cursor, Box<[u8]>)>,
}

impl Keys {
    pub(crate) fn find(&self, key: &[u8]) -> Option<Cursor> {
        self.known.get(key).copied()
    }

    /// Remembers a key, and forgets those too old or too many.
    pub(crate) fn insert(&mut self, key: &[u8], cursor: Cursor, arrival: Time) {
        self.known.insert(key.into(), cursor);
        self.order.push_back((arrival, cursor, key.into()));
        let oldest = arrival.plus_nanos(-KEY_AGE_NANOS);
        while self.order.len() > KEYS_MAX || self.order.front().is_some_and(|(at, ..)| *at < oldest)
        {
            let Some((_, cursor, key)) = self.order.pop_front() else {
                break;
            };
            // The key may have been used again since it was forgotten: a start reads both uses.
            if self.known.get(&key) == Some(&cursor) {
                self.known.remove(&key);
            }
        }
    }
}

/// A key as it is kept: behind the principal's name and the topic, so that no one can take another's,
/// and two sensors that both count from one do not silence each other.
pub(crate) fn qualified(principal: &str, topic: &str, key: &[u8]) -> Vec<u8> {
    [principal.as_bytes(), &[0], topic.as_bytes(), &[0], key].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_used_again_after_a_day_is_remembered_from_its_second_use() {
        let (mut keys, start) = (Keys::default(), Time::from_nanos(0));
        let later = start.plus_nanos(KEY_AGE_NANOS + 1);
        keys.insert(b"k", Cursor::new(1, 1), start);
        keys.insert(b"k", Cursor::new(1, 2), later);
        assert_eq!(keys.find(b"k"), Some(Cursor::new(1, 2)));
        keys.insert(
            b"other",
            Cursor::new(1, 3),
            later.plus_nanos(KEY_AGE_NANOS + 1),
        );
        assert_eq!(keys.find(b"k"), None);
    }
}
