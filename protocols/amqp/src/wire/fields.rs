//! Composite types (AMQP 1.0 section 1.4): a descriptor and a list of fields, of which trailing ones that
//! are null are left out.

use super::condition::Fault;
use super::reader::{Decode, Reader};
use super::writer::{Encode, close_compound};
use alloc::vec::Vec;

/// Reads the fields of a composite one after the other; a field that is not there is null.
pub(super) struct Fields<'a> {
    reader: Reader<'a>,
    left: u32,
}

impl<'a> Fields<'a> {
    /// Of the list that comes next.
    pub(super) fn of(reader: &mut Reader<'a>) -> Result<Self, Fault> {
        let (reader, left) = reader.list()?;
        Ok(Self { reader, left })
    }

    /// A field that may be null.
    pub(super) fn optional<T: Decode>(&mut self) -> Result<Option<T>, Fault> {
        match self.left {
            0 => Ok(None),
            _ => {
                self.left -= 1;
                self.reader.optional()
            }
        }
    }

    /// A field with a default.
    pub(super) fn or<T: Decode>(&mut self, default: T) -> Result<T, Fault> {
        Ok(self.optional()?.unwrap_or(default))
    }

    /// A field that must be there (section 1.4).
    pub(super) fn required<T: Decode>(&mut self, rule: &'static str) -> Result<T, Fault> {
        let start = self.reader.offset();
        self.optional()?.ok_or(Fault::field(start, rule))
    }

    /// Where the next field stands.
    pub(super) fn offset(&self) -> usize {
        self.reader.offset()
    }

    /// Refuses fields that the type does not have.
    pub(super) fn finish(self) -> Result<(), Fault> {
        // [AMQP-1.4-1]
        match self.left {
            0 => self.reader.finish(),
            _ => Err(self.reader.fault("more fields than the type has")),
        }
    }
}

/// Writes a composite.
pub(super) struct Composite<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
    count: usize,
    /// Where the last field that is not null ends, and how many there are up to it.
    kept: (usize, usize),
}

impl<'a> Composite<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>, descriptor: u8) -> Self {
        out.extend_from_slice(&[0, 0x53, descriptor]);
        let start = out.len();
        out.extend_from_slice(&[0xc0, 0, 0]);
        let kept = (out.len(), 0);
        Self {
            out,
            start,
            count: 0,
            kept,
        }
    }

    /// The next field.
    pub(super) fn field(&mut self, value: impl Encode) -> &mut Self {
        let before = self.out.len();
        value.encode(self.out);
        self.count += 1;
        if self.out[before..] != [0x40] {
            self.kept = (self.out.len(), self.count);
        }
        self
    }

    /// A field that is left out where it is what it would be without.
    pub(super) fn unless<T: Encode + PartialEq>(&mut self, default: T, value: T) -> &mut Self {
        self.field((value != default).then_some(value))
    }

    pub(super) fn finish(&mut self) {
        let (end, count) = self.kept;
        self.out.truncate(end);
        match count {
            0 => {
                self.out.truncate(self.start);
                self.out.push(0x45);
            }
            count => close_compound(self.start, count, self.out),
        }
    }
}
