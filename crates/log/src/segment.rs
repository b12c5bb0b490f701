//! A file of the log: its name, its header, and where in it a sequence lies.
//!
//! Layout of the header, little-endian: `weirlg02`, first cursor u64, first arrival i64 (ns), CRC-32C
//! u32, four zero bytes. Frames follow, with sequences that rise by one. A sealed segment ends with its last
//! frame; the one being written has zeros behind it. In `weirlg01` no frame says that a batch begins.

use crate::damage::{next_frame_within, read_what_can_be};
use crate::frame::Frames;
use crate::limits::{MARK_BYTES, READ_BYTES};
use std::io;
use std::ops::{Range, RangeInclusive};
use weir_disk::{DiskFile, read_full};
use weir_model::Cursor;

/// Bytes of a segment before its first frame.
pub(crate) const HEADER_BYTES: u64 = 32;
const MAGIC: &[u8; 8] = b"weirlg02";
/// Of segments whose frames do not say where a batch begins.
const MAGIC_WITHOUT_BATCHES: &[u8; 8] = b"weirlg01";

/// What is known of a segment without opening it.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub(crate) name: String,
    pub(crate) header: Header,
    /// Whether the file has it, too.
    pub(crate) has_header: bool,
    /// Logical offset of its first frame.
    pub(crate) base: u64,
    /// Bytes of committed frames.
    pub(crate) bytes: u64,
    /// Of a segment of an earlier run, once it was scanned.
    pub(crate) marks: Option<Vec<Mark>>,
    /// Whether it may hold keyed records.
    pub(crate) keyed: bool,
    /// Logical begins and ends of what cannot be read, as far as readers came upon it.
    pub(crate) holes: Vec<Range<u64>>,
}

/// What a segment begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) first: Cursor,
    pub(crate) first_arrival: i64,
    /// Whether its frames say where a batch begins.
    pub(crate) has_batches: bool,
}

/// Where the record with this sequence begins, as a logical offset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    pub(crate) sequence: u64,
    pub(crate) at: u64,
}

impl Segment {
    /// Logical offset of its end.
    pub(crate) fn end(&self) -> u64 {
        self.base + self.bytes
    }
}

/// The cursors that the records of a segment may have: from its first one up to the one before the next
/// segment's, in whatever epoch.
pub(crate) fn cursors(first: Cursor, next: Option<Cursor>) -> RangeInclusive<Cursor> {
    let last = next.map_or(Cursor::from_bits(u64::MAX), |next| {
        Cursor::from_bits(next.bits() - 1)
    });
    first..=last
}

/// The name of the segment whose first record has this cursor; names sort as cursors do.
pub(crate) fn name_of(first: Cursor) -> String {
    format!("{:04x}-{:012x}.log", first.epoch(), first.sequence())
}

/// The cursor of a segment's first record, by its name; a sequence of 0 is no record's.
pub(crate) fn first_of(name: &str) -> Option<Cursor> {
    let (epoch, sequence) = name.strip_suffix(".log")?.split_once('-')?;
    let epoch = u16::from_str_radix(epoch, 16).ok()?;
    let sequence = u64::from_str_radix(sequence, 16).ok()?;
    (sequence > 0).then(|| Cursor::new(epoch, sequence))
}

/// Says whether a file is a segment.
pub(crate) fn is_name(name: &str) -> bool {
    name.len() == 21 && first_of(name).is_some()
}

