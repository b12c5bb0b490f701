//! The end of the log that is in memory, and what all threads share.
//!
//! One short lock guards it: an append encodes under it, a reader copies under it or takes a share of
//! the batch that is on its way to the disk.

use crate::epochs::Epochs;
use crate::frame;
use crate::limits::{MARK_BYTES, RECORD_BYTES_MAX};
use crate::options::Options;
use crate::segment::{Mark, Segment};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::task::{Context, Poll, Waker};
use weir_disk::Disk;
use weir_model::Cursor;
use weir_storage::{LogFault, Record, Steady};

/// What the log, its readers and its thread share.
pub(crate) struct Shared {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) options: Options,
    pub(crate) epochs: RwLock<Epochs>,
    pub(crate) tail: Mutex<Tail>,
    /// What was found damaged since the start, and at it.
    pub(crate) damage: AtomicU64,
    /// Told when there is something for the log's thread to do.
    pub(crate) work: Condvar,
    /// Held while segments are folded or read for a snapshot.
    pub(crate) folding: Mutex<()>,
}

impl Shared {
    pub(crate) fn epochs(&self) -> RwLockReadGuard<'_, Epochs> {
        self.epochs.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a damage and says what it is in the gateway's log.
    pub(crate) fn tell(&self, sentence: &str) {
        self.damage.fetch_add(1, Ordering::Relaxed);
        let place = self.disk.place();
        tracing::error!(%place, "the log is DAMAGED: {sentence}");
    }

    pub(crate) fn tail(&self) -> MutexGuard<'_, Tail> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end of the log.
pub(crate) struct Tail {
    pub(crate) state: State,
    pub(crate) epoch: u16,
    /// Sequence of the last record as of the open.
    pub(crate) opened_at: u64,
    /// Sequence of the last record appended.
    pub(crate) head: u64,
    /// Sequence of the last record committed.
    pub(crate) committed: u64,
    pub(crate) pending: Batch,
    /// The batch on its way to the disk; its bytes lie before `pending`'s.
    pub(crate) inflight: Option<Inflight>,
    pub(crate) segments: VecDeque<Segment>,
    /// Of what was appended since the open, whatever segment it lies in.
    pub(crate) marks: VecDeque<Mark>,
    /// Sequence up to which retention may drop.
    pub(crate) released: u64,
    /// What ages of records are counted from, by their arrivals.
    pub(crate) age: Steady,
    pub(crate) waiters: Vec<Waiter>,
    /// The log's thread sleeps and must be woken.
    pub(crate) idle: bool,
    /// Appends are asked for although the disk was full, or something was released.
    pub(crate) nudged: bool,
    pub(crate) retention_fault: Option<String>,
}

/// Frames in memory.
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) bytes: Vec<u8>,
    /// Logical offset of the first.
    pub(crate) base: u64,
    pub(crate) first: Cursor,
    pub(crate) first_arrival: i64,
    pub(crate) keyed: bool,
}

/// A batch that the log's thread writes and readers read at the same time.
#[derive(Clone)]
pub(crate) struct Inflight {
    pub(crate) bytes: Arc<Vec<u8>>,
    pub(crate) base: u64,
}

/// Whether appends are taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Open,
    /// The disk has no room for what waits.
    Full(String),
    /// For ever.
    Failed(String),
    /// Commits what waits, then ends.
    Closing,
    Closed,
}

impl State {
    /// Why nothing is written, where that is so.
    pub(crate) fn fault(&self) -> Option<LogFault> {
        match self {
            Self::Open | Self::Closing => None,
            Self::Full(cause) => Some(LogFault::Full(cause.clone())),
            Self::Failed(cause) => Some(LogFault::Failed(cause.clone())),
            Self::Closed => Some(LogFault::Closed),
        }
    }
}

/// Someone who waits for a commit.
pub(crate) struct Waiter {
    sequence: u64,
    waker: Waker,
}

impl Tail {
    /// Logical offset behind the last record.
    pub(crate) fn end(&self) -> u64 {
        self.pending.base + self.pending.bytes.len() as u64
    }

    /// Sequence before the first record kept.
    pub(crate) fn before_first(&self) -> u64 {
        let first = self
            .segments
            .front()
            .map(|segment| segment.header.first.sequence());
        first.map_or(self.opened_at, |first| first - 1)
    }

    /// Puts a record behind the last one.
    pub(crate) fn append(
        &mut self,
        record: &Record<'_>,
        pending_bytes_max: usize,
    ) -> Result<Cursor, LogFault> {
        self.check_open()?;
        if self.pending.bytes.len() >= pending_bytes_max {
            return Err(LogFault::Busy);
        }
        let cursor = Cursor::new(self.epoch, self.head + 1);
        let pending = &mut self.pending;
        let start = frame::begin(&mut pending.bytes);
        record.write(&mut pending.bytes);
        if pending.bytes.len() - start - frame::HEAD_BYTES > RECORD_BYTES_MAX {
            pending.bytes.truncate(start);
            return Err(LogFault::OverLimit {
                limit: RECORD_BYTES_MAX,
            });
        }
        frame::end(&mut pending.bytes, start, cursor, start == 0);
        if start == 0 {
            pending.first = cursor;
            pending.first_arrival = record.arrival.nanos();
            pending.keyed = false;
        }
        pending.keyed |= record.kind.is_keyed();
        self.mark(cursor.sequence(), self.pending.base + start as u64);
        self.head = cursor.sequence();
        self.age.pass(record.arrival);
        Ok(cursor)
    }

    fn check_open(&mut self) -> Result<(), LogFault> {
        match &self.state {
            State::Open => Ok(()),
            State::Full(cause) => {
                self.nudged = true;
                Err(LogFault::Full(cause.clone()))
            }
            State::Failed(cause) => Err(LogFault::Failed(cause.clone())),
            State::Closing | State::Closed => Err(LogFault::Closed),
        }
    }

    fn mark(&mut self, sequence: u64, at: u64) {
        if self
            .marks
            .back()
            .is_none_or(|mark| at - mark.at >= MARK_BYTES)
        {
            self.marks.push_back(Mark { sequence, at });
        }
    }

    /// Ready once the sequence is committed, or cannot be; else `cx` is woken then.
    pub(crate) fn poll_committed(
        &mut self,
        sequence: u64,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), LogFault>> {
        if sequence <= self.committed {
            return Poll::Ready(Ok(()));
        }
        match &self.state {
            State::Full(cause) => return Poll::Ready(Err(LogFault::Full(cause.clone()))),
            State::Failed(cause) => return Poll::Ready(Err(LogFault::Failed(cause.clone()))),
            State::Closed => return Poll::Ready(Err(LogFault::Closed)),
            State::Open | State::Closing => {}
        }
        // A task that is polled again most often stands among the last.
        let mut latest = self.waiters.iter().rev().take(8);
        let known =
            latest.any(|waiter| waiter.sequence == sequence && waiter.waker.will_wake(cx.waker()));
        if !known {
            self.waiters.push(Waiter {
                sequence,
                waker: cx.waker().clone(),
            });
        }
        Poll::Pending
    }

    /// Moves the wakers of those whose wait is over into `out`, which is to be woken outside the lock.
    pub(crate) fn take_waiters(&mut self, out: &mut Vec<Waker>) {
        let all = !matches!(self.state, State::Open | State::Closing);
        let committed = self.committed;
        let over = self
            .waiters
            .extract_if(.., |waiter| all || waiter.sequence <= committed);
        out.extend(over.map(|waiter| waiter.waker));
    }
}
