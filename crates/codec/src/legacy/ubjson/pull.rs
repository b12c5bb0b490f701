//! UBJSON read.

use super::{ARRAY, CHARACTER, COUNT, END_ARRAY, END_OBJECT, FALSE, FLOAT_32, FLOAT_64};
use super::{HIGH_PRECISION, INT_8, INT_16, INT_32, INT_64, NO_OP, NULL, OBJECT, STRING, TRUE};
use super::{TYPE, UINT_8};
use crate::error::DecodeError;
use crate::lexical;
use crate::syntax::binary::{self, Input, finite};
use crate::syntax::{DEPTH_MAX, Exact, Key, Kind, Mark, Open, Pull};
use alloc::borrow::Cow;
use weir_model::{Limits, Time};

/// Stands for a type that was not read yet, or that each item says itself.
const UNREAD: u8 = 0;

/// Reads one UBJSON value.
pub(crate) struct Ubjson<'a> {
    input: Input<'a>,
    /// Type of the value that stands next.
    next: u8,
    /// Type of all items of the container at each depth.
    types: [u8; DEPTH_MAX + 1],
    /// Items without bytes that may still come.
    bare_left: usize,
    /// Where the last of them were counted, so that what is read twice counts once.
    bare_at: usize,
}

impl<'a> Ubjson<'a> {
    pub(crate) fn new(bytes: &'a [u8], limits: &'a Limits) -> Self {
        Self {
            input: Input::new(bytes, limits),
            next: UNREAD,
            types: [UNREAD; DEPTH_MAX + 1],
            bare_left: limits.text_bytes,
            bare_at: 0,
        }
    }

    fn pass_no_ops(&mut self) {
        while self.input.peek() == Ok(NO_OP) {
            self.input.at += 1;
        }
    }

    /// The type of what stands next; its own bytes come after it.
    fn kind(&mut self) -> Result<u8, DecodeError> {
        if self.next == UNREAD {
            self.pass_no_ops();
            self.next = self.input.take(1)?[0];
        }
        Ok(self.next)
    }

    fn expect(&mut self, kind: u8, what: &'static str) -> Result<(), DecodeError> {
        if self.kind()? == kind {
            Ok(())
        } else {
            Err(DecodeError::expected(self.input.at, what))
        }
    }

    fn integer(&mut self, kind: u8) -> Result<Option<i64>, DecodeError> {
        Ok(Some(match kind {
            INT_8 => i64::from(self.input.take(1)?[0] as i8),
            UINT_8 => i64::from(self.input.take(1)?[0]),
            INT_16 => i64::from(i16::from_be_bytes(self.input.array()?)),
            INT_32 => i64::from(i32::from_be_bytes(self.input.array()?)),
            INT_64 => i64::from_be_bytes(self.input.array()?),
            _ => return Ok(None),
        }))
    }

    /// Reads a length or count, which has a type of its own.
    fn length(&mut self) -> Result<u64, DecodeError> {
        let at = self.input.at;
        let kind = self.input.take(1)?[0];
        let len = self.integer(kind)?;
        let len = len.ok_or_else(|| DecodeError::expected(at, "an integer for a length"))?;
        let what = "a length that is not negative";
        u64::try_from(len).map_err(|_| DecodeError::expected(at, what))
    }

    fn string(&mut self) -> Result<&'a str, DecodeError> {
        let len = self.length()?;
        self.input.text(len)
    }

    fn character(&mut self) -> Result<&'a str, DecodeError> {
        let at = self.input.at;
        core::str::from_utf8(self.input.take(1)?)
            .map_err(|_| DecodeError::expected(at, "a character below 128"))
    }

    fn open(&mut self, kind: u8, what: &'static str) -> Result<Open, DecodeError> {
        self.expect(kind, what)?;
        let start = self.input.at;
        let mut items = UNREAD;
        if self.input.peek()? == TYPE {
            self.input.at += 1;
            items = self.input.take(1)?[0];
            if self.input.peek()? != COUNT {
                return Err(DecodeError::expected(
                    self.input.at,
                    "a count after the type",
                ));
            }
        }
        let mut left = None;
        if self.input.peek()? == COUNT {
            self.input.at += 1;
            let count = self.length()?;
            self.check_count(kind, items, count, start)?;
            left = Some(count);
        }
        let open = self.input.descend(left, start)?;
        self.types[self.input.depth] = items;
        Ok(open)
    }

    /// Refuses counts of more items than there can be.
    fn check_count(
        &mut self,
        kind: u8,
        items: u8,
        count: u64,
        at: usize,
    ) -> Result<(), DecodeError> {
        let bare = kind == ARRAY && matches!(items, NULL | TRUE | FALSE | NO_OP);
        if !bare {
            let rest = self.input.bytes.len() - self.input.at;
            return if count <= rest as u64 {
                Ok(())
            } else {
                Err(DecodeError::truncated(self.input.bytes.len()))
            };
        }
        if at <= self.bare_at {
            return Ok(());
        }
        self.bare_at = at;
        let left = usize::try_from(count).ok();
        match left.and_then(|count| self.bare_left.checked_sub(count)) {
            Some(left) => self.bare_left = left,
            None => {
                let limit = self.input.limits.text_bytes;
                return Err(DecodeError::over(at, "items without bytes", limit));
            }
        }
        Ok(())
    }

    /// Says whether another member or item stands next.
    fn follows(&mut self, open: &mut Open, end: u8) -> Result<bool, DecodeError> {
        let follows = match &mut open.left {
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
            None => {
                self.pass_no_ops();
                self.input.peek()? != end
            }
        };
        if !follows {
            self.input.depth -= 1;
            self.input.at += usize::from(open.left.is_none());
        }
        Ok(follows)
    }

    /// Reads a decimal of any precision: an integer, or rounded to a double.
    fn high_precision(&mut self) -> Result<Exact, DecodeError> {
        let at = self.input.at;
        let text = self.string()?;
        if let Some(number) = text.parse().ok().filter(|&number: &i128| number != 0) {
            return Ok(Exact::Whole(number));
        }
        lexical::double(text, at).map(Exact::Double)
    }
}

