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
            Fault::OverLimit { what, limit } => write!(f, "{what} over the limit of {limit}")?,
        }
        write!(f, " at byte {}", self.at)
    }
}

impl core::error::Error for DecodeError {}
