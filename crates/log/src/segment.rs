//! A file of the log: its name, its header, and where in it a sequence lies.
//!
//! Layout of the header, little-endian: `weirlg01`, first cursor u64, first arrival i64 (ns), CRC-32C
//! u32, four zero bytes. Frames follow. A sealed segment ends with its last frame; the one being
//! written has zeros behind it.

use crate::frame::Frames;
use crate::limits::MARK_BYTES;
use std::io;
use std::ops::{Range, RangeInclusive};
use weir_disk::{DiskFile, read_full};
use weir_model::Cursor;

/// Bytes of a segment before its first frame.
pub(crate) const HEADER_BYTES: u64 = 32;
const MAGIC: &[u8; 8] = b"weirlg01";

/// What is known of a segment without opening it.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub(crate) name: String,
    pub(crate) header: Header,
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
    name.len() == 21 && name.ends_with(".log")
}

impl Header {
    pub(crate) fn write(&self) -> [u8; HEADER_BYTES as usize] {
        let mut bytes = [0; HEADER_BYTES as usize];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..16].copy_from_slice(&self.first.bits().to_le_bytes());
        bytes[16..24].copy_from_slice(&self.first_arrival.to_le_bytes());
        let checksum = crc32c::crc32c(&bytes[..24]);
        bytes[24..28].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Reads a file's header; `None` where it has none.
    pub(crate) fn read(file: &dyn DiskFile) -> io::Result<Option<Self>> {
        let mut bytes = [0; HEADER_BYTES as usize];
        read_full(file, &mut bytes, 0)?;
        let number = |at: usize| bytes[at..at + 8].try_into().unwrap_or_default();
        let header = Self {
            first: Cursor::from_bits(u64::from_le_bytes(number(8))),
            first_arrival: i64::from_le_bytes(number(16)),
        };
        // No record has the sequence 0.
        let is_one = header.write() == bytes && header.first.sequence() > 0;
        Ok(is_one.then_some(header))
    }
}

/// What reading a segment from end to end finds.
pub(crate) struct Scan {
    /// Bytes of good frames.
    pub(crate) bytes: u64,
    /// Cursor of the last good one.
    pub(crate) last: Option<Cursor>,
    pub(crate) marks: Vec<Mark>,
}

/// Reads a segment's frames up to the first bad one.
pub(crate) fn scan(file: &dyn DiskFile, header: &Header, base: u64) -> io::Result<Scan> {
    let mut frames = Frames::new(file, HEADER_BYTES);
    let mut marks: Vec<Mark> = Vec::new();
    let mut last = None;
    let mut end = HEADER_BYTES;
    while let Some(frame) = frames.next()? {
        if last.is_none() && !may_begin(header.first, frame.cursor) {
            break;
        }
        let at = base + frame.offset - HEADER_BYTES;
        if marks.last().is_none_or(|mark| at - mark.at >= MARK_BYTES) {
            marks.push(Mark {
                sequence: frame.cursor.sequence(),
                at,
            });
        }
        last = Some(frame.cursor);
        end = frames.offset();
    }
    Ok(Scan {
        bytes: end - HEADER_BYTES,
        last,
        marks,
    })
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
            };
            let file = disk.create("a").unwrap();
            file.write_all_at(&header.write(), 0).unwrap();
            assert_eq!(Header::read(&*file).unwrap(), is_one.then_some(header));
            assert_eq!(first_of(&name_of(first)), is_one.then_some(first));
        }
    }
}
