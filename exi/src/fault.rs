//! What goes wrong inside the codec, without its place: small, so that results stay in registers.

use alloc::string::String;

use crate::error::ErrorKind;
use crate::limits::Limit;

/// A failure before its place is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The input ends; at least so many bytes more are needed.
    End(usize),
    /// A number that a word does not hold.
    TooBig,
    Code,
    Identifier,
    Character(u64),
    Value(&'static str),
    NotAllowed(&'static str),
    Options(&'static str),
    Deflate,
    Limit(Limit),
    Other(alloc::boxed::Box<ErrorKind>),
}

pub(crate) type Result<T> = core::result::Result<T, Fault>;

impl Fault {
    /// Text that its datatype does not have.
    pub(crate) fn not_in_datatype(text: &str) -> Self {
        let shown: String = text.chars().take(64).collect();
        Self::from(ErrorKind::NotInDatatype(shown))
    }

    /// The same where so many bytes at least come after what is missing: whoever waits for them tries
    /// a long value again a few times, not with every byte.
    #[cold]
    pub(crate) fn and_bytes(self, more: usize) -> Self {
        match self {
            Self::End(missing) => Self::End(missing.saturating_add(more)),
            other => other,
        }
    }

    /// The public kind.
    pub(crate) fn kind(self) -> ErrorKind {
        match self {
            Self::End(_) => ErrorKind::UnexpectedEnd,
            Self::TooBig => ErrorKind::InvalidValue("a number that 64 bits do not hold"),
            Self::Code => ErrorKind::InvalidEventCode,
            Self::Identifier => ErrorKind::InvalidIdentifier,
            Self::Character(point) => ErrorKind::InvalidCharacter(point),
            Self::Value(rule) => ErrorKind::InvalidValue(rule),
            Self::NotAllowed(what) => ErrorKind::NotAllowed(what),
            Self::Options(rule) => ErrorKind::InvalidOptions(rule),
            Self::Deflate => ErrorKind::InvalidDeflate,
            Self::Limit(limit) => ErrorKind::OverLimit(limit),
            Self::Other(kind) => *kind,
        }
    }
}

impl From<ErrorKind> for Fault {
    fn from(kind: ErrorKind) -> Self {
        Self::Other(alloc::boxed::Box::new(kind))
    }
}
