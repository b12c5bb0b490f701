//! Common Data Representation of plain types (DDS-XTypes 1.3 section 7.4.1): values aligned to their size,
//! counted from the first byte behind the encapsulation.

use super::Encapsulation;
use crate::limits::TEXT_BYTES_MAX;
use alloc::vec::Vec;
use core::fmt;

/// Why bytes are no sample, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The byte, behind the encapsulation, that the value in question begins at.
    pub offset: usize,
    /// Which member.
    pub member: &'static str,
    /// What is wrong with it.
    pub problem: &'static str,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault {
            offset,
            member,
            problem,
        } = self;
        write!(f, "byte {offset}: `{member}`: {problem}")
    }
}

impl core::error::Error for Fault {}

/// Reads values from bytes; whoever asks says which member it is for.
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    layout: Encapsulation,
}

impl<'a> Reader<'a> {
    /// A reader of bytes behind their encapsulation.
    pub fn new(bytes: &'a [u8], layout: Encapsulation) -> Self {
        Self {
            bytes,
            at: 0,
            layout,
        }
    }

    /// A fault of the member at the place where the reader is.
    pub fn fault(&self, member: &'static str, problem: &'static str) -> Fault {
        Fault {
            offset: self.at,
            member,
            problem,
        }
    }

    /// A value of one byte.
    pub fn octet(&mut self, member: &'static str) -> Result<u8, Fault> {
        Ok(self.array::<1>(member)?[0])
    }

    /// A truth value: 0 or 1.
    pub fn boolean(&mut self, member: &'static str) -> Result<bool, Fault> {
        match self.octet(member)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(self.fault(member, "a boolean is 0 or 1")),
        }
    }

    /// A number of four bytes.
    pub fn unsigned(&mut self, member: &'static str) -> Result<u32, Fault> {
        let bytes = self.array(member)?;
        Ok(if self.layout.is_big {
            u32::from_be_bytes(bytes)
        } else {
            u32::from_le_bytes(bytes)
        })
    }

    /// A number of eight bytes.
    pub fn long(&mut self, member: &'static str) -> Result<i64, Fault> {
        let bytes = self.array(member)?;
        Ok(if self.layout.is_big {
            i64::from_be_bytes(bytes)
        } else {
            i64::from_le_bytes(bytes)
        })
    }

    /// A double.
    pub fn double(&mut self, member: &'static str) -> Result<f64, Fault> {
        Ok(f64::from_bits(self.long(member)?.cast_unsigned()))
    }

    /// A string: its length with the NUL that ends it, and both (section 7.4.1.1.2).
    // [XTYPES-7.4.1.1.2-1]
    pub fn string(&mut self, member: &'static str) -> Result<&'a str, Fault> {
        let length = self.unsigned(member)? as usize;
        if length > TEXT_BYTES_MAX {
            return Err(self.fault(member, "a string of more bytes than are taken"));
        }
        let bytes = self.take(length, member)?;
        let Some((0, text)) = bytes.split_last() else {
            return Err(self.fault(member, "a string ends with NUL"));
        };
        if text.contains(&0) {
            return Err(self.fault(member, "NUL within a string"));
        }
        core::str::from_utf8(text).map_err(|_| self.fault(member, "a string is UTF-8"))
    }

    fn array<const SIZE: usize>(&mut self, member: &'static str) -> Result<[u8; SIZE], Fault> {
        self.at = self.at.next_multiple_of(SIZE.min(self.layout.widest));
        let bytes = self.take(SIZE, member)?;
        bytes
            .try_into()
            .map_err(|_| self.fault(member, "the sample ends in it"))
    }

    fn take(&mut self, length: usize, member: &'static str) -> Result<&'a [u8], Fault> {
        let left = self.bytes.get(self.at..).unwrap_or_default();
        let Some(taken) = left.get(..length) else {
            return Err(self.fault(member, "the sample ends in it"));
        };
        self.at += length;
        Ok(taken)
    }
}

/// Writes values as [`Encapsulation::WRITTEN`] lays them out.
pub struct Writer<'a> {
    out: &'a mut Vec<u8>,
    origin: usize,
}

impl<'a> Writer<'a> {
    /// A writer behind what is there already.
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        let origin = out.len();
        Self { out, origin }
    }

    /// A value of one byte.
    pub fn octet(&mut self, value: u8) {
        self.out.push(value);
    }

    /// A number of four bytes.
    pub fn unsigned(&mut self, value: u32) {
        self.aligned(value.to_le_bytes());
    }

    /// A number of eight bytes.
    pub fn long(&mut self, value: i64) {
        self.aligned(value.to_le_bytes());
    }

    /// A double.
    pub fn double(&mut self, value: f64) {
        self.aligned(value.to_le_bytes());
    }

    /// A string, up to a NUL: IDL's strings hold none.
    pub fn string(&mut self, text: &str) {
        let text = text.split('\0').next().unwrap_or_default();
        self.unsigned(text.len() as u32 + 1);
        self.out.extend_from_slice(text.as_bytes());
        self.out.push(0);
    }

    fn aligned<const SIZE: usize>(&mut self, bytes: [u8; SIZE]) {
        let at = (self.out.len() - self.origin).next_multiple_of(SIZE);
        self.out.resize(self.origin + at, 0);
        self.out.extend_from_slice(&bytes);
    }
}
