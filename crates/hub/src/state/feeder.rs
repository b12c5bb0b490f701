//! From the log to the history store: what is committed, in order, off the publishers' way.

use crate::message::Message;
use std::collections::VecDeque;
use std::sync::Arc;
use weir_model::Cursor;

/// What waits for the history store.
pub(crate) struct Feeder {
    waiting: VecDeque<Fed>,
    bytes: usize,
    /// All up to here was offered to the store.
    pub(crate) offered: Cursor,
    /// The queue overflowed: it is empty and takes nothing.
    pub(crate) overflowed: bool,
    /// What follows `offered` up to here must be read from the log; the queue holds what comes after.
    pub(crate) backlog: Option<Cursor>,
}

pub(crate) enum Fed {
    Message(Arc<Message>),
    Forget(Cursor, Arc<str>),
    /// The last observation is to be looked up anew, as the one of this key was withdrawn.
    Recall(Cursor, Arc<str>),
}

impl Fed {
    pub(crate) fn cursor(&self) -> Cursor {
        match self {
            Fed::Message(message) => message.cursor,
            Fed::Forget(cursor, _) | Fed::Recall(cursor, _) => *cursor,
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Fed::Message(message) => message.memory_bytes(),
            Fed::Forget(_, name) | Fed::Recall(_, name) => name.len(),
        }
    }
}

impl Feeder {
    pub(crate) fn new(offered: Cursor) -> Self {
        Self {
            waiting: VecDeque::new(),
            bytes: 0,
            offered,
            overflowed: false,
            backlog: None,
        }
    }

    pub(crate) fn push(&mut self, fed: Fed, bytes_max: usize) {
        if self.overflowed {
            return;
        }
        self.bytes += fed.bytes();
        self.waiting.push_back(fed);
        if self.bytes > bytes_max {
            self.overflow();
        }
    }

    pub(crate) fn overflow(&mut self) {
        self.overflowed = true;
        self.waiting.clear();
        self.bytes = 0;
    }

    /// The next one, if it is committed.
    pub(crate) fn pop(&mut self, committed: Cursor) -> Option<Fed> {
        self.waiting
            .front()
            .filter(|first| first.cursor() <= committed)?;
        let due = self.waiting.pop_front()?;
        self.bytes -= due.bytes();
        Some(due)
    }
}
