//! JSON read (RFC 8259), pulled over text that is known to be UTF-8.
//!
//! Strings without escapes are borrowed from the input; those with are unescaped into a buffer on
//! the stack, or on the heap where they are long. Numbers must be finite doubles. Lone surrogates
//! are refused. What other writers put for a number that is none (`NaN`, `-Infinity`, `nan`) is read over
//! and said to be that. What it deliberately does not do: comments, trailing commas, other JSONs.

mod skip;

use crate::error::DecodeError;
use crate::lexical;
use crate::number::{Decimal, in_64_bits};
use crate::syntax::json_text::plain_prefix;
use crate::syntax::{COUNTED_TIME, DEPTH_MAX, Exact, Key, Kind, Mark, Open, Pull, is_since_2000};
use crate::unescaped::Unescaped;
use alloc::borrow::Cow;
use alloc::string::String;
use weir_model::{Limits, Time};

/// Reads one JSON text.
pub(crate) struct Json<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    /// Whether white space, or a number that is none, was passed since this was last unset.
    spaced: bool,
    /// Whether a number that is none was passed since this was last unset.
    nulled: bool,
    limits: &'a Limits,
    unescaped: Unescaped,
}

/// Where a string's content was found.
enum Found {
    /// In the input, from and to.
    Plain(usize, usize),
    /// In the buffer.
    Unescaped,
}

impl<'a> Json<'a> {
    pub(crate) fn new(text: &'a str, limits: &'a Limits) -> Self {
        let unescaped = Unescaped::default();
        Self {
            text,
            at: 0,
            depth: 0,
            spaced: false,
            nulled: false,
            limits,
            unescaped,
        }
    }

