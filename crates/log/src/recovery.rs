//! Opening a directory: what was written there, where it ends, which epoch begins.
//!
//! The decision worth arguing: a start drops nothing that it did not prove to be unfinished. Only the last
//! segment is read in full, since all others were synced before it was made, and only where no clean stop is
//! noted anything is cut from it ([`crate::last`]). Rot in an older one is found by who reads it: a reader is
//! told the file and the byte, and goes on behind the damage; a header that is gone is made up from the file's
//! name, which says the same. Where the epochs are gone, the records say them. What is damaged beyond that is
//! put aside (`weir_disk::aside`) and told, and the gateway starts.

use crate::active::Active;
use crate::epochs::{self, Epochs, Loaded};
use crate::last::{self, Ending};
use crate::options::Options;
use crate::retention;
use crate::sealed::{self, Found};
use crate::segment::{self, HEADER_BYTES, Header, Mark, Segment};
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::sync::Arc;
use weir_disk::{Disk, aside};
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
    /// Bytes of unfinished frames cut from the end, and kept aside.
    pub cut_bytes: u64,
    /// What is damaged and cannot have been a crash's doing, a sentence each.
    pub damage: Vec<String>,
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
    let mut start = Start {
        disk: &**disk,
        damage: Vec::new(),
    };
    let lock = start.disk.lock().map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => OpenFault::Locked {
            place: disk.place(),
        },
        _ => start.fault("taking the lock", error),
    })?;
    let opened = start.open(options);
    let (ending, segments, run) = opened.map_err(|(doing, error)| start.fault(doing, error))?;
    let (epochs, head, clean) = run.ok_or(OpenFault::EpochsExhausted)?;
    let end = segments.back().map_or(0, Segment::end);
    let recovery = Recovery {
        clean: clean && start.damage.is_empty(),
        cut_bytes: ending.cut_bytes,
        damage: start.damage,
    };
    Ok(Opened {
        lock,
        epochs,
        segments,
        active: ending.active,
        head,
        end,
        recovery,
    })
}

/// What was being done, and what the system said.
type Failed = (&'static str, io::Error);

/// The epochs, the last sequence, and whether a clean stop is before; `None` where no epoch is left.
type Run = Option<(Epochs, u64, bool)>;

/// A directory that is being opened, and what is found damaged in it.
struct Start<'a> {
    disk: &'a dyn Disk,
    damage: Vec<String>,
}

