//! What the hub asks of a log; `crates/log` is the one on local disk.

use crate::record::Record;
use crate::shared::Shared;
use std::fmt;
use std::task::{Context, Poll};
use weir_model::{Cursor, Time};

/// An append-only sequence of records, of which one end is in memory and the rest on disk.
///
/// `append` orders; it does not wait. What was appended is at once in the *live* tail, and in the
/// *committed* tail once it is where a crash cannot reach it.
pub trait Log: Send + Sync {
    /// Puts a record behind the last one and says its cursor.
    ///
    /// Refuses with [`LogFault::Busy`] where too much waits for the disk already, and for ever after
    /// a write or sync has failed.
    fn append(&self, record: &Record<'_>) -> Result<Cursor, LogFault>;

    /// Bytes of records that would be appended now without [`LogFault::Busy`].
    fn room(&self) -> usize {
        usize::MAX
    }

    /// Asks that what was appended be committed. Appending does not ask by itself, so that a message can
    /// go out to live subscribers before the disk takes the processor; waiting
    /// ([`Log::poll_committed`]) does, and so does an implementation that holds much.
    fn commit(&self);

    /// Cursor of the last record appended; `Cursor::new(epoch, 0)`-like in an empty log.
    fn head(&self) -> Cursor;

    /// Cursor of the last record that a crash cannot undo.
    fn committed(&self) -> Cursor;

    /// Ready once the record with this cursor is committed, or can no longer be; wakes `cx` then.
    fn poll_committed(&self, cursor: Cursor, cx: &mut Context<'_>) -> Poll<Result<(), LogFault>>;

    /// Ready once the log is taken up to this cursor, with `true`, or once it is known never to have come to it, with
    /// `false`; wakes `cx` then. A cursor ahead of what is taken is one of a log that others append to.
    fn poll_reached(&self, cursor: Cursor, cx: &mut Context<'_>) -> Poll<Result<bool, LogFault>> {
        self.poll_committed(cursor, cx).map_ok(|()| true)
    }

    /// Cursor before the oldest record kept: a read from here meets no gap.
    fn tail(&self) -> Cursor;

    /// Says whether a reader that last saw `cursor` can go on without missing anything.
    fn resume(&self, cursor: Cursor) -> Resume;

    /// A reader of the records after `from` (or after the tail, where `from` is older), up to the head
    /// as it moves, those not yet on disk included.
    fn read(&self, from: Cursor) -> Box<dyn LogReader>;

    /// Cursor before the oldest record that arrived at or after this time (Unix ns), roughly: at a
    /// segment's beginning.
    fn seek(&self, arrival_nanos: i64) -> Cursor;

    /// Roughly when the last record arrived that was there at the open, where that is known.
    fn newest_arrival(&self) -> Option<Time> {
        None
    }

    /// Visits the last record of each (kind, topic) of keyed kinds as of the last start, tombstones left
    /// out; records after the returned cursor must be read from the log.
    fn snapshot(&self, visit: &mut dyn FnMut(Record<'_>)) -> Result<Cursor, LogFault>;

    /// Lets retention drop what is at or before this cursor; nothing is dropped that was never released.
    fn release(&self, cursor: Cursor);

    /// Commits what waits, marks the end as clean, and refuses everything after.
    fn close(&self) -> Result<(), LogFault>;

    /// Why nothing is kept just now, where that is known; [`LogFault`] tells each publisher of its own message.
    fn trouble(&self) -> Option<String> {
        None
    }

    /// How many damages were found in it, at the start and since; each is told in the gateway's log.
    fn damage(&self) -> u64 {
        0
    }

    /// Notes, before anything is appended, that there were records up to a cursor of an epoch that has ended: they
    /// are gone, and nobody is given their places.
    fn cover(&self, _cursor: Cursor) -> Result<(), LogFault> {
        Err(LogFault::Failed("records that were in it are gone".into()))
    }

    /// What it can do where other gateways append to it too; then [`Log::append`] refuses.
    fn shared(&self) -> Option<&dyn Shared> {
        None
    }
}

/// Reads a log forward.
pub trait LogReader: Send {
    /// The next record, or `None` at the head for now. Its bytes are lent until the next call.
    ///
    /// [`LogFault::Damaged`] is told once for each hole that is met; the next call goes on behind it.
    fn next(&mut self) -> Result<Option<(Cursor, Record<'_>)>, LogFault>;

    /// Ready once the next record, or that there is none, can be told without waiting; wakes `cx` then.
    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }
}

/// The answer to a client that comes back with a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resume {
    /// Nothing is missing: read on from this cursor (the same position, named by the latest epoch that
    /// had begun there, so that cursors compare as positions do).
    From(Cursor),
    /// Something is missing: why, how many records where known, and the cursor to read on from.
    Gap(Gap, Cursor),
}

/// Records that a subscriber did not get and will not get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Why.
    pub reason: GapReason,
    /// How many records, where known.
    pub count: Option<u64>,
}

/// Why records are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GapReason {
    /// They were delivered live, never acknowledged, and undone by a crash.
    Rollback,
    /// They were dropped by retention.
    Retention,
    /// The subscriber was slower than its policy allows.
    Policy,
    /// The cursor is not of this log.
    Foreign,
    /// The disk no longer gives them back.
    Damage,
}

impl GapReason {
    /// The word on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            GapReason::Rollback => "rollback",
            GapReason::Retention => "retention",
            GapReason::Policy => "policy",
            GapReason::Foreign => "foreign",
            GapReason::Damage => "damage",
        }
    }
}

/// Why the log refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogFault {
    /// Too many bytes wait for the disk: try again later.
    Busy,
    /// The record is longer than a record may be.
    OverLimit {
        /// The most bytes it may have.
        limit: usize,
    },
    /// The disk is full or over its quota, or there is no file left to open: nothing more is acknowledged until
    /// there is room.
    Full(String),
    /// A write or sync failed: nothing more is acknowledged until a restart.
    Failed(String),
    /// Some records cannot be read any more: which file, and which bytes of it.
    Damaged(String),
    /// Whoever keeps the log cannot be reached, or did not say in time that a record is kept: it may be.
    Unavailable(String),
    /// The log was closed.
    Closed,
}

impl fmt::Display for LogFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LogFault::Busy => f.write_str("the disk is behind: try again later"),
            LogFault::OverLimit { limit } => write!(f, "a record over the limit of {limit} bytes"),
            LogFault::Full(cause) => write!(
                f,
                "nothing can be written now, and nothing was stored: {cause}"
            ),
            LogFault::Failed(cause) => write!(f, "the log cannot be written any more: {cause}"),
            LogFault::Damaged(what) => write!(f, "records are lost: {what}"),
            LogFault::Unavailable(cause) => write!(f, "the log cannot be reached: {cause}"),
            LogFault::Closed => f.write_str("the gateway is stopping"),
        }
    }
}

impl std::error::Error for LogFault {}
