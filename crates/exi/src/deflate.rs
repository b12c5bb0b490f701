//! DEFLATE (RFC 1951) by other people's crates: zlib-rs where there is `std`, miniz_oxide elsewhere.

#[cfg(not(feature = "zlib-rs"))]
mod miniz;
#[cfg(feature = "zlib-rs")]
mod zlib;

#[cfg(not(feature = "zlib-rs"))]
use miniz as library;
#[cfg(feature = "zlib-rs")]
use zlib as library;

use alloc::vec::Vec;

use crate::fault::{Fault, Result};
use crate::limits::Limit;

pub(crate) use library::Deflater;

/// The bytes of one compressed stream, inflated as they are asked for.
#[derive(Debug, Default)]
pub(crate) struct Inflater {
    library: Option<library::Inflater>,
    /// What was inflated so far.
    pub(crate) out: Vec<u8>,
    /// Bits of it consumed.
    pub(crate) bit: usize,
    /// Bytes of it without which reading is not worth another attempt.
    pub(crate) wanted: usize,
    /// Whether any input was taken, and whether the stream has ended.
    pub(crate) begun: bool,
    pub(crate) ended: bool,
    /// Whether the library may have more to give without input.
    full: bool,
}

/// Room made for output at a time: so much, or as much as there is already, but no more than this for a
/// byte of input. Making it costs time, and what does not fit in comes the next time.
const ROOM: usize = 1 << 16;
const ROOM_PER_BYTE: usize = 32;

impl Inflater {
    /// Goes to the start of the next stream.
    pub(crate) fn restart(&mut self) {
        self.out.clear();
        (self.bit, self.wanted, self.full) = (0, 0, false);
        (self.begun, self.ended) = (false, false);
        if let Some(library) = &mut self.library {
            library.reset();
        }
    }

    /// Inflates some more; returns how many bytes of input that took. Fails for want of input if
    /// it took none and gave none.
    pub(crate) fn pump(&mut self, input: &[u8], limit: u64) -> Result<usize> {
        if self.ended {
            // The channels want more than the stream holds.
            return Err(Fault::Deflate);
        }
        if input.is_empty() && !self.full {
            return Err(Fault::End(1));
        }
        if self.out.len() as u64 > limit {
            return Err(Fault::Limit(Limit::ExpandedBytes));
        }
        self.begun = true;
        let before = self.out.len();
        let library = self.library.get_or_insert_with(library::Inflater::new);
        let room = (input.len() + 1).saturating_mul(ROOM_PER_BYTE);
        self.out.resize(before + room.min(ROOM.max(before)), 0);
        let inflated = library.inflate(input, &mut self.out, before);
        let (taken, given, ended) = inflated.ok_or(Fault::Deflate)?;
        self.full = before + given == self.out.len();
        self.out.truncate(before + given);
        self.ended = ended;
        if taken == 0 && self.out.len() == before && !ended {
            return Err(Fault::End(1));
        }
        Ok(taken)
    }
}
