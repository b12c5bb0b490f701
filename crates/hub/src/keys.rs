//! Idempotency keys: what was published before is acknowledged again and not stored twice.

use crate::limits::{KEY_AGE_NANOS, KEYS_MAX};
use std::collections::{HashMap, VecDeque};
use weir_model::{Cursor, Time};

/// The keys of the last day, each with the record it stands for.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    known: HashMap<Box<[u8]>, Cursor>,
    order: VecDeque<(Time, Box<[u8]>)>,
}

impl Keys {
    pub(crate) fn find(&self, key: &[u8]) -> Option<Cursor> {
        self.known.get(key).copied()
    }

    /// Remembers a key, and forgets those too old or too many.
    pub(crate) fn insert(&mut self, key: &[u8], cursor: Cursor, arrival: Time) {
        self.known.insert(key.into(), cursor);
        self.order.push_back((arrival, key.into()));
        let oldest = arrival.plus_nanos(-KEY_AGE_NANOS);
        while self.order.len() > KEYS_MAX || self.order.front().is_some_and(|(at, _)| *at < oldest)
        {
            let Some((_, key)) = self.order.pop_front() else {
                break;
            };
            self.known.remove(&key);
        }
    }
}

/// A key as it is kept: the principal's name before it, so that no one can take another's.
pub(crate) fn qualified(principal: &str, key: &[u8]) -> Vec<u8> {
    [principal.as_bytes(), &[0], key].concat()
}
