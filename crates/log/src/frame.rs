//! How a record lies in a segment, and reading a run of them.
//!
//! Layout of a frame, little-endian: length u32 of the record, CRC-32C u32 over length, cursor and
//! record, cursor u64, the record. A length of 0, which no record has, is where nothing was written. The
//! length's highest bit is set where a batch begins: a batch is written once the one before is synced, so
//! wherever such a frame is found, all before it had reached the disk, and what is bad there is damage.

use crate::damage::read_what_can_be;
use crate::limits::{READ_BYTES, RECORD_BYTES_MAX};
use weir_disk::DiskFile;
use weir_model::Cursor;

/// Bytes of a frame before its record.
pub(crate) const HEAD_BYTES: usize = 16;
/// The bit of a length that says that a batch begins.
const BEGINS: u32 = 1 << 31;

/// Starts a frame; the record is to be appended, then [`end`].
pub(crate) fn begin(out: &mut Vec<u8>) -> usize {
    let start = out.len();
    out.extend_from_slice(&[0; HEAD_BYTES]);
    start
}

/// Ends the frame begun at `start`, which is the first of a batch where it `begins` one.
pub(crate) fn end(out: &mut [u8], start: usize, cursor: Cursor, begins: bool) {
    let len = (out.len() - start - HEAD_BYTES) as u32 | if begins { BEGINS } else { 0 };
    let frame = &mut out[start..];
    frame[..4].copy_from_slice(&len.to_le_bytes());
    frame[8..HEAD_BYTES].copy_from_slice(&cursor.bits().to_le_bytes());
    let checksum = checksum(frame);
    frame[4..8].copy_from_slice(&checksum.to_le_bytes());
}

fn checksum(frame: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&frame[..4]), &frame[8..])
}

/// What lies at the beginning of some bytes.
pub(crate) enum Parsed {
    /// A frame with this cursor, this many bytes long.
    Frame(Cursor, usize),
    /// Part of a frame that may be whole once there are this many bytes.
    Short(usize),
    /// No frame.
    Bad,
}

/// Looks at the frame that `bytes` begin with; its checksum too where it comes from the disk.
pub(crate) fn parse(bytes: &[u8], from_disk: bool) -> Parsed {
    let Some(head) = bytes.first_chunk::<HEAD_BYTES>() else {
        return Parsed::Short(HEAD_BYTES);
    };
    let (length, rest) = head.split_at(4);
    let (sum, cursor) = rest.split_at(4);
    let length = u32::from_le_bytes(length.try_into().unwrap_or_default()) & !BEGINS;
    let length = length as usize;
    if length == 0 || length > RECORD_BYTES_MAX {
        return Parsed::Bad;
    }
    let total = HEAD_BYTES + length;
    let Some(frame) = bytes.get(..total) else {
        return Parsed::Short(total);
    };
    if from_disk && sum != checksum(frame).to_le_bytes() {
        return Parsed::Bad;
    }
    let cursor = u64::from_le_bytes(cursor.try_into().unwrap_or_default());
    Parsed::Frame(Cursor::from_bits(cursor), total)
}

/// The cursor that bytes say if a frame begins here with a length that a record may have.
pub(crate) fn cursor_at(bytes: &[u8]) -> Option<Cursor> {
    let head = bytes.first_chunk::<HEAD_BYTES>()?;
    let length = (u32::from_le_bytes(*head.first_chunk()?) & !BEGINS) as usize;
    let cursor = u64::from_le_bytes(*head.last_chunk()?);
    (1..=RECORD_BYTES_MAX)
        .contains(&length)
        .then(|| Cursor::from_bits(cursor))
}

/// The frames of a file in their order, up to the first bytes that are none.
pub(crate) struct Frames<'a> {
    file: &'a dyn DiskFile,
    buffer: Vec<u8>,
    /// Bytes of the buffer that count.
    filled: usize,
    /// Where in the buffer the next frame begins.
    within: usize,
    /// Where in the file the buffer begins.
    offset: u64,
    last: Option<Cursor>,
}

/// A frame of a file.
pub(crate) struct Framed<'a> {
    pub(crate) cursor: Cursor,
    /// Whether a batch begins with it.
    pub(crate) begins: bool,
    /// Where it begins in the file.
    pub(crate) offset: u64,
    pub(crate) record: &'a [u8],
}

impl<'a> Frames<'a> {
    pub(crate) fn new(file: &'a dyn DiskFile, offset: u64) -> Self {
        Self {
            file,
            buffer: vec![0; READ_BYTES],
            filled: 0,
            within: 0,
            offset,
            last: None,
        }
    }

    /// The next frame; `None` where the file ends or goes on with something else.
    pub(crate) fn next(&mut self) -> Option<Framed<'_>> {
        let (cursor, total) = loop {
            match parse(&self.buffer[self.within..self.filled], true) {
                Parsed::Frame(cursor, total) => break (cursor, total),
                Parsed::Bad => return None,
                Parsed::Short(need) => {
                    if !self.refill(need) {
                        return None;
                    }
                }
            }
        };
        if self.last.is_some_and(|last| !follows(last, cursor)) {
            return None;
        }
        self.last = Some(cursor);
        let start = self.within;
        self.within += total;
        Some(Framed {
            cursor,
            begins: self.buffer[start + 3] & 0x80 != 0,
            offset: self.offset + start as u64,
            record: &self.buffer[start + HEAD_BYTES..self.within],
        })
    }

    /// Where the next frame would begin.
    pub(crate) fn offset(&self) -> u64 {
        self.offset + self.within as u64
    }

    fn refill(&mut self, need: usize) -> bool {
        self.buffer.copy_within(self.within..self.filled, 0);
        self.filled -= self.within;
        self.offset += self.within as u64;
        self.within = 0;
        if self.buffer.len() < need {
            self.buffer.resize(need, 0);
        }
        let room = &mut self.buffer[self.filled..];
        // What the disk fails to read is damage like any other.
        self.filled += read_what_can_be(self.file, room, self.offset + self.filled as u64);
        self.filled >= need
    }
}

/// Whether a record with cursor `next` may stand behind one with cursor `last`.
pub(crate) fn follows(last: Cursor, next: Cursor) -> bool {
    next.sequence() == last.sequence() + 1 && next.epoch() >= last.epoch()
}
