//! Opening a directory: what was written there, where it ends, which epoch begins.
//!
//! The decision worth arguing: only the last segment is read in full, since all others were synced
//! before it was made. So a start costs one segment, and rot in an older one is found by who reads it:
//! a reader is told the file and the byte, and goes on behind the damage; a header that is gone is made
//! up from the file's name, which says the same. In the last segment the log
//! is cut at the first bad frame; what was acknowledged behind rot there is told by the raised epoch
//! (clients get a gap) and by [`Recovery::lost`].

use crate::commit::Active;
use crate::epochs::{self, Epochs};
use crate::limits::READ_BYTES;
use crate::log::Options;
use crate::sealed;
use crate::segment::{self, HEADER_BYTES, Header, Mark, Segment};
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::sync::Arc;
use weir_disk::{Disk, DiskFile, read_full};
use weir_model::cursor::SEQUENCE_MAX;

const CLEAN: &str = "clean";
const CLEAN_MAGIC: &[u8; 8] = b"weircl01";

/// Why a log cannot be opened.
#[derive(Debug)]
pub enum OpenFault {
    /// Another process has it.
    Locked {
        /// The directory.
        place: String,
    },
    /// A file cannot be read or written.
    Disk {
        /// The directory.
        place: String,
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        error: io::Error,
    },
    /// A file without which the log cannot be trusted is not as it was written.
    Damaged {
        /// The file.
        file: String,
        /// What is wrong with it.
        rule: &'static str,
    },
    /// All 65,535 epochs are used up.
    EpochsExhausted,
}

impl fmt::Display for OpenFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenFault::Locked { place } => {
                write!(
                    f,
                    "another gateway is running on {place}: stop it, or set another data.dir"
                )
            }
            OpenFault::Disk {
                place,
                doing,
                error,
            } => {
                write!(f, "the log in {place} cannot be opened: {doing}: {error}")
            }
            OpenFault::Damaged { file, rule } => {
                write!(
                    f,
                    "the log's file {file} is damaged ({rule}): restore a backup"
                )
            }
            OpenFault::EpochsExhausted => f.write_str("the log was restarted too often"),
        }
    }
}

impl std::error::Error for OpenFault {}

/// What an open found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// The log had been closed, and nothing was missing.
    pub clean: bool,
    /// Bytes of unfinished frames cut from the end.
    pub cut_bytes: u64,
    /// Sequences of records that a clean stop had promised and the disk lost: first and last.
    pub lost: Option<(u64, u64)>,
}

/// A directory ready to be appended to.
pub(crate) struct Opened {
    pub(crate) lock: Box<dyn Send + Sync>,
    pub(crate) epochs: Epochs,
    pub(crate) segments: VecDeque<Segment>,
    pub(crate) active: Option<Active>,
    pub(crate) head: u64,
    /// Logical offset of the end.
    pub(crate) end: u64,
    pub(crate) recovery: Recovery,
}

/// Notes that the log ends, whole, with this sequence.
pub(crate) fn mark_clean(disk: &dyn Disk, head: u64) -> io::Result<()> {
    sealed::write(disk, CLEAN, CLEAN_MAGIC, &head.to_le_bytes())
}

/// Opens the directory.
pub(crate) fn open(disk: &Arc<dyn Disk>, options: &Options) -> Result<Opened, OpenFault> {
    let disk = &**disk;
    let fail = |doing| {
        move |error| OpenFault::Disk {
            place: disk.place(),
            doing,
            error,
        }
    };
    let lock = disk.lock().map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => OpenFault::Locked {
            place: disk.place(),
        },
        _ => fail("taking the lock")(error),
    })?;
    let names = disk.list().map_err(fail("listing the directory"))?;
    for name in names.iter().filter(|name| name.ends_with(".new")) {
        disk.remove(name)
            .map_err(fail("removing an unfinished file"))?;
    }
    let mut names: Vec<_> = names
        .into_iter()
        .filter(|name| segment::is_name(name))
        .collect();
    names.sort_unstable();
    let known = Epochs::load(disk).map_err(|error| damaged_or(error, "epochs", disk))?;
    if known.is_none() && !names.is_empty() {
        return Err(OpenFault::Damaged {
            file: "epochs".into(),
            rule: "it is missing",
        });
    }
    let mut segments = list_segments(disk, &names)?;
    let found = match segments.back_mut() {
        Some(last) => {
            recover_last(disk, last, options).map_err(fail("reading the last segment"))?
        }
        None => Found {
            head: None,
            epoch: 0,
            active: None,
            cut_bytes: 0,
        },
    };
    // What would be appended in an older epoch than what is before it would be cut at the next start.
    if known
        .as_ref()
        .is_some_and(|known| found.epoch > known.current())
    {
        return Err(OpenFault::Damaged {
            file: "epochs".into(),
            rule: "it is older than the last segment",
        });
    }
    let end = segments.back().map_or(0, Segment::end);
    let (epochs, head, recovery) = begin_run(disk, known, &found)?;
    Ok(Opened {
        lock,
        epochs,
        segments,
        active: found.active,
        head,
        end,
        recovery,
    })
}

