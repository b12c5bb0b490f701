//! The end of the log after a start: what of the last segment counts, and what does not.
//!
//! After a clean stop nothing in it is unfinished, and what is bad is damage. After any other the batch that
//! was being written may be torn, and only that one: each batch begins with a frame that says so, and none is
//! written before the one in front of it is synced. The decision worth arguing: within the last batch a hole
//! is torn only where a whole sector was never written; a flipped bit or a block that rotted does not look
//! like that, and then what is good behind it stays.

use crate::active::Active;
use crate::damage::read_what_can_be;
use crate::frame::{HEAD_BYTES, Parsed, parse};
use crate::limits::READ_BYTES;
use crate::options::Options;
use crate::segment::{self, HEADER_BYTES, Scan, Segment};
use std::io;
use std::ops::Range;
use weir_disk::{Disk, DiskFile, SECTOR_BYTES, aside, is_full, is_out_of_files, lacks_a_sector};

/// What the last segment says.
#[derive(Default)]
pub(crate) struct Ending {
    /// Sequence of the last record that there is or was, or of the one before the segment.
    pub(crate) head: Option<u64>,
    /// The last sequence of each epoch in it.
    pub(crate) ends: Vec<(u16, u64)>,
    pub(crate) active: Option<Active>,
    pub(crate) cut_bytes: u64,
    /// What is damaged, a sentence each.
    pub(crate) damage: Vec<String>,
}

/// Reads the last segment, cuts what a crash left unfinished, and takes it up again if it has room.
pub(crate) fn recover(
    disk: &dyn Disk,
    last: &mut Segment,
    is_clean: bool,
    options: &Options,
) -> io::Result<Ending> {
    let file = disk.open(&last.name)?;
    let mut scan = segment::scan(&*file, &last.header, last.base)?;
    let mut ending = Ending::default();
    if let (false, Some(from)) = (is_clean, torn_from(&*file, &scan, last)) {
        ending.cut_bytes = cut(disk, &*file, &last.name, from..scan.written)?;
        scan = segment::scan(&*file, &last.header, last.base)?;
    }
    let is_whole = scan.holes.is_empty() && scan.end == scan.written && last.has_header;
    let end = match is_clean {
        true => file.len()?.max(HEADER_BYTES),
        // Zeros that were taken ahead are no part of it.
        false => scan.written,
    };
    if file.len()? > end {
        file.set_len(end)?;
    }
    // A process that was killed may have left records that no disk holds yet: what is found counts as
    // committed from here on.
    if !is_clean {
        write_again(&*file, end)?;
    }
    file.sync_data()?;
    let unread = (scan.end < end).then_some(scan.end..end);
    note_holes(last, scan.holes.iter().chain(&unread), &mut ending.damage);
    last.bytes = end - HEADER_BYTES;
    last.marks = Some(scan.marks);
    let found = scan.last.map(|cursor| cursor.sequence());
    let found = found.unwrap_or(last.header.first.sequence().saturating_sub(1));
    // A record that is bad and whole to its last byte was there.
    ending.head = Some(found + u64::from(unread.is_some()));
    ending.ends = scan.ends;
    let reuse = is_whole && last.header.has_batches && end < options.segment_bytes / 2;
    ending.active = reuse.then(|| Active::reopen(file, end, found + 1));
    Ok(ending)
}

/// Whether there is anything in a segment without a header that is worth its place.
pub(crate) fn holds_frames(disk: &dyn Disk, last: &Segment) -> io::Result<bool> {
    let file = disk.open(&last.name)?;
    Ok(segment::scan(&*file, &last.header, 0)?.last.is_some())
}

fn note_holes<'a>(
    last: &mut Segment,
    holes: impl Iterator<Item = &'a Range<u64>>,
    damage: &mut Vec<String>,
) {
    for hole in holes {
        let (at, bytes) = (hole.start, hole.end - hole.start);
        let name = &last.name;
        damage.push(format!(
            "{name} is damaged at byte {at}: {bytes} bytes cannot be read"
        ));
        let logical = |at: u64| last.base + at - HEADER_BYTES;
        last.holes.push(logical(hole.start)..logical(hole.end));
    }
}

