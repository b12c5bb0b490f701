//! Durable consumers: what bindings have the gateway remember.

use crate::fault::Fault;
use crate::hub::{Core, Hub};
use crate::limits::{CONSUMER_BYTES_MAX, CONSUMER_KEY_BYTES_MAX};
use crate::state::consumers::Watch;
use crate::ticket::Ticket;
use bytes::Bytes;
use std::ops::Bound;
use weir_model::{Cursor, Time};
use weir_storage::{Kind, Record};

impl Hub {
    /// Remembers a state, or, where it is empty, forgets what was remembered.
    pub(crate) fn remember(&self, now: Time, key: &str, state: Bytes) -> Result<Ticket, Fault> {
        check(key, &state)?;
        let mut core = self.core();
        core.consumers.check_room(key, &state)?;
        let record = Record {
            kind: Kind::Consumer,
            arrival: now,
            topic: key,
            media: "",
            key: &[],
            origin: "",
            attributes: &[],
            body: &state,
        };
        if let Some(ticket) = self.submit(&record)? {
            return Ok(ticket);
        }
        let cursor = self.log.append(&record)?;
        core.consumers.put(key, state);
        Ok(self.ticket(cursor))
    }

    /// Says whether other gateways append to the log, too.
    pub fn is_shared(&self) -> bool {
        self.log.shared().is_some()
    }

    /// Tells of all that is remembered, and from then on of each state as it is taken from a shared log,
    /// before anybody who waits for it is told; an empty one is of a key that was forgotten. There is one
    /// who watches. The hub is locked meanwhile: the watcher must ask nothing of it.
    pub fn watch_consumers(&self, mut watch: Watch) {
        let mut core = self.core();
        let known = core.consumers.by_key.iter();
        known.for_each(|(key, state)| watch(Cursor::START, key, state));
        core.watch = Some(watch);
    }

    /// What is remembered under a key.
    pub fn consumer(&self, key: &str) -> Option<Bytes> {
        self.core().consumers.by_key.get(key).cloned()
    }

    /// Visits all that is remembered under keys that begin so, by key. The hub is locked meanwhile: the
    /// visitor must ask nothing of it.
    pub fn consumers(&self, prefix: &str, visit: &mut dyn FnMut(&str, &Bytes)) {
        let core = self.core();
        let begin = (Bound::Included(prefix), Bound::Unbounded);
        let all = core.consumers.by_key.range::<str, _>(begin);
        all.take_while(|(key, _)| key.starts_with(prefix))
            .for_each(|(key, state)| visit(key, state));
    }
}

impl Core {
    /// Takes a state from a shared log.
    pub(crate) fn take_consumer(&mut self, cursor: Cursor, key: &str, state: Bytes) {
        if let Some(watch) = &mut self.watch {
            watch(cursor, key, &state);
        }
        self.consumers.put(key, state);
    }
}

/// Refuses what is longer than is kept.
fn check(key: &str, state: &[u8]) -> Result<(), Fault> {
    for (what, length, limit) in [
        (
            "bytes of a durable consumer's name",
            key.len(),
            CONSUMER_KEY_BYTES_MAX,
        ),
        (
            "bytes of a durable consumer",
            state.len(),
            CONSUMER_BYTES_MAX,
        ),
    ] {
        if length > limit {
            return Err(Fault::OverLimit { what, limit });
        }
    }
    Ok(())
}
