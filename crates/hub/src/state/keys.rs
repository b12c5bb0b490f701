//! Idempotency keys: what was published before is acknowledged again and not stored twice.
//!
//! A key is kept as a digest of 128 bits under two secrets of this run, so that a million long keys cost
//! no more than a million short ones and no one can make up a key that stands for another's; the log
//! holds the keys themselves. Beside it lies a digest of the message, since a key that comes back with
//! another message is a mistake to be told and not a repeat.

use crate::limits::{KEY_AGE_NANOS, KEYS_MAX};
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use weir_model::{Cursor, Time};
use weir_storage::AGE_STEP_NANOS_MAX;
use weir_storage::Steady;

/// The keys of the last day, each with the record it stands for.
#[derive(Debug)]
pub(crate) struct Keys {
    secrets: [RandomState; 2],
    known: HashMap<u128, Used>,
    order: VecDeque<(Time, Cursor, u128)>,
    age: Steady,
}

impl Default for Keys {
    fn default() -> Self {
        Self {
            secrets: Default::default(),
            known: HashMap::new(),
            order: VecDeque::new(),
            age: Steady::new(None, AGE_STEP_NANOS_MAX),
        }
    }
}

/// What a key was used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Used {
    /// The record's place in the log.
    pub(crate) cursor: Cursor,
    /// [`fingerprint`] of the message.
    pub(crate) message: u64,
}

impl Keys {
    /// What a key was used for; the empty one, which is none, for nothing, and so one of a topic that was forgotten
    /// since.
    pub(crate) fn find(&self, key: &[u8]) -> Option<Used> {
        if key.is_empty() {
            return None;
        }
        let used = self.known.get(&self.digest(key)).copied()?;
        let forgotten = self.known.get(&self.digest(topic_of(key)));
        let is_gone = forgotten.is_some_and(|at| used.cursor.sequence() < at.cursor.sequence());
        (!is_gone).then_some(used)
    }

    /// Notes that all keys of a topic up to a place in the log are forgotten with it.
    pub(crate) fn forget(&mut self, topic: &str, cursor: Cursor, now: Time) {
        // A topic alone is no key as it is logged.
        self.insert(topic.as_bytes(), Used { cursor, message: 0 }, now);
    }

    /// Takes the time, as often as it is looked at: keys age though nobody uses another.
    pub(crate) fn pass(&mut self, now: Time) {
        self.age.pass(now);
    }

    /// Remembers a key, and forgets those too old or too many.
    pub(crate) fn insert(&mut self, key: &[u8], used: Used, arrival: Time) {
        let digest = self.digest(key);
        self.known.insert(digest, used);
        let now = self.age.pass(arrival);
        self.order.push_back((now, used.cursor, digest));
        let oldest = now.plus_nanos(-KEY_AGE_NANOS);
        while self.order.len() > KEYS_MAX || self.order.front().is_some_and(|(at, ..)| *at < oldest)
        {
            let Some((_, cursor, digest)) = self.order.pop_front() else {
                break;
            };
            // The key may have been used again since it was forgotten: a start reads both uses.
            if self
                .known
                .get(&digest)
                .is_some_and(|used| used.cursor == cursor)
            {
                self.known.remove(&digest);
            }
        }
    }

    fn digest(&self, key: &[u8]) -> u128 {
        let [high, low] = [0, 1].map(|index: usize| self.secrets[index].hash_one(key));
        u128::from(high) << 64 | u128::from(low)
    }
}

/// A key as it is logged: behind the principal's name and the topic, so that no one can take another's,
/// and two sensors that both count from one do not silence each other.
pub(crate) fn qualified(principal: &str, topic: &str, key: &[u8]) -> Vec<u8> {
    [principal.as_bytes(), &[0], topic.as_bytes(), &[0], key].concat()
}

/// The topic of a key as it is logged.
fn topic_of(key: &[u8]) -> &[u8] {
    key.split(|byte| *byte == 0).nth(1).unwrap_or_default()
}

/// What tells a message from another that its publisher sends: its media and its bytes.
pub(crate) fn fingerprint(media: &str, body: &[u8]) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    (media, body).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_used_after_a_day_is_remembered_from_then() {
        let (mut keys, start) = (Keys::default(), Time::from_nanos(0));
        let later = start.plus_nanos(KEY_AGE_NANOS + 1);
        let hours =
            |from: Time| (1..=25).map(move |hour| from.plus_nanos(hour * AGE_STEP_NANOS_MAX));
        let used = |sequence| Used {
            cursor: Cursor::new(1, sequence),
            message: 7,
        };
        keys.insert(b"k", used(1), start);
        hours(start).for_each(|at| keys.insert(b"other", used(3), at));
        keys.insert(b"k", used(2), later.plus_nanos(AGE_STEP_NANOS_MAX));
        assert_eq!(keys.find(b"k"), Some(used(2)));
        let later = later.plus_nanos(2 * AGE_STEP_NANOS_MAX);
        hours(later).for_each(|at| keys.insert(b"other", used(3), at));
        assert_eq!(keys.find(b"k"), None);
    }

    #[test]
    fn keys_of_a_topic_are_forgotten_with_it() {
        let used = |sequence| Used {
            cursor: Cursor::new(1, sequence),
            message: 7,
        };
        let (mut keys, now) = (Keys::default(), Time::from_nanos(0));
        let (own, other) = (qualified("p", "a", b"k"), qualified("p", "a/b", b"k"));
        keys.insert(&own, used(1), now);
        keys.insert(&other, used(2), now);
        keys.forget("a", Cursor::new(1, 3), now);
        assert_eq!(
            [&own, &other].map(|key| keys.find(key)),
            [None, Some(used(2))]
        );
        keys.insert(&own, used(4), now);
        assert_eq!(keys.find(&own), Some(used(4)));
    }

    #[test]
    fn a_clock_that_jumps_forgets_no_key() {
        let year = 365 * KEY_AGE_NANOS;
        let used = Used {
            cursor: Cursor::new(1, 1),
            message: 7,
        };
        let mut keys = Keys::default();
        for (key, arrival) in [(b"a", 0), (b"b", year), (b"c", 1), (b"d", year)] {
            keys.insert(key, used, Time::from_nanos(arrival));
        }
        let known = [b"a", b"b", b"c", b"d"].map(|key| keys.find(key));
        assert_eq!(known, [Some(used); 4]);
    }

    #[test]
    fn a_message_is_told_from_another_by_media_and_bytes() {
        let message = fingerprint("json", b"1");
        assert_eq!(message, fingerprint("json", b"1"));
        assert_ne!(message, fingerprint("plain", b"1"));
        assert_ne!(message, fingerprint("json", b"2"));
    }
}
