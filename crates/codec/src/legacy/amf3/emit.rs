//! AMF 3 written.

use super::U29_END;
use super::{ARRAY, DATE, DICTIONARY, DOUBLE, EMPTY, FALSE, INTEGER, NULL, OBJECT, STRING, TRUE};
use crate::known_strings::KnownStrings;
use crate::number::{TimeWriter, as_integer};
use crate::syntax::binary;
use crate::syntax::{Emit, Label};
use alloc::string::ToString;
use alloc::vec::Vec;
use weir_model::Time;

const MILLI: i64 = 1_000_000;
/// An object with its traits, which are dynamic and have no sealed member.
const DYNAMIC: u8 = 0x0B;
/// An object with the first traits written.
const FIRST_TRAITS: u8 = 0x01;

/// A string in the output and its number in the table of strings.
#[derive(Clone, Copy)]
struct Written {
    start: usize,
    len: usize,
    index: u32,
}

/// Writes one AMF 3 value.
pub(crate) struct Amf3Emit<'o> {
    out: &'o mut Vec<u8>,
    times: TimeWriter,
    known: KnownStrings<Written>,
    /// Length of the table of strings.
    strings: u32,
    /// Whether traits were written.
    traits: bool,
    /// Whether maps are written as dictionaries.
    dictionaries: bool,
}

impl<'o> Amf3Emit<'o> {
    pub(crate) fn new(out: &'o mut Vec<u8>) -> Self {
        Self {
            out,
            times: TimeWriter::default(),
            known: KnownStrings::new(),
            strings: 0,
            traits: false,
            dictionaries: false,
        }
    }

    /// Writes an integer of 29 bits (section 1.3.1).
    fn u29(&mut self, number: u32) {
        let low = |shift: u32| (number >> shift) as u8;
        match number {
            0..0x80 => self.out.push(number as u8),
            0x80..0x4000 => self.out.extend_from_slice(&[low(7) | 0x80, low(0) & 0x7F]),
            0x4000..0x20_0000 => {
                let bytes = [low(14) | 0x80, low(7) | 0x80, low(0) & 0x7F];
                self.out.extend_from_slice(&bytes);
            }
            _ => {
                let bytes = [low(22) | 0x80, low(15) | 0x80, low(8) | 0x80, low(0)];
                self.out.extend_from_slice(&bytes);
            }
        }
    }

    /// Writes a string without its marker (section 1.3.2); the empty one is never referred to.
    fn string(&mut self, text: &str) {
        if text.is_empty() {
            return self.out.push(EMPTY);
        }
        let head = (text.len() as u32) << 1 | 1;
        let new = Written {
            start: self.out.len() + u29_bytes(head),
            len: text.len(),
            index: self.strings,
        };
        let out = &self.out;
        let is_same = |w: Written| out.get(w.start..w.start + w.len) == Some(text.as_bytes());
        match self.known.find_or_put(text, is_same, new) {
            Some(written) => self.u29(written.index << 1),
            None => {
                self.u29(head);
                self.out.extend_from_slice(text.as_bytes());
                self.strings += 1;
            }
        }
    }
}

fn u29_bytes(number: u32) -> usize {
    match number {
        0..0x80 => 1,
        0x80..0x4000 => 2,
        0x4000..0x20_0000 => 3,
        _ => 4,
    }
}

impl Emit for Amf3Emit<'_> {
    const COUNTS: bool = true;

    fn map(&mut self, members: usize) {
        if self.dictionaries {
            self.out.push(DICTIONARY);
            self.u29((members as u32) << 1 | 1);
            // Its keys are not held weakly.
            return self.out.push(0);
        }
        if self.traits {
            self.out.extend_from_slice(&[OBJECT, FIRST_TRAITS])
        } else {
            self.out.extend_from_slice(&[OBJECT, DYNAMIC, EMPTY])
        }
        self.traits = true;
    }

    fn end_map(&mut self) {
        if !self.dictionaries {
            self.out.push(EMPTY);
        }
    }

    fn array(&mut self, items: usize) {
        self.out.push(ARRAY);
        self.u29((items as u32) << 1 | 1);
        // No items with names.
        self.out.push(EMPTY);
    }

    fn end_array(&mut self) {}

    fn label(&mut self, label: &'static Label) {
        self.string(label.name);
    }

    fn key(&mut self, name: &str) {
        if self.dictionaries {
            self.out.push(STRING);
        }
        self.string(name);
    }

    fn null(&mut self) {
        self.out.push(NULL);
    }

    fn bool(&mut self, truth: bool) {
        self.out.push(if truth { TRUE } else { FALSE });
    }

    fn number(&mut self, number: f64) {
        match as_integer(number) {
            Some(whole @ -0x1000_0000..0x1000_0000) => {
                self.out.push(INTEGER);
                self.u29(whole.rem_euclid(U29_END) as u32);
            }
            _ => {
                self.out.push(DOUBLE);
                self.out.extend_from_slice(&number.to_be_bytes());
            }
        }
    }

    /// There are none of more than 29 bits: what is no double is the text of its digits.
    fn whole(&mut self, number: i128) {
        if number as f64 as i128 == number {
            self.number(number as f64)
        } else {
            self.text(&number.to_string())
        }
    }

    fn text(&mut self, text: &str) {
        self.out.push(STRING);
        self.string(text);
    }

    fn time(&mut self, time: Time) {
        if time.nanos() % MILLI == 0 {
            // Inline; a millisecond count is exact in a double for 285,000 years.
            self.out.extend_from_slice(&[DATE, 1]);
            let millis = (time.nanos() / MILLI) as f64;
            return self.out.extend_from_slice(&millis.to_be_bytes());
        }
        self.out.extend_from_slice(&[STRING, 0]);
        let start = self.out.len();
        self.times.write(time, self.out);
        // At most 30 bytes.
        self.out[start - 1] = ((self.out.len() - start) << 1 | 1) as u8;
        self.strings += 1;
    }

    fn seconds(&mut self, time: Time) {
        self.number(time.seconds());
    }

    fn json(&mut self, json: &str) {
        // A string that ends in an escaped quote is taken for one too, which does no harm.
        self.dictionaries = json.contains("\"\":");
        binary::write_json(json, self);
        self.dictionaries = false;
    }
}
