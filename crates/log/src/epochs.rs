//! Where each epoch ended, and what that makes of a cursor.
//!
//! A position is a sequence: it counts on over all epochs. The decision worth arguing: a position is
//! always named by the *latest* epoch that had begun at it, because then cursors compare as their
//! positions do, and a client at the very end of an old epoch is at the head of the new one.

use crate::limits::RESTORE_EPOCHS;
use crate::sealed::{self, Found};
use std::io;
use weir_disk::Disk;
use weir_model::Cursor;
use weir_model::cursor::SEQUENCE_MAX;
use weir_storage::{Gap, GapReason, Resume};

pub(crate) const NAME: &str = "epochs";
/// Also what keeps programs that know only segments of version 1 from taking those of version 2 for torn.
const MAGIC: &[u8; 8] = b"weirep02";
const MAGIC_BEFORE: &[u8; 8] = b"weirep01";
const RESTORED: &str = "restored";
const RESTORED_MAGIC: &[u8; 8] = b"weirre01";
const ENTRY_BYTES: usize = 10;

/// Marks the directory as a restored copy, so that the next open raises the epoch far enough that no
/// cursor given since the backup means anything else here.
pub fn mark_restored(disk: &dyn Disk) -> io::Result<()> {
    sealed::write(disk, RESTORED, RESTORED_MAGIC, &[])
}

/// Says whether the directory was marked as restored; whatever has become of the mark's bytes, it says so.
pub(crate) fn is_restored(disk: &dyn Disk) -> io::Result<bool> {
    Ok(!matches!(
        sealed::read(disk, RESTORED, RESTORED_MAGIC)?,
        Found::Nothing
    ))
}

/// Takes the mark away.
pub(crate) fn forget_restored(disk: &dyn Disk) -> io::Result<()> {
    disk.remove(RESTORED)?;
    disk.sync_dir()
}

/// What the directory has of them.
pub(crate) enum Loaded {
    /// It never was a log, or the file is gone.
    Nothing,
    /// As they were written, perhaps in the form of before.
    Epochs { epochs: Epochs, is_old: bool },
    /// Something else.
    Damaged,
}

/// Today's epoch and the ends of those before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Epochs {
    /// Epoch and the sequence of its last record, ascending; the last entry's successor is today's.
    ended: Vec<(u16, u64)>,
    current: u16,
}

impl Epochs {
    /// The epochs of an empty log.
    pub(crate) fn first() -> Self {
        Self {
            ended: Vec::new(),
            current: 1,
        }
    }

    /// What is known where the file is gone: each epoch of which there are records, and where it ended. The
    /// next epoch is far enough behind them that none of which there are no records is given again.
    pub(crate) fn of_records(ends: &[(u16, u64)], head: u64) -> Option<Self> {
        let mut ended: Vec<(u16, u64)> = Vec::new();
        for &(epoch, end) in ends {
            match ended.last_mut() {
                Some(last) if last.0 == epoch => last.1 = last.1.max(end),
                Some(last) if last.0 > epoch || last.1 > end => {}
                _ => ended.push((epoch, end)),
            }
        }
        if ended.is_empty() {
            ended.push((1, head));
        }
        let last = ended.last().map_or(0, |&(epoch, _)| epoch);
        let mut epochs = Self {
            ended,
            current: last.checked_add(RESTORE_EPOCHS)?,
        };
        epochs.cover(head);
        epochs.is_possible().then_some(epochs)
    }

    /// Reads the directory's.
    pub(crate) fn load(disk: &dyn Disk) -> io::Result<Loaded> {
        let mut found = sealed::read(disk, NAME, MAGIC)?;
        let is_old = matches!(found, Found::Damaged);
        if is_old {
            found = sealed::read(disk, NAME, MAGIC_BEFORE)?;
        }
        Ok(match found {
            Found::Nothing => Loaded::Nothing,
            Found::Damaged => Loaded::Damaged,
            Found::Body(body) => match Self::read(&body) {
                Some(epochs) => Loaded::Epochs { epochs, is_old },
                None => Loaded::Damaged,
            },
        })
    }

    fn read(body: &[u8]) -> Option<Self> {
        let (current, ended) = body.split_first_chunk::<2>()?;
        let ended = ended.chunks_exact(ENTRY_BYTES).map(|entry| {
            let (epoch, sequence) = entry.split_at(2);
            let epoch = u16::from_le_bytes(epoch.try_into().unwrap_or_default());
            (
                epoch,
                u64::from_le_bytes(sequence.try_into().unwrap_or_default()),
            )
        });
        let epochs = Self {
            ended: ended.collect(),
            current: u16::from_le_bytes(*current),
        };
        epochs.is_possible().then_some(epochs)
    }

    /// Whether epochs and their ends rise, up to today's, and have cursors.
    fn is_possible(&self) -> bool {
        let rises = |pair: &[(u16, u64)]| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1;
        let last = self.ended.last();
        self.ended.windows(2).all(rises)
            && last.is_none_or(|&(epoch, end)| epoch < self.current && end < SEQUENCE_MAX)
    }

    /// Makes it durable.
    pub(crate) fn store(&self, disk: &dyn Disk) -> io::Result<()> {
        let mut body = self.current.to_le_bytes().to_vec();
        for (epoch, end) in &self.ended {
            body.extend_from_slice(&epoch.to_le_bytes());
            body.extend_from_slice(&end.to_le_bytes());
        }
        sealed::write(disk, NAME, MAGIC, &body)
    }

