//! Reading the log forward, from files and from what waits for the disk.
//!
//! A reader is a logical offset with a buffer. It holds the file it reads, so that retention cannot
//! take it away; where retention overtakes it by a whole segment, the sequence of cursors jumps.

use crate::disk::{DiskFile, read_full};
use crate::frame::{HEAD_BYTES, Parsed, parse};
use crate::limits::{COPY_BYTES_MAX, READ_BYTES};
use crate::segment::{self, HEADER_BYTES, Segment};
use crate::tail::{Shared, Tail};
use std::io;
use std::ops::Range;
use std::sync::Arc;
use weir_hub::{LogFault, LogReader, Record};
use weir_model::Cursor;

/// A position in the log with the bytes around it.
pub(crate) struct Reader {
    shared: Arc<Shared>,
    /// Sequence of the last record that the reader's owner has.
    after: u64,
    /// Logical offset of the next frame.
    at: u64,
    bytes: Bytes,
    /// Where in `bytes` the next frame begins.
    within: usize,
    open: Option<Open>,
    /// Logical begin and end of the segment that is open.
    segment: Range<u64>,
}

/// A segment's file.
struct Open {
    name: String,
    file: Box<dyn DiskFile>,
}

/// Where the bytes at hand came from.
enum Bytes {
    File(Vec<u8>),
    Copy(Vec<u8>),
    Inflight(Arc<Vec<u8>>),
}

impl Bytes {
    fn get(&self) -> &[u8] {
        match self {
            Bytes::File(bytes) | Bytes::Copy(bytes) => bytes,
            Bytes::Inflight(bytes) => bytes,
        }
    }

    /// The reader's own buffer, or a new one in the place of a shared one.
    fn take_own(&mut self) -> Vec<u8> {
        match std::mem::replace(self, Bytes::Copy(Vec::new())) {
            Bytes::File(bytes) | Bytes::Copy(bytes) => bytes,
            Bytes::Inflight(_) => Vec::new(),
        }
    }
}

impl Reader {
    /// A reader of the records after the one with this sequence.
    pub(crate) fn new(shared: Arc<Shared>, after: u64) -> Self {
        // A cursor beyond the head, which is of another log, must not hide what is appended next.
        let after = after.min(shared.tail().head);
        let at = position(&shared, after);
        let bytes = Bytes::Copy(Vec::new());
        Self {
            shared,
            after,
            at,
            bytes,
            within: 0,
            open: None,
            segment: 0..0,
        }
    }

    /// Brings at least `need` bytes from `self.at` on to hand; `false` at the head.
    fn refill(&mut self, need: usize) -> Result<bool, LogFault> {
        loop {
            if let Some(ready) = self.try_refill(need)? {
                return Ok(ready);
            }
        }
    }

