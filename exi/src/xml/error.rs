//! What is wrong with a document, and where: small, so that it costs the reader's results nothing.

use crate::error::{Error, ErrorKind};
use crate::limits::Limit;

/// Why a document was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct XmlError {
    /// Offset in bytes; within the text of an entity, that of the reference to it.
    pub(super) at: usize,
    pub(super) fault: Fault,
}

/// What is wrong there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// Something else had to stand there.
    Expected(&'static str),
    /// The document ends too early.
    Truncated,
    /// More than the caller wants to bear.
    OverLimit(Limit),
}

impl XmlError {
    pub(super) const fn expected(at: usize, expected: &'static str) -> Self {
        Self {
            at,
            fault: Fault::Expected(expected),
        }
    }

    pub(super) const fn truncated(at: usize) -> Self {
        Self {
            at,
            fault: Fault::Truncated,
        }
    }

    pub(super) const fn over(at: usize, limit: Limit) -> Self {
        Self {
            at,
            fault: Fault::OverLimit(limit),
        }
    }

    /// The same, met in the text of an entity that is referred to here.
    pub(super) const fn in_entity(self, at: usize) -> Self {
        match self.fault {
            Fault::Truncated => Self::expected(at, "an entity that ends what it begins"),
            fault => Self { at, fault },
        }
    }

    /// The same, where so many bytes of the input stand before the text.
    pub(super) fn after(self, before: usize) -> Error {
        let kind = match self.fault {
            Fault::Expected(expected) => ErrorKind::Xml(expected),
            Fault::Truncated => ErrorKind::UnexpectedEnd,
            Fault::OverLimit(limit) => ErrorKind::OverLimit(limit),
        };
        Error::at_byte(kind, (self.at + before) as u64)
    }
}
