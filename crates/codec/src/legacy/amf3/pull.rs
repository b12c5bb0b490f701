//! AMF 3 read.

use super::objects::Frame;
use super::tables::{Tables, u29};
use super::{ARRAY, BYTE_ARRAY, DATE, DICTIONARY, DOUBLE, EMPTY, FALSE, INTEGER, NULL, OBJECT};
use super::{STRING, TRUE, U29_END, UNDEFINED, VECTOR_DOUBLE, VECTOR_INT, VECTOR_OBJECT};
use super::{VECTOR_UINT, XML, XML_DOCUMENT};
use crate::error::DecodeError;
use crate::syntax::binary::{self, Input, finite};
use crate::syntax::{DEPTH_MAX, Key, Kind, Mark, Open, Pull};
use alloc::borrow::Cow;
use weir_model::{Limits, Time};

/// Stands for values that say themselves what they are.
pub(crate) const MARKED: u8 = 0xFF;
const IN_RANGE: &str = "a time between the years 1677 and 2262";

/// Reads one AMF 3 value.
pub(crate) struct Amf3<'a> {
    pub(crate) input: Input<'a>,
    pub(crate) tables: Tables,
    frames: [Frame; DEPTH_MAX + 1],
    /// What stands next where it has no marker: an item of a vector; else [`MARKED`].
    next: u8,
    /// Bytes that references may still have read again.
    again_left: usize,
}

/// The kind that a marker says; that of an object may be another, if it is a collection.
pub(crate) fn kind_of(marker: u8, input: &Input<'_>) -> Result<Kind, DecodeError> {
    Ok(match marker {
        UNDEFINED | NULL => Kind::Null,
        FALSE | TRUE => Kind::Bool,
        INTEGER | DOUBLE => Kind::Number,
        STRING | XML_DOCUMENT | XML => Kind::Text,
        DATE => Kind::Time,
        ARRAY if is_named(input) => Kind::Map,
        ARRAY | VECTOR_INT | VECTOR_UINT | VECTOR_DOUBLE | VECTOR_OBJECT => Kind::Array,
        OBJECT | DICTIONARY => Kind::Map,
        BYTE_ARRAY => Kind::Bytes,
        _ => return Err(DecodeError::expected(input.at, "a type that AMF 3 has")),
    })
}

/// Says whether the array that stands next has items with names and no others.
fn is_named(input: &Input<'_>) -> bool {
    let next = |ahead: usize| input.bytes.get(input.at + ahead).copied();
    next(1) == Some(1) && next(2).is_some_and(|name| name != EMPTY)
}

impl<'a> Amf3<'a> {
    pub(crate) fn new(bytes: &'a [u8], limits: &'a Limits) -> Self {
        Self {
            input: Input::new(bytes, limits),
            tables: Tables::new(limits),
            frames: [Frame::default(); DEPTH_MAX + 1],
            next: MARKED,
            again_left: limits.text_bytes,
        }
    }

    fn open(&mut self, kind: Kind, what: &'static str) -> Result<Open, DecodeError> {
        let start = self.input.at;
        if self.peek()? != kind {
            return Err(DecodeError::expected(start, what));
        }
        let followed = self.unwrap_value()?;
        let frame = match kind {
            Kind::Map => self.begin_map()?,
            _ => self.begin_array()?,
        };
        let open = self.input.descend(None, start)?;
        self.frames[self.input.depth] = Frame { followed, ..frame };
        Ok(open)
    }

    /// Ends a map or array; one that was referred to lets go on behind the reference.
    fn close(&mut self) -> Result<(), DecodeError> {
        let frame = self.frames[self.input.depth];
        self.input.depth -= 1;
        self.next = MARKED;
        let Some((back, target)) = frame.followed else {
            return Ok(());
        };
        let read = self.input.at.saturating_sub(target);
        self.input.at = back;
        match self.again_left.checked_sub(read) {
            Some(left) => self.again_left = left,
            None => {
                let limit = self.input.limits.text_bytes;
                return Err(DecodeError::over(
                    back,
                    "bytes read again by reference",
                    limit,
                ));
            }
        }
        Ok(())
    }

