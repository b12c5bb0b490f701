//! Feeding the history.

use crate::fault::Fault;
use crate::hub::Hub;
use crate::limits::FEED_BYTES_MAX;
use crate::message::Message;
use crate::state::feeder::{Fed, Feeder};
use std::sync::{Arc, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use weir_model::{Cursor, Time};
use weir_storage::AGE_STEP_NANOS_MAX;
use weir_storage::Kind;
use weir_storage::LogFault;
use weir_storage::Steady;

impl Hub {
    fn feeder(&self) -> MutexGuard<'_, Feeder> {
        self.feeder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A store that is away must not take the memory that publishing needs: the log has it all.
    fn feed_bytes_max(&self) -> usize {
        FEED_BYTES_MAX.min(self.memory().most() / 4)
    }

    pub(crate) fn enqueue_for_history(&self, message: Arc<Message>) {
        if message.batch().is_some() {
            let bytes_max = self.feed_bytes_max();
            self.feeder().push(Fed::Message(message), bytes_max);
        }
    }

    pub(crate) fn enqueue_forget(&self, cursor: Cursor, topic: &str) {
        let bytes_max = self.feed_bytes_max();
        self.feeder()
            .push(Fed::Forget(cursor, topic.into()), bytes_max);
    }

    pub(crate) fn enqueue_recall(&self, cursor: Cursor, key: &str) {
        let bytes_max = self.feed_bytes_max();
        self.feeder()
            .push(Fed::Recall(cursor, key.into()), bytes_max);
    }

    /// Gives the history store what was committed since the last call.
    pub fn feed(&self) -> Result<(), Fault> {
        let _one_at_a_time = self.feeding.lock().unwrap_or_else(PoisonError::into_inner);
        let committed = self.log.committed();
        self.begin_backlog();
        let backlog = self.feeder().backlog;
        if let Some(end) = backlog {
            self.feed_from_log(end.min(committed))?;
            if end > committed {
                return Ok(());
            }
            self.feeder().backlog = None;
        }
        self.feed_from_queue(committed)
    }

    /// Offers what waits in memory, up to `committed`. Where the queue overflows meanwhile or the store
    /// fails, all behind the last one that it took is read from the log at the next call.
    fn feed_from_queue(&self, committed: Cursor) -> Result<(), Fault> {
        let mut last = self.feeder().offered;
        loop {
            let Some(due) = self.feeder().pop(committed) else {
                break;
            };
            let cursor = due.cursor();
            if let Err(fault) = self.offer_to_history(due) {
                self.feeder().overflow();
                self.offered(last);
                return Err(fault);
            }
            last = cursor;
        }
        let overflowed = self.feeder().overflowed;
        self.offered(if overflowed { last } else { committed });
        Ok(())
    }

    fn offer_to_history(&self, due: Fed) -> Result<(), Fault> {
        match due {
            Fed::Message(message) => self.apply(&message),
            Fed::Forget(cursor, topic) => Ok(self.history.forget(cursor, &topic)?),
            Fed::Recall(_, key) => self.recall_withdrawn(&key),
        }
    }

    /// After an overflow: the log up to today's head is read first, and the queue taken up behind it.
    fn begin_backlog(&self) {
        let _no_one_publishes = self.core();
        let mut feeder = self.feeder();
        if std::mem::take(&mut feeder.overflowed) {
            feeder.backlog = Some(self.log.head());
        }
    }

    fn apply(&self, message: &Message) -> Result<(), Fault> {
        let Some(batch) = message.batch() else {
            return Ok(());
        };
        Ok(self.history.apply(message.cursor, message.arrival, batch)?)
    }

    fn offered(&self, cursor: Cursor) {
        self.history.advance(cursor);
        self.feeder().offered = cursor;
    }

    /// Offers the records after those offered before, up to `end`.
    fn feed_from_log(&self, end: Cursor) -> Result<(), Fault> {
        let from = self.feeder().offered;
        let mut reader = self.log.read(from);
        let mut last = from;
        while last < end {
            let (cursor, record) = match reader.next() {
                Ok(Some(read)) => read,
                Ok(None) => break,
                Err(LogFault::Damaged(_)) => continue,
                Err(fault) => return Err(fault.into()),
            };
            last = cursor;
            if record.kind == Kind::Change && record.body.is_empty() {
                self.history.forget(cursor, record.topic)?;
            } else if record.kind == Kind::Withdrawn && !record.body.is_empty() {
                self.recall_withdrawn(record.topic)?;
            } else if let Some(message) = self.message_of(cursor, &record) {
                self.apply(&message)?;
            }
        }
        self.offered(last);
        Ok(())
    }

    /// Lets the log drop what the history store holds safely, after it has made itself durable. What is too old there
    /// is so by the time that has surely passed.
    pub fn maintain(&self, now: Time) -> Result<(), Fault> {
        self.log.commit();
        self.feed()?;
        self.core().keys.pass(now);
        let aged = self.age().pass(now);
        self.history.maintain(aged)?;
        self.log.release(self.history.applied());
        Ok(())
    }

    /// Has ages counted from a time that is known to have been.
    pub(crate) fn begin_age(&self, known: Option<Time>) {
        *self.age() = Steady::new(known, AGE_STEP_NANOS_MAX);
    }

    fn age(&self) -> MutexGuard<'_, Steady> {
        self.age.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ready once something waits for [`Hub::feed`]; wakes `cx` then.
    pub fn poll_feed(&self, cx: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        let offered = self.feeder().offered;
        self.log
            .poll_committed(offered.next(), cx)
            .map_err(Fault::Log)
    }
}
