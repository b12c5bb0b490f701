//! BSON read.

use super::{ARRAY, BINARY, BOOLEAN, CODE, CODE_WITH_SCOPE, DATETIME, DB_POINTER, DECIMAL_128};
use super::{DOCUMENT, DOUBLE, INT_32, INT_64, MAX_KEY, MIN_KEY, NULL, OBJECT_ID, REGEX, STRING};
use super::{SYMBOL, TIMESTAMP, UNDEFINED};
use crate::error::DecodeError;
use crate::syntax::binary::{self, Input, finite};
use crate::syntax::{Exact, Key, Kind, Mark, Open, Pull};
use alloc::borrow::Cow;
use weir_model::{Limits, Time};

const NANOS: i64 = 1_000_000_000;
/// The shortest document: its length and the byte at its end.
const DOCUMENT_BYTES_MIN: usize = 5;
const IN_RANGE: &str = "a time between the years 1677 and 2262";

/// Reads one BSON document. Where [`Open::left`] of others counts, here it is the offset of the end.
pub(crate) struct Bson<'a> {
    input: Input<'a>,
    /// Type of the value that stands next.
    next: u8,
}

impl<'a> Bson<'a> {
    pub(crate) fn new(bytes: &'a [u8], limits: &'a Limits) -> Self {
        Self {
            input: Input::new(bytes, limits),
            next: DOCUMENT,
        }
    }

    fn expect(&mut self, kind: u8, what: &'static str) -> Result<(), DecodeError> {
        if self.next == kind {
            Ok(())
        } else {
            Err(DecodeError::expected(self.input.at, what))
        }
    }

    fn length(&mut self) -> Result<usize, DecodeError> {
        let at = self.input.at;
        let len = i32::from_le_bytes(self.input.array()?);
        usize::try_from(len).map_err(|_| DecodeError::expected(at, "a length that is not negative"))
    }

    /// The end of the document that stands next, as its length says it.
    fn document_end(&mut self) -> Result<usize, DecodeError> {
        let start = self.input.at;
        let len = self.length()?;
        if len < DOCUMENT_BYTES_MIN {
            return Err(DecodeError::expected(
                start,
                "a document of at least 5 bytes",
            ));
        }
        let limit = self.input.limits.message_bytes;
        if len > limit {
            return Err(DecodeError::over(start, "bytes of a document", limit));
        }
        match start.checked_add(len) {
            Some(end) if end <= self.input.bytes.len() => Ok(end),
            _ => Err(DecodeError::truncated(self.input.bytes.len())),
        }
    }

    fn open(&mut self, kind: u8, what: &'static str) -> Result<Open, DecodeError> {
        self.expect(kind, what)?;
        let start = self.input.at;
        let end = self.document_end()?;
        self.input.descend(Some(end as u64), start)
    }

    /// Reads the type of the next member, or the end.
    fn follows(&mut self, open: &Open) -> Result<bool, DecodeError> {
        let at = self.input.at;
        let end = open.left.unwrap_or(0);
        self.next = self.input.take(1)?[0];
        match (self.next, self.input.at as u64) {
            (0, after) if after == end => {
                self.input.depth -= 1;
                Ok(false)
            }
            (0, _) => Err(DecodeError::expected(
                at,
                "the document to end where its length says",
            )),
            (_, after) if after < end => Ok(true),
            _ => Err(DecodeError::expected(
                at,
                "a zero at the end of the document",
            )),
        }
    }

