//! CBOR read and written (RFC 8949).
//!
//! Written in preferred serialization (section 4.1): shortest integers, and floats in the shortest
//! of 16, 32 and 64 bits that holds them. Read: every well-formed item, also of indefinite length;
//! strings in chunks are joined. Times are tag 0 or tag 1 (section 3.4.1 and 3.4.2); other tags are
//! passed over. What it deliberately does not do: integers beyond a double's range are rounded,
//! simple values other than booleans, null and undefined are refused.

use crate::error::DecodeError;
use crate::syntax::binary::{self, Input, as_integer, finite};
use crate::syntax::{Emit, Key, Kind, Label, Mark, Open, Pull};
use alloc::borrow::Cow;
use alloc::vec::Vec;
use weir_model::{Limits, Time};

const UNSIGNED: u8 = 0;
const NEGATIVE: u8 = 1;
const BYTES: u8 = 2;
const TEXT: u8 = 3;
const ARRAY: u8 = 4;
const MAP: u8 = 5;
const TAG: u8 = 6;
const SIMPLE: u8 = 7;

const FALSE: u8 = 0xF4;
const TRUE: u8 = 0xF5;
const NULL: u8 = 0xF6;
const UNDEFINED: u8 = 0xF7;
const HALF: u8 = 0xF9;
const SINGLE: u8 = 0xFA;
const DOUBLE: u8 = 0xFB;
const BREAK: u8 = 0xFF;

const DATE_TIME: u64 = 0;
const EPOCH: u64 = 1;
const DECIMAL_FRACTION: u64 = 4;

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

/// RFC 8949 appendix D.
fn from_half(half: u16) -> f64 {
    let fraction = f64::from(half & 0x3FF);
    let magnitude = match half >> 10 & 0x1F {
        0 => fraction / f64::from(1 << 24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        exponent => {
            let power = f64::from_bits((u64::from(exponent) + 1023 - 25) << 52);
            (fraction + 1024.0) * power
        }
    };
    if half & 0x8000 == 0 {
        magnitude
    } else {
        -magnitude
    }
}

impl Emit for CborEmit<'_> {
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

/// Reads one CBOR item.
pub(crate) struct Cbor<'a> {
    input: Input<'a>,
    /// Strings that came in chunks.
    joined: Vec<u8>,
}

/// The first byte and its argument; `None` is an indefinite length.
struct Head {
    major: u8,
    argument: Option<u64>,
}

impl<'a> Cbor<'a> {
    pub(crate) fn new(bytes: &'a [u8], limits: &'a Limits) -> Self {
        let joined = Vec::new();
        Self {
            input: Input::new(bytes, limits),
            joined,
        }
    }

    fn head(&mut self) -> Result<Head, DecodeError> {
        let start = self.input.at;
        let first = self.input.take(1)?[0];
        let argument = match first & 31 {
            small @ 0..24 => Some(u64::from(small)),
            size @ 24..28 => Some(self.input.unsigned(1 << (size - 24))?),
            31 => None,
            _ => return Err(DecodeError::expected(start, "a length that CBOR has")),
        };
        Ok(Head {
            major: first >> 5,
            argument,
        })
    }

    /// Passes over tags; gives the innermost with a meaning here.
    fn tags(&mut self) -> Result<Option<u64>, DecodeError> {
        let mut meaning = None;
        while self.input.peek()? >> 5 == TAG {
            let at = self.input.at;
            let tag = self.head()?.argument;
            meaning = Some(tag.ok_or(DecodeError::expected(at, "a tag with a number"))?);
        }
        Ok(meaning)
    }

    /// The kind of what stands next, with its tag, which is not consumed.
    fn look(&mut self) -> Result<(Kind, Option<u64>), DecodeError> {
        let start = self.input.at;
        let tag = self.tags()?;
        let first = self.input.peek();
        let at = self.input.at;
        self.input.at = start;
        let kind = match (first?, tag) {
            (_, Some(DATE_TIME | EPOCH)) => Kind::Time,
            (_, Some(DECIMAL_FRACTION)) => Kind::Number,
            (first, _) => kind(first).ok_or(DecodeError::expected(at, "a CBOR value"))?,
        };
        Ok((kind, tag))
    }

