//! BSON written.

use super::{
    ARRAY, BOOLEAN, DATETIME, DECIMAL_128, DECIMAL_128_ONE, DOCUMENT, DOUBLE, INT_32, INT_64,
};
use super::{NULL, STRING};
use crate::number::as_integer;
use crate::syntax::binary;
use crate::syntax::{DEPTH_MAX, Emit, Label};
use alloc::vec::Vec;
use weir_model::Time;

/// Levels of the deepest JSON tree and of the message around it.
const LEVELS: usize = DEPTH_MAX + 8;
const MILLI: i64 = 1_000_000;

/// A document or an array being written.
#[derive(Clone, Copy, Default)]
struct Frame {
    /// Where its length stands.
    start: usize,
    /// Items written, where it is an array.
    index: Option<u32>,
}

/// Writes one BSON document.
pub(crate) struct BsonEmit<'o> {
    out: &'o mut Vec<u8>,
    frames: [Frame; LEVELS],
    depth: usize,
    /// Where the type of the member named last stands.
    type_at: usize,
}

impl<'o> BsonEmit<'o> {
    pub(crate) fn new(out: &'o mut Vec<u8>) -> Self {
        let frames = [Frame::default(); LEVELS];
        Self {
            out,
            frames,
            depth: 0,
            type_at: 0,
        }
    }

    /// Puts in the type of what follows: before its name, or before its number in an array.
    fn begin(&mut self, kind: u8) {
        let Some(level) = self.depth.checked_sub(1) else {
            return;
        };
        match &mut self.frames[level].index {
            None => self.out[self.type_at] = kind,
            Some(index) => {
                self.out.push(kind);
                crate::number::write_f64(f64::from(*index), self.out);
                self.out.push(0);
                *index += 1;
            }
        }
    }

    fn open(&mut self, kind: u8, index: Option<u32>) {
        self.begin(kind);
        let start = self.out.len();
        self.frames[self.depth] = Frame { start, index };
        self.depth += 1;
        self.out.extend_from_slice(&[0; 4]);
    }

    fn close(&mut self) {
        self.out.push(0);
        self.depth -= 1;
        let start = self.frames[self.depth].start;
        let len = (self.out.len() - start) as u32;
        self.out[start..start + 4].copy_from_slice(&len.to_le_bytes());
    }

    fn integer(&mut self, whole: i64) {
        match i32::try_from(whole) {
            Ok(whole) => {
                self.begin(INT_32);
                self.out.extend_from_slice(&whole.to_le_bytes());
            }
            Err(_) => {
                self.begin(INT_64);
                self.out.extend_from_slice(&whole.to_le_bytes());
            }
        }
    }

    /// Writes what `write` writes as a string.
    fn string(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.begin(STRING);
        let start = self.out.len();
        self.out.extend_from_slice(&[0; 4]);
        write(self.out);
        self.out.push(0);
        let len = (self.out.len() - start - 4) as u32;
        self.out[start..start + 4].copy_from_slice(&len.to_le_bytes());
    }
}

impl Emit for BsonEmit<'_> {
    const COUNTS: bool = false;

    fn map(&mut self, _members: usize) {
        self.open(DOCUMENT, None);
    }

    fn end_map(&mut self) {
        self.close();
    }

    fn array(&mut self, _items: usize) {
        self.open(ARRAY, Some(0));
    }

    fn end_array(&mut self) {
        self.close();
    }

    fn label(&mut self, label: &'static Label) {
        self.key(label.name);
    }

    /// A name ends at its first NUL, so one that holds such gets U+FFFD for it.
    fn key(&mut self, name: &str) {
        self.type_at = self.out.len();
        self.out.push(0);
        for (index, part) in name.split('\0').enumerate() {
            if index > 0 {
                self.out.extend_from_slice("\u{FFFD}".as_bytes());
            }
            self.out.extend_from_slice(part.as_bytes());
        }
        self.out.push(0);
    }

    fn null(&mut self) {
        self.begin(NULL);
    }

    fn bool(&mut self, truth: bool) {
        self.begin(BOOLEAN);
        self.out.push(u8::from(truth));
    }

    fn number(&mut self, number: f64) {
        match as_integer(number) {
            Some(whole) => self.integer(whole),
            None => {
                self.begin(DOUBLE);
                self.out.extend_from_slice(&number.to_le_bytes());
            }
        }
    }

    fn whole(&mut self, number: i128) {
        match (i64::try_from(number), u64::try_from(number)) {
            (Ok(number), _) => self.integer(number),
            // There is no unsigned integer of 64 bits; a decimal has room for its digits.
            (_, Ok(number)) => {
                self.begin(DECIMAL_128);
                let decimal = DECIMAL_128_ONE | u128::from(number);
                self.out.extend_from_slice(&decimal.to_le_bytes());
            }
            _ => self.number(number as f64),
        }
    }

    fn text(&mut self, text: &str) {
        self.string(|out| out.extend_from_slice(text.as_bytes()));
    }

    fn time(&mut self, time: Time) {
        if time.nanos() % MILLI != 0 {
            return self.string(|out| time.write_rfc3339(out));
        }
        self.begin(DATETIME);
        let millis = time.nanos() / MILLI;
        self.out.extend_from_slice(&millis.to_le_bytes());
    }

    fn seconds(&mut self, time: Time) {
        self.number(time.seconds());
    }

    fn json(&mut self, json: &str) {
        binary::write_json(json, self);
    }
}
