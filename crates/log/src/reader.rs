//! Reading the log forward, from files and from what waits for the disk.
//!
//! A reader is a logical offset with a buffer. It holds the file it reads, so that retention cannot
//! take it away; where retention overtakes it by a whole segment, the sequence of cursors jumps.

use crate::disk::{DiskFile, read_full};
use crate::frame::{HEAD_BYTES, Parsed, parse};
use crate::limits::{COPY_BYTES_MAX, READ_BYTES};
use crate::segment::{self, HEADER_BYTES, Segment};
use crate::tail::{Shared, Tail};
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
    /// The segment's logical begin and end, and its file.
    open: Option<(u64, Box<dyn DiskFile>)>,
    segment: Range<u64>,
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
        let shared = Arc::clone(&self.shared);
        let tail = shared.tail();
        if self.at >= tail.end() {
            return Ok(false);
        }
        if self.at >= tail.pending.base {
            self.copy_pending(&tail, need);
            return Ok(true);
        }
        if let Some(inflight) = tail.inflight.as_ref().filter(|it| self.at >= it.base) {
            self.within = (self.at - inflight.base) as usize;
            self.bytes = Bytes::Inflight(Arc::clone(&inflight.bytes));
            return Ok(true);
        }
        let first = tail
            .segments
            .front()
            .map_or(self.at, |segment| segment.base);
        self.at = self.at.max(first);
        let passed = tail
            .segments
            .partition_point(|segment| segment.end() <= self.at);
        let Some(segment) = tail.segments.get(passed) else {
            return Ok(false);
        };
        let name = segment.name.clone();
        self.segment = segment.base..segment.end();
        drop(tail);
        self.read_file(&name, need)
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

    fn read_file(&mut self, name: &str, need: usize) -> Result<bool, LogFault> {
        let base = self.segment.start;
        let fail = |error| LogFault::Failed(format!("reading {name}: {error}"));
        let file = match self.open.take().filter(|(open, _file)| *open == base) {
            Some((_base, file)) => file,
            None => self.shared.disk.open(name).map_err(fail)?,
        };
        let (_base, file) = self.open.insert((base, file));
        let rest = (self.segment.end - self.at) as usize;
        let mut own = self.bytes.take_own();
        own.resize(rest.min(need.max(READ_BYTES)), 0);
        let filled = read_full(&**file, &mut own, HEADER_BYTES + self.at - base).map_err(fail)?;
        own.truncate(filled);
        let whole = filled >= need;
        self.bytes = Bytes::File(own);
        self.within = 0;
        if whole { Ok(true) } else { Err(self.damaged()) }
    }

    /// Says what is wrong here, and goes on behind the segment at the next call.
    fn damaged(&mut self) -> LogFault {
        let byte = HEADER_BYTES + self.at - self.segment.start;
        let segments = &self.shared.tail().segments;
        let found = segments
            .iter()
            .find(|segment| segment.base == self.segment.start);
        let name = found.map_or("a dropped segment", |segment| segment.name.as_str());
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
