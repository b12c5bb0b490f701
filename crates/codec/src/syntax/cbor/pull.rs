//! CBOR read.

use super::{ARRAY, BREAK, BYTES, DATE_TIME, DECIMAL_FRACTION, DOUBLE, EPOCH, FALSE, HALF, MAP};
use super::{NEGATIVE, NULL, SIMPLE, SINGLE, TAG, TEXT, TRUE, UNDEFINED, UNSIGNED};
use crate::error::DecodeError;
use crate::syntax::binary::{self, Input, finite};
use crate::syntax::{Exact, Key, Kind, Mark, Open, Pull};
use alloc::borrow::Cow;
use alloc::vec::Vec;
use weir_model::{Limits, Time};

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

    #[inline]
    fn head(&mut self) -> Result<Head, DecodeError> {
        let first = self.input.peek()?;
        if first & 31 >= 24 {
            return self.long_head();
        }
        self.input.at += 1;
        let argument = Some(u64::from(first & 31));
        Ok(Head {
            major: first >> 5,
            argument,
        })
    }

    fn long_head(&mut self) -> Result<Head, DecodeError> {
        let start = self.input.at;
        let first = self.input.take(1)?[0];
        let argument = match first & 31 {
            size @ 24..28 => Some(self.input.unsigned(1 << (size - 24))?),
            31 => None,
            _ => return Err(DecodeError::expected(start, "a length that CBOR has")),
        };
        Ok(Head {
            major: first >> 5,
            argument,
        })
    }

    /// Passes over tags, which are rare; gives the innermost.
    #[inline]
    fn tags(&mut self) -> Result<Option<u64>, DecodeError> {
        if self.input.peek()? >> 5 == TAG {
            self.some_tags()
        } else {
            Ok(None)
        }
    }

    fn some_tags(&mut self) -> Result<Option<u64>, DecodeError> {
        let mut meaning = None;
        while self.input.peek()? >> 5 == TAG {
            let at = self.input.at;
            let tag = self.head()?.argument;
            meaning = Some(tag.ok_or_else(|| DecodeError::expected(at, "a tag with a number"))?);
        }
        Ok(meaning)
    }

    /// The kind of what stands next, with its tag, which is not consumed.
    #[inline]
    fn look(&mut self) -> Result<(Kind, Option<u64>), DecodeError> {
        let first = self.input.peek()?;
        if first >> 5 == TAG {
            return self.look_behind_tags();
        }
        match kind(first) {
            Some(kind) => Ok((kind, None)),
            None => Err(DecodeError::expected(self.input.at, "a CBOR value")),
        }
    }

    fn look_behind_tags(&mut self) -> Result<(Kind, Option<u64>), DecodeError> {
        let start = self.input.at;
        let tag = self.tags()?;
        let first = self.input.peek();
        let at = self.input.at;
        self.input.at = start;
        let kind = match (first?, tag) {
            (_, Some(DATE_TIME | EPOCH)) => Kind::Time,
            (_, Some(DECIMAL_FRACTION)) => Kind::Number,
            (first, _) => kind(first).ok_or_else(|| DecodeError::expected(at, "a CBOR value"))?,
        };
        Ok((kind, tag))
    }

    #[inline]
    fn expect(&mut self, kind: Kind, what: &'static str) -> Result<usize, DecodeError> {
        let at = self.input.at;
        if self::kind(self.input.peek()?) == Some(kind) || self.look()?.0 == kind {
            return Ok(at);
        }
        Err(DecodeError::expected(at, what))
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
            let len =
                len.ok_or_else(|| DecodeError::expected(at, "a chunk of the same kind of string"))?;
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
            exponent.ok_or_else(|| DecodeError::expected(start, what))?,
            self.integer()?,
        ))
    }
}

#[inline]
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
        match kind(self.input.peek()?) {
            Some(kind) => Ok(kind),
            None => Ok(self.look()?.0),
        }
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
        match self.peek()? {
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

    fn exact(&mut self) -> Result<Exact, DecodeError> {
        self.expect(Kind::Number, "a number")?;
        let start = self.input.at;
        let tag = self.tags()?;
        let whole = matches!(self.input.peek()? >> 5, UNSIGNED | NEGATIVE);
        if whole && tag != Some(DECIMAL_FRACTION) {
            return self.integer().map(Exact::Whole);
        }
        self.input.at = start;
        self.number().map(Exact::Double)
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
            return time.ok_or_else(|| {
                DecodeError::expected(start, "a time between the years 1677 and 2262")
            });
        }
        if self.peek()? == Kind::Number {
            return binary::counted_time(self);
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