    #[inline]
    fn raw(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    #[inline]
    fn space(&mut self) {
        let bytes = self.raw();
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(self.at) {
            self.at += 1;
            self.spaced = true;
        }
    }

    /// The byte that stands next, after white space.
    #[inline]
    fn look(&mut self) -> Result<u8, DecodeError> {
        self.space();
        let next = self.raw().get(self.at).copied();
        next.ok_or_else(|| DecodeError::truncated(self.at))
    }

    #[inline]
    fn expect(&mut self, byte: u8, what: &'static str) -> Result<(), DecodeError> {
        if self.look()? != byte {
            return Err(DecodeError::expected(self.at, what));
        }
        self.at += 1;
        Ok(())
    }

    fn literal(&mut self, word: &'static str) -> Result<(), DecodeError> {
        self.space();
        let rest = &self.raw()[self.at..];
        if rest.starts_with(word.as_bytes()) {
            self.at += word.len();
            return Ok(());
        }
        if word.as_bytes().starts_with(rest) {
            Err(DecodeError::truncated(self.text.len()))
        } else {
            Err(DecodeError::expected(self.at, word))
        }
    }

    fn open(&mut self, byte: u8, what: &'static str) -> Result<Open, DecodeError> {
        self.expect(byte, what)?;
        let limit = self.limits.depth.min(DEPTH_MAX);
        if self.depth >= limit {
            return Err(DecodeError::over(self.at - 1, "nesting", limit));
        }
        self.depth += 1;
        let first = true;
        Ok(Open { left: None, first })
    }

    /// Passes the comma before the next member or item, or the bracket at the end.
    #[inline]
    fn follows(
        &mut self,
        open: &mut Open,
        end: u8,
        what: &'static str,
    ) -> Result<bool, DecodeError> {
        let next = self.look()?;
        let first = core::mem::replace(&mut open.first, false);
        if next == end {
            self.at += 1;
            self.depth -= 1;
            return Ok(false);
        }
        match (first, next) {
            (true, _) => {}
            (false, b',') => {
                self.at += 1;
                if self.look()? == end {
                    return Err(DecodeError::expected(self.at, "something after the comma"));
                }
            }
            (false, _) => return Err(DecodeError::expected(self.at, what)),
        }
        Ok(true)
    }

    /// Reads a string's content; the quote stands next.
    fn string(&mut self) -> Result<Found, DecodeError> {
        self.expect(b'"', "a string")?;
        let start = self.at;
        let plain = plain_prefix(&self.raw()[start..]);
        self.check_text(start, plain)?;
        self.at += plain;
        match self.raw().get(self.at) {
            Some(b'"') => {
                self.at += 1;
                Ok(Found::Plain(start, start + plain))
            }
            Some(_) => self.string_with_escapes(start),
            None => Err(DecodeError::truncated(self.at)),
        }
    }

    fn string_with_escapes(&mut self, start: usize) -> Result<Found, DecodeError> {
        self.unescaped.clear();
        self.unescaped.push(&self.text.as_bytes()[start..self.at]);
        loop {
            match self.raw().get(self.at) {
                None => return Err(DecodeError::truncated(self.at)),
                Some(b'"') => break,
                Some(b'\\') => self.escape()?,
                Some(_) => {
                    let what = "no control character in a string: it must be escaped";
                    return Err(DecodeError::expected(self.at, what));
                }
            }
            let plain = plain_prefix(&self.raw()[self.at..]);
            self.unescaped
                .push(&self.text.as_bytes()[self.at..self.at + plain]);
            self.at += plain;
            self.check_text(start, self.unescaped.as_bytes().len())?;
        }
        self.at += 1;
        Ok(Found::Unescaped)
    }

    #[inline]
    fn check_text(&self, start: usize, len: usize) -> Result<(), DecodeError> {
        if len > self.limits.text_bytes {
            Err(DecodeError::over(
                start,
                "bytes of a string",
                self.limits.text_bytes,
            ))
        } else {
            Ok(())
        }
    }

    fn escape(&mut self) -> Result<(), DecodeError> {
        let Some(&mark) = self.raw().get(self.at + 1) else {
            return Err(DecodeError::truncated(self.text.len()));
        };
        let character = match mark {
            b'"' | b'\\' | b'/' => char::from(mark),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode_escape(),
            _ => {
                return Err(DecodeError::expected(
                    self.at + 1,
                    "one of \"\\/bfnrtu after a backslash",
                ));
            }
        };
        self.at += 2;
        self.unescaped.push_char(character);
        Ok(())
    }

    fn unicode_escape(&mut self) -> Result<(), DecodeError> {
        let start = self.at;
        let high = self.four_digits()?;
        let code = match high {
            0xD800..=0xDBFF if self.raw()[self.at..].starts_with(b"\\u") => {
                let low = self.four_digits()?;
                let offset = low.wrapping_sub(0xDC00);
                if offset > 0x3FF {
                    return Err(DecodeError::expected(
                        start,
                        "both halves of a surrogate pair",
                    ));
                }
                0x10000 + ((high - 0xD800) << 10) + offset
            }
            _ => high,
        };
        let lone = DecodeError::expected(start, "both halves of a surrogate pair");
        self.unescaped.push_char(char::from_u32(code).ok_or(lone)?);
        Ok(())
    }

    /// Reads `\uXXXX`.
    fn four_digits(&mut self) -> Result<u32, DecodeError> {
        let Some(digits) = self.raw().get(self.at + 2..self.at + 6) else {
            return Err(DecodeError::truncated(self.text.len()));
        };
        let mut code = 0;
        for (index, &digit) in digits.iter().enumerate() {
            let value = char::from(digit).to_digit(16);
            let at = self.at + 2 + index;
            code = code * 16
                + value.ok_or_else(|| DecodeError::expected(at, "a hexadecimal digit"))?;
        }
        self.at += 6;
        Ok(code)
    }

    #[inline]
    fn found(&self, found: &Found) -> &str {
        match *found {
            Found::Plain(from, to) => self.text.get(from..to).unwrap_or_default(),
            Found::Unescaped => self.unescaped.as_str(),
        }
    }

    /// Stands before the next member's name; no: the map ends.
    #[inline]
    fn before_name(&mut self, map: &mut Open) -> Result<bool, DecodeError> {
        if !self.follows(map, b'}', "a comma or }")? {
            return Ok(false);
        }
        if self.look()? != b'"' {
            return Err(DecodeError::expected(self.at, "a member name in quotes"));
        }
        Ok(true)
    }

    /// What stands next where a number was expected and no digit is: a number that is none, or what it is not.
    #[cold]
    fn not_finite(&mut self) -> Result<(Decimal, usize), DecodeError> {
        let start = self.at;
        let Some((number, len)) = lexical::first_not_finite(&self.text[start..]) else {
            return self.decimal();
        };
        (self.at, self.spaced, self.nulled) = (start + len, true, true);
        Err(DecodeError::not_finite(start, number))
    }

    /// Reads the grammar of section 6; gives the decimal and where it began.
    fn decimal(&mut self) -> Result<(Decimal, usize), DecodeError> {
        self.space();
        let start = self.at;
        let mut decimal = Decimal::default();
        if self.raw().get(self.at) == Some(&b'-') {
            decimal.negative = true;
            self.at += 1;
        }
        let zero = self.raw().get(self.at) == Some(&b'0');
        if self.digits(&mut decimal, 0)? > 1 && zero {
            return Err(DecodeError::expected(
                start,
                "a number without leading zeros",
            ));
        }
        if self.raw().get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits(&mut decimal, -1)?;
        }
        if let Some(b'e' | b'E') = self.raw().get(self.at) {
            self.at += 1;
            self.exponent(&mut decimal)?;
        }
        Ok((decimal, start))
    }

