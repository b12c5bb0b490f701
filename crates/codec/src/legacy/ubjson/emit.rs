//! UBJSON written.

use super::{ARRAY, END_ARRAY, END_OBJECT, FALSE, FLOAT_32, FLOAT_64, HIGH_PRECISION, INT_8};
use super::{INT_16, INT_32, INT_64, NULL, OBJECT, STRING, TRUE, UINT_8};
use crate::number::{TimeWriter, as_integer};
use crate::syntax::binary;
use crate::syntax::{Emit, Label};
use alloc::string::ToString;
use alloc::vec::Vec;
use weir_model::Time;

/// Writes one UBJSON value.
pub(crate) struct UbjsonEmit<'o> {
    out: &'o mut Vec<u8>,
    times: TimeWriter,
}

impl<'o> UbjsonEmit<'o> {
    pub(crate) fn new(out: &'o mut Vec<u8>) -> Self {
        let times = TimeWriter::default();
        Self { out, times }
    }

    fn integer(&mut self, number: i64) {
        let bytes = number.to_be_bytes();
        let (mark, width) = match number {
            0..0x100 => (UINT_8, 1),
            -0x80..0 => (INT_8, 1),
            -0x8000..0x8000 => (INT_16, 2),
            -0x8000_0000..0x8000_0000 => (INT_32, 4),
            _ => (INT_64, 8),
        };
        self.out.push(mark);
        self.out.extend_from_slice(&bytes[8 - width..]);
    }

    fn string(&mut self, text: &str) {
        self.integer(text.len() as i64);
        self.out.extend_from_slice(text.as_bytes());
    }
}

impl Emit for UbjsonEmit<'_> {
    const COUNTS: bool = false;

    fn map(&mut self, _members: usize) {
        self.out.push(OBJECT);
    }

    fn end_map(&mut self) {
        self.out.push(END_OBJECT);
    }

    fn array(&mut self, _items: usize) {
        self.out.push(ARRAY);
    }

    fn end_array(&mut self) {
        self.out.push(END_ARRAY);
    }

    fn label(&mut self, label: &'static Label) {
        self.string(label.name);
    }

    fn key(&mut self, name: &str) {
        self.string(name);
    }

    fn null(&mut self) {
        self.out.push(NULL);
    }

    fn bool(&mut self, truth: bool) {
        self.out.push(if truth { TRUE } else { FALSE });
    }

    fn number(&mut self, number: f64) {
        if let Some(number) = as_integer(number) {
            return self.integer(number);
        }
        binary::put_float(number, [FLOAT_32, FLOAT_64], self.out);
    }

    fn whole(&mut self, number: i128) {
        match i64::try_from(number) {
            Ok(number) => self.integer(number),
            Err(_) => {
                self.out.push(HIGH_PRECISION);
                self.string(&number.to_string());
            }
        }
    }

    fn text(&mut self, text: &str) {
        self.out.push(STRING);
        self.string(text);
    }

    /// The length is that of the text, at most 30, so its place is known before.
    fn time(&mut self, time: Time) {
        self.out.extend_from_slice(&[STRING, UINT_8, 0]);
        let start = self.out.len();
        self.times.write(time, self.out);
        self.out[start - 1] = (self.out.len() - start) as u8;
    }

    fn seconds(&mut self, time: Time) {
        self.number(time.seconds());
    }

    fn json(&mut self, json: &str) {
        binary::write_json(json, self);
    }
}
