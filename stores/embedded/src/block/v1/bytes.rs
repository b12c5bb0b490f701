//! A run of bytes, deflated (RFC 1951) where that was shorter.
//!
//! Layout: length as a varint, doubled, plus 1 where deflated; then, deflated, the length of what
//! follows; the bytes.

use super::bits::Input;
use flate2::{Decompress, FlushDecompress, Status};
use weir_codec::DecodeError;

/// Longest run, in bytes, before compression: what a malicious block can cost.
const RUN_BYTES_MAX: usize = 64 << 20;

/// Reads a run.
pub(super) fn get(input: &mut Input<'_>) -> Result<Vec<u8>, DecodeError> {
    let doubled = input.count(RUN_BYTES_MAX << 1)?;
    let len = doubled >> 1;
    if doubled & 1 == 0 {
        return Ok(input.take(len)?.to_vec());
    }
    let deflated = input.count(RUN_BYTES_MAX)?;
    let deflated = input.take(deflated)?;
    // Deflate shrinks 1,032 times at most, so a short input cannot ask for much memory.
    if len > deflated.len().saturating_mul(1040) {
        return input.fail("a length that a deflated run can have");
    }
    let mut bytes = Vec::with_capacity(len);
    let mut inflate = Decompress::new(false);
    match inflate.decompress_vec(deflated, &mut bytes, FlushDecompress::Finish) {
        Ok(Status::StreamEnd) if bytes.len() == len => Ok(bytes),
        _ => input.fail("a deflated run of its length"),
    }
}
