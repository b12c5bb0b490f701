//! Reading the log forward, from files and from what waits for the disk.
//!
//! A reader is a logical offset with a buffer. It holds the file it reads, so that retention cannot
//! take it away; where retention overtakes it by a whole segment, the sequence of cursors jumps. Damage
//! is told once, with its file and bytes, and the reader goes on at the next whole frame.

use crate::damage::{may_lie_at, next_frame, read_what_can_be};
use crate::frame::{HEAD_BYTES, Parsed, parse};
use crate::limits::{COPY_BYTES_MAX, READ_BYTES};
use crate::segment::{self, HEADER_BYTES, Segment};
use crate::tail::{Shared, Tail};
use std::io;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;
use weir_disk::DiskFile;
use weir_model::Cursor;
use weir_storage::{LogFault, LogReader, Record};

/// A position in the log with the bytes around it.
pub(crate) struct Reader {
    shared: Arc<Shared>,
    /// Sequence of the last record that the reader's owner has.
    after: u64,
    /// Logical offset of the next frame.
    at: u64,
    /// Sequence of the frame before it, where one was read.
    read: Option<u64>,
    bytes: Bytes,
    /// Where in `bytes` the next frame begins.
    within: usize,
    open: Option<Open>,
    /// The segment that is open, and the cursors that it may hold.
    segment: Option<(Segment, RangeInclusive<Cursor>)>,
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
            read: None,
            bytes,
            within: 0,
            open: None,
            segment: None,
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
        if self.at < first && self.open.is_some() && self.is_within() {
            // Dropped, but the file is still in hand.
            drop(tail);
            return self.read_file(need).map(Some);
        }
        if self.at < first {
            (self.at, self.read) = (first, None);
        }
        let passed = tail
            .segments
            .partition_point(|segment| segment.end() <= self.at);
        let Some(segment) = tail.segments.get(passed).cloned() else {
            return Ok(Some(false));
        };
        let next = tail.segments.get(passed + 1).map(|next| next.header.first);
        drop(tail);
        let opened = self.segment.as_ref().map(|(open, _)| open.base);
        if self.open.is_none() || opened != Some(segment.base) {
            self.open = match shared.disk.open(&segment.name) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => return Err(reading(&segment.name, &error)),
                Ok(file) => Some(Open {
                    name: segment.name.clone(),
                    file,
                }),
            };
        }
        let cursors = segment::cursors(segment.header.first, next);
        self.segment = Some((segment.clone(), cursors));
        match self.open {
            None if self.is_kept(&segment) => {
                (self.at, self.read) = (segment.end(), None);
                Err(LogFault::Damaged(format!("{} is missing", segment.name)))
            }
            None => Ok(None),
            Some(_) => self.read_file(need).map(Some),
        }
    }

    fn is_within(&self) -> bool {
        let segment = self.segment.as_ref();
        segment.is_some_and(|(open, _)| (open.base..open.end()).contains(&self.at))
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
        let (Some(open), Some((segment, _))) = (&self.open, &self.segment) else {
            return Ok(false);
        };
        let rest = (segment.end() - self.at) as usize;
        let mut own = self.bytes.take_own();
        own.resize(rest.min(need.max(READ_BYTES)), 0);
        let offset = HEADER_BYTES + self.at - segment.base;
        let filled = read_what_can_be(&*open.file, &mut own, offset);
        own.truncate(filled);
        self.bytes = Bytes::File(own);
        self.within = 0;
        if filled >= need {
            Ok(true)
        } else {
            Err(self.damaged())
        }
    }

    /// Says what is wrong here, and goes on at the next whole frame at the next call.
    fn damaged(&mut self) -> LogFault {
        if !matches!(self.bytes, Bytes::File(_)) {
            return LogFault::Failed("what waits for the disk holds no frame".into());
        }
        self.bytes = Bytes::Copy(Vec::new());
        self.within = 0;
        self.read = None;
        let (Some(open), Some((segment, cursors))) = (&self.open, &self.segment) else {
            return LogFault::Failed("no segment is open".into());
        };
        let in_file = |at: u64| HEADER_BYTES + at - segment.base;
        // Where only sequences are missing there are no bytes to pass over.
        let is_here = |hole: &&Range<u64>| hole.start == self.at && hole.end > self.at;
        let known = segment.holes.iter().find(is_here);
        let end = match known {
            Some(hole) => hole.end,
            None => {
                let from = in_file(self.at) + 1;
                let next = next_frame(&*open.file, from, in_file(segment.end()), cursors);
                next - HEADER_BYTES + segment.base
            }
        };
        let (name, hole) = (&open.name, self.at..end);
        let what = format!(
            "{name} is damaged at byte {}: {} bytes cannot be read",
            in_file(hole.start),
            hole.end - hole.start
        );
        self.at = end;
        note_hole(&self.shared, segment.base, hole, &what);
        LogFault::Damaged(what)
    }

    /// Whether the record that comes next, of the segment that is open, can have this cursor: as a start finds it.
    fn may_come(&self, cursor: Cursor) -> bool {
        let Some((segment, cursors)) = &self.segment else {
            return true;
        };
        let first = cursors.start();
        let next = self.read.map_or(first.sequence(), |read| read + 1);
        let least = Cursor::new(first.epoch(), next.max(first.sequence()));
        let begin = HEADER_BYTES + self.at - segment.base;
        cursors.contains(&cursor) && may_lie_at(begin, cursor, least)
    }

    /// Whether records before this one are gone without a trace: a file was lost, or cut between two.
    fn is_behind_a_hole(&self, cursor: Cursor) -> bool {
        self.read.is_some_and(|read| cursor.sequence() > read + 1)
    }

    fn missing(&mut self, cursor: Cursor) -> LogFault {
        // It is given at the next call.
        self.read = Some(cursor.sequence().saturating_sub(1));
        let what =
            format!("those before {cursor} are missing, a file of the log among them or a part");
        if let Some((segment, _)) = &self.segment {
            note_hole(&self.shared, segment.base, self.at..self.at, &what);
        }
        LogFault::Damaged(what)
    }

    /// Where in the bytes at hand the next record lies.
    fn next_frame(&mut self) -> Result<Option<(Cursor, Range<usize>)>, LogFault> {
        loop {
            let from_disk = matches!(self.bytes, Bytes::File(_));
            match parse(&self.bytes.get()[self.within..], from_disk) {
                Parsed::Frame(cursor, _) if from_disk && !self.may_come(cursor) => {
                    return Err(self.damaged());
                }
                Parsed::Frame(cursor, _) if self.is_behind_a_hole(cursor) => {
                    return Err(self.missing(cursor));
                }
                Parsed::Frame(cursor, total) => {
                    self.read = Some(cursor.sequence());
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
            Err(error) => Err(LogFault::Damaged(format!("record {cursor}: {error}"))),
        }
    }
}

fn reading(name: &str, error: &io::Error) -> LogFault {
    LogFault::Failed(format!("reading {name}: {error}"))
}

/// Remembers a hole and says so in the gateway's log, the first time that a reader comes upon it.
fn note_hole(shared: &Shared, base: u64, hole: Range<u64>, what: &str) {
    let mut tail = shared.tail();
    let segment = tail.segments.iter_mut().find(|known| known.base == base);
    let Some(segment) = segment.filter(|known| !known.holes.contains(&hole)) else {
        return;
    };
    segment.holes.push(hole);
    drop(tail);
    shared.tell(&format!("{what}; all others are served"));
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
