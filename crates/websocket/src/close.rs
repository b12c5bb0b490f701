//! Why a WebSocket ends (RFC 6455 section 7.4).

use crate::limits::CONTROL_BYTES_MAX;
use crate::reader::Failure;
use std::fmt;

/// A close code; unknown values survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloseCode(pub u16);

impl CloseCode {
    /// Done.
    pub const NORMAL: Self = Self(1000);
    /// The server stops, or the browser leaves the page.
    pub const GOING_AWAY: Self = Self(1001);
    /// The peer breaks the protocol.
    pub const PROTOCOL: Self = Self(1002);
    /// A message of a kind that is not taken.
    pub const UNSUPPORTED: Self = Self(1003);
    /// Text that is not UTF-8.
    pub const NOT_UTF8: Self = Self(1007);
    /// A message against the rules of the application.
    pub const POLICY: Self = Self(1008);
    /// A message over the limit.
    pub const TOO_BIG: Self = Self(1009);
    /// The server cannot go on.
    pub const INTERNAL: Self = Self(1011);
    /// The server has no room for it now.
    pub const TRY_AGAIN_LATER: Self = Self(1013);

    /// Says whether it may stand in a frame (RFC 6455 section 7.4.2, IANA's registry).
    pub fn may_be_sent(self) -> bool {
        matches!(self.0, 1000..=1003 | 1007..=1014 | 3000..=4999)
    }
}

/// A close frame's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Close {
    /// Why, as a number.
    pub code: CloseCode,
    /// Why, as a sentence.
    pub reason: String,
}

impl Close {
    /// A close with a reason.
    pub fn new(code: CloseCode, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self { code, reason }
    }

    /// Reads a close frame's payload; an empty one says nothing.
    pub(super) fn read(payload: &[u8]) -> Result<Option<Self>, Failure> {
        let Some((code, reason)) = payload.split_first_chunk::<2>() else {
            return match payload {
                [] => Ok(None),
                _ => Err(Failure::protocol("a close code of one byte")),
            };
        };
        let code = CloseCode(u16::from_be_bytes(*code));
        if !code.may_be_sent() {
            return Err(Failure::protocol("a close code that must not be sent"));
        }
        match std::str::from_utf8(reason) {
            Ok(reason) => Ok(Some(Self::new(code, reason))),
            Err(_) => Err(Failure::NOT_UTF8),
        }
    }

    /// Code and reason as a frame carries them, cut at a character where they are too long.
    pub(super) fn payload(&self) -> Vec<u8> {
        let mut end = self.reason.len().min(CONTROL_BYTES_MAX - 2);
        while !self.reason.is_char_boundary(end) {
            end -= 1;
        }
        let mut payload = self.code.0.to_be_bytes().to_vec();
        payload.extend_from_slice(&self.reason.as_bytes()[..end]);
        payload
    }
}

impl fmt::Display for Close {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.code.0, self.reason)
    }
}