    /// Ends today's epoch at this sequence; `None` where no epoch is left.
    pub(crate) fn raise(&mut self, end: u64, restored: bool) -> Option<()> {
        let step = if restored { RESTORE_EPOCHS } else { 1 };
        let next = self.current.checked_add(step)?;
        // An epoch that ended behind the cut lost what followed it too.
        self.ended
            .iter_mut()
            .for_each(|(_epoch, ended)| *ended = (*ended).min(end));
        self.ended.push((self.current, end));
        self.current = next;
        Some(())
    }

    /// Notes that records up to this sequence had been there, whatever has become of them: no position up to
    /// it is given again.
    pub(crate) fn cover(&mut self, sequence: u64) {
        if let Some((_epoch, end)) = self.ended.last_mut() {
            *end = sequence.max(*end);
        }
    }

    /// The same of a cursor of an epoch that had ended.
    pub(crate) fn cover_cursor(&mut self, cursor: Cursor) {
        let since = |(epoch, _end): &&mut (u16, u64)| *epoch >= cursor.epoch();
        self.ended
            .iter_mut()
            .filter(since)
            .for_each(|(_epoch, end)| *end = cursor.sequence().max(*end));
    }

    /// Today's epoch.
    pub(crate) fn current(&self) -> u16 {
        self.current
    }

    /// Sequence of the last record of the epochs before today's.
    pub(crate) fn last_end(&self) -> u64 {
        self.ended.last().map_or(0, |&(_epoch, end)| end)
    }

    /// The cursor of a position.
    pub(crate) fn cursor(&self, sequence: u64) -> Cursor {
        let passed = self.ended.partition_point(|&(_epoch, end)| end <= sequence);
        let epoch = self
            .ended
            .get(passed)
            .map_or(self.current, |&(epoch, _end)| epoch);
        Cursor::new(epoch, sequence)
    }

    /// Answers a client that last saw `cursor`, in a log that keeps what is behind `tail`, up to `head`.
    pub(crate) fn resume(&self, cursor: Cursor, tail: u64, head: u64) -> Resume {
        let gap = |reason, count, at| Resume::Gap(Gap { reason, count }, self.cursor(at));
        let sequence = cursor.sequence();
        if cursor != Cursor::START {
            let old = self
                .ended
                .iter()
                .find(|(epoch, _end)| *epoch == cursor.epoch());
            match old {
                Some(&(_epoch, end)) if sequence > end => {
                    return gap(GapReason::Rollback, Some(sequence - end), end.max(tail));
                }
                None if cursor.epoch() != self.current || sequence > head => {
                    return gap(GapReason::Foreign, None, head);
                }
                _ => {}
            }
        }
        if sequence < tail {
            return gap(GapReason::Retention, Some(tail - sequence), tail);
        }
        Resume::From(self.cursor(sequence))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn three_epochs() -> Epochs {
        let mut epochs = Epochs::first();
        assert_eq!(epochs.raise(10, false), Some(()));
        assert_eq!(epochs.raise(10, false), Some(()));
        epochs
    }

    #[test]
    fn epochs_that_cannot_have_been_are_told_from_written_ones() {
        let disk = weir_disk::SimDisk::new();
        three_epochs().store(&disk).unwrap();
        let loaded = Epochs::load(&disk).unwrap();
        assert!(
            matches!(loaded, Loaded::Epochs { epochs, is_old: false } if epochs == three_epochs())
        );
        let beyond = [(1, 1 << 48)];
        let falling = [(1, 10), (2, 9)];
        let twice = [(2, 5), (2, 6)];
        let of_today = [(7, 5)];
        for ended in [&beyond[..], &falling, &twice, &of_today] {
            let ended = ended.to_vec();
            let impossible = Epochs { ended, current: 7 };
            impossible.store(&disk).unwrap();
            let loaded = Epochs::load(&disk).unwrap();
            assert!(matches!(loaded, Loaded::Damaged), "{impossible:?}");
        }
    }

    #[test]
    fn cursors_compare_as_their_positions_do() {
        let epochs = three_epochs();
        let cursors: Vec<_> = (0..30).map(|sequence| epochs.cursor(sequence)).collect();
        assert!(cursors.is_sorted());
        assert_eq!(epochs.cursor(9), Cursor::new(1, 9));
        assert_eq!(epochs.cursor(10), Cursor::new(3, 10));
    }

    #[test]
    fn a_cursor_of_an_old_epoch_goes_on_or_learns_what_was_undone() {
        let epochs = three_epochs();
        let resume = |epoch, sequence| epochs.resume(Cursor::new(epoch, sequence), 4, 20);
        let gap = |reason, count, at| Resume::Gap(Gap { reason, count }, epochs.cursor(at));
        assert_eq!(resume(1, 10), Resume::From(Cursor::new(3, 10)));
        assert_eq!(resume(1, 7), Resume::From(Cursor::new(1, 7)));
        assert_eq!(resume(1, 13), gap(GapReason::Rollback, Some(3), 10));
        assert_eq!(resume(1, 1), gap(GapReason::Retention, Some(3), 4));
        assert_eq!(resume(3, 21), gap(GapReason::Foreign, None, 20));
        assert_eq!(resume(9, 12), gap(GapReason::Foreign, None, 20));
        let start = epochs.resume(Cursor::START, 4, 20);
        assert_eq!(start, gap(GapReason::Retention, Some(4), 4));
        assert_eq!(
            epochs.resume(Cursor::START, 0, 20),
            Resume::From(epochs.cursor(0))
        );
    }
}