impl Pull for Ubjson<'_> {
    fn at(&mut self) -> usize {
        self.input.at
    }

    fn peek(&mut self) -> Result<Kind, DecodeError> {
        let at = self.input.at;
        Ok(match self.kind()? {
            OBJECT => Kind::Map,
            ARRAY => Kind::Array,
            STRING | CHARACTER => Kind::Text,
            INT_8 | UINT_8 | INT_16 | INT_32 | INT_64 => Kind::Number,
            FLOAT_32 | FLOAT_64 | HIGH_PRECISION => Kind::Number,
            TRUE | FALSE => Kind::Bool,
            // An item that is left out.
            NULL | NO_OP => Kind::Null,
            _ => return Err(DecodeError::expected(at, "a type that UBJSON has")),
        })
    }

    fn mark(&self) -> Mark {
        self.input.mark_of(self.next)
    }

    fn rewind(&mut self, mark: Mark) {
        self.next = self.input.rewind_of(mark);
    }

    fn map(&mut self) -> Result<Open, DecodeError> {
        self.open(OBJECT, "an object")
    }

    fn key(&mut self, map: &mut Open) -> Result<Option<Key<'_>>, DecodeError> {
        let items = self.types[self.input.depth];
        if !self.follows(map, END_OBJECT)? {
            return Ok(None);
        }
        self.pass_no_ops();
        let name = self.string()?;
        self.next = items;
        Ok(Some(Key::Text(name)))
    }

    fn array(&mut self) -> Result<Open, DecodeError> {
        self.open(ARRAY, "an array")
    }

    fn item(&mut self, array: &mut Open) -> Result<bool, DecodeError> {
        let items = self.types[self.input.depth];
        let follows = self.follows(array, END_ARRAY)?;
        self.next = items;
        Ok(follows)
    }

    fn null(&mut self) -> Result<(), DecodeError> {
        match self.peek()? {
            Kind::Null => Ok(()),
            _ => Err(DecodeError::expected(self.input.at, "null")),
        }
    }

    fn bool(&mut self) -> Result<bool, DecodeError> {
        match self.kind()? {
            truth @ (TRUE | FALSE) => Ok(truth == TRUE),
            _ => Err(DecodeError::expected(self.input.at, "a boolean")),
        }
    }

    fn number(&mut self) -> Result<f64, DecodeError> {
        let kind = self.kind()?;
        let at = self.input.at;
        match kind {
            FLOAT_32 => finite(f64::from(f32::from_be_bytes(self.input.array()?)), at),
            FLOAT_64 => finite(f64::from_be_bytes(self.input.array()?), at),
            HIGH_PRECISION => self.high_precision().map(Exact::nearest),
            kind => match self.integer(kind)? {
                Some(number) => Ok(number as f64),
                None => Err(DecodeError::expected(at, "a number")),
            },
        }
    }

    fn exact(&mut self) -> Result<Exact, DecodeError> {
        let kind = self.kind()?;
        if kind == HIGH_PRECISION {
            return self.high_precision();
        }
        match self.integer(kind)? {
            Some(number) => Ok(Exact::Whole(i128::from(number))),
            None => self.number().map(Exact::Double),
        }
    }

    fn seconds(&mut self) -> Result<i64, DecodeError> {
        let at = self.input.at;
        let time = Time::from_seconds(self.number()?);
        let what = "a number of seconds between the years 1677 and 2262";
        time.map(Time::nanos)
            .ok_or_else(|| DecodeError::expected(at, what))
    }

    fn text(&mut self) -> Result<&str, DecodeError> {
        match self.kind()? {
            STRING => self.string(),
            CHARACTER => self.character(),
            _ => Err(DecodeError::expected(self.input.at, "a string")),
        }
    }

    fn bytes(&mut self) -> Result<&[u8], DecodeError> {
        Err(DecodeError::expected(
            self.input.at,
            "no bytes: UBJSON has none",
        ))
    }

    fn time(&mut self) -> Result<Time, DecodeError> {
        if self.peek()? == Kind::Number {
            return binary::counted_time(self);
        }
        let text = self.text()?;
        let len = text.len();
        let time = Time::parse_rfc3339(text.as_bytes());
        let start = self.input.at - len;
        time.map_err(|error| DecodeError::expected(start + error.at, error.expected))
    }

    fn json(&mut self) -> Result<Cow<'_, str>, DecodeError> {
        let limits = self.input.limits;
        binary::json(self, limits)
    }

    fn skip(&mut self) -> Result<(), DecodeError> {
        binary::skip(self)
    }

    fn finish(&mut self) -> Result<(), DecodeError> {
        self.pass_no_ops();
        self.input.finish()
    }
}
