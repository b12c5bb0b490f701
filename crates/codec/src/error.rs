//! Why bytes are no message.

use alloc::borrow::Cow;
use core::fmt;

/// What is wrong with a message, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// Offset of the first byte that does not fit, from the beginning of the message.
    pub at: usize,
    /// Which rule it breaks.
    pub fault: Fault,
}

/// Which rule of the format a message breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The message ends where something must follow.
    Truncated,
    /// Something else was expected here; the text says what.
    Expected(&'static str),
    /// The syntax is right, the meaning is not: a sentence that names the member.
    Meaning(Cow<'static, str>),
    /// A number is none, or infinite: which. It was read over.
    NotFinite(&'static str),
    /// A limit of [`weir_model::Limits`] is passed.
    OverLimit {
        /// Which one.
        what: &'static str,
        /// Its value.
        limit: usize,
    },
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.fault {
            Fault::Truncated => f.write_str("the message ends too early")?,
            Fault::Expected(what) => write!(f, "expected {what}")?,
            Fault::Meaning(sentence) => f.write_str(sentence)?,
            Fault::NotFinite(which) => write!(f, "expected a finite number, not {which},")?,
            Fault::OverLimit { what, limit } => write!(f, "{what} over the limit of {limit}")?,
        }
        write!(f, " at byte {}", self.at)
    }
}

impl core::error::Error for DecodeError {}

impl DecodeError {
    pub(crate) fn truncated(at: usize) -> Self {
        let fault = Fault::Truncated;
        Self { at, fault }
    }

    pub(crate) fn expected(at: usize, what: &'static str) -> Self {
        let fault = Fault::Expected(what);
        Self { at, fault }
    }

    pub(crate) fn meaning(at: usize, sentence: impl Into<Cow<'static, str>>) -> Self {
        let fault = Fault::Meaning(sentence.into());
        Self { at, fault }
    }

    pub(crate) fn not_finite(at: usize, number: f64) -> Self {
        let which = match number.is_nan() {
            true => "NaN",
            false if number > 0.0 => "Infinity",
            false => "-Infinity",
        };
        let fault = Fault::NotFinite(which);
        Self { at, fault }
    }

    /// Whether it is that a number, which was read over, is no finite one.
    pub(crate) fn is_of_a_number(&self) -> bool {
        matches!(self.fault, Fault::NotFinite(_))
    }

    pub(crate) fn over(at: usize, what: &'static str, limit: usize) -> Self {
        let fault = Fault::OverLimit { what, limit };
        Self { at, fault }
    }

    /// The same of what stands so many bytes further back in the message.
    pub(crate) fn after(self, bytes: usize) -> Self {
        let at = self.at + bytes;
        Self { at, ..self }
    }

    /// Line and column of the error in the text it was found in, both counted from 1, the column in
    /// characters.
    pub fn position(&self, text: &[u8]) -> (usize, usize) {
        position(text, self.at)
    }
}

/// Line and column, both counted from 1, of the byte at this offset; the column counts characters.
///
/// Lines end with a line feed; an offset beyond the end counts as the end.
pub fn position(text: &[u8], at: usize) -> (usize, usize) {
    let before = &text[..at.min(text.len())];
    let line_start = before.iter().rposition(|&byte| byte == b'\n');
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    let rest = &before[line_start.map_or(0, |feed| feed + 1)..];
    // Bytes 10xxxxxx continue a character of UTF-8.
    let column = rest.iter().filter(|&&byte| byte & 0xC0 != 0x80).count() + 1;
    (line, column)
}
