//! The last messages in memory: a client that was away for a moment resumes without touching the log.

use crate::message::Message;
use std::collections::VecDeque;
use std::sync::Arc;
use weir_model::Cursor;

/// Bytes of messages kept.
const BYTES_MAX: usize = 8 << 20;
/// Messages kept.
const MESSAGES_MAX: usize = 8192;

/// A contiguous end of the log, every message after `from`.
#[derive(Debug)]
pub(crate) struct Recent {
    messages: VecDeque<Arc<Message>>,
    bytes: usize,
    from: Cursor,
}

impl Recent {
    pub(crate) fn new(from: Cursor) -> Self {
        Self {
            messages: VecDeque::new(),
            bytes: 0,
            from,
        }
    }

    pub(crate) fn push(&mut self, message: Arc<Message>) {
        self.bytes += message.memory_bytes();
        self.messages.push_back(message);
        while self.bytes > BYTES_MAX || self.messages.len() > MESSAGES_MAX {
            let Some(oldest) = self.messages.pop_front() else {
                break;
            };
            self.bytes -= oldest.memory_bytes();
            self.from = oldest.cursor;
        }
    }

    /// The messages after a position of this log, whatever epoch names it; `None` where it lies before
    /// what is kept.
    pub(crate) fn after(&self, cursor: Cursor) -> Option<impl Iterator<Item = &Arc<Message>>> {
        let position = cursor.sequence();
        let start = self
            .messages
            .partition_point(|message| message.cursor.sequence() <= position);
        (position >= self.from.sequence()).then(|| self.messages.range(start..))
    }
}