impl Start<'_> {
    fn fault(&self, doing: &'static str, error: io::Error) -> OpenFault {
        OpenFault::Disk {
            place: self.disk.place(),
            doing,
            error,
        }
    }

    fn tell(&mut self, sentence: String) {
        let place = self.disk.place();
        tracing::error!(%place, "the log is DAMAGED: {sentence}");
        self.damage.push(sentence);
    }

    /// Puts a damaged file aside and tells of it.
    fn put_aside(&mut self, name: &str, then: &str) -> io::Result<()> {
        let kept = aside::move_file(self.disk, name, "checksum")?;
        self.tell(format!(
            "{name} is not as it was written (kept as {kept}): {then}"
        ));
        Ok(())
    }

    fn open(&mut self, options: &Options) -> Result<(Ending, VecDeque<Segment>, Run), Failed> {
        let disk = self.disk;
        let names = disk
            .list()
            .map_err(|error| ("listing the directory", error))?;
        for name in names.iter().filter(|name| name.ends_with(".new")) {
            let removed = disk.remove(name);
            removed.map_err(|error| ("removing an unfinished file", error))?;
        }
        let known = Epochs::load(disk).map_err(|error| ("reading epochs", error))?;
        let promised = self.promised();
        let promised = promised.map_err(|error| ("reading the mark of a clean stop", error))?;
        let is_new = matches!(known, Loaded::Nothing)
            && !names.iter().any(|name| {
                segment::is_name(name) || name == CLEAN || retention::is_snapshot(name)
            });
        let segments = self.list_segments(names, promised.is_some());
        let mut segments = segments.map_err(|error| ("reading a segment", error))?;
        let ending = match segments.back_mut() {
            Some(last) => last::recover(disk, last, promised.is_some(), options),
            None => Ok(Ending::default()),
        };
        let mut ending = ending.map_err(|error| ("reading the last segment", error))?;
        let damage = std::mem::take(&mut ending.damage);
        damage.into_iter().for_each(|sentence| self.tell(sentence));
        let run = match is_new {
            true => first_run(disk),
            false => self.next_run(known, promised, &segments, &ending),
        };
        let run = run.map_err(|error| ("writing the epoch", error))?;
        Ok((ending, segments, run))
    }

    /// The last sequence that a clean stop has noted.
    fn promised(&mut self) -> io::Result<Option<u64>> {
        let head = match sealed::read(self.disk, CLEAN, CLEAN_MAGIC)? {
            Found::Nothing => return Ok(None),
            Found::Body(body) => body.first_chunk().map(|head| u64::from_le_bytes(*head)),
            Found::Damaged => None,
        };
        let head = head.filter(|&head| head < SEQUENCE_MAX);
        if head.is_none() {
            self.put_aside(CLEAN, "started as after a crash")?;
        }
        Ok(head)
    }

    /// The segments with their places; a last one whose header never reached the disk is none.
    fn list_segments(
        &mut self,
        mut names: Vec<String>,
        is_clean: bool,
    ) -> io::Result<VecDeque<Segment>> {
        names.retain(|name| segment::is_name(name));
        names.sort_unstable();
        let mut segments: VecDeque<Segment> = VecDeque::with_capacity(names.len());
        for (index, name) in names.iter().enumerate() {
            let file = self.disk.open(name)?;
            let header = Header::read(&*file);
            let segment = Segment {
                name: name.clone(),
                header: header.unwrap_or_else(|| Header::of_name(name, segments.back())),
                has_header: header.is_some(),
                base: segments.back().map_or(0, Segment::end),
                bytes: file.len()?.saturating_sub(HEADER_BYTES),
                marks: None,
                keyed: true,
                holes: Vec::new(),
            };
            if header.is_none() {
                let may_be_unfinished = index + 1 == names.len() && !is_clean;
                if may_be_unfinished && !last::holds_frames(self.disk, &segment)? {
                    self.drop_unfinished(name)?;
                    break;
                }
                self.tell(format!(
                    "the header of {name} is damaged: taken from its name"
                ));
            }
            segments.push_back(segment);
        }
        Ok(segments)
    }

    /// A segment that was being made as the gateway ended.
    fn drop_unfinished(&self, name: &str) -> io::Result<()> {
        let file = self.disk.open(name)?;
        if segment::written_end(&*file, 0)? > 0 {
            let kept = aside::move_file(self.disk, name, aside::TORN)?;
            let place = self.disk.place();
            tracing::warn!(%place, "{name} was being begun when the gateway ended: kept as {kept}");
            return Ok(());
        }
        self.disk.remove(name)?;
        self.disk.sync_dir()
    }

    /// Decides on the epoch and makes it durable before anything is appended in it.
    fn next_run(
        &mut self,
        known: Loaded,
        promised: Option<u64>,
        segments: &VecDeque<Segment>,
        ending: &Ending,
    ) -> io::Result<Run> {
        let disk = self.disk;
        let found = ending.head.or(promised);
        let last_epoch = ending.ends.iter().map(|end| end.0).max();
        let began = segments.back().map(|last| last.header.first.epoch());
        // What would be appended in an older epoch than what is before it would be none of it.
        let is_current =
            |known: &Epochs| last_epoch.max(began).is_none_or(|it| it <= known.current());
        let (mut epochs, is_old) = match known {
            Loaded::Epochs { epochs, is_old } if is_current(&epochs) => (epochs, is_old),
            known => match self.epochs_of_records(&known, segments, ending)? {
                Some(epochs) => (epochs, true),
                None => return Ok(None),
            },
        };
        let there = found.unwrap_or(0);
        let head = there.max(promised.unwrap_or(0)).max(epochs.last_end());
        if there < head {
            let first = there + 1;
            self.tell(format!("records {first} to {head} were there and are gone"));
        }
        let restored = epochs::is_restored(disk)?;
        let clean = promised == Some(head);
        // A segment that nothing can be read of keeps its name.
        let next = segment::name_of(weir_model::Cursor::new(epochs.current(), head + 1));
        let is_taken = ending.active.is_none() && segments.back().is_some_and(|it| it.name == next);
        let raise = !clean || restored || there < head || is_taken;
        if raise && epochs.raise(head, restored).is_none() {
            return Ok(None);
        }
        if raise || is_old {
            epochs.store(disk)?;
        }
        if restored {
            epochs::forget_restored(disk)?;
        }
        match disk.remove(CLEAN) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => disk.sync_dir()?,
        }
        Ok(Some((epochs, head, clean && there == head)))
    }

    /// Epochs made of the records, whose cursors say them.
    fn epochs_of_records(
        &mut self,
        known: &Loaded,
        segments: &VecDeque<Segment>,
        ending: &Ending,
    ) -> io::Result<Option<Epochs>> {
        let then = "what each epoch held is read from the records";
        match known {
            Loaded::Nothing => self.tell(format!("epochs is missing: {then}")),
            _ => self.put_aside(epochs::NAME, then)?,
        }
        let mut ends: Vec<(u16, u64)> = Vec::new();
        let before = segments.len().saturating_sub(1);
        for segment in segments.iter().take(before) {
            let file = self.disk.open(&segment.name)?;
            ends.extend(segment::scan(&*file, &segment.header, segment.base)?.ends);
        }
        ends.extend(&ending.ends);
        Ok(Epochs::of_records(&ends, ending.head.unwrap_or(0)))
    }
}

fn first_run(disk: &dyn Disk) -> io::Result<Run> {
    let epochs = Epochs::first();
    epochs.store(disk)?;
    Ok(Some((epochs, 0, true)))
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
    fn epochs_that_are_older_than_the_segments_are_read_from_them() {
        let begins = |epoch| {
            let disk = SimDisk::new();
            let header = Header {
                first: Cursor::new(epoch, 1),
                first_arrival: 0,
                has_batches: true,
            };
            let file = disk.create(&segment::name_of(header.first)).unwrap();
            file.write_all_at(&header.write(), 0).unwrap();
            Epochs::first().store(&disk).unwrap();
            let disk: Arc<dyn Disk> = Arc::new(disk);
            let opened = open(&disk, &Options::default()).unwrap();
            (opened.epochs.current(), opened.recovery.damage.len())
        };
        assert_eq!(begins(1), (2, 0));
        let (current, damage) = begins(7);
        assert!(current > 7 && damage == 1, "{current}");
    }
}
