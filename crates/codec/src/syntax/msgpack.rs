//! MessagePack read and written (its specification of 2017, which has timestamps).
//!
//! Times are the extension type -1 in the shortest of its three forms, exact to the nanosecond.
//! Other extensions are read as bytes. Floats are written in 32 bits where these hold them.

use crate::error::DecodeError;
use crate::number::as_integer;
use crate::syntax::binary::{self, Input, finite};
use crate::syntax::{Emit, Exact, Key, Kind, Label, Mark, Open, Pull};
use alloc::borrow::Cow;
use alloc::vec::Vec;
use weir_model::{Limits, Time};

const NIL: u8 = 0xC0;
const FALSE: u8 = 0xC2;
const TRUE: u8 = 0xC3;
const BIN_8: u8 = 0xC4;
const EXT_8: u8 = 0xC7;
const FLOAT_32: u8 = 0xCA;
const FLOAT_64: u8 = 0xCB;
const UINT_8: u8 = 0xCC;
const INT_8: u8 = 0xD0;
const FIXEXT_1: u8 = 0xD4;
const FIXEXT_4: u8 = 0xD6;
const FIXEXT_8: u8 = 0xD7;
const STR_8: u8 = 0xD9;
const ARRAY_16: u8 = 0xDC;
const MAP_16: u8 = 0xDE;

/// The extension type of timestamps, -1.
const TIMESTAMP: u8 = 0xFF;
const NANOS: i64 = 1_000_000_000;

/// Writes one MessagePack value.
pub(crate) struct MsgpackEmit<'o> {
    out: &'o mut Vec<u8>,
}

impl<'o> MsgpackEmit<'o> {
    pub(crate) fn new(out: &'o mut Vec<u8>) -> Self {
        Self { out }
    }

    /// Writes a length: in the byte itself where below `small`, or else in 16 or 32 bits.
    fn length(&mut self, fix: u8, small: usize, sixteen: u8, len: usize) {
        if len < small {
            return self.out.push(fix | len as u8);
        }
        match u16::try_from(len) {
            Ok(len) => {
                self.out.push(sixteen);
                self.out.extend_from_slice(&len.to_be_bytes());
            }
            Err(_) => {
                self.out.push(sixteen + 1);
                self.out.extend_from_slice(&(len as u32).to_be_bytes());
            }
        }
    }

    fn integer(&mut self, number: i64) {
        let bytes = number.to_be_bytes();
        let (mark, width) = match number {
            -32..128 => return self.out.push(number as u8),
            128..0x100 => (UINT_8, 1),
            0x100..0x1_0000 => (UINT_8 + 1, 2),
            0x1_0000..0x1_0000_0000 => (UINT_8 + 2, 4),
            0x1_0000_0000.. => (UINT_8 + 3, 8),
            -0x80.. => (INT_8, 1),
            -0x8000.. => (INT_8 + 1, 2),
            -0x8000_0000.. => (INT_8 + 2, 4),
            _ => (INT_8 + 3, 8),
        };
        self.out.push(mark);
        self.out.extend_from_slice(&bytes[8 - width..]);
    }
}

