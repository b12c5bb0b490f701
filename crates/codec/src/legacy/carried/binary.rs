//! A byte string of CBOR, and the message `Block` of Protocol Buffers.

use crate::block::bytes::{Input, put_varint};
use crate::error::DecodeError;
use alloc::vec::Vec;

/// Appends a CBOR byte string (RFC 8949 section 3.1, major type 2).
pub fn to_cbor(block: &[u8], out: &mut Vec<u8>) {
    let len = block.len() as u64;
    match len {
        0..24 => out.push(0x40 | len as u8),
        24..0x100 => out.extend_from_slice(&[0x58, len as u8]),
        0x100..0x1_0000 => {
            out.push(0x59);
            out.extend_from_slice(&(len as u16).to_be_bytes());
        }
        0x1_0000..0x1_0000_0000 => {
            out.push(0x5A);
            out.extend_from_slice(&(len as u32).to_be_bytes());
        }
        _ => {
            out.push(0x5B);
            out.extend_from_slice(&len.to_be_bytes());
        }
    }
    out.extend_from_slice(block);
}

/// What a CBOR byte string of definite length holds, and nothing behind it.
pub fn from_cbor(item: &[u8]) -> Result<&[u8], DecodeError> {
    let mut input = Input::new(item, 0);
    let first = input.byte()?;
    let width = match first {
        0x40..0x58 => 0,
        0x58..0x5C => 1 << (first - 0x58),
        _ => return Err(DecodeError::expected(0, "a byte string of definite length")),
    };
    let wide = input.take(width)?.iter();
    let len = match width {
        0 => u64::from(first - 0x40),
        _ => wide.fold(0, |len, &byte| len << 8 | u64::from(byte)),
    };
    whole(input, len)
}

/// Tag of field 1, wire type 2, of the message `Block` in `weir.proto`.
const PROTOBUF_TAG: u8 = 1 << 3 | 2;

/// Appends the message `Block` of `weir.proto`.
pub fn to_protobuf(block: &[u8], out: &mut Vec<u8>) {
    out.push(PROTOBUF_TAG);
    put_varint(out, block.len() as u64);
    out.extend_from_slice(block);
}

/// What the message `Block` of `weir.proto` holds.
pub fn from_protobuf(message: &[u8]) -> Result<&[u8], DecodeError> {
    let mut input = Input::new(message, 0);
    if input.byte()? != PROTOBUF_TAG {
        return Err(DecodeError::expected(0, "field 1, of bytes"));
    }
    let len = input.varint()?;
    whole(input, len)
}

/// All that is left, which must be `len` bytes.
fn whole(mut input: Input<'_>, len: u64) -> Result<&[u8], DecodeError> {
    let Ok(len) = usize::try_from(len) else {
        return input.expected("a length that fits in memory");
    };
    let block = input.take(len)?;
    if input.is_at_end() {
        Ok(block)
    } else {
        input.expected("the end behind the block")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn byte_strings_and_messages_hold_the_block_whole() {
        for len in [0, 1, 23, 24, 255, 256, 65_535, 65_536] {
            let block = alloc::vec![7; len];
            let (mut cbor, mut protobuf) = (Vec::new(), Vec::new());
            to_cbor(&block, &mut cbor);
            to_protobuf(&block, &mut protobuf);
            assert_eq!(from_cbor(&cbor).unwrap(), block);
            assert_eq!(from_protobuf(&protobuf).unwrap(), block);
            assert!(from_cbor(&cbor[..cbor.len() - 1]).is_err());
            assert!(from_protobuf(&protobuf[..protobuf.len() - 1]).is_err());
            cbor.push(0);
            protobuf.push(0);
            assert!(from_cbor(&cbor).is_err() && from_protobuf(&protobuf).is_err());
        }
        assert_eq!(from_cbor(b"\x63abc").unwrap_err().at, 0);
    }
}
