//! The log's one thread: it takes what waits, writes, syncs, wakes, and starts again.
//!
//! There is no batching timer. While one sync runs, the next batch gathers; so a lone writer does not
//! wait and many share a sync. A write that finds no room is tried again with the same bytes at the
//! same place, so nothing un-happens; a sync that fails is never tried again, since the system may
//! have dropped what it could not write.

use crate::active::Active;
use crate::limits::{FULL_RETRY_MS, SPARE_BYTES_MAX};
use crate::recovery;
use crate::segment::{self, HEADER_BYTES, Header, Segment};
use crate::tail::{Batch, Inflight, Shared, State, Tail};
use std::io;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;
use weir_disk::{is_full, is_out_of_files};

/// Why a batch is not on the disk.
enum Fault {
    /// There is no room now, or no file to open.
    Full(io::Error),
    /// Nothing may be acknowledged any more.
    Failed(io::Error),
}

impl Fault {
    fn of_write(error: io::Error) -> Self {
        if is_full(&error) {
            Fault::Full(error)
        } else {
            Fault::of_open(error)
        }
    }

    /// Where nothing was opened, nothing can have gone wrong with what is in it.
    fn of_open(error: io::Error) -> Self {
        if is_out_of_files(&error) {
            Fault::Full(error)
        } else {
            Fault::Failed(error)
        }
    }

    fn into_error(self) -> io::Error {
        match self {
            Fault::Full(error) | Fault::Failed(error) => error,
        }
    }
}

/// What the thread does next.
enum Work {
    Write(Written),
    Retain,
    Close,
    Stop,
}

/// A batch taken to be written, and the sequence of its last record.
struct Written {
    batch: Batch,
    shared: Inflight,
    last: u64,
}

/// The thread's own.
pub(crate) struct Committer {
    shared: Arc<Shared>,
    active: Option<Active>,
    spare: Vec<u8>,
    wakers: Vec<Waker>,
}

impl Committer {
    pub(crate) fn new(shared: Arc<Shared>, active: Option<Active>) -> Self {
        Self {
            shared,
            active,
            spare: Vec::new(),
            wakers: Vec::new(),
        }
    }

    /// Runs until the log is closed, dropped or failed.
    pub(crate) fn run(mut self) {
        loop {
            let goes_on = match self.next_work() {
                Work::Write(written) => self.commit(written),
                Work::Retain => {
                    crate::retention::run(&self.shared);
                    true
                }
                Work::Close => {
                    self.close();
                    false
                }
                Work::Stop => false,
            };
            if !goes_on {
                return self.wake();
            }
        }
    }

    fn next_work(&mut self) -> Work {
        let shared = Arc::clone(&self.shared);
        let mut tail = shared.tail();
        loop {
            if matches!(tail.state, State::Closed | State::Failed(_)) {
                return Work::Stop;
            }
            if !tail.pending.bytes.is_empty() {
                return Work::Write(self.take_batch(&mut tail));
            }
            if std::mem::take(&mut tail.nudged) {
                return Work::Retain;
            }
            if tail.state == State::Closing {
                return Work::Close;
            }
            tail = sleep(&shared, tail, None);
        }
    }

    fn take_batch(&mut self, tail: &mut Tail) -> Written {
        let end = tail.end();
        let next = Batch {
            bytes: std::mem::take(&mut self.spare),
            base: end,
            ..Batch::default()
        };
        let mut batch = std::mem::replace(&mut tail.pending, next);
        let bytes = Arc::new(std::mem::take(&mut batch.bytes));
        let shared = Inflight {
            bytes,
            base: batch.base,
        };
        tail.inflight = Some(shared.clone());
        Written {
            batch,
            shared,
            last: tail.head,
        }
    }

    /// Writes until it succeeds; says whether there is anything left to live for.
    fn commit(&mut self, written: Written) -> bool {
        loop {
            match self.write(&written) {
                Ok(()) => break,
                Err(Fault::Failed(error)) => {
                    self.shared.tail().state = State::Failed(error.to_string());
                    return false;
                }
                Err(Fault::Full(error)) => {
                    if !self.wait_for_room(&error) {
                        return false;
                    }
                }
            }
        }
        let rolled = self.acknowledge(written);
        self.wake();
        if rolled {
            crate::retention::run(&self.shared);
        }
        true
    }

    /// Says to all that there is no room, and sleeps until it is worth another attempt.
    fn wait_for_room(&mut self, error: &io::Error) -> bool {
        let mut tail = self.shared.tail();
        if matches!(tail.state, State::Closing | State::Closed) {
            tail.state = State::Full(error.to_string());
            return false;
        }
        tail.state = State::Full(error.to_string());
        tail.take_waiters(&mut self.wakers);
        drop(tail);
        self.wake();
        let mut tail = self.shared.tail();
        if !tail.nudged && matches!(tail.state, State::Full(_)) {
            tail = sleep(
                &self.shared,
                tail,
                Some(Duration::from_millis(FULL_RETRY_MS)),
            );
        }
        tail.nudged = false;
        tail.state != State::Closed
    }