/// Where what a crash left unfinished begins, if anything.
fn torn_from(file: &dyn DiskFile, scan: &Scan, last: &Segment) -> Option<u64> {
    let may_be_torn = |hole: &&Range<u64>| {
        last.header.has_batches && hole.end > scan.synced && is_a_sector_missing(file, hole)
    };
    let torn = scan.holes.iter().find(may_be_torn).map(|hole| hole.start);
    let tail = scan.end..scan.written;
    torn.or((!tail.is_empty() && !is_all_there(file, &tail)).then_some(scan.end))
}

/// Whether a part of a sector, up to its end, was never written.
fn is_a_sector_missing(file: &dyn DiskFile, hole: &Range<u64>) -> bool {
    let mut part = vec![0; READ_BYTES];
    let mut at = hole.start;
    while at < hole.end {
        // Parts end where sectors do.
        let end =
            ((at + READ_BYTES as u64) / SECTOR_BYTES as u64 * SECTOR_BYTES as u64).min(hole.end);
        let wanted = (end - at) as usize;
        let filled = read_what_can_be(file, &mut part[..wanted], at);
        part[filled..wanted].fill(0);
        if lacks_a_sector(&part[..wanted], at) {
            return true;
        }
        at = end;
    }
    false
}

/// Whether a bad frame has as many bytes as it says, so that nothing of it is missing.
fn is_all_there(file: &dyn DiskFile, tail: &Range<u64>) -> bool {
    let mut head = [0; HEAD_BYTES];
    let filled = read_what_can_be(file, &mut head, tail.start);
    let length = match parse(&head[..filled], false) {
        Parsed::Short(bytes) | Parsed::Frame(_, bytes) => bytes as u64,
        Parsed::Bad => 0,
    };
    length == tail.end - tail.start && !is_a_sector_missing(file, tail)
}

/// Puts what a crash left unfinished aside and cuts it off; says how many bytes.
fn cut(disk: &dyn Disk, file: &dyn DiskFile, name: &str, torn: Range<u64>) -> io::Result<u64> {
    let begin = first_written(file, &torn);
    let bytes = torn.end - begin;
    let place = disk.place();
    match aside::copy_part(disk, name, aside::TORN, (file, begin, torn.end)) {
        Ok(kept) => tracing::warn!(
            %place,
            "{bytes} bytes at the end of {name} were being written when the gateway ended: cut, kept as {kept}"
        ),
        // Nothing of it was acknowledged; a gateway that does not start would be worse.
        Err(error) if is_full(&error) || is_out_of_files(&error) => tracing::error!(
            %place,
            %error,
            "{bytes} bytes at the end of {name} were being written when the gateway ended: cut, and not kept"
        ),
        Err(error) => return Err(error),
    }
    file.set_len(torn.start)?;
    Ok(bytes)
}

/// Where the first byte lies that is not zero.
fn first_written(file: &dyn DiskFile, range: &Range<u64>) -> u64 {
    let mut buffer = vec![0; READ_BYTES];
    let mut at = range.start;
    while at < range.end {
        let most = (range.end - at).min(READ_BYTES as u64) as usize;
        let filled = read_what_can_be(file, &mut buffer[..most], at);
        if let Some(first) = buffer[..filled].iter().position(|&byte| byte != 0) {
            return at + first as u64;
        }
        at += most as u64;
    }
    range.start
}

/// Writes what is read to where it was read. After a sync that failed, the system may keep in memory what the disk
/// does not hold, and think that it does (Rebello et al., "Can Applications Recover from fsync Failures?", USENIX ATC
/// 2020): a sync alone would not bring it there. What cannot be read is left as it is.
fn write_again(file: &dyn DiskFile, end: u64) -> io::Result<()> {
    let mut buffer = vec![0; READ_BYTES];
    let mut at = 0;
    while at < end {
        let most = (end - at).min(READ_BYTES as u64) as usize;
        if let Ok(read) = weir_disk::read_full(file, &mut buffer[..most], at) {
            file.write_all_at(&buffer[..read], at)?;
        }
        at += most as u64;
    }
    Ok(())
}
