//! Varints, zigzag, and reading bytes with their position.

use std::fmt;

/// The bytes are no block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockError {
    /// Offset of the first byte that does not fit.
    pub at: usize,
    /// What is wrong there.
    pub rule: &'static str,
}

impl fmt::Display for BlockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a block: byte {}: {}", self.at, self.rule)
    }
}

impl std::error::Error for BlockError {}

/// Bytes with the place that was read up to.
pub struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    /// Reads from the beginning.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(super) fn fail<T>(&self, rule: &'static str) -> Result<T, BlockError> {
        Err(BlockError { at: self.at, rule })
    }

    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], BlockError> {
        match self
            .at
            .checked_add(count)
            .and_then(|end| self.bytes.get(self.at..end))
        {
            Some(part) => {
                self.at += count;
                Ok(part)
            }
            None => self.fail("it ends too early"),
        }
    }

    pub(super) fn byte(&mut self) -> Result<u8, BlockError> {
        Ok(self.take(1)?[0])
    }

    pub(super) fn varint(&mut self) -> Result<u64, BlockError> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        self.fail("a varint is longer than ten bytes")
    }

    /// A varint that counts what is to come, at most `most`.
    pub(super) fn count(&mut self, most: usize) -> Result<usize, BlockError> {
        match usize::try_from(self.varint()?) {
            Ok(count) if count <= most => Ok(count),
            _ => self.fail("a count is over its limit"),
        }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }
}

pub(super) fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

pub(super) fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

pub(super) fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}