impl Header {
    pub(crate) fn write(&self) -> [u8; HEADER_BYTES as usize] {
        let mut bytes = [0; HEADER_BYTES as usize];
        let magic = if self.has_batches {
            MAGIC
        } else {
            MAGIC_WITHOUT_BATCHES
        };
        bytes[..8].copy_from_slice(magic);
        bytes[8..16].copy_from_slice(&self.first.bits().to_le_bytes());
        bytes[16..24].copy_from_slice(&self.first_arrival.to_le_bytes());
        let checksum = crc32c::crc32c(&bytes[..24]);
        bytes[24..28].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// The header that a segment had, as far as its name and the one before tell.
    pub(crate) fn of_name(name: &str, before: Option<&Segment>) -> Self {
        Self {
            first: first_of(name).unwrap_or(Cursor::START.next()),
            first_arrival: before.map_or(i64::MIN, |before| before.header.first_arrival),
            has_batches: false,
        }
    }

    /// Reads a file's header; `None` where it has none, or none that can be read.
    pub(crate) fn read(file: &dyn DiskFile) -> Option<Self> {
        let mut bytes = [0; HEADER_BYTES as usize];
        read_full(file, &mut bytes, 0).ok()?;
        let number = |at: usize| bytes[at..at + 8].try_into().unwrap_or_default();
        let header = Self {
            first: Cursor::from_bits(u64::from_le_bytes(number(8))),
            first_arrival: i64::from_le_bytes(number(16)),
            has_batches: bytes.starts_with(MAGIC),
        };
        // No record has the sequence 0.
        let is_one = header.write() == bytes && header.first.sequence() > 0;
        is_one.then_some(header)
    }
}

/// What reading a segment from end to end finds.
#[derive(Default)]
pub(crate) struct Scan {
    /// Where the last good frame ends in the file.
    pub(crate) end: u64,
    /// Where the last byte lies that is not zero, there or behind it.
    pub(crate) written: u64,
    /// Cursor of the last good one.
    pub(crate) last: Option<Cursor>,
    pub(crate) marks: Vec<Mark>,
    /// Begins and ends in the file of what is no frame and has good ones behind it; empty where only
    /// sequences are missing.
    pub(crate) holes: Vec<Range<u64>>,
    /// Where the last good frame with which a batch begins lies: all before it had reached the disk.
    pub(crate) synced: u64,
    /// The last sequence of each epoch.
    pub(crate) ends: Vec<(u16, u64)>,
}

/// Reads a segment's frames, past what is damaged.
pub(crate) fn scan(file: &dyn DiskFile, header: &Header, base: u64) -> io::Result<Scan> {
    let mut scan = Scan {
        end: HEADER_BYTES,
        ..Scan::default()
    };
    scan.take_run(file, header, base, HEADER_BYTES);
    let length = file.len()?;
    scan.written = written_end(file, scan.end)?;
    while scan.end < scan.written {
        let next = scan.last.map_or(header.first, Cursor::next);
        let cursors = next..=Cursor::from_bits(u64::MAX);
        let way_on = next_frame_within(file, scan.end..scan.written, length, &cursors);
        if way_on >= length {
            break;
        }
        scan.holes.push(scan.end..way_on);
        scan.take_run(file, header, base, way_on);
        scan.written = scan.written.max(scan.end);
    }
    Ok(scan)
}

/// Where the last byte that is not zero lies at or behind `from`.
pub(crate) fn written_end(file: &dyn DiskFile, from: u64) -> io::Result<u64> {
    let mut buffer = vec![0; READ_BYTES];
    let (mut at, mut end, length) = (from, from, file.len()?);
    while at < length {
        let most = (length - at).min(READ_BYTES as u64) as usize;
        let count = read_what_can_be(file, &mut buffer[..most], at);
        if let Some(last) = buffer[..count].iter().rposition(|&byte| byte != 0) {
            end = at + last as u64 + 1;
        }
        if count == 0 {
            break;
        }
        at += count as u64;
    }
    Ok(end)
}

impl Scan {
    /// Takes frames that follow each other.
    fn take_run(&mut self, file: &dyn DiskFile, header: &Header, base: u64, from: u64) {
        let mut frames = Frames::new(file, from);
        while let Some(frame) = frames.next() {
            let is_first = self.last.is_none() && self.holes.is_empty();
            if is_first && !may_begin(header.first, frame.cursor) {
                return;
            }
            let at = base + frame.offset - HEADER_BYTES;
            if self
                .marks
                .last()
                .is_none_or(|mark| at - mark.at >= MARK_BYTES)
            {
                let sequence = frame.cursor.sequence();
                self.marks.push(Mark { sequence, at });
            }
            if frame.begins && header.has_batches {
                self.synced = frame.offset;
            }
            let (epoch, sequence) = (frame.cursor.epoch(), frame.cursor.sequence());
            match self.ends.last_mut() {
                Some(end) if end.0 == epoch => end.1 = sequence,
                _ => self.ends.push((epoch, sequence)),
            }
            self.last = Some(frame.cursor);
            self.end = frames.offset();
        }
    }
}

/// Whether a segment named by `first` may begin with this record: a crash may have undone the one that
/// it was made for.
fn may_begin(first: Cursor, cursor: Cursor) -> bool {
    cursor.sequence() == first.sequence() && cursor.epoch() >= first.epoch()
}

/// Where to start reading in order to meet this sequence: the last mark at or before it.
pub(crate) fn seek(marks: &[Mark], sequence: u64) -> Option<u64> {
    let after = marks.partition_point(|mark| mark.sequence <= sequence);
    after.checked_sub(1).map(|index| marks[index].at)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use weir_disk::{Disk, SimDisk};

    #[test]
    fn a_segment_that_begins_before_the_first_record_is_none() {
        let disk = SimDisk::new();
        for (sequence, is_one) in [(0, false), (1, true)] {
            let first = Cursor::new(1, sequence);
            let header = Header {
                first,
                first_arrival: 5,
                has_batches: true,
            };
            let file = disk.create("a").unwrap();
            file.write_all_at(&header.write(), 0).unwrap();
            assert_eq!(Header::read(&*file), is_one.then_some(header));
            assert_eq!(first_of(&name_of(first)), is_one.then_some(first));
        }
    }
}