    /// Reads text that ends with a zero.
    fn c_string(&mut self) -> Result<&'a str, DecodeError> {
        let rest = &self.input.bytes[self.input.at..];
        let len = rest.iter().position(|&byte| byte == 0);
        let len = len.ok_or_else(|| DecodeError::truncated(self.input.bytes.len()))?;
        let text = self.input.text(len as u64)?;
        self.input.at += 1;
        Ok(text)
    }

    /// Reads text with its length, which counts the zero at its end.
    fn string(&mut self) -> Result<&'a str, DecodeError> {
        let at = self.input.at;
        let Some(len) = self.length()?.checked_sub(1) else {
            return Err(DecodeError::expected(
                at,
                "the length of a string and its zero",
            ));
        };
        let text = self.input.text(len as u64)?;
        let end = self.input.at;
        match self.input.take(1)?[0] {
            0 => Ok(text),
            _ => Err(DecodeError::expected(
                end,
                "a zero at the end of the string",
            )),
        }
    }

    fn binary(&mut self) -> Result<&'a [u8], DecodeError> {
        let len = self.length()?;
        // The subtype says what the bytes are for.
        self.input.take(1)?;
        self.input.string(len as u64)
    }

    /// Reads IEEE 754-2008 decimal128 with a binary significand: an integer, or rounded to a double.
    fn decimal(&mut self) -> Result<Exact, DecodeError> {
        let at = self.input.at;
        let bits = u128::from_le_bytes(self.input.array()?);
        match bits >> 122 & 0b1_1111 {
            0b1_1111 => return finite(f64::NAN, at).map(Exact::Double),
            0b1_1110 if bits >> 127 == 1 => {
                return finite(f64::NEG_INFINITY, at).map(Exact::Double);
            }
            0b1_1110 => return finite(f64::INFINITY, at).map(Exact::Double),
            0b1_1000.. => return Err(DecodeError::expected(at, "a significand of 34 digits")),
            _ => {}
        }
        let exponent = (bits >> 113 & 0x3FFF) as i32 - 6176;
        let negative = bits >> 127 == 1;
        let significand = bits & ((1 << 113) - 1);
        if exponent == 0 && significand > 0 {
            let whole = significand as i128;
            return Ok(Exact::Whole(if negative { -whole } else { whole }));
        }
        let sign = if negative { "-" } else { "" };
        let text = alloc::format!("{sign}{significand}e{exponent}");
        finite(text.parse().unwrap_or(f64::NAN), at).map(Exact::Double)
    }

    /// Reads seconds since the epoch and a count within the second, which orders only.
    fn timestamp(&mut self) -> Result<Time, DecodeError> {
        let seconds = u64::from_le_bytes(self.input.array()?) >> 32;
        Ok(Time::from_nanos(seconds as i64 * NANOS))
    }

    fn datetime(&mut self) -> Result<Time, DecodeError> {
        let at = self.input.at;
        let millis = i64::from_le_bytes(self.input.array()?);
        let nanos = millis.checked_mul(NANOS / 1000);
        let nanos = nanos.ok_or_else(|| DecodeError::expected(at, IN_RANGE))?;
        Ok(Time::from_nanos(nanos))
    }

    fn skip_document(&mut self) -> Result<(), DecodeError> {
        self.input.at = self.document_end()?;
        Ok(())
    }
}

