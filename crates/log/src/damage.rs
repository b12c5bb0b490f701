//! Damage in a segment: what can still be read of it, and where the records go on.
//!
//! A bad block of a disk or a flipped bit takes what lies there, and nothing else: frames say by cursor
//! and checksum that they are frames, so the way on is found again behind the damage. What it is not: a
//! repair. A damaged segment is never written to, and retention moves it aside (`weir_disk::aside`) instead
//! of removing it, for whoever wants to look at it. The decision worth arguing: what a record holds may look
//! like frames, since people publish files, so one counts only where so many records fit before it.

use crate::frame::{HEAD_BYTES, Parsed, cursor_at, parse};
use crate::limits::READ_BYTES;
use std::ops::{Range, RangeInclusive};
use weir_disk::{DiskFile, read_full};
use weir_model::Cursor;

/// Bytes that cannot be read together: a disk that fails to read one of them may read all others.
const BLOCK_BYTES: usize = 4096;

/// Reads as [`read_full`] does; what the disk fails to read is zeros, which no frame is made of.
pub(crate) fn read_what_can_be(file: &dyn DiskFile, buffer: &mut [u8], offset: u64) -> usize {
    if let Ok(filled) = read_full(file, buffer, offset) {
        return filled;
    }
    let there = file.len().unwrap_or(0).saturating_sub(offset);
    let filled = buffer
        .len()
        .min(usize::try_from(there).unwrap_or(usize::MAX));
    let mut at = 0;
    while at < filled {
        let aligned = BLOCK_BYTES - (offset as usize + at) % BLOCK_BYTES;
        let block = &mut buffer[at..filled.min(at + aligned)];
        if read_full(file, block, offset + at as u64).is_err() {
            block.fill(0);
        }
        at += block.len();
    }
    filled
}

/// Bytes of the shortest frame that there is.
const FRAME_BYTES_MIN: u64 = HEAD_BYTES as u64 + 1;

/// Where in a file, from `from` on, the next whole frame begins that holds one of these cursors; `end`, where
/// the file's frames end, if there is none.
pub(crate) fn next_frame(
    file: &dyn DiskFile,
    from: u64,
    end: u64,
    cursors: &RangeInclusive<Cursor>,
) -> u64 {
    next_frame_within(file, from..end, end, cursors)
}

/// The same of a frame that begins within a range.
pub(crate) fn next_frame_within(
    file: &dyn DiskFile,
    range: Range<u64>,
    end: u64,
    cursors: &RangeInclusive<Cursor>,
) -> u64 {
    let mut window = vec![0; READ_BYTES];
    let mut at = range.start;
    while at < range.end {
        let wanted = window.len().min((end - at) as usize);
        let filled = read_what_can_be(file, &mut window[..wanted], at);
        let candidates = (0..filled).filter(|&start| {
            let cursor = cursor_at(&window[start..filled]);
            cursor.is_some_and(|cursor| cursors.contains(&cursor))
        });
        for start in candidates {
            let begin = at + start as u64;
            if is_frame(file, begin, end, cursors.start()) {
                return begin;
            }
        }
        // A head that lies across two windows is looked at in the second.
        let overlap = HEAD_BYTES - 1;
        if filled < wanted || filled <= overlap || at + filled as u64 >= range.end {
            return end;
        }
        at += (filled - overlap) as u64;
    }
    end
}

fn is_frame(file: &dyn DiskFile, begin: u64, end: u64, first: &Cursor) -> bool {
    let mut frame = vec![0; HEAD_BYTES];
    loop {
        let filled = read_what_can_be(file, &mut frame, begin);
        match parse(&frame[..filled], true) {
            Parsed::Frame(cursor, _) => return may_lie_at(begin, cursor, *first),
            Parsed::Short(need) if filled == frame.len() && begin + need as u64 <= end => {
                frame.resize(need, 0);
            }
            Parsed::Short(_) | Parsed::Bad => return false,
        }
    }
}

/// Whether so many records fit in front of this byte of a file as there are from `first` to this one.
pub(crate) fn may_lie_at(begin: u64, cursor: Cursor, first: Cursor) -> bool {
    let before = cursor.sequence().checked_sub(first.sequence());
    before.is_some_and(|before| before <= begin / FRAME_BYTES_MIN + 1)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::frame;
    use weir_disk::{Disk, SimDisk};

    fn file_of(records: &[&[u8]]) -> (Box<dyn DiskFile>, Vec<u64>, u64) {
        let (mut bytes, mut begins) = (Vec::new(), Vec::new());
        for (index, record) in records.iter().enumerate() {
            begins.push(bytes.len() as u64);
            let start = frame::begin(&mut bytes);
            bytes.extend_from_slice(record);
            frame::end(
                &mut bytes,
                start,
                Cursor::new(1, index as u64 + 1),
                index == 0,
            );
        }
        let file = SimDisk::new().create("segment").unwrap();
        file.write_all_at(&bytes, 0).unwrap();
        (file, begins, bytes.len() as u64)
    }

    #[test]
    fn the_way_on_is_the_next_whole_frame_with_a_likely_cursor() {
        let long = vec![7; READ_BYTES + 100];
        let (file, begins, end) = file_of(&[b"one", &long, b"three"]);
        let all = Cursor::new(1, 1)..=Cursor::new(1, 3);
        assert_eq!(next_frame(&*file, 0, end, &all), 0);
        assert_eq!(next_frame(&*file, 1, end, &all), begins[1]);
        assert_eq!(next_frame(&*file, begins[1] + 1, end, &all), begins[2]);
        assert_eq!(next_frame(&*file, begins[2] + 1, end, &all), end);
        let late = Cursor::new(1, 3)..=Cursor::new(1, 9);
        assert_eq!(next_frame(&*file, 0, end, &late), begins[2]);
        assert_eq!(next_frame(&*file, 0, end - 1, &late), end - 1, "it is cut");
    }

    #[test]
    fn a_frame_within_a_record_that_cannot_have_been_there_is_none() {
        let mut inner = Vec::new();
        let start = frame::begin(&mut inner);
        inner.push(7);
        frame::end(&mut inner, start, Cursor::new(1, 1 << 20), true);
        let (file, begins, end) = file_of(&[&inner, b"two"]);
        let all = Cursor::new(1, 1)..=Cursor::from_bits(u64::MAX);
        assert_eq!(next_frame(&*file, 1, end, &all), begins[1]);
    }
}