    fn expect(&mut self, kind: Kind, what: &'static str) -> Result<usize, DecodeError> {
        let at = self.input.at;
        match self.look()?.0 == kind {
            true => Ok(at),
            false => Err(DecodeError::expected(at, what)),
        }
    }

    fn open(&mut self, kind: Kind, what: &'static str) -> Result<Open, DecodeError> {
        let start = self.expect(kind, what)?;
        self.tags()?;
        let left = self.head()?.argument;
        self.input.descend(left, start)
    }

    fn follows(&mut self, open: &mut Open) -> Result<bool, DecodeError> {
        let follows = match &mut open.left {
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
            None => self.input.peek()? != BREAK,
        };
        if !follows {
            self.input.depth -= 1;
            self.input.at += usize::from(open.left.is_none());
        }
        Ok(follows)
    }

    fn string(&mut self, major: u8) -> Result<&[u8], DecodeError> {
        self.tags()?;
        match self.head()?.argument {
            Some(len) => self.input.string(len),
            None => {
                self.join(major)?;
                Ok(&self.joined)
            }
        }
    }

    /// Joins the chunks of a string of indefinite length (section 3.2.3).
    fn join(&mut self, major: u8) -> Result<(), DecodeError> {
        self.joined.clear();
        while self.input.peek()? != BREAK {
            let at = self.input.at;
            let head = self.head()?;
            let len = head.argument.filter(|_| head.major == major);
            let len = len.ok_or(DecodeError::expected(
                at,
                "a chunk of the same kind of string",
            ))?;
            let chunk = self.input.string(len)?;
            self.joined.extend_from_slice(chunk);
            let limit = self.input.limits.text_bytes;
            if self.joined.len() > limit {
                return Err(DecodeError::over(at, "bytes of a string", limit));
            }
        }
        self.input.at += 1;
        Ok(())
    }

    /// Reads an untagged number.
    fn plain_number(&mut self) -> Result<f64, DecodeError> {
        let start = self.input.at;
        let first = self.input.peek()?;
        let number = match first {
            HALF => from_half(u16::from_be_bytes(self.skip_head()?)),
            SINGLE => f64::from(f32::from_be_bytes(self.skip_head()?)),
            DOUBLE => f64::from_be_bytes(self.skip_head()?),
            _ => self.integer()? as f64,
        };
        finite(number, start)
    }

    fn skip_head<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        self.input.at += 1;
        self.input.array()
    }

    fn integer(&mut self) -> Result<i128, DecodeError> {
        let start = self.input.at;
        let head = self.head()?;
        match (head.major, head.argument) {
            (UNSIGNED, Some(number)) => Ok(i128::from(number)),
            (NEGATIVE, Some(number)) => Ok(-1 - i128::from(number)),
            _ => Err(DecodeError::expected(start, "a number")),
        }
    }

    /// Exponent and mantissa of a decimal fraction (section 3.4.4), behind its tag.
    fn fraction(&mut self) -> Result<(i32, i128), DecodeError> {
        let start = self.input.at;
        let what = "an exponent and a mantissa";
        let head = self.head()?;
        if (head.major, head.argument) != (ARRAY, Some(2)) {
            return Err(DecodeError::expected(start, what));
        }
        let exponent = i32::try_from(self.integer()?)
            .ok()
            .filter(|e| e.abs() < 400);
        Ok((
            exponent.ok_or(DecodeError::expected(start, what))?,
            self.integer()?,
        ))
    }
}

fn kind(first: u8) -> Option<Kind> {
    Some(match (first >> 5, first) {
        (UNSIGNED | NEGATIVE, _) | (_, HALF | SINGLE | DOUBLE) => Kind::Number,
        (BYTES, _) => Kind::Bytes,
        (TEXT, _) => Kind::Text,
        (ARRAY, _) => Kind::Array,
        (MAP, _) => Kind::Map,
        (SIMPLE, TRUE | FALSE) => Kind::Bool,
        (SIMPLE, NULL | UNDEFINED) => Kind::Null,
        _ => return None,
    })
}