fn damaged_or(error: io::Error, file: &str, disk: &dyn Disk) -> OpenFault {
    match error.kind() {
        io::ErrorKind::InvalidData => OpenFault::Damaged {
            file: file.into(),
            rule: "its checksum does not match",
        },
        _ => OpenFault::Disk {
            place: disk.place(),
            doing: "reading a file",
            error,
        },
    }
}

/// The segments with their places; a last one whose header never reached the disk is removed.
fn list_segments(disk: &dyn Disk, names: &[String]) -> Result<VecDeque<Segment>, OpenFault> {
    let fail = |error| OpenFault::Disk {
        place: disk.place(),
        doing: "reading a segment",
        error,
    };
    let mut segments: VecDeque<Segment> = VecDeque::with_capacity(names.len());
    let mut base = 0;
    for (index, name) in names.iter().enumerate() {
        let file = disk.open(name).map_err(fail)?;
        let last = index + 1 == names.len();
        let header = match Header::read(&*file) {
            Ok(Some(header)) => header,
            Ok(None) if last => {
                disk.remove(name)
                    .and_then(|()| disk.sync_dir())
                    .map_err(fail)?;
                break;
            }
            Err(error) if last => return Err(fail(error)),
            Ok(None) | Err(_) => header_of(name, segments.back(), &disk.place())?,
        };
        let bytes = file.len().map_err(fail)?.saturating_sub(HEADER_BYTES);
        let segment = Segment {
            name: name.clone(),
            header,
            base,
            bytes,
            marks: None,
            keyed: true,
            holes: Vec::new(),
        };
        base = segment.end();
        segments.push_back(segment);
    }
    Ok(segments)
}

/// The header that an older segment had, as far as its name and the one before tell.
fn header_of(name: &str, before: Option<&Segment>, place: &str) -> Result<Header, OpenFault> {
    let first = segment::first_of(name).ok_or_else(|| OpenFault::Damaged {
        file: name.into(),
        rule: "neither its header nor its name says what it holds",
    })?;
    tracing::error!(%place, "the header of {name} is damaged: taken from its name");
    let first_arrival = before.map_or(i64::MIN, |before| before.header.first_arrival);
    Ok(Header {
        first,
        first_arrival,
    })
}

/// Writes what is read to where it was read. After a sync that failed, the system may keep in memory what the disk
/// does not hold, and think that it does (Rebello et al., "Can Applications Recover from fsync Failures?", USENIX ATC
/// 2020): a sync alone would not bring it there.
fn write_again(file: &dyn DiskFile, end: u64) -> io::Result<()> {
    let mut buffer = vec![0; READ_BYTES];
    let mut at = 0;
    while at < end {
        let most = (end - at).min(READ_BYTES as u64) as usize;
        let read = read_full(file, &mut buffer[..most], at)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        file.write_all_at(&buffer[..read], at)?;
        at += read as u64;
    }
    Ok(())
}