    /// The next sealed member's name.
    fn sealed_name(&mut self) -> Result<&'a str, DecodeError> {
        let frame = &mut self.frames[self.input.depth];
        frame.sealed -= 1;
        let at = core::mem::replace(&mut self.input.at, frame.names_at);
        let name = self.tables.string(&mut self.input);
        frame.names_at = core::mem::replace(&mut self.input.at, at);
        name
    }

    fn dictionary_key(&mut self) -> Result<Option<Key<'a>>, DecodeError> {
        let frame = &mut self.frames[self.input.depth];
        let Some(left) = frame.left.checked_sub(1) else {
            self.close()?;
            return Ok(None);
        };
        frame.left = left;
        let at = self.input.at;
        match self.input.take(1)?[0] {
            STRING => Ok(Some(Key::Text(self.tables.string(&mut self.input)?))),
            INTEGER => Ok(Some(Key::Number(self.integer()?))),
            _ => Err(DecodeError::expected(at, "a name or an integer")),
        }
    }

    fn integer(&mut self) -> Result<i64, DecodeError> {
        let number = i64::from(u29(&mut self.input)?);
        Ok(if number < U29_END / 2 {
            number
        } else {
            number - U29_END
        })
    }

    /// Reads what has bytes of its own and may be referred to: a byte array or XML.
    fn object_bytes(&mut self) -> Result<&'a [u8], DecodeError> {
        let start = self.input.at;
        self.input.at += 1;
        let head = u29(&mut self.input)?;
        if head & 1 == 1 {
            self.tables.enter_object(start);
            return self.input.string(u64::from(head >> 1));
        }
        let target = self.tables.object(head >> 1, start + 1)?;
        let mut input = Input {
            at: target,
            ..self.input.clone()
        };
        let marker = input.take(1)?[0];
        if !matches!(marker, BYTE_ARRAY | XML | XML_DOCUMENT) {
            return Err(DecodeError::expected(
                start + 1,
                "a reference to bytes or XML",
            ));
        }
        let head = u29(&mut input)?;
        input.string(u64::from(head >> 1))
    }

    fn date(&mut self) -> Result<Time, DecodeError> {
        let start = self.input.at;
        self.input.at += 1;
        let head = u29(&mut self.input)?;
        if head & 1 == 1 {
            self.tables.enter_object(start);
            return date_of(f64::from_be_bytes(self.input.array()?), start);
        }
        let target = self.tables.object(head >> 1, start + 1)?;
        let mut input = Input {
            at: target,
            ..self.input.clone()
        };
        // Marker and head of a date that stands there itself.
        match input.array()? {
            [DATE, 1] => date_of(f64::from_be_bytes(input.array()?), start),
            _ => Err(DecodeError::expected(start + 1, "a reference to a date")),
        }
    }

    /// Reads over a reference, wherever it leads; `false` where none stands next.
    fn skip_reference(&mut self) -> Result<bool, DecodeError> {
        let start = self.input.at;
        let marker = self.input.peek()?;
        if self.next != MARKED || !(XML_DOCUMENT..=DICTIONARY).contains(&marker) {
            return Ok(false);
        }
        self.input.at += 1;
        let head = u29(&mut self.input)?;
        if head & 1 == 1 {
            self.input.at = start;
            return Ok(false);
        }
        self.tables.object(head >> 1, start + 1).map(|_| true)
    }
}

/// Milliseconds since the epoch, to the nanosecond.
fn date_of(millis: f64, at: usize) -> Result<Time, DecodeError> {
    if !(-9.2e12..=9.2e12).contains(&millis) {
        return Err(DecodeError::expected(at, IN_RANGE));
    }
    let whole = millis as i64;
    let rest = ((millis - whole as f64) * 1e6) as i64;
    Ok(Time::from_nanos(whole * 1_000_000 + rest))
}

