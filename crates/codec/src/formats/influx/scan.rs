//! Words of the line protocol: where they end, and what their escapes stand for.

use super::NANOSECONDS_MIN;
use crate::error::DecodeError;
use crate::lexical;
use crate::unescaped::Unescaped;
use weir_model::Time;

/// The value of a field.
#[derive(Clone, Copy)]
pub(super) enum FieldValue<'a> {
    Number(f64),
    Integer(i64),
    Unsigned(u64),
    Bool(bool),
    /// As it stands between the quotes.
    Text(&'a str),
}

/// A field as it stands in a line.
#[derive(Clone, Copy)]
pub(super) struct Field<'a> {
    pub(super) name: &'a str,
    pub(super) name_at: usize,
    pub(super) value: FieldValue<'a>,
    pub(super) value_at: usize,
    /// Whether another follows.
    pub(super) more: bool,
}

/// A place in lines.
#[derive(Clone, Copy)]
pub(super) struct Words<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
}

impl<'a> Words<'a> {
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn expected<T>(&self, what: &'static str) -> Result<T, DecodeError> {
        if self.at == self.text.len() {
            Err(DecodeError::truncated(self.at))
        } else {
            Err(DecodeError::expected(self.at, what))
        }
    }

    /// Passes blank lines and comments; says whether a line follows.
    pub(super) fn line_follows(&mut self) -> bool {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.at += 1,
                Some(b'#') => {
                    let rest = &self.text[self.at..];
                    self.at += rest.find('\n').unwrap_or(rest.len());
                }
                byte => return byte.is_some(),
            }
        }
    }

    pub(super) fn pass_spaces(&mut self) {
        while self.peek() == Some(b' ') {
            self.at += 1;
        }
    }

    /// Takes up to one of `ends` that no backslash stands before, or to the end of the line.
    pub(super) fn word(&mut self, ends: &[u8]) -> &'a str {
        let bytes = self.text.as_bytes();
        let start = self.at;
        while let Some(&byte) = bytes.get(self.at) {
            let escaped = self.at > start && bytes[self.at - 1] == b'\\';
            if byte == b'\n' || (ends.contains(&byte) && !escaped) {
                break;
            }
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    /// Takes the next tag, if the comma before one stands next.
    pub(super) fn tag(&mut self) -> Result<Option<(&'a str, &'a str, usize)>, DecodeError> {
        if self.peek() != Some(b',') {
            return Ok(None);
        }
        self.at += 1;
        let name = self.name()?;
        let value_at = self.at;
        let value = self.word(b", ");
        if value.is_empty() {
            self.expected("the value of a tag")
        } else {
            Ok(Some((name, value, value_at)))
        }
    }

    /// Takes the name of a tag or a field and the equals sign behind it.
    fn name(&mut self) -> Result<&'a str, DecodeError> {
        let start = self.at;
        let name = self.word(b"=, ");
        match self.peek() {
            _ if name.is_empty() => {
                self.at = start;
                self.expected("a name")
            }
            Some(b'=') => {
                self.at += 1;
                Ok(name)
            }
            _ => self.expected("an equals sign after the name"),
        }
    }

    /// Takes the next field, and the comma behind it.
    pub(super) fn field(&mut self) -> Result<Field<'a>, DecodeError> {
        let name_at = self.at;
        let name = self.name()?;
        let value_at = self.at;
        let value = match self.peek() {
            Some(b'"') => FieldValue::Text(self.string()?),
            _ => simple(self.word(b", \r"), value_at)?,
        };
        let more = self.peek() == Some(b',');
        match self.peek() {
            None | Some(b' ' | b'\r' | b'\n') => {}
            Some(b',') => self.at += 1,
            _ => return self.expected("a comma, a space or the end of the line"),
        }
        Ok(Field {
            name,
            name_at,
            value,
            value_at,
            more,
        })
    }

    /// Takes what stands between quotes, the first of which stands next.
    fn string(&mut self) -> Result<&'a str, DecodeError> {
        let bytes = self.text.as_bytes();
        let start = self.at + 1;
        self.at = start;
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b'"' => {
                    self.at += 1;
                    return Ok(&self.text[start..self.at - 1]);
                }
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        Err(DecodeError::truncated(self.text.len()))
    }

    /// Takes the timestamp, if there is one, and the rest of the line, which is empty.
    pub(super) fn timestamp(&mut self) -> Result<Option<Time>, DecodeError> {
        self.pass_spaces();
        let start = self.at;
        let word = self.word(b" \r");
        let time = match word {
            "" => None,
            word => Some(timestamp(word, start)?),
        };
        self.pass_spaces();
        if self.peek() == Some(b'\r') {
            self.at += 1;
        }
        match self.peek() {
            None | Some(b'\n') => Ok(time),
            _ => self.expected("the end of the line"),
        }
    }
}

