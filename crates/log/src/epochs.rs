//! Where each epoch ended, and what that makes of a cursor.
//!
//! A position is a sequence: it counts on over all epochs. The decision worth arguing: a position is
//! always named by the *latest* epoch that had begun at it, because then cursors compare as their
//! positions do, and a client at the very end of an old epoch is at the head of the new one.

use crate::limits::RESTORE_EPOCHS;
use crate::sealed;
use std::io;
use weir_disk::Disk;
use weir_hub::{Gap, GapReason, Resume};
use weir_model::Cursor;
use weir_model::cursor::SEQUENCE_MAX;

const NAME: &str = "epochs";
const MAGIC: &[u8; 8] = b"weirep01";
const RESTORED: &str = "restored";
const RESTORED_MAGIC: &[u8; 8] = b"weirre01";
const ENTRY_BYTES: usize = 10;

/// Marks the directory as a restored copy, so that the next open raises the epoch far enough that no
/// cursor given since the backup means anything else here.
pub fn mark_restored(disk: &dyn Disk) -> io::Result<()> {
    sealed::write(disk, RESTORED, RESTORED_MAGIC, &[])
}

/// Says whether the directory was marked as restored.
pub(crate) fn is_restored(disk: &dyn Disk) -> io::Result<bool> {
    Ok(sealed::read(disk, RESTORED, RESTORED_MAGIC)?.is_some())
}

/// Takes the mark away.
pub(crate) fn forget_restored(disk: &dyn Disk) -> io::Result<()> {
    disk.remove(RESTORED)?;
    disk.sync_dir()
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

    /// Reads the directory's; `None` where it never was a log.
    pub(crate) fn load(disk: &dyn Disk) -> io::Result<Option<Self>> {
        let Some(body) = sealed::read(disk, NAME, MAGIC)? else {
            return Ok(None);
        };
        let Some((current, ended)) = body.split_first_chunk::<2>() else {
            return Err(io::ErrorKind::InvalidData.into());
        };
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
        match epochs.is_possible() {
            true => Ok(Some(epochs)),
            false => Err(io::ErrorKind::InvalidData.into()),
        }
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
    fn epochs_that_cannot_have_been_are_told_from_those_that_were_written() {
        let disk = weir_disk::SimDisk::new();
        three_epochs().store(&disk).unwrap();
        assert_eq!(Epochs::load(&disk).unwrap(), Some(three_epochs()));
        let beyond = [(1, 1 << 48)];
        let falling = [(1, 10), (2, 9)];
        let twice = [(2, 5), (2, 6)];
        let of_today = [(7, 5)];
        for ended in [&beyond[..], &falling, &twice, &of_today] {
            let ended = ended.to_vec();
            let impossible = Epochs { ended, current: 7 };
            impossible.store(&disk).unwrap();
            let refused = Epochs::load(&disk).map_err(|error| error.kind());
            assert_eq!(refused, Err(io::ErrorKind::InvalidData), "{impossible:?}");
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