impl Pull for Amf3<'_> {
    fn at(&mut self) -> usize {
        self.input.at
    }

    fn peek(&mut self) -> Result<Kind, DecodeError> {
        if self.next != MARKED {
            return Ok(Kind::Number);
        }
        match self.input.peek()? {
            OBJECT => self.kind_of_object(),
            marker => kind_of(marker, &self.input),
        }
    }

    fn mark(&self) -> Mark {
        self.input.mark_of(self.next)
    }

    fn rewind(&mut self, mark: Mark) {
        self.next = self.input.rewind_of(mark);
    }

    fn map(&mut self) -> Result<Open, DecodeError> {
        self.open(Kind::Map, "an object")
    }

    fn key(&mut self, _map: &mut Open) -> Result<Option<Key<'_>>, DecodeError> {
        let frame = self.frames[self.input.depth];
        if frame.sealed > 0 {
            return Ok(Some(Key::Text(self.sealed_name()?)));
        }
        if frame.dictionary {
            return self.dictionary_key();
        }
        if frame.dynamic {
            let name = self.tables.string(&mut self.input)?;
            if !name.is_empty() {
                return Ok(Some(Key::Text(name)));
            }
        }
        self.close()?;
        Ok(None)
    }

    fn array(&mut self) -> Result<Open, DecodeError> {
        self.open(Kind::Array, "an array")
    }

    fn item(&mut self, _array: &mut Open) -> Result<bool, DecodeError> {
        let frame = &mut self.frames[self.input.depth];
        match frame.left.checked_sub(1) {
            Some(left) => {
                frame.left = left;
                self.next = frame.items;
                Ok(true)
            }
            None => self.close().map(|()| false),
        }
    }

    fn null(&mut self) -> Result<(), DecodeError> {
        let at = self.input.at;
        match self.peek()? {
            Kind::Null => self.input.take(1).map(drop),
            _ => Err(DecodeError::expected(at, "null")),
        }
    }

    fn bool(&mut self) -> Result<bool, DecodeError> {
        let at = self.input.at;
        match self.peek()? {
            Kind::Bool => Ok(self.input.take(1)?[0] == TRUE),
            _ => Err(DecodeError::expected(at, "a boolean")),
        }
    }

    fn number(&mut self) -> Result<f64, DecodeError> {
        let at = self.input.at;
        let kind = match self.next {
            MARKED => self.input.take(1)?[0],
            next => next,
        };
        match kind {
            INTEGER => Ok(self.integer()? as f64),
            DOUBLE | VECTOR_DOUBLE => finite(f64::from_be_bytes(self.input.array()?), at),
            VECTOR_INT => Ok(f64::from(i32::from_be_bytes(self.input.array()?))),
            VECTOR_UINT => Ok(f64::from(u32::from_be_bytes(self.input.array()?))),
            _ => Err(DecodeError::expected(at, "a number")),
        }
    }

    fn seconds(&mut self) -> Result<i64, DecodeError> {
        let at = self.input.at;
        let time = Time::from_seconds(self.number()?);
        time.map(Time::nanos)
            .ok_or_else(|| DecodeError::expected(at, IN_RANGE))
    }

    fn text(&mut self) -> Result<&str, DecodeError> {
        let start = self.input.at;
        match (self.peek()?, self.input.peek()?) {
            (Kind::Text, STRING) => {
                self.input.at += 1;
                self.tables.string(&mut self.input)
            }
            (Kind::Text, _) => core::str::from_utf8(self.object_bytes()?)
                .map_err(|_| DecodeError::expected(start, "XML in UTF-8")),
            _ => Err(DecodeError::expected(start, "a string")),
        }
    }

    fn bytes(&mut self) -> Result<&[u8], DecodeError> {
        let at = self.input.at;
        match self.peek()? {
            Kind::Bytes => self.object_bytes(),
            _ => Err(DecodeError::expected(at, "a byte array")),
        }
    }

    fn time(&mut self) -> Result<Time, DecodeError> {
        let at = self.input.at;
        match self.peek()? {
            Kind::Time => self.date(),
            Kind::Number => binary::counted_time(self),
            Kind::Text => {
                let time = Time::parse_rfc3339(self.text()?.as_bytes());
                time.map_err(|error| DecodeError::expected(at, error.expected))
            }
            _ => Err(DecodeError::expected(
                at,
                "a time: a date or text of RFC 3339",
            )),
        }
    }

    fn json(&mut self) -> Result<Cow<'_, str>, DecodeError> {
        let limits = self.input.limits;
        binary::json(self, limits)
    }

    fn skip(&mut self) -> Result<(), DecodeError> {
        if self.skip_reference()? {
            return Ok(());
        }
        match self.peek()? {
            Kind::Map => {
                let mut map = self.map()?;
                while self.key(&mut map)?.is_some() {
                    self.skip()?;
                }
            }
            Kind::Array => {
                let mut array = self.array()?;
                while self.item(&mut array)? {
                    self.skip()?;
                }
            }
            _ => binary::skip(self)?,
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), DecodeError> {
        self.input.finish()
    }
}
