//! Up to where an alert has told all that it wanted: a cursor in the log.

use crate::limits::PASSED_RECORDS;
use bytes::Bytes;
use weir_binding::{Gateway, bridge};
use weir_model::Cursor;

/// What an alert remembers.
pub(crate) struct Kept {
    key: String,
    pub(crate) cursor: Cursor,
}

impl Kept {
    /// Of the alert of this name; one that is new begins with what comes now.
    pub(crate) fn of(context: &dyn Gateway, name: &str) -> Self {
        let key = format!("alert/{name}");
        let known = context.hub().consumer(&key);
        let bits =
            known.and_then(|state| Some(u64::from_le_bytes(state.as_ref().try_into().ok()?)));
        match bits.map(Cursor::from_bits) {
            Some(cursor) => Self { key, cursor },
            None => {
                let (_, committed) = context.hub().positions();
                let mut kept = Self {
                    key,
                    cursor: Cursor::default(),
                };
                kept.remember(context, committed);
                kept
            }
        }
    }

    /// Nothing was wanted up to here, which is remembered where it is so much that reading it again would take a
    /// while, or that retention may take it.
    pub(crate) fn pass(&mut self, context: &dyn Gateway, cursor: Cursor) {
        let passed = cursor.sequence().abs_diff(self.cursor.sequence());
        if passed >= PASSED_RECORDS || cursor.epoch() != self.cursor.epoch() {
            self.remember(context, cursor);
        }
    }

    /// All up to here was told. Where the log takes nothing, it is told again.
    pub(crate) fn remember(&mut self, context: &dyn Gateway, cursor: Cursor) {
        if cursor == self.cursor {
            return;
        }
        self.cursor = cursor;
        let state = Bytes::copy_from_slice(&cursor.bits().to_le_bytes());
        bridge::remember(context, &self.key, state);
    }
}