impl Emit for MsgpackEmit<'_> {
    const COUNTS: bool = true;

    fn map(&mut self, members: usize) {
        self.length(0x80, 16, MAP_16, members);
    }

    fn end_map(&mut self) {}

    fn array(&mut self, items: usize) {
        self.length(0x90, 16, ARRAY_16, items);
    }

    fn end_array(&mut self) {}

    fn label(&mut self, label: &'static Label) {
        self.text(label.name);
    }

    fn key(&mut self, name: &str) {
        self.text(name);
    }

    fn null(&mut self) {
        self.out.push(NIL);
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
        match (i64::try_from(number), u64::try_from(number)) {
            (Ok(number), _) => self.integer(number),
            (_, Ok(number)) => {
                self.out.push(UINT_8 + 3);
                self.out.extend_from_slice(&number.to_be_bytes());
            }
            _ => self.number(number as f64),
        }
    }

    fn text(&mut self, text: &str) {
        if (32..256).contains(&text.len()) {
            self.out.extend_from_slice(&[STR_8, text.len() as u8]);
        } else {
            self.length(0xA0, 32, STR_8 + 1, text.len());
        }
        self.out.extend_from_slice(text.as_bytes());
    }

    fn time(&mut self, time: Time) {
        let seconds = time.nanos().div_euclid(NANOS);
        let nanos = time.nanos().rem_euclid(NANOS) as u64;
        match (u64::try_from(seconds), nanos) {
            (Ok(seconds @ ..=0xFFFF_FFFF), 0) => {
                self.out.extend_from_slice(&[FIXEXT_4, TIMESTAMP]);
                self.out.extend_from_slice(&(seconds as u32).to_be_bytes());
            }
            // Seconds of a time in range need no more than the 34 bits that there are.
            (Ok(seconds), _) => {
                self.out.extend_from_slice(&[FIXEXT_8, TIMESTAMP]);
                self.out
                    .extend_from_slice(&(nanos << 34 | seconds).to_be_bytes());
            }
            (Err(_), _) => {
                self.out.extend_from_slice(&[EXT_8, 12, TIMESTAMP]);
                self.out.extend_from_slice(&(nanos as u32).to_be_bytes());
                self.out.extend_from_slice(&seconds.to_be_bytes());
            }
        }
    }

    fn seconds(&mut self, time: Time) {
        self.number(time.seconds());
    }

    fn json(&mut self, json: &str) {
        binary::write_json(json, self);
    }
}

/// Reads one MessagePack value.
pub(crate) struct Msgpack<'a> {
    input: Input<'a>,
}

impl<'a> Msgpack<'a> {
    pub(crate) fn new(bytes: &'a [u8], limits: &'a Limits) -> Self {
        Self {
            input: Input::new(bytes, limits),
        }
    }

    fn expect(&mut self, kind: Kind, what: &'static str) -> Result<(usize, u8), DecodeError> {
        let at = self.input.at;
        if self.peek()? == kind {
            Ok((at, self.input.take(1)?[0]))
        } else {
            Err(DecodeError::expected(at, what))
        }
    }

    fn follows(&mut self, open: &mut Open) -> bool {
        let left = open.left.unwrap_or(0);
        open.left = left.checked_sub(1);
        if left == 0 {
            self.input.depth -= 1;
        }
        left > 0
    }

    fn integer(&mut self) -> Result<i128, DecodeError> {
        let (start, mark) = self.expect(Kind::Number, "an integer")?;
        Ok(match mark {
            0..0x80 => i128::from(mark),
            0xE0.. => i128::from(mark as i8),
            UINT_8..INT_8 => i128::from(self.input.unsigned(1 << (mark - UINT_8))?),
            INT_8..FIXEXT_1 => {
                let width = 1 << (mark - INT_8);
                let shift = 64 - 8 * width as u32;
                i128::from((self.input.unsigned(width)? << shift) as i64 >> shift)
            }
            _ => return Err(DecodeError::expected(start, "an integer")),
        })
    }

    /// Length, type and begin of an extension's data.
    fn extension(&mut self) -> Result<(u64, u8), DecodeError> {
        let mark = self.input.take(1)?[0];
        let len = match mark {
            FIXEXT_1.. => 1 << (mark - FIXEXT_1),
            _ => self.input.unsigned(1 << (mark - EXT_8))?,
        };
        Ok((len, self.input.take(1)?[0]))
    }

    /// Says whether the extension that stands next is a timestamp.
    fn timestamp_follows(&mut self) -> Result<bool, DecodeError> {
        let start = self.input.at;
        let extension = self.extension();
        self.input.at = start;
        Ok(extension?.1 == TIMESTAMP)
    }