    /// Reads digits, each of which changes the exponent by `step`; gives how many.
    fn digits(&mut self, decimal: &mut Decimal, step: i32) -> Result<usize, DecodeError> {
        let bytes = self.raw();
        let start = self.at;
        while let Some(digit @ b'0'..=b'9') = bytes.get(self.at) {
            if decimal.mantissa < u64::MAX / 10 - 1 {
                decimal.mantissa = decimal.mantissa * 10 + u64::from(digit - b'0');
                decimal.exponent += step;
            } else {
                decimal.cut = true;
                decimal.exponent += 1 + step;
            }
            self.at += 1;
        }
        match self.at - start {
            0 if self.at == bytes.len() => Err(DecodeError::truncated(self.at)),
            0 => Err(DecodeError::expected(self.at, "a digit")),
            count => Ok(count),
        }
    }

    fn exponent(&mut self, decimal: &mut Decimal) -> Result<(), DecodeError> {
        let mut written = Decimal::default();
        if let Some(sign @ (b'+' | b'-')) = self.raw().get(self.at) {
            written.negative = *sign == b'-';
            self.at += 1;
        }
        self.digits(&mut written, 0)?;
        let magnitude = i32::try_from(written.mantissa)
            .unwrap_or(i32::MAX)
            .min(100_000);
        let magnitude = if written.cut { 100_000 } else { magnitude };
        decimal.exponent += if written.negative {
            -magnitude
        } else {
            magnitude
        };
        Ok(())
    }

    /// The grammar of section 6, where a number must stand next.
    #[inline]
    fn expect_decimal(&mut self) -> Result<(Decimal, usize), DecodeError> {
        if self.peek()? != Kind::Number {
            return Err(DecodeError::expected(self.at, "a number"));
        }
        let rest = &self.raw()[self.at..];
        match rest.strip_prefix(b"-").unwrap_or(rest) {
            [b'0'..=b'9', ..] => self.decimal(),
            _ => self.not_finite(),
        }
    }

    /// The double nearest to a number that was just read.
    #[inline]
    fn nearest(&self, decimal: Decimal, start: usize) -> Result<f64, DecodeError> {
        if let Some(number) = decimal.exact() {
            return Ok(number);
        }
        let number = self.text[start..self.at].parse::<f64>();
        number
            .ok()
            .filter(|number| number.is_finite())
            .ok_or_else(|| DecodeError::expected(start, "a number that a double can hold"))
    }

    /// Reads a number and gives it as it is written.
    pub(crate) fn number_text(&mut self) -> Result<&'a str, DecodeError> {
        let (_, start) = self.expect_decimal()?;
        Ok(&self.text[start..self.at])
    }

    /// Copies JSON without the white space between its tokens, and with null for numbers that are none.
    fn compact(&self, from: usize) -> String {
        let mut out = String::with_capacity(self.at - from);
        let mut rest = &self.text[from..self.at];
        let mut inside = false;
        while let Some(character) = rest.chars().next() {
            let mut len = character.len_utf8();
            match character {
                '"' => inside = !inside,
                '\\' => len += 1,
                _ if inside => {}
                _ => {
                    if let Some((_, len)) = lexical::first_not_finite(rest) {
                        out.push_str("null");
                        rest = &rest[len..];
                        continue;
                    }
                }
            }
            let white = !inside && character.is_ascii_whitespace();
            if !white {
                out.push_str(&rest[..len]);
            }
            rest = &rest[len..];
        }
        out
    }

    /// Reads an array or object as compact text, borrowed where it is compact; no name stands twice in an object of it.
    pub(crate) fn tree(&mut self) -> Result<Cow<'a, str>, DecodeError> {
        let start = self.at();
        if !matches!(self.peek()?, Kind::Map | Kind::Array) {
            return Err(DecodeError::expected(start, "an array or an object"));
        }
        (self.spaced, self.nulled) = (false, false);
        self.skip_checked()?;
        self.check_text(start, self.at - start)?;
        Ok(if self.spaced {
            Cow::Owned(self.compact(start))
        } else {
            Cow::Borrowed(&self.text[start..self.at])
        })
    }

    /// A time as seconds, milliseconds, microseconds or nanoseconds since 1970, between 2000 and 2262: which of them
    /// it is follows from its magnitude.
    #[cold]
    fn time_in_number(&mut self) -> Result<Time, DecodeError> {
        let (mut decimal, start) = self.decimal()?;
        for _ in 0..4 {
            if let Some(nanos) = decimal.nanos().filter(is_since_2000) {
                return Ok(Time::from_nanos(nanos));
            }
            decimal.exponent -= 3;
        }
        Err(DecodeError::expected(start, COUNTED_TIME))
    }
}

