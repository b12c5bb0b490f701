//! Varints (LEB128), zigzag, and reading bytes with their place in the message.

use crate::error::DecodeError;
use alloc::vec::Vec;

/// Bytes with the place that was read up to.
#[derive(Clone)]
pub(crate) struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Where in the message `bytes` begin.
    begin: usize,
}

impl<'a> Input<'a> {
    pub(crate) fn new(bytes: &'a [u8], begin: usize) -> Self {
        Self {
            bytes,
            at: 0,
            begin,
        }
    }

    /// Offset in the message.
    pub(crate) fn place(&self) -> usize {
        self.begin + self.at
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// What was not read yet.
    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    pub(crate) fn expected<T>(&self, what: &'static str) -> Result<T, DecodeError> {
        Err(DecodeError::expected(self.place(), what))
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], DecodeError> {
        let taken = self.rest().get(..count);
        let taken = taken.ok_or(DecodeError::truncated(self.begin + self.bytes.len()))?;
        self.at += count;
        Ok(taken)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, DecodeError> {
        Ok(self.take(1)?[0])
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub(crate) fn varint(&mut self) -> Result<u64, DecodeError> {
        let start = self.place();
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(DecodeError::expected(
            start,
            "a varint of at most ten bytes",
        ))
    }

    pub(crate) fn signed(&mut self) -> Result<i64, DecodeError> {
        Ok(unzigzag(self.varint()?))
    }

    /// A varint that counts what is to come, at most `most`.
    pub(crate) fn count(&mut self, most: usize, what: &'static str) -> Result<usize, DecodeError> {
        let start = self.place();
        match usize::try_from(self.varint()?) {
            Ok(count) if count <= most => Ok(count),
            _ => Err(DecodeError::over(start, what, most)),
        }
    }
}

pub(crate) fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

pub(crate) fn put_signed(out: &mut Vec<u8>, number: i64) {
    put_varint(out, zigzag(number));
}

#[inline]
pub(crate) fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

#[inline]
pub(crate) fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ ((number & 1) as i64).wrapping_neg()
}

/// Appends what `write` appends, with its length before it.
pub(crate) fn put_framed(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    write(out);
    let end = out.len();
    put_varint(out, (end - start) as u64);
    let size = out.len() - end;
    out[start..].rotate_right(size);
}
