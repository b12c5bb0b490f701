//! The log as the hub sees it.

use crate::commit::Committer;
use crate::limits::{SEGMENT_BYTES_MIN, UNASKED_BYTES_MAX};
use crate::options::Options;
use crate::reader::Reader;
use crate::recovery::{self, OpenFault, Recovery};
use crate::retention;
use crate::tail::{Batch, Shared, State, Tail};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, RwLock};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, JoinHandle, Thread};
use weir_disk::Disk;
use weir_model::{Cursor, Time};
use weir_storage::AGE_STEP_NANOS_MAX;
use weir_storage::{Log, LogFault, LogReader, Record, Resume, Steady};

/// The append-only log in one directory; dropped without [`Log::close`] it ends as in a crash, but
/// for the directory's lock.
pub struct DiskLog {
    shared: Arc<Shared>,
    recovery: Recovery,
    thread: Mutex<Option<JoinHandle<()>>>,
    _lock: Box<dyn Send + Sync>,
}

/// What an operator watches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Number of segments.
    pub segments: usize,
    /// Bytes of records in them.
    pub stored_bytes: u64,
    /// Bytes that wait for the disk.
    pub pending_bytes: usize,
    /// Why appends are refused, where they are.
    pub fault: Option<LogFault>,
    /// Holes that readers came upon in segments.
    pub holes: usize,
    /// Why retention could not drop what is due.
    pub retention_fault: Option<String>,
}

impl DiskLog {
    /// Opens the log in a directory, or begins one.
    pub fn open(disk: Arc<dyn Disk>, options: Options) -> Result<Self, OpenFault> {
        let segment_bytes = options.segment_bytes.max(SEGMENT_BYTES_MIN);
        let options = Options {
            segment_bytes,
            ..options
        };
        let opened = recovery::open(&disk, &options)?;
        let newest = opened
            .segments
            .back()
            .map(|segment| Time::from_nanos(segment.header.first_arrival));
        let tail = Tail {
            state: State::Open,
            epoch: opened.epochs.current(),
            opened_at: opened.head,
            head: opened.head,
            committed: opened.head,
            pending: Batch {
                base: opened.end,
                ..Batch::default()
            },
            inflight: None,
            segments: opened.segments,
            marks: recovery::first_mark(opened.head, opened.end),
            released: 0,
            age: Steady::new(newest, AGE_STEP_NANOS_MAX),
            waiters: Vec::new(),
            idle: false,
            nudged: false,
            retention_fault: None,
        };
        let shared = Arc::new(Shared {
            options,
            epochs: RwLock::new(opened.epochs),
            damage: AtomicU64::new(opened.recovery.damage.len() as u64),
            tail: Mutex::new(tail),
            work: Condvar::new(),
            folding: Mutex::new(()),
            disk,
        });
        let committer = Committer::new(Arc::clone(&shared), opened.active);
        let thread = thread::Builder::new().name("weir-log".into());
        let thread = thread
            .spawn(move || committer.run())
            .map_err(|error| OpenFault::Disk {
                place: shared.disk.place(),
                doing: "starting the log's thread",
                error,
            })?;
        let thread = Mutex::new(Some(thread));
        Ok(Self {
            shared,
            recovery: opened.recovery,
            thread,
            _lock: opened.lock,
        })
    }

    /// What the open found.
    pub fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    /// What an operator watches.
    pub fn status(&self) -> Status {
        let tail = self.shared.tail();
        Status {
            segments: tail.segments.len(),
            stored_bytes: tail.segments.iter().map(|segment| segment.bytes).sum(),
            pending_bytes: tail.pending.bytes.len(),
            holes: tail
                .segments
                .iter()
                .map(|segment| segment.holes.len())
                .sum(),
            fault: tail.state.fault(),
            retention_fault: tail.retention_fault.clone(),
        }
    }

    /// Blocks until the record with this cursor is committed, or can no longer be.
    pub fn wait_committed(&self, cursor: Cursor) -> Result<(), LogFault> {
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        let mut cx = Context::from_waker(&waker);
        loop {
            match self.poll_committed(cursor, &mut cx) {
                Poll::Ready(done) => return done,
                Poll::Pending => thread::park(),
            }
        }
    }

    /// Tells the log's thread, if it sleeps; to be called after the lock is given back.
    fn nudge(&self, idle: bool) {
        if idle {
            self.shared.work.notify_one();
        }
    }

