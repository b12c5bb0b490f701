//! Varints, zigzag, and reading bytes with their position.

use weir_codec::{DecodeError, Fault};

/// Bytes with the place that was read up to.
pub(super) struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    /// Reads from the beginning.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(super) fn fail<T>(&self, rule: &'static str) -> Result<T, DecodeError> {
        Err(DecodeError {
            at: self.at,
            fault: Fault::Expected(rule),
        })
    }

    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], DecodeError> {
        match self
            .at
            .checked_add(count)
            .and_then(|end| self.bytes.get(self.at..end))
        {
            Some(part) => {
                self.at += count;
                Ok(part)
            }
            None => self.fail("more bytes"),
        }
    }

    pub(super) fn byte(&mut self) -> Result<u8, DecodeError> {
        Ok(self.take(1)?[0])
    }

    pub(super) fn varint(&mut self) -> Result<u64, DecodeError> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        self.fail("a varint of at most ten bytes")
    }

    /// A varint that counts what is to come, at most `most`.
    pub(super) fn count(&mut self, most: usize) -> Result<usize, DecodeError> {
        match usize::try_from(self.varint()?) {
            Ok(count) if count <= most => Ok(count),
            _ => self.fail("a count within its limit"),
        }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }
}

pub(super) fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}