impl Pull for Bson<'_> {
    fn at(&mut self) -> usize {
        self.input.at
    }

    fn peek(&mut self) -> Result<Kind, DecodeError> {
        Ok(match self.next {
            DOUBLE | INT_32 | INT_64 | DECIMAL_128 => Kind::Number,
            STRING | SYMBOL | CODE => Kind::Text,
            DOCUMENT => Kind::Map,
            ARRAY => Kind::Array,
            BINARY | OBJECT_ID => Kind::Bytes,
            BOOLEAN => Kind::Bool,
            DATETIME | TIMESTAMP => Kind::Time,
            NULL | UNDEFINED => Kind::Null,
            _ => {
                let what = "a type of BSON that a message can hold";
                return Err(DecodeError::expected(self.input.at, what));
            }
        })
    }

    fn mark(&self) -> Mark {
        self.input.mark_of(self.next)
    }

    fn rewind(&mut self, mark: Mark) {
        self.next = self.input.rewind_of(mark);
    }

    fn map(&mut self) -> Result<Open, DecodeError> {
        self.open(DOCUMENT, "a document")
    }

    fn key(&mut self, map: &mut Open) -> Result<Option<Key<'_>>, DecodeError> {
        if self.follows(map)? {
            Ok(Some(Key::Text(self.c_string()?)))
        } else {
            Ok(None)
        }
    }

    fn array(&mut self) -> Result<Open, DecodeError> {
        self.open(ARRAY, "an array")
    }

    fn item(&mut self, array: &mut Open) -> Result<bool, DecodeError> {
        let follows = self.follows(array)?;
        if follows {
            // Items are named by their numbers, in order.
            self.c_string()?;
        }
        Ok(follows)
    }

    fn null(&mut self) -> Result<(), DecodeError> {
        match self.next {
            NULL | UNDEFINED => Ok(()),
            _ => Err(DecodeError::expected(self.input.at, "null")),
        }
    }

    fn bool(&mut self) -> Result<bool, DecodeError> {
        let at = self.input.at;
        self.expect(BOOLEAN, "a boolean")?;
        match self.input.take(1)?[0] {
            truth @ (0 | 1) => Ok(truth == 1),
            _ => Err(DecodeError::expected(at, "0 or 1 for a boolean")),
        }
    }

    fn number(&mut self) -> Result<f64, DecodeError> {
        let at = self.input.at;
        match self.next {
            DOUBLE => finite(f64::from_le_bytes(self.input.array()?), at),
            INT_32 => Ok(f64::from(i32::from_le_bytes(self.input.array()?))),
            INT_64 => Ok(i64::from_le_bytes(self.input.array()?) as f64),
            DECIMAL_128 => self.decimal().map(Exact::nearest),
            _ => Err(DecodeError::expected(at, "a number")),
        }
    }

    fn exact(&mut self) -> Result<Exact, DecodeError> {
        match self.next {
            INT_64 => {
                let number = i64::from_le_bytes(self.input.array()?);
                Ok(Exact::Whole(i128::from(number)))
            }
            DECIMAL_128 => self.decimal(),
            _ => self.number().map(Exact::Double),
        }
    }

    fn seconds(&mut self) -> Result<i64, DecodeError> {
        let at = self.input.at;
        let time = Time::from_seconds(self.number()?);
        let time = time.ok_or_else(|| DecodeError::expected(at, IN_RANGE))?;
        Ok(time.nanos())
    }

    fn text(&mut self) -> Result<&str, DecodeError> {
        match self.next {
            STRING | SYMBOL | CODE => self.string(),
            _ => Err(DecodeError::expected(self.input.at, "a string")),
        }
    }

    fn bytes(&mut self) -> Result<&[u8], DecodeError> {
        match self.next {
            BINARY => self.binary(),
            OBJECT_ID => self.input.take(12),
            _ => Err(DecodeError::expected(self.input.at, "bytes")),
        }
    }

    fn time(&mut self) -> Result<Time, DecodeError> {
        let at = self.input.at;
        match self.next {
            DATETIME => self.datetime(),
            TIMESTAMP => self.timestamp(),
            DOUBLE | INT_32 | INT_64 => binary::counted_time(self),
            STRING => Time::parse_rfc3339(self.string()?.as_bytes())
                // The length stands before the text.
                .map_err(|error| DecodeError::expected(at + 4 + error.at, error.expected)),
            _ => Err(DecodeError::expected(
                at,
                "a time: a datetime or text of RFC 3339",
            )),
        }
    }

    fn json(&mut self) -> Result<Cow<'_, str>, DecodeError> {
        let limits = self.input.limits;
        binary::json(self, limits)
    }

    fn skip(&mut self) -> Result<(), DecodeError> {
        match self.next {
            DOCUMENT | ARRAY | CODE_WITH_SCOPE => self.skip_document(),
            STRING | SYMBOL | CODE => self.string().map(drop),
            BINARY => self.binary().map(drop),
            DOUBLE | DATETIME | TIMESTAMP | INT_64 => self.input.take(8).map(drop),
            INT_32 => self.input.take(4).map(drop),
            DECIMAL_128 => self.input.take(16).map(drop),
            OBJECT_ID => self.input.take(12).map(drop),
            BOOLEAN => self.bool().map(drop),
            NULL | UNDEFINED | MIN_KEY | MAX_KEY => Ok(()),
            REGEX => self.c_string().and_then(|_| self.c_string()).map(drop),
            DB_POINTER => self.string().and_then(|_| self.input.take(12)).map(drop),
            _ => Err(DecodeError::expected(self.input.at, "a type that BSON has")),
        }
    }

    fn finish(&mut self) -> Result<(), DecodeError> {
        self.input.finish()
    }
}
