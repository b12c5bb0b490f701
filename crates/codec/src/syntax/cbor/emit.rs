//! CBOR written.

use super::{ARRAY, DATE_TIME, DECIMAL_FRACTION, DOUBLE, EPOCH, FALSE, HALF, MAP, NEGATIVE, NULL};
use super::{SINGLE, TAG, TEXT, TRUE, UNSIGNED};
use crate::number::as_integer;
use crate::syntax::binary;
use crate::syntax::{Emit, Label};
use alloc::vec::Vec;
use weir_model::Time;

/// Writes one CBOR item.
pub(crate) struct CborEmit<'o> {
    out: &'o mut Vec<u8>,
    /// Whether labels with a number are written as numbers.
    numbered: bool,
}

impl<'o> CborEmit<'o> {
    pub(crate) fn new(out: &'o mut Vec<u8>) -> Self {
        Self {
            out,
            numbered: false,
        }
    }

    /// Labels that have an integer are written as it.
    pub(crate) fn with_numbers(out: &'o mut Vec<u8>) -> Self {
        Self {
            out,
            numbered: true,
        }
    }

    fn head(&mut self, major: u8, argument: u64) {
        let major = major << 5;
        let bytes = argument.to_be_bytes();
        match argument {
            0..24 => self.out.push(major | bytes[7]),
            24..0x100 => self.out.extend_from_slice(&[major | 24, bytes[7]]),
            0x100..0x1_0000 => self
                .out
                .extend_from_slice(&[major | 25, bytes[6], bytes[7]]),
            0x1_0000..0x1_0000_0000 => {
                self.out.push(major | 26);
                self.out.extend_from_slice(&bytes[4..]);
            }
            _ => {
                self.out.push(major | 27);
                self.out.extend_from_slice(&bytes);
            }
        }
    }

    fn integer(&mut self, number: i64) {
        match u64::try_from(number) {
            Ok(number) => self.head(UNSIGNED, number),
            Err(_) => self.head(NEGATIVE, !number as u64),
        }
    }

    fn float(&mut self, number: f64) {
        let single = number as f32;
        if f64::from(single) != number {
            self.out.push(DOUBLE);
            return self.out.extend_from_slice(&number.to_be_bytes());
        }
        match half_of(single) {
            Some(half) => {
                self.out.push(HALF);
                self.out.extend_from_slice(&half.to_be_bytes());
            }
            None => {
                self.out.push(SINGLE);
                self.out.extend_from_slice(&single.to_be_bytes());
            }
        }
    }
}

/// The half-precision number that equals a finite single one.
fn half_of(single: f32) -> Option<u16> {
    let bits = single.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let exponent = (bits >> 23 & 0xFF) as i32 - 127;
    let fraction = bits & 0x7F_FFFF;
    match exponent {
        -127 if fraction == 0 => Some(sign),
        -14..=15 if fraction & 0x1FFF == 0 => {
            Some(sign | ((exponent + 15) as u16) << 10 | (fraction >> 13) as u16)
        }
        -24..=-15 => {
            let shift = (-1 - exponent) as u32;
            let whole = fraction | 0x80_0000;
            (whole & ((1 << shift) - 1) == 0).then_some(sign | (whole >> shift) as u16)
        }
        _ => None,
    }
}

impl Emit for CborEmit<'_> {
    const COUNTS: bool = true;

    fn map(&mut self, members: usize) {
        self.head(MAP, members as u64);
    }

    fn end_map(&mut self) {}

    fn array(&mut self, items: usize) {
        self.head(ARRAY, items as u64);
    }

    fn end_array(&mut self) {}

    fn label(&mut self, label: &'static Label) {
        match label.number.filter(|_| self.numbered) {
            Some(number) => self.integer(number),
            None => self.text(label.name),
        }
    }

    fn key(&mut self, name: &str) {
        self.text(name);
    }

    fn null(&mut self) {
        self.out.push(NULL);
    }

    fn bool(&mut self, truth: bool) {
        self.out.push(if truth { TRUE } else { FALSE });
    }

    fn number(&mut self, number: f64) {
        match as_integer(number) {
            Some(number) => self.integer(number),
            None => self.float(number),
        }
    }

    fn whole(&mut self, number: i128) {
        match (u64::try_from(number), i64::try_from(number)) {
            (Ok(number), _) => self.head(UNSIGNED, number),
            (_, Ok(number)) => self.integer(number),
            _ => self.number(number as f64),
        }
    }

    fn text(&mut self, text: &str) {
        self.head(TEXT, text.len() as u64);
        self.out.extend_from_slice(text.as_bytes());
    }

    /// Tag 1 where seconds in a double are exact, else tag 0.
    fn time(&mut self, time: Time) {
        let seconds = time.seconds();
        if Time::from_seconds(seconds) == Some(time) {
            self.head(TAG, EPOCH);
            return self.number(seconds);
        }
        self.head(TAG, DATE_TIME);
        // The text has 30 bytes, since only times with nanoseconds get here; its head has two.
        let head = self.out.len();
        self.out.extend_from_slice(&[TEXT << 5 | 24, 0]);
        time.write_rfc3339(self.out);
        self.out[head + 1] = (self.out.len() - head - 2) as u8;
    }

    /// A number, or a decimal fraction (RFC 8428 section 6) where a double is not exact.
    fn seconds(&mut self, time: Time) {
        let seconds = time.seconds();
        if Time::from_seconds(seconds) == Some(time) {
            return self.number(seconds);
        }
        self.head(TAG, DECIMAL_FRACTION);
        self.head(ARRAY, 2);
        self.integer(-9);
        self.integer(time.nanos());
    }

    fn json(&mut self, json: &str) {
        binary::write_json(json, self);
    }
}
