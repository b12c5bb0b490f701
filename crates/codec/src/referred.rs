//! The limit of formats that say a text once and then refer to it: a few bytes stand for many.

use crate::error::DecodeError;
use crate::limits::REFERENCED_PER_BYTE_MAX;
use core::cell::Cell;
use weir_model::Limits;

/// Bytes of text that references in a message may still stand for.
pub(crate) struct Referred {
    left: Cell<usize>,
    limit: usize,
}

impl Referred {
    pub(crate) fn new(limits: &Limits) -> Self {
        let limit = limits.message_bytes.saturating_mul(REFERENCED_PER_BYTE_MAX);
        Self {
            left: Cell::new(limit),
            limit,
        }
    }

    /// Counts a text of this length that is referred to at `at`.
    pub(crate) fn take(&self, len: usize, at: usize) -> Result<(), DecodeError> {
        let left = self.left.get().checked_sub(len);
        let over = || DecodeError::over(at, "bytes of text referred to", self.limit);
        self.left.set(left.ok_or_else(over)?);
        Ok(())
    }
}
