//! The state of durable consumers: sessions, shared groups, bridges.
//!
//! What it deliberately does not know: what the bytes mean. A binding remembers under a key that begins
//! with its own name; the last record of a key counts and outlives retention. A consumer's position holds
//! back nothing: who stays away for longer than the log keeps is told of a gap.

use crate::fault::Fault;
use crate::limits::{CONSUMERS_BYTES_MAX, CONSUMERS_MAX};
use bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::Arc;
use weir_model::Cursor;

/// Who is told of each state that is taken from a shared log, and of where it stands there.
pub type Watch = Box<dyn FnMut(Cursor, &str, &Bytes) + Send>;

/// The states, by key.
#[derive(Debug, Default)]
pub(crate) struct Consumers {
    pub(crate) by_key: BTreeMap<Arc<str>, Bytes>,
    bytes: usize,
}

impl Consumers {
    pub(crate) fn check_room(&self, key: &str, state: &[u8]) -> Result<(), Fault> {
        let before = self.by_key.get(key);
        let bytes = self.bytes - before.map_or(0, Bytes::len) + state.len();
        if bytes > CONSUMERS_BYTES_MAX {
            return Err(Fault::Crowded {
                what: "bytes of all durable consumers",
                limit: CONSUMERS_BYTES_MAX,
            });
        }
        match before.is_none() && self.by_key.len() >= CONSUMERS_MAX {
            false => Ok(()),
            true => Err(Fault::Crowded {
                what: "durable consumers",
                limit: CONSUMERS_MAX,
            }),
        }
    }

    /// Takes a state in the place of its key's; an empty one only removes that.
    pub(crate) fn put(&mut self, key: &str, state: Bytes) {
        if let Some(before) = self.by_key.remove(key) {
            self.bytes -= before.len();
        }
        if !state.is_empty() {
            self.bytes += state.len();
            self.by_key.insert(key.into(), state);
        }
    }
}
