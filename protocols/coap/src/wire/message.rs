//! A message above its framing: code, token, options, payload.

use super::code::Code;
use super::options::Options;
use bytes::Bytes;
use core::fmt;

/// Tells a response's request; at most eight bytes (RFC 7252 section 5.3.1).
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token {
    bytes: [u8; 8],
    length: u8,
}

impl Token {
    /// Longest token, bytes.
    pub const BYTES_MAX: usize = 8;
    /// Before every other.
    pub const MIN: Self = Self {
        bytes: [0; 8],
        length: 0,
    };
    /// Behind every other.
    pub const MAX: Self = Self {
        bytes: [0xff; 8],
        length: 9,
    };

    /// A token of these bytes; none where they are more than eight.
    // [RFC7252-3-6]
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let mut token = Self::MIN;
        token.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        token.length = bytes.len() as u8;
        Some(token)
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length).min(Self::BYTES_MAX)]
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("0x")?;
        self.as_bytes()
            .iter()
            .try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A request, a response or a signal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// What it is.
    pub code: Code,
    /// Which exchange it belongs to.
    pub token: Token,
    /// Its options.
    pub options: Options,
    /// Its payload.
    pub payload: Bytes,
}

impl Message {
    /// A message of this code without token, options and payload.
    pub fn new(code: Code) -> Self {
        Self {
            code,
            token: Token::MIN,
            options: Options::new(),
            payload: Bytes::new(),
        }
    }

    /// The message with another payload.
    pub fn with_payload(mut self, payload: impl Into<Bytes>) -> Self {
        self.payload = payload.into();
        self
    }

    /// A response that says in words what is wrong (RFC 7252 section 5.5.2).
    // [RFC7252-5.5.2-1] [RFC7252-5.5.2-2]
    pub fn diagnostic(code: Code, sentence: &str) -> Self {
        Self::new(code).with_payload(Bytes::copy_from_slice(sentence.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// [RFC7252-3-6]
    #[test]
    fn a_token_has_at_most_eight_bytes() {
        let token = Token::new(&[7; 8]).map(|token| token.as_bytes().to_vec());
        assert_eq!(token.as_deref(), Some(&[7; 8][..]));
        assert_eq!(Token::new(&[7; 9]), None);
    }
}
