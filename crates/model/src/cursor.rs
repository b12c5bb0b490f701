//! A position in the log, valid on every protocol.

use core::fmt;
use core::str::FromStr;

/// Epoch (16 bits) and sequence (48 bits) in one number that fits a CoAP ETag (RFC 7252 section 5.10.6.1).
///
/// Cursors are ordered; within an epoch they count records, and a later epoch follows an earlier one.
/// Printed as `epoch-sequence` in hexadecimal: short, and free of characters that a URL, an SSE `id`
/// or an entity tag would have to escape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cursor(u64);

/// Highest sequence within an epoch.
pub const SEQUENCE_MAX: u64 = (1 << 48) - 1;

impl Cursor {
    /// Before everything: a resume from here is the whole log.
    pub const START: Self = Self(0);

    /// The cursor of a sequence (at most [`SEQUENCE_MAX`]; higher bits are dropped) in an epoch.
    pub const fn new(epoch: u16, sequence: u64) -> Self {
        Self(((epoch as u64) << 48) | (sequence & SEQUENCE_MAX))
    }

    /// The cursor whose 64 bits these are.
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The 64 bits, big-endian order being cursor order.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// The epoch: raised at every unclean start and every restore.
    pub const fn epoch(self) -> u16 {
        (self.0 >> 48) as u16
    }

    /// The number of the record in its epoch's log, counted on from the epoch before.
    pub const fn sequence(self) -> u64 {
        self.0 & SEQUENCE_MAX
    }

    /// The next record's cursor in the same epoch.
    pub const fn next(self) -> Self {
        Self::new(self.epoch(), self.sequence() + 1)
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}-{:x}", self.epoch(), self.sequence())
    }
}

/// The text is no cursor of weir.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotACursor;

impl fmt::Display for NotACursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a cursor: expected what an earlier answer gave, such as `1-2f`")
    }
}

impl core::error::Error for NotACursor {}

impl FromStr for Cursor {
    type Err = NotACursor;

    fn from_str(text: &str) -> Result<Self, NotACursor> {
        let (epoch, sequence) = text.split_once('-').ok_or(NotACursor)?;
        let epoch = u16::from_str_radix(epoch, 16).map_err(|_| NotACursor)?;
        let sequence = u64::from_str_radix(sequence, 16).map_err(|_| NotACursor)?;
        if sequence > SEQUENCE_MAX {
            return Err(NotACursor);
        }
        Ok(Self::new(epoch, sequence))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_cursor_reads_back_what_it_prints() {
        for cursor in [
            Cursor::START,
            Cursor::new(1, 0x2f),
            Cursor::new(u16::MAX, SEQUENCE_MAX),
        ] {
            assert_eq!(cursor.to_string().parse(), Ok(cursor));
        }
        assert_eq!("1-1000000000000".parse::<Cursor>(), Err(NotACursor));
        assert_eq!("12".parse::<Cursor>(), Err(NotACursor));
    }

    #[test]
    fn a_later_epoch_follows_an_earlier_one() {
        assert!(Cursor::new(2, 0) > Cursor::new(1, SEQUENCE_MAX));
    }
}