impl Pull for Json<'_> {
    fn at(&mut self) -> usize {
        self.space();
        self.at
    }

    fn peek(&mut self) -> Result<Kind, DecodeError> {
        Ok(match self.look()? {
            b'"' => Kind::Text,
            b'{' => Kind::Map,
            b'[' => Kind::Array,
            b'-' | b'0'..=b'9' => Kind::Number,
            b't' | b'f' => Kind::Bool,
            b'n' if self.raw().get(self.at + 1) == Some(&b'a') => Kind::Number,
            b'n' => Kind::Null,
            b'N' | b'I' | b'i' => Kind::Number,
            _ => return Err(DecodeError::expected(self.at, "a JSON value")),
        })
    }

    fn mark(&self) -> Mark {
        Mark {
            at: self.at,
            depth: self.depth,
        }
    }

    fn rewind(&mut self, mark: Mark) {
        (self.at, self.depth) = (mark.at, mark.depth);
    }

    fn map(&mut self) -> Result<Open, DecodeError> {
        self.open(b'{', "an object")
    }

    fn key(&mut self, map: &mut Open) -> Result<Option<Key<'_>>, DecodeError> {
        if !self.before_name(map)? {
            return Ok(None);
        }
        let name = self.string()?;
        self.expect(b':', "a colon")?;
        Ok(Some(Key::Text(self.found(&name))))
    }

    fn array(&mut self) -> Result<Open, DecodeError> {
        self.open(b'[', "an array")
    }

    fn item(&mut self, array: &mut Open) -> Result<bool, DecodeError> {
        self.follows(array, b']', "a comma or ]")
    }

    fn null(&mut self) -> Result<(), DecodeError> {
        self.literal("null")
    }

    fn bool(&mut self) -> Result<bool, DecodeError> {
        let truth = self.look()? == b't';
        self.literal(if truth { "true" } else { "false" })?;
        Ok(truth)
    }

    fn number(&mut self) -> Result<f64, DecodeError> {
        let (decimal, start) = self.expect_decimal()?;
        self.nearest(decimal, start)
    }

    fn exact(&mut self) -> Result<Exact, DecodeError> {
        let (decimal, start) = self.expect_decimal()?;
        let text = &self.text[start..self.at];
        // Programs write doubles that are whole with a point or an exponent, and integers without.
        let whole = match text.contains(['.', 'e', 'E']) {
            true => None,
            // The longest integers of 64 bits have a digit more than the decimal keeps.
            false if decimal.cut => text.parse().ok().filter(in_64_bits),
            false => decimal.whole(),
        };
        match whole {
            Some(number) => Ok(Exact::Whole(number)),
            None => self.nearest(decimal, start).map(Exact::Double),
        }
    }

    fn seconds(&mut self) -> Result<i64, DecodeError> {
        if self.peek()? != Kind::Number {
            return Err(DecodeError::expected(self.at, "a number of seconds"));
        }
        let (decimal, start) = self.decimal()?;
        let range =
            DecodeError::expected(start, "a number of seconds between the years 1677 and 2262");
        decimal.nanos().ok_or(range)
    }

    fn text(&mut self) -> Result<&str, DecodeError> {
        let found = self.string()?;
        Ok(self.found(&found))
    }

    fn bytes(&mut self) -> Result<&[u8], DecodeError> {
        Err(DecodeError::expected(self.at, "no bytes: JSON has none"))
    }

    fn time(&mut self) -> Result<Time, DecodeError> {
        let start = self.at();
        if self.raw().get(self.at).is_some_and(u8::is_ascii_digit) {
            return self.time_in_number();
        }
        let text = self.text()?;
        Time::parse_rfc3339(text.as_bytes()).map_err(|error| {
            // The quote stands before the text.
            DecodeError::expected(start + 1 + error.at, error.expected)
        })
    }

    fn json(&mut self) -> Result<Cow<'_, str>, DecodeError> {
        self.tree()
    }

    fn is_nulled(&self) -> bool {
        self.nulled
    }

    fn skip(&mut self) -> Result<(), DecodeError> {
        match self.peek()? {
            Kind::Map => self.skip_map(),
            Kind::Array => self.skip_array(),
            Kind::Text => self.string().map(drop),
            Kind::Number => self.skip_number(),
            Kind::Bool => self.bool().map(drop),
            _ => self.null(),
        }
    }

    fn finish(&mut self) -> Result<(), DecodeError> {
        self.space();
        let is_end = self.at == self.text.len();
        let missing = || DecodeError::expected(self.at, "the end of the message");
        is_end.then_some(()).ok_or_else(missing)
    }
}