    fn end_thread(&self) {
        self.shared.work.notify_one();
        let thread = self
            .thread
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        // A panic of the thread was printed; the state that it left says what it means.
        thread.into_iter().for_each(|thread| drop(thread.join()));
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl Log for DiskLog {
    fn append(&self, record: &Record<'_>) -> Result<Cursor, LogFault> {
        let mut tail = self.shared.tail();
        let appended = tail.append(record, self.shared.options.pending_bytes_max);
        let idle = tail.idle && (tail.nudged || tail.pending.bytes.len() >= UNASKED_BYTES_MAX);
        drop(tail);
        self.nudge(idle);
        appended
    }

    fn room(&self) -> usize {
        let waiting = self.shared.tail().pending.bytes.len();
        self.shared
            .options
            .pending_bytes_max
            .saturating_sub(waiting)
    }

    fn head(&self) -> Cursor {
        self.shared.epochs().cursor(self.shared.tail().head)
    }

    fn committed(&self) -> Cursor {
        self.shared.epochs().cursor(self.shared.tail().committed)
    }

    fn commit(&self) {
        let tail = self.shared.tail();
        let idle = tail.idle && tail.committed < tail.head;
        drop(tail);
        self.nudge(idle);
    }

    fn poll_committed(&self, cursor: Cursor, cx: &mut Context<'_>) -> Poll<Result<(), LogFault>> {
        let mut tail = self.shared.tail();
        let polled = tail.poll_committed(cursor.sequence(), cx);
        let idle = tail.idle && polled.is_pending() && tail.committed < tail.head;
        drop(tail);
        self.nudge(idle);
        polled
    }

    fn tail(&self) -> Cursor {
        self.shared
            .epochs()
            .cursor(self.shared.tail().before_first())
    }

    fn resume(&self, cursor: Cursor) -> Resume {
        let tail = self.shared.tail();
        let (first, head) = (tail.before_first(), tail.head);
        drop(tail);
        self.shared.epochs().resume(cursor, first, head)
    }

    fn read(&self, from: Cursor) -> Box<dyn LogReader> {
        Box::new(Reader::new(Arc::clone(&self.shared), from.sequence()))
    }

    fn seek(&self, arrival_nanos: i64) -> Cursor {
        let tail = self.shared.tail();
        let later = |index: &usize| tail.segments[*index].header.first_arrival >= arrival_nanos;
        let index = (0..tail.segments.len())
            .find(later)
            .unwrap_or(tail.segments.len());
        let before = index
            .checked_sub(1)
            .map(|index| tail.segments[index].header.first);
        let sequence = before.map_or(tail.before_first(), |first| first.sequence() - 1);
        drop(tail);
        self.shared.epochs().cursor(sequence)
    }

    fn newest_arrival(&self) -> Option<Time> {
        let tail = self.shared.tail();
        let newest = tail.segments.back()?;
        Some(Time::from_nanos(newest.header.first_arrival))
    }

    fn snapshot(&self, visit: &mut dyn FnMut(Record<'_>)) -> Result<Cursor, LogFault> {
        let _alone = self
            .shared
            .folding
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let fail = |error| LogFault::Failed(format!("reading the snapshot: {error}"));
        let mut folded = retention::mended(&self.shared).map_err(fail)?;
        let opened_at = self.shared.tail().opened_at;
        let mut reader = Reader::new(Arc::clone(&self.shared), 0);
        loop {
            match reader.next() {
                Ok(Some((cursor, record))) if cursor.sequence() <= opened_at => {
                    folded.take(&record);
                }
                Err(LogFault::Damaged(_)) => {}
                Ok(_) => break,
                Err(fault) => return Err(fault),
            }
        }
        folded.visit(visit);
        Ok(self.shared.epochs().cursor(opened_at))
    }

    fn release(&self, cursor: Cursor) {
        let mut tail = self.shared.tail();
        tail.released = tail.released.max(cursor.sequence().min(tail.head));
        tail.nudged |= tail.segments.len() > 1;
        let idle = tail.idle && tail.nudged;
        drop(tail);
        self.nudge(idle);
    }

    fn damage(&self) -> u64 {
        self.shared.damage.load(Ordering::Relaxed)
    }

    fn cover(&self, cursor: Cursor) -> Result<(), LogFault> {
        let epochs = &self.shared.epochs;
        let mut epochs = epochs.write().unwrap_or_else(PoisonError::into_inner);
        let mut tail = self.shared.tail();
        let sequence = cursor.sequence();
        if sequence <= tail.head {
            return Ok(());
        }
        if tail.head > tail.opened_at {
            return Err(LogFault::Failed("records were appended already".into()));
        }
        epochs.cover_cursor(cursor);
        let stored = epochs.store(&*self.shared.disk);
        stored.map_err(|error| LogFault::Failed(format!("writing epochs: {error}")))?;
        let first = tail.head + 1;
        (tail.head, tail.committed, tail.opened_at) = (sequence, sequence, sequence);
        tail.marks = recovery::first_mark(sequence, tail.end());
        drop(tail);
        let what = format!("records {first} to {sequence}, which the history has, are gone");
        self.shared.tell(&what);
        Ok(())
    }

    fn trouble(&self) -> Option<String> {
        self.shared.tail().state.fault().map(|it| it.to_string())
    }

    fn close(&self) -> Result<(), LogFault> {
        let mut tail = self.shared.tail();
        if matches!(tail.state, State::Open | State::Full(_)) {
            tail.state = State::Closing;
        }
        drop(tail);
        self.end_thread();
        let mut tail = self.shared.tail();
        match tail.state.clone() {
            State::Full(cause) => {
                tail.state = State::Closed;
                Err(LogFault::Full(cause))
            }
            State::Failed(cause) => Err(LogFault::Failed(cause)),
            State::Open | State::Closing | State::Closed => Ok(()),
        }
    }
}

impl Drop for DiskLog {
    fn drop(&mut self) {
        let mut tail = self.shared.tail();
        if matches!(tail.state, State::Open | State::Full(_) | State::Closing) {
            tail.state = State::Closed;
        }
        drop(tail);
        self.end_thread();
    }
}