fn simple<'a>(word: &str, at: usize) -> Result<FieldValue<'a>, DecodeError> {
    let what = "a number, a boolean or a string in quotes";
    let wrong = DecodeError::expected(at, what);
    match word {
        "t" | "T" | "true" | "True" | "TRUE" => return Ok(FieldValue::Bool(true)),
        "f" | "F" | "false" | "False" | "FALSE" => return Ok(FieldValue::Bool(false)),
        _ => {}
    }
    let digits = |digits: &str| {
        let magnitude = digits.strip_prefix('-').unwrap_or(digits);
        !magnitude.is_empty() && magnitude.bytes().all(|byte| byte.is_ascii_digit())
    };
    let range = "an integer of 64 bits";
    match word.as_bytes().last() {
        Some(b'i') if digits(&word[..word.len() - 1]) => {
            let number = word[..word.len() - 1].parse();
            number
                .map(FieldValue::Integer)
                .map_err(|_| DecodeError::expected(at, range))
        }
        Some(b'u') if digits(&word[..word.len() - 1]) => {
            let number = word[..word.len() - 1].parse();
            number
                .map(FieldValue::Unsigned)
                .map_err(|_| DecodeError::expected(at, range))
        }
        _ => lexical::number(word)
            .or_else(|| lexical::not_finite(word))
            .map(FieldValue::Number)
            .ok_or(wrong),
    }
}

/// The unit follows from the magnitude.
fn timestamp(word: &str, at: usize) -> Result<Time, DecodeError> {
    let number = word.parse::<i64>();
    let number = number.map_err(|_| DecodeError::expected(at, "a timestamp, an integer"))?;
    let magnitude = number.unsigned_abs();
    let unit = match NANOSECONDS_MIN {
        min if magnitude >= min => 1,
        min if magnitude >= min / 1000 => 1000,
        min if magnitude >= min / 1_000_000 => 1_000_000,
        _ => 1_000_000_000,
    };
    let nanos = number.checked_mul(unit).filter(|&nanos| nanos != i64::MIN);
    let nanos = nanos.ok_or_else(|| DecodeError::expected(at, "a time between 1677 and 2262"))?;
    Ok(Time::from_nanos(nanos))
}

/// A name or tag in the parts that stand between its escapes' backslashes.
pub(super) fn parts(raw: &str) -> impl Iterator<Item = &str> {
    let mut rest = raw;
    core::iter::from_fn(move || {
        let (part, after) = rest.split_at(next_escape(rest));
        if part.is_empty() && after.is_empty() {
            return None;
        }
        rest = after.strip_prefix('\\').unwrap_or_default();
        Some(part)
    })
}

/// Where the next backslash stands that is before a comma, an equals sign or a space.
fn next_escape(raw: &str) -> usize {
    let pairs = raw.as_bytes().windows(2);
    let mut pairs = pairs.map(|pair| pair[0] == b'\\' && matches!(pair[1], b',' | b'=' | b' '));
    pairs.position(|escape| escape).unwrap_or(raw.len())
}

/// Unescapes a name or tag.
pub(super) fn name<'b>(raw: &'b str, buffer: &'b mut Unescaped) -> &'b str {
    if next_escape(raw) == raw.len() {
        return raw;
    }
    buffer.clear();
    parts(raw).for_each(|part| buffer.push(part.as_bytes()));
    buffer.as_str()
}

/// Unescapes what stood between quotes.
pub(super) fn string<'b>(raw: &'b str, buffer: &'b mut Unescaped) -> &'b str {
    let Some(first) = raw.find('\\') else {
        return raw;
    };
    buffer.clear();
    let (mut before, mut rest) = raw.split_at(first);
    loop {
        buffer.push(before.as_bytes());
        let mut characters = rest.chars();
        if characters.next().is_none() {
            return buffer.as_str();
        }
        match characters.next() {
            Some(mark @ ('"' | '\\')) => buffer.push_char(mark),
            Some('n') => buffer.push(b"\n"),
            Some('r') => buffer.push(b"\r"),
            Some('t') => buffer.push(b"\t"),
            Some('f') => buffer.push(b"\x0c"),
            other => {
                buffer.push(b"\\");
                other.into_iter().for_each(|other| buffer.push_char(other));
            }
        }
        rest = characters.as_str();
        (before, rest) = rest.split_at(rest.find('\\').unwrap_or(rest.len()));
    }
}

/// Says whether one of the first lines of a payload ends in a timestamp in nanoseconds, as Telegraf's do; text
/// that people send does not. The first may be one that cannot be read.
pub(crate) fn has_timestamps(payload: &[u8]) -> bool {
    let second = memchr::memchr(b'\n', payload).map(|end| &payload[end + 1..]);
    has_timestamp(payload) || second.is_some_and(has_timestamp)
}

fn has_timestamp(payload: &[u8]) -> bool {
    let text = match core::str::from_utf8(payload) {
        Ok(text) => text,
        // What stands before may be whole lines.
        Err(error) => core::str::from_utf8(&payload[..error.valid_up_to()]).unwrap_or_default(),
    };
    let mut words = Words { text, at: 0 };
    if !words.line_follows() {
        return false;
    }
    words.word(b" ");
    words.pass_spaces();
    while let Ok(field) = words.field() {
        if !field.more {
            words.pass_spaces();
            let last = words.word(b" \r").parse::<i64>();
            return last.is_ok_and(|nanos| nanos.unsigned_abs() >= NANOSECONDS_MIN);
        }
    }
    false
}
