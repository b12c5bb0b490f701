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
    /// Whether any input was taken, and whether the stream has ended.
    pub(crate) begun: bool,
    pub(crate) ended: bool,
}

impl Inflater {
    /// Goes to the start of the next stream.
    pub(crate) fn restart(&mut self) {
        self.out.clear();
        (self.bit, self.begun, self.ended) = (0, false, false);
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
        if input.is_empty() {
            return Err(Fault::End(1));
        }
        if self.out.len() as u64 > limit {
            return Err(Fault::Limit(Limit::ExpandedBytes));
        }
        self.begun = true;
        let before = self.out.len();
        let library = self.library.get_or_insert_with(library::Inflater::new);
        let (taken, ended) = library
            .inflate(input, &mut self.out)
            .ok_or(Fault::Deflate)?;
        self.ended = ended;
        if taken == 0 && self.out.len() == before && !ended {
            return Err(Fault::End(1));
        }
        Ok(taken)
    }
}
