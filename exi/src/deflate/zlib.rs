//! zlib-rs.

use alloc::vec::Vec;
use core::fmt;

use zlib_rs::{Deflate, DeflateFlush, Inflate, InflateFlush, Status};

/// The largest window, which RFC 1951 allows every encoder.
const WINDOW_BITS: u8 = 15;

/// Room made for output at a time: so much or a quarter of the input, but no more than the input and
/// what frames it.
const CHUNK: usize = 1 << 16;
const SLACK: usize = 64;

/// The smallest output, for streams so short that time does not matter.
const LEVEL_SHORT: i32 = 9;

/// The last level before time grows faster than size falls: on blocks of observations 9 gives 2 %
/// less and takes a fifth longer, 6 gives 7 % more.
const LEVEL: i32 = 7;

/// Bytes of a short stream, at most.
const SHORT: usize = 1 << 14;

pub(crate) struct Inflater(Inflate);

impl fmt::Debug for Inflater {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Inflater")
    }
}

impl Inflater {
    pub(crate) fn new() -> Self {
        Self(Inflate::new(false, WINDOW_BITS))
    }

    pub(crate) fn reset(&mut self) {
        self.0.reset(false);
    }

    /// Inflates into the output from a place on; says how much input that took, how much output it
    /// gave and whether the stream has ended, or how much input it took to find it damaged.
    pub(crate) fn inflate(
        &mut self,
        input: &[u8],
        out: &mut [u8],
        at: usize,
    ) -> Result<(usize, usize, bool), usize> {
        let (before_in, before_out) = (self.0.total_in(), self.0.total_out());
        let room = out.get_mut(at..).unwrap_or_default();
        let status = self.0.decompress(input, room, InflateFlush::NoFlush);
        let taken = (self.0.total_in() - before_in) as usize;
        let ended = matches!(status.map_err(|_| taken)?, Status::StreamEnd);
        Ok((taken, (self.0.total_out() - before_out) as usize, ended))
    }
}

/// Deflates whole streams.
pub(crate) struct Deflater(Deflate);

impl fmt::Debug for Deflater {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Deflater")
    }
}

impl Deflater {
    pub(crate) fn new() -> Self {
        Self(Deflate::new(LEVEL, false, WINDOW_BITS))
    }

    /// Appends one stream that holds the input.
    pub(crate) fn deflate(&mut self, input: &[u8], out: &mut Vec<u8>) {
        self.0.reset();
        let level = if input.len() > SHORT {
            LEVEL
        } else {
            LEVEL_SHORT
        };
        // Between streams there is nothing to flush, so this does not fail.
        let _ = self.0.set_level(level);
        loop {
            let (taken, given, at) = (self.0.total_in(), self.0.total_out(), out.len());
            let rest = &input[taken as usize..];
            let room = CHUNK.max(rest.len() / 4).min(rest.len() + SLACK);
            out.resize(at + room, 0);
            let status = self.0.compress(rest, &mut out[at..], DeflateFlush::Finish);
            out.truncate(at + (self.0.total_out() - given) as usize);
            if !matches!(status, Ok(Status::Ok | Status::BufError)) {
                return;
            }
        }
    }
}
