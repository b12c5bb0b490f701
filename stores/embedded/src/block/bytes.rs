//! A run of bytes, deflated (RFC 1951) where that is shorter.
//!
//! Layout: length as a varint, doubled, plus 1 where deflated; then, deflated, the length of what
//! follows; the bytes.

use super::bits::{BlockError, Input, put_varint};
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

/// Fewer bytes are not worth an attempt.
const DEFLATE_MIN: usize = 48;
/// Longest run, in bytes, before compression: what a malicious block can cost.
pub const RUN_BYTES_MAX: usize = 64 << 20;
/// Effort: beyond 6 the time grows and the size hardly shrinks.
const LEVEL: u32 = 6;

/// Deflates; holds the memory for it.
pub struct Deflater {
    compress: Compress,
    out: Vec<u8>,
}

impl Default for Deflater {
    fn default() -> Self {
        Self {
            compress: Compress::new(Compression::new(LEVEL), false),
            out: Vec::new(),
        }
    }
}

impl Deflater {
    /// The deflated bytes, where they are fewer.
    fn shorter(&mut self, bytes: &[u8]) -> Option<&[u8]> {
        if bytes.len() < DEFLATE_MIN {
            return None;
        }
        self.compress.reset();
        self.out.clear();
        self.out.reserve(bytes.len());
        let status = self
            .compress
            .compress_vec(bytes, &mut self.out, FlushCompress::Finish);
        // An output that outgrows the input stops at the room reserved for it.
        let done = matches!(status, Ok(Status::StreamEnd)) && self.out.len() + 2 < bytes.len();
        done.then_some(&self.out[..])
    }

    /// Appends a run.
    pub fn put(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let doubled = (bytes.len() as u64) << 1;
        match self.shorter(bytes) {
            None => {
                put_varint(out, doubled);
                out.extend_from_slice(bytes);
            }
            Some(deflated) => {
                put_varint(out, doubled | 1);
                put_varint(out, deflated.len() as u64);
                out.extend_from_slice(deflated);
            }
        }
    }
}

/// Reads a run.
pub fn get(input: &mut Input<'_>) -> Result<Vec<u8>, BlockError> {
    let doubled = input.count(RUN_BYTES_MAX << 1)?;
    let len = doubled >> 1;
    if doubled & 1 == 0 {
        return Ok(input.take(len)?.to_vec());
    }
    let deflated = input.count(RUN_BYTES_MAX)?;
    let deflated = input.take(deflated)?;
    // Deflate shrinks 1,032 times at most, so a short input cannot ask for much memory.
    if len > deflated.len().saturating_mul(1040) {
        return input.fail("a deflated run says a length that it cannot have");
    }
    let mut bytes = Vec::with_capacity(len);
    let mut inflate = Decompress::new(false);
    match inflate.decompress_vec(deflated, &mut bytes, FlushDecompress::Finish) {
        Ok(Status::StreamEnd) if bytes.len() == len => Ok(bytes),
        _ => input.fail("a deflated run is damaged"),
    }
}