    fn timestamp(&mut self) -> Result<Time, DecodeError> {
        let start = self.input.at;
        let (seconds, nanos) = match self.extension()? {
            (4, TIMESTAMP) => (self.input.unsigned(4)? as i64, 0),
            (8, TIMESTAMP) => {
                let both = self.input.unsigned(8)?;
                ((both & 0x3_FFFF_FFFF) as i64, both >> 34)
            }
            (12, TIMESTAMP) => {
                let nanos = self.input.unsigned(4)?;
                (self.input.unsigned(8)? as i64, nanos)
            }
            _ => {
                return Err(DecodeError::expected(
                    start,
                    "a timestamp of 4, 8 or 12 bytes",
                ));
            }
        };
        let nanos = Some(nanos as i64).filter(|nanos| (0..NANOS).contains(nanos));
        let time = nanos.and_then(|nanos| Time::from_parts(seconds, nanos));
        let range = DecodeError::expected(start, "a time between the years 1677 and 2262");
        time.ok_or(range)
    }
}

impl Pull for Msgpack<'_> {
    fn at(&mut self) -> usize {
        self.input.at
    }

    fn peek(&mut self) -> Result<Kind, DecodeError> {
        let at = self.input.at;
        Ok(match self.input.peek()? {
            0..0x80 | 0xE0.. | FLOAT_32..FIXEXT_1 => Kind::Number,
            0x80..0x90 | MAP_16..0xE0 => Kind::Map,
            0x90..0xA0 | ARRAY_16..MAP_16 => Kind::Array,
            0xA0..NIL | STR_8..ARRAY_16 => Kind::Text,
            NIL => Kind::Null,
            FALSE | TRUE => Kind::Bool,
            BIN_8..EXT_8 => Kind::Bytes,
            EXT_8..FLOAT_32 | FIXEXT_1..STR_8 => {
                if self.timestamp_follows()? {
                    Kind::Time
                } else {
                    Kind::Bytes
                }
            }
            _ => return Err(DecodeError::expected(at, "a byte that MessagePack uses")),
        })
    }

    fn mark(&self) -> Mark {
        Mark {
            at: self.input.at,
            depth: self.input.depth,
        }
    }

    fn rewind(&mut self, mark: Mark) {
        (self.input.at, self.input.depth) = (mark.at, mark.depth);
    }

    fn map(&mut self) -> Result<Open, DecodeError> {
        let (start, mark) = self.expect(Kind::Map, "a map")?;
        let len = match mark {
            MAP_16.. => self.input.unsigned(2 << (mark - MAP_16))?,
            _ => u64::from(mark & 15),
        };
        self.input.descend(Some(len), start)
    }

    fn key(&mut self, map: &mut Open) -> Result<Option<Key<'_>>, DecodeError> {
        if !self.follows(map) {
            return Ok(None);
        }
        let at = self.input.at;
        match self.peek()? {
            Kind::Text => Ok(Some(Key::Text(self.text()?))),
            Kind::Number => {
                let number = i64::try_from(self.integer()?).ok();
                let what = DecodeError::expected(at, "a name or an integer");
                Ok(Some(Key::Number(number.ok_or(what)?)))
            }
            _ => Err(DecodeError::expected(at, "a name or an integer")),
        }
    }

    fn array(&mut self) -> Result<Open, DecodeError> {
        let (start, mark) = self.expect(Kind::Array, "an array")?;
        let len = match mark {
            ARRAY_16.. => self.input.unsigned(2 << (mark - ARRAY_16))?,
            _ => u64::from(mark & 15),
        };
        self.input.descend(Some(len), start)
    }

    fn item(&mut self, array: &mut Open) -> Result<bool, DecodeError> {
        Ok(self.follows(array))
    }

    fn null(&mut self) -> Result<(), DecodeError> {
        self.expect(Kind::Null, "nil").map(drop)
    }

    fn bool(&mut self) -> Result<bool, DecodeError> {
        Ok(self.expect(Kind::Bool, "a boolean")?.1 == TRUE)
    }

    fn number(&mut self) -> Result<f64, DecodeError> {
        let start = self.input.at;
        let number = match self.input.peek()? {
            FLOAT_32 => {
                self.input.at += 1;
                f64::from(f32::from_be_bytes(self.input.array()?))
            }
            FLOAT_64 => {
                self.input.at += 1;
                f64::from_be_bytes(self.input.array()?)
            }
            _ => self.integer()? as f64,
        };
        finite(number, start)
    }

    fn exact(&mut self) -> Result<Exact, DecodeError> {
        match self.input.peek()? {
            FLOAT_32 | FLOAT_64 => self.number().map(Exact::Double),
            _ => self.integer().map(Exact::Whole),
        }
    }

    fn seconds(&mut self) -> Result<i64, DecodeError> {
        let start = self.input.at;
        let range =
            DecodeError::expected(start, "a number of seconds between the years 1677 and 2262");
        Time::from_seconds(self.number()?)
            .map(Time::nanos)
            .ok_or(range)
    }

    fn text(&mut self) -> Result<&str, DecodeError> {
        let (_, mark) = self.expect(Kind::Text, "a string")?;
        let len = match mark {
            STR_8.. => self.input.unsigned(1 << (mark - STR_8))?,
            _ => u64::from(mark & 31),
        };
        self.input.text(len)
    }

    fn bytes(&mut self) -> Result<&[u8], DecodeError> {
        let len = match self.input.peek()? {
            mark @ BIN_8..EXT_8 => {
                self.input.at += 1;
                self.input.unsigned(1 << (mark - BIN_8))?
            }
            EXT_8..FLOAT_32 | FIXEXT_1..STR_8 => self.extension()?.0,
            _ => return Err(DecodeError::expected(self.input.at, "bytes")),
        };
        self.input.string(len)
    }

    fn time(&mut self) -> Result<Time, DecodeError> {
        let start = self.input.at;
        match self.peek()? {
            Kind::Time => return self.timestamp(),
            Kind::Number => return binary::counted_time(self),
            _ => {}
        }
        let text = self.text()?;
        Time::parse_rfc3339(text.as_bytes())
            .map_err(|error| DecodeError::expected(start, error.expected))
    }

    fn json(&mut self) -> Result<Cow<'_, str>, DecodeError> {
        let limits = self.input.limits;
        binary::json(self, limits)
    }

    fn skip(&mut self) -> Result<(), DecodeError> {
        binary::skip(self)
    }

    fn finish(&mut self) -> Result<(), DecodeError> {
        self.input.finish()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn integers_take_the_shortest_form_of_the_specification() {
        for (number, bytes) in [
            (0.0, &[0x00][..]),
            (127.0, &[0x7f]),
            (128.0, &[0xcc, 0x80]),
            (256.0, &[0xcd, 0x01, 0x00]),
            (65_536.0, &[0xce, 0, 1, 0, 0]),
            (4_294_967_296.0, &[0xcf, 0, 0, 0, 1, 0, 0, 0, 0]),
            (-1.0, &[0xff]),
            (-32.0, &[0xe0]),
            (-33.0, &[0xd0, 0xdf]),
            (-129.0, &[0xd1, 0xff, 0x7f]),
            (-32_769.0, &[0xd2, 0xff, 0xff, 0x7f, 0xff]),
            (1.5, &[0xca, 0x3f, 0xc0, 0, 0]),
            (1.1, &[0xcb, 0x3f, 0xf1, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9a]),
        ] {
            let mut out = Vec::new();
            MsgpackEmit::new(&mut out).number(number);
            assert_eq!(out, bytes, "{number}");
            assert_eq!(Msgpack::new(bytes, &Limits::default()).number(), Ok(number));
        }
    }

    #[test]
    fn times_take_the_shortest_of_three_timestamps() {
        for (nanos, len) in [
            (5 * NANOS, 6),
            (5 * NANOS + 1, 10),
            (-1, 15),
            (i64::MAX, 10),
        ] {
            let mut out = Vec::new();
            MsgpackEmit::new(&mut out).time(Time::from_nanos(nanos));
            assert_eq!(out.len(), len);
            assert_eq!(
                Msgpack::new(&out, &Limits::default()).time(),
                Ok(Time::from_nanos(nanos))
            );
        }
    }
}
