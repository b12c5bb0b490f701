//! A reader for formats that must see the whole message: it gathers the pieces, within the limits.

use crate::error::DecodeError;
use crate::format::{Decode, Reader};
use alloc::boxed::Box;
use alloc::vec::Vec;
use weir_model::{BatchBuilder, Limits};

struct Buffered {
    decode: Decode,
    limits: Limits,
    bytes: Vec<u8>,
}

/// Makes the reader of a format that decodes only whole messages.
pub(crate) fn reader(decode: Decode, limits: &Limits) -> Box<dyn Reader> {
    let limits = *limits;
    let bytes = Vec::new();
    Box::new(Buffered {
        decode,
        limits,
        bytes,
    })
}

impl Reader for Buffered {
    fn push(&mut self, piece: &[u8], _out: &mut BatchBuilder) -> Result<(), DecodeError> {
        let limit = self.limits.message_bytes;
        if self.bytes.len() + piece.len() > limit {
            return Err(DecodeError::over(limit, "bytes of a message", limit));
        }
        self.bytes.extend_from_slice(piece);
        Ok(())
    }

    fn finish(&mut self, out: &mut BatchBuilder) -> Result<(), DecodeError> {
        (self.decode)(&self.bytes, out, &self.limits)
    }
}