fn is_clean(disk: &dyn Disk) -> io::Result<bool> {
    match disk.open(CLEAN) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// What the last segment says.
struct Found {
    /// Sequence of the last good record, or of the one before the segment.
    head: Option<u64>,
    /// Its epoch, or the one that the segment began in.
    epoch: u16,
    active: Option<Active>,
    cut_bytes: u64,
}

/// Reads the last segment, cuts it behind its last good frame, and takes it up again if it has room.
fn recover_last(disk: &dyn Disk, last: &mut Segment, options: &Options) -> io::Result<Found> {
    let file = disk.open(&last.name)?;
    let scan = segment::scan(&*file, &last.header, last.base)?;
    let end = HEADER_BYTES + scan.bytes;
    let written = written_end(&*file, end)?;
    if file.len()? != end {
        file.set_len(end)?;
    }
    // A process that was killed may have left records that no disk holds yet: what is found counts as
    // committed from here on.
    if !is_clean(disk)? {
        write_again(&*file, end)?;
    }
    file.sync_data()?;
    last.bytes = scan.bytes;
    last.marks = Some(scan.marks);
    let before = last.header.first.sequence().saturating_sub(1);
    let reuse = end < options.segment_bytes / 2;
    Ok(Found {
        head: Some(scan.last.map_or(before, |cursor| cursor.sequence())),
        epoch: scan.last.unwrap_or(last.header.first).epoch(),
        active: reuse.then(|| Active::reopen(file, end)),
        cut_bytes: written - end,
    })
}

/// Where the last byte that is not zero lies at or behind `from`.
fn written_end(file: &dyn DiskFile, from: u64) -> io::Result<u64> {
    let mut buffer = vec![0; READ_BYTES];
    let (mut at, mut end) = (from, from);
    loop {
        let count = read_full(file, &mut buffer, at)?;
        if count == 0 {
            return Ok(end);
        }
        if let Some(last) = buffer[..count].iter().rposition(|&byte| byte != 0) {
            end = at + last as u64 + 1;
        }
        at += count as u64;
    }
}

/// Decides on the epoch and makes it durable before anything is appended in it.
fn begin_run(
    disk: &dyn Disk,
    known: Option<Epochs>,
    found: &Found,
) -> Result<(Epochs, u64, Recovery), OpenFault> {
    let fail = |error| OpenFault::Disk {
        place: disk.place(),
        doing: "writing the epoch",
        error,
    };
    let Some(mut epochs) = known else {
        let epochs = Epochs::first();
        epochs.store(disk).map_err(fail)?;
        return Ok((
            epochs,
            0,
            Recovery {
                clean: true,
                ..Recovery::default()
            },
        ));
    };
    let promised = sealed::read(disk, CLEAN, CLEAN_MAGIC).ok().flatten();
    let promised = promised.and_then(|body| Some(u64::from_le_bytes(*body.first_chunk()?)));
    let promised = promised.filter(|&head| head < SEQUENCE_MAX);
    let head = found
        .head
        .unwrap_or_else(|| promised.unwrap_or(epochs.last_end()));
    let restored = epochs::is_restored(disk).map_err(fail)?;
    let clean = promised == Some(head);
    if !clean || restored {
        epochs
            .raise(head, restored)
            .ok_or(OpenFault::EpochsExhausted)?;
        epochs.store(disk).map_err(fail)?;
    }
    if restored {
        epochs::forget_restored(disk).map_err(fail)?;
    }
    match disk.remove(CLEAN) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(fail(error)),
        _ => disk.sync_dir().map_err(fail)?,
    }
    let lost = promised
        .filter(|&promised| promised > head)
        .map(|last| (head + 1, last));
    Ok((
        epochs,
        head,
        Recovery {
            clean,
            cut_bytes: found.cut_bytes,
            lost,
        },
    ))
}

/// The marks that a tail opened here begins with.
pub(crate) fn first_mark(head: u64, end: u64) -> VecDeque<Mark> {
    VecDeque::from([Mark {
        sequence: head + 1,
        at: end,
    }])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use weir_disk::SimDisk;
    use weir_model::Cursor;

    #[test]
    fn epochs_that_are_older_than_the_segments_are_refused() {
        let begins = |epoch| {
            let disk = SimDisk::new();
            let header = Header {
                first: Cursor::new(epoch, 1),
                first_arrival: 0,
            };
            let file = disk.create(&segment::name_of(header.first)).unwrap();
            file.write_all_at(&header.write(), 0).unwrap();
            Epochs::first().store(&disk).unwrap();
            let disk: Arc<dyn Disk> = Arc::new(disk);
            open(&disk, &Options::default())
        };
        assert!(begins(1).is_ok());
        let Err(OpenFault::Damaged { file, rule }) = begins(2) else {
            panic!("taken up");
        };
        assert_eq!(
            (file.as_str(), rule),
            ("epochs", "it is older than the last segment")
        );
    }
}
