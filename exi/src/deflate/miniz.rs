//! miniz_oxide.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::{
    TINFL_FLAG_HAS_MORE_INPUT, TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF,
};
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};

/// 6 is the default of zlib, 9 the smallest output.
const LEVEL: u8 = 9;

pub(crate) struct Inflater(Box<DecompressorOxide>);

impl fmt::Debug for Inflater {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Inflater")
    }
}

impl Inflater {
    pub(crate) fn new() -> Self {
        Self(Box::default())
    }

    pub(crate) fn reset(&mut self) {
        self.0.init();
    }

    /// Inflates into the output from a place on; says how much input that took, how much output it
    /// gave and whether the stream has ended, or how much input it took to find it damaged.
    pub(crate) fn inflate(
        &mut self,
        input: &[u8],
        out: &mut [u8],
        at: usize,
    ) -> Result<(usize, usize, bool), usize> {
        let flags = TINFL_FLAG_HAS_MORE_INPUT | TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
        let (status, taken, given) = decompress(&mut self.0, input, out, at, flags);
        match status {
            TINFLStatus::Done => Ok((taken, given, true)),
            TINFLStatus::NeedsMoreInput | TINFLStatus::HasMoreOutput => Ok((taken, given, false)),
            _ => Err(taken),
        }
    }
}

/// Deflates whole streams.
#[derive(Debug)]
pub(crate) struct Deflater;

impl Deflater {
    pub(crate) fn new() -> Self {
        Self
    }

    /// Appends one stream that holds the input.
    pub(crate) fn deflate(&mut self, input: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(&compress_to_vec(input, LEVEL));
    }
}