    /// The same; `None` where retention removed the segment between finding and opening it.
    fn try_refill(&mut self, need: usize) -> Result<Option<bool>, LogFault> {
        let shared = Arc::clone(&self.shared);
        let tail = shared.tail();
        if self.at >= tail.end() {
            return Ok(Some(false));
        }
        if self.at >= tail.pending.base {
            self.copy_pending(&tail, need);
            return Ok(Some(true));
        }
        if let Some(inflight) = tail.inflight.as_ref().filter(|it| self.at >= it.base) {
            self.within = (self.at - inflight.base) as usize;
            self.bytes = Bytes::Inflight(Arc::clone(&inflight.bytes));
            return Ok(Some(true));
        }
        let first = tail
            .segments
            .front()
            .map_or(self.at, |segment| segment.base);
        if self.at < first && self.open.is_some() && self.segment.contains(&self.at) {
            // Dropped, but the file is still in hand.
            drop(tail);
            return self.read_file(need).map(Some);
        }
        self.at = self.at.max(first);
        let passed = tail
            .segments
            .partition_point(|segment| segment.end() <= self.at);
        let Some(segment) = tail.segments.get(passed).cloned() else {
            return Ok(Some(false));
        };
        drop(tail);
        if self.open.is_none() || self.segment.start != segment.base {
            self.open = match shared.disk.open(&segment.name) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => return Err(reading(&segment.name, &error)),
                Ok(file) => Some(Open {
                    name: segment.name.clone(),
                    file,
                }),
            };
        }
        self.segment = segment.base..segment.end();
        match self.open {
            None if self.is_kept(&segment) => {
                self.at = segment.end();
                let fault = format!("{} is missing: restore a backup", segment.name);
                Err(LogFault::Failed(fault))
            }
            None => Ok(None),
            Some(_) => self.read_file(need).map(Some),
        }
    }

    fn is_kept(&self, segment: &Segment) -> bool {
        let tail = self.shared.tail();
        tail.segments.iter().any(|kept| kept.base == segment.base)
    }

    fn copy_pending(&mut self, tail: &Tail, need: usize) {
        let from = (self.at - tail.pending.base) as usize;
        let rest = &tail.pending.bytes[from..];
        let mut own = self.bytes.take_own();
        own.clear();
        own.extend_from_slice(&rest[..rest.len().min(need.max(COPY_BYTES_MAX))]);
        self.bytes = Bytes::Copy(own);
        self.within = 0;
    }

    /// Reads on in the open segment.
    fn read_file(&mut self, need: usize) -> Result<bool, LogFault> {
        let Some(open) = &self.open else {
            return Ok(false);
        };
        let rest = (self.segment.end - self.at) as usize;
        let mut own = self.bytes.take_own();
        own.resize(rest.min(need.max(READ_BYTES)), 0);
        let offset = HEADER_BYTES + self.at - self.segment.start;
        let filled = read_full(&*open.file, &mut own, offset)
            .map_err(|error| reading(&open.name, &error))?;
        own.truncate(filled);
        self.bytes = Bytes::File(own);
        self.within = 0;
        if filled >= need {
            Ok(true)
        } else {
            Err(self.damaged())
        }
    }

    /// Says what is wrong here, and goes on behind the segment at the next call.
    fn damaged(&mut self) -> LogFault {
        let byte = HEADER_BYTES + self.at - self.segment.start;
        let name = self.open.as_ref().map_or("a segment", |open| &open.name);
        let fault = format!("{name} is damaged at byte {byte}: the checksum does not match");
        self.at = self.segment.end;
        self.bytes = Bytes::Copy(Vec::new());
        self.within = 0;
        LogFault::Failed(fault)
    }

    /// Where in the bytes at hand the next record lies.
    fn next_frame(&mut self) -> Result<Option<(Cursor, Range<usize>)>, LogFault> {
        loop {
            let from_disk = matches!(self.bytes, Bytes::File(_));
            match parse(&self.bytes.get()[self.within..], from_disk) {
                Parsed::Frame(cursor, total) => {
                    let start = self.within;
                    self.within += total;
                    self.at += total as u64;
                    if cursor.sequence() > self.after {
                        self.after = cursor.sequence();
                        return Ok(Some((cursor, start + HEAD_BYTES..self.within)));
                    }
                }
                Parsed::Bad => return Err(self.damaged()),
                Parsed::Short(need) => {
                    if !self.refill(need)? {
                        return Ok(None);
                    }
                }
            }
        }
    }
}

impl LogReader for Reader {
    fn next(&mut self) -> Result<Option<(Cursor, Record<'_>)>, LogFault> {
        let Some((cursor, range)) = self.next_frame()? else {
            return Ok(None);
        };
        match Record::read(&self.bytes.get()[range]) {
            Ok(record) => Ok(Some((cursor, record))),
            Err(error) => Err(LogFault::Failed(format!("record {cursor}: {error}"))),
        }
    }
}

fn reading(name: &str, error: &io::Error) -> LogFault {
    LogFault::Failed(format!("reading {name}: {error}"))
}

/// Logical offset at or before the first record after this sequence.
fn position(shared: &Shared, after: u64) -> u64 {
    let tail = shared.tail();
    if after >= tail.head {
        return tail.end();
    }
    let live = tail
        .marks
        .partition_point(|mark| mark.sequence <= after + 1);
    if let Some(mark) = live.checked_sub(1) {
        return tail.marks[mark].at;
    }
    let begun = |segment: &Segment| segment.header.first.sequence() <= after + 1;
    let Some(index) = tail.segments.partition_point(begun).checked_sub(1) else {
        return tail
            .segments
            .front()
            .map_or(tail.end(), |segment| segment.base);
    };
    let found = tail.segments[index].clone();
    if let Some(marks) = &found.marks {
        return segment::seek(marks, after + 1).unwrap_or(found.base);
    }
    drop(tail);
    index_segment(shared, &found, after + 1)
}

/// Reads a segment of an earlier run once, so that later seeks find their place.
fn index_segment(shared: &Shared, found: &Segment, sequence: u64) -> u64 {
    let scanned = shared
        .disk
        .open(&found.name)
        .and_then(|file| segment::scan(&*file, &found.header, found.base));
    // What cannot be read is told to who reads it.
    let Ok(scan) = scanned else { return found.base };
    let at = segment::seek(&scan.marks, sequence).unwrap_or(found.base);
    let mut tail = shared.tail();
    let known = tail
        .segments
        .iter_mut()
        .find(|segment| segment.base == found.base);
    known
        .into_iter()
        .for_each(|segment| segment.marks = Some(scan.marks.clone()));
    at
}