    /// Moves the committed end; says whether the segment is one that this batch began.
    fn acknowledge(&mut self, written: Written) -> bool {
        let mut tail = self.shared.tail();
        tail.committed = written.last;
        tail.inflight = None;
        if let State::Full(_) = tail.state {
            tail.state = State::Open;
        }
        let mut rolled = false;
        if let Some(segment) = tail.segments.back_mut() {
            rolled = segment.bytes == 0;
            segment.bytes += written.shared.bytes.len() as u64;
            segment.keyed |= written.batch.keyed;
        }
        tail.take_waiters(&mut self.wakers);
        drop(tail);
        let unshared = Arc::try_unwrap(written.shared.bytes).ok();
        if let Some(mut bytes) = unshared.filter(|bytes| bytes.capacity() <= SPARE_BYTES_MAX) {
            bytes.clear();
            self.spare = bytes;
        }
        rolled
    }

    fn wake(&mut self) {
        let mut tail = self.shared.tail();
        tail.take_waiters(&mut self.wakers);
        drop(tail);
        self.wakers.drain(..).for_each(Waker::wake);
    }

    fn write(&mut self, written: &Written) -> Result<(), Fault> {
        let bytes = &written.shared.bytes[..];
        let segment_bytes = self.shared.options.segment_bytes;
        let fits = |active: &Active| {
            let is_next = active.next == written.batch.first.sequence();
            let has_room = active.end + bytes.len() as u64 <= segment_bytes;
            is_next && (active.end == HEADER_BYTES || has_room)
        };
        if !self.active.as_ref().is_some_and(fits) {
            self.seal()?;
            self.create(written)?;
        }
        let Some(active) = &mut self.active else {
            return Ok(());
        };
        let end = active.end + bytes.len() as u64;
        if end > active.allocated {
            let enough = end.max(segment_bytes);
            active.file.preallocate(enough).map_err(Fault::of_write)?;
            active.allocated = enough;
        }
        active
            .file
            .write_all_at(bytes, active.end)
            .map_err(Fault::of_write)?;
        active.file.sync_data().map_err(Fault::Failed)?;
        (active.end, active.next) = (end, written.last + 1);
        Ok(())
    }

    /// Cuts the zeros behind the last frame, so that the segment ends where its frames do.
    fn seal(&mut self) -> Result<(), Fault> {
        let Some(active) = &self.active else {
            return Ok(());
        };
        active.file.set_len(active.end).map_err(Fault::Failed)?;
        active.file.sync_data().map_err(Fault::Failed)?;
        self.active = None;
        Ok(())
    }

    fn create(&mut self, written: &Written) -> Result<(), Fault> {
        let batch = &written.batch;
        let header = Header {
            first: batch.first,
            first_arrival: batch.first_arrival,
            has_batches: true,
        };
        let name = segment::name_of(header.first);
        let enough = HEADER_BYTES + written.shared.bytes.len() as u64;
        let allocated = enough.max(self.shared.options.segment_bytes);
        let disk = &*self.shared.disk;
        let made = disk.create(&name).and_then(|file| {
            file.preallocate(allocated)?;
            file.write_all_at(&header.write(), 0)?;
            Ok(file)
        });
        let file = made.map_err(|error| {
            // What remains of it is emptied at the next attempt, or removed at the next open.
            let _gone_or_never_there = disk.remove(&name);
            Fault::of_write(error)
        })?;
        file.sync_data().map_err(Fault::Failed)?;
        disk.sync_dir().map_err(Fault::of_open)?;
        self.active = Some(Active {
            file,
            end: HEADER_BYTES,
            allocated,
            next: batch.first.sequence(),
        });
        self.shared.tail().segments.push_back(Segment {
            holes: Vec::new(),
            name,
            header,
            has_header: true,
            base: batch.base,
            bytes: 0,
            marks: None,
            keyed: false,
        });
        Ok(())
    }

    fn close(&mut self) {
        let head = self.shared.tail().head;
        let sealed = self.seal().map_err(Fault::into_error);
        let marked = sealed.and_then(|()| recovery::mark_clean(&*self.shared.disk, head));
        self.shared.tail().state = match marked {
            Ok(()) => State::Closed,
            Err(error) => State::Failed(error.to_string()),
        };
    }
}

/// Gives the lock back until there is work, or for this long at most.
fn sleep<'a>(
    shared: &'a Shared,
    mut tail: MutexGuard<'a, Tail>,
    most: Option<Duration>,
) -> MutexGuard<'a, Tail> {
    tail.idle = true;
    let work = &shared.work;
    let mut tail = match most {
        None => work.wait(tail).unwrap_or_else(PoisonError::into_inner),
        Some(most) => {
            work.wait_timeout(tail, most)
                .unwrap_or_else(PoisonError::into_inner)
                .0
        }
    };
    tail.idle = false;
    tail
}