impl Pull for Cbor<'_> {
    fn at(&mut self) -> usize {
        self.input.at
    }

    fn peek(&mut self) -> Result<Kind, DecodeError> {
        Ok(self.look()?.0)
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
        self.open(Kind::Map, "a map")
    }

    fn key(&mut self, map: &mut Open) -> Result<Option<Key<'_>>, DecodeError> {
        if !self.follows(map)? {
            return Ok(None);
        }
        let start = self.input.at;
        match self.look()?.0 {
            Kind::Text => Ok(Some(Key::Text(self.text()?))),
            Kind::Number => {
                let what = DecodeError::expected(start, "a name or an integer");
                let number = i64::try_from(self.integer()?).ok();
                Ok(Some(Key::Number(number.ok_or(what)?)))
            }
            _ => Err(DecodeError::expected(start, "a name or an integer")),
        }
    }

    fn array(&mut self) -> Result<Open, DecodeError> {
        self.open(Kind::Array, "an array")
    }

    fn item(&mut self, array: &mut Open) -> Result<bool, DecodeError> {
        self.follows(array)
    }

    fn null(&mut self) -> Result<(), DecodeError> {
        self.expect(Kind::Null, "null")?;
        self.tags()?;
        self.input.at += 1;
        Ok(())
    }

    fn bool(&mut self) -> Result<bool, DecodeError> {
        self.expect(Kind::Bool, "a boolean")?;
        self.tags()?;
        Ok(self.input.take(1)?[0] == TRUE)
    }

    fn number(&mut self) -> Result<f64, DecodeError> {
        let start = self.expect(Kind::Number, "a number")?;
        if self.tags()? != Some(DECIMAL_FRACTION) {
            return self.plain_number();
        }
        let (exponent, mantissa) = self.fraction()?;
        let text = alloc::format!("{mantissa}e{exponent}");
        finite(text.parse().unwrap_or(f64::NAN), start)
    }

    fn seconds(&mut self) -> Result<i64, DecodeError> {
        let start = self.expect(Kind::Number, "a number of seconds")?;
        let what = "a number of seconds between the years 1677 and 2262";
        let range = DecodeError::expected(start, what);
        let nanos = if self.tags()? == Some(DECIMAL_FRACTION) {
            let (exponent, mantissa) = self.fraction()?;
            let scale = 10_i128.checked_pow((exponent + 9).unsigned_abs());
            match (exponent + 9 < 0, scale) {
                (true, scale) => Some(scale.map_or(0, |scale| mantissa / scale)),
                (false, scale) => scale.and_then(|scale| mantissa.checked_mul(scale)),
            }
        } else {
            Time::from_seconds(self.plain_number()?).map(|time| i128::from(time.nanos()))
        };
        nanos
            .and_then(|nanos| i64::try_from(nanos).ok())
            .ok_or(range)
    }

    fn text(&mut self) -> Result<&str, DecodeError> {
        let start = self.expect(Kind::Text, "a string")?;
        let bytes = self.string(TEXT)?;
        core::str::from_utf8(bytes).map_err(|_| DecodeError::expected(start, "a string of UTF-8"))
    }

    fn bytes(&mut self) -> Result<&[u8], DecodeError> {
        self.expect(Kind::Bytes, "a byte string")?;
        self.string(BYTES)
    }

    fn time(&mut self) -> Result<Time, DecodeError> {
        let start = self.input.at;
        let what = "a time: tag 0, tag 1 or text of RFC 3339";
        let tag = self.look()?.1;
        if tag == Some(EPOCH) {
            self.tags()?;
            let time = Time::from_seconds(self.plain_number()?);
            return time.ok_or(DecodeError::expected(
                start,
                "a time between the years 1677 and 2262",
            ));
        }
        self.tags()?;
        if self.input.peek()? >> 5 != TEXT {
            return Err(DecodeError::expected(start, what));
        }
        let text = self.string(TEXT)?;
        Time::parse_rfc3339(text).map_err(|error| DecodeError::expected(start, error.expected))
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

    fn unhex(text: &str) -> Vec<u8> {
        let digit = |byte: u8| char::from(byte).to_digit(16).unwrap() as u8;
        text.as_bytes()
            .chunks(2)
            .map(|pair| digit(pair[0]) << 4 | digit(pair[1]))
            .collect()
    }

    #[test]
    fn the_numbers_of_rfc_8949_appendix_a() {
        for (hex, number, same) in [
            ("00", 0.0, true),
            ("0a", 10.0, true),
            ("1818", 24.0, true),
            ("1903e8", 1000.0, true),
            ("1a000f4240", 1e6, true),
            ("1b000000e8d4a51000", 1e12, true),
            ("1bffffffffffffffff", 18_446_744_073_709_551_615.0, false),
            ("20", -1.0, true),
            ("3903e7", -1000.0, true),
            ("3bffffffffffffffff", -18_446_744_073_709_551_616.0, false),
            ("f90000", 0.0, false),
            ("f98000", -0.0, true),
            ("f93c00", 1.0, false),
            ("fb3ff199999999999a", 1.1, true),
            ("f93e00", 1.5, true),
            ("f97bff", 65_504.0, false),
            ("fa47c35000", 100_000.0, false),
            ("fa7f7fffff", 3.402_823_466_385_288_6e38, true),
            ("fb7e37e43c8800759c", 1e300, true),
            ("f90001", 5.960_464_477_539_063e-8, true),
            ("f90400", 6.103_515_625e-5, true),
            ("f9c400", -4.0, false),
            ("fbc010666666666666", -4.1, true),
        ] {
            let bytes = unhex(hex);
            let limits = Limits::default();
            assert_eq!(Cbor::new(&bytes, &limits).number(), Ok(number), "{hex}");
            let mut out = Vec::new();
            CborEmit::new(&mut out).number(number);
            assert_eq!(out == bytes, same, "{hex} {out:02x?}");
        }
    }

    #[test]
    fn infinities_and_nan_are_refused() {
        for hex in [
            "f97c00",
            "f97e00",
            "f9fc00",
            "fa7f800000",
            "fb7ff8000000000000",
        ] {
            let limits = Limits::default();
            assert!(Cbor::new(&unhex(hex), &limits).number().is_err(), "{hex}");
        }
    }

    #[test]
    fn the_strings_arrays_and_maps_of_rfc_8949_appendix_a() {
        for (hex, json) in [
            ("80", "[]"),
            ("83010203", "[1,2,3]"),
            ("8301820203820405", "[1,[2,3],[4,5]]"),
            ("a0", "{}"),
            ("a201020304", r#"{"1":2,"3":4}"#),
            ("a26161016162820203", r#"{"a":1,"b":[2,3]}"#),
            ("826161a161626163", r#"["a",{"b":"c"}]"#),
            ("8160", r#"[""]"#),
            ("8162225c", r#"["\"\\"]"#),
            ("8162c3bc", r#"["ü"]"#),
            ("8164f0908591", r#"["𐅑"]"#),
            ("84f4f5f6f7", "[false,true,null,null]"),
            ("9fff", "[]"),
            ("9f018202039f0405ffff", "[1,[2,3],[4,5]]"),
            ("83018202039f0405ff", "[1,[2,3],[4,5]]"),
            ("817f657374726561646d696e67ff", r#"["streaming"]"#),
            ("bf61610161629f0203ffff", r#"{"a":1,"b":[2,3]}"#),
            ("bf6346756ef563416d7421ff", r#"{"Fun":true,"Amt":-2}"#),
            ("81c11a514b67b0", r#"["2013-03-21T20:04:00Z"]"#),
            ("81c1fb41d452d9ec200000", r#"["2013-03-21T20:04:00.500Z"]"#),
            (
                "81c074323031332d30332d32315432303a30343a30305a",
                r#"["2013-03-21T20:04:00Z"]"#,
            ),
            ("81d74401020304", r#"["AQIDBA"]"#),
            ("81d818456449455446", r#"["ZElFVEY"]"#),
            ("815f42010243030405ff", r#"["AQIDBAU"]"#),
        ] {
            let bytes = unhex(hex);
            let limits = Limits::default();
            let mut cbor = Cbor::new(&bytes, &limits);
            assert_eq!(cbor.json().as_deref(), Ok(json), "{hex}");
            cbor.finish().unwrap();
        }
    }
}
