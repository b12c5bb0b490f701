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
    /// Where the stream begins in the input, if that is still there, and the bytes of input that the
    /// last call took, damaged or not.
    pub(crate) from: Option<usize>,
    pub(crate) taken: usize,
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
        (self.from, self.taken) = (None, 0);
        if let Some(library) = &mut self.library {
            library.reset();
        }
    }

    /// Inflates some more; returns how many bytes of input that took. Fails for want of input if
    /// it took none and gave none.
    pub(crate) fn pump(&mut self, input: &[u8], limit: u64) -> Result<usize> {
        self.taken = 0;
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
        let (taken, given, ended) = inflated.map_err(|taken| {
            self.taken = taken;
            Fault::Deflate
        })?;
        self.taken = taken;
        self.full = before + given == self.out.len();
        self.out.truncate(before + given);
        self.ended = ended;
        if taken == 0 && self.out.len() == before && !ended {
            return Err(Fault::End(1));
        }
        Ok(taken)
    }

    /// Where in the input a byte of the output comes from: as far as the library reads to give it.
    /// That is found by inflating once more, so it is for errors only.
    #[cold]
    pub(crate) fn place_of(&self, byte: usize, input: &[u8]) -> Option<usize> {
        let mut at = self.from?;
        let mut library = library::Inflater::new();
        let mut out = alloc::vec![0; byte + 1];
        let mut filled = 0;
        while filled <= byte {
            let (taken, given, ended) = library.inflate(input.get(at..)?, &mut out, filled).ok()?;
            (at, filled) = (at + taken, filled + given);
            if ended || taken + given == 0 {
                break;
            }
        }
        Some(at)
    }
}
