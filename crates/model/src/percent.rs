//! Percent-encoding (RFC 3986 section 2.1): how topics and filters stand in the paths and queries of
//! every protocol that has URIs.
//!
//! What it deliberately does not do: `+` as a space, which is a form's custom and no URI's.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// Why a text is not percent-encoded UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PercentError {
    /// The `%` at this byte is not followed by two hexadecimal digits.
    Escape(usize),
    /// What is decoded is not UTF-8, from this decoded byte on.
    NotUtf8(usize),
}

impl fmt::Display for PercentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PercentError::Escape(at) => {
                write!(f, "byte {at}: `%` without two hexadecimal digits")
            }
            PercentError::NotUtf8(at) => write!(f, "not UTF-8 from decoded byte {at} on"),
        }
    }
}

impl core::error::Error for PercentError {}

/// The byte that the two hexadecimal digits behind a `%` stand for.
pub fn byte(digits: &[u8]) -> Option<u8> {
    let high = char::from(*digits.first()?).to_digit(16)?;
    let low = char::from(*digits.get(1)?).to_digit(16)?;
    u8::try_from(high * 16 + low).ok()
}

/// Decodes; every `%` must begin an escape.
pub fn decode(text: &str) -> Result<String, PercentError> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'%' {
            out.push(*first);
            continue;
        }
        let at = text.len() - tail.len() - 1;
        out.push(byte(tail).ok_or(PercentError::Escape(at))?);
        rest = &tail[2..];
    }
    String::from_utf8(out).map_err(|error| PercentError::NotUtf8(error.utf8_error().valid_up_to()))
}

/// Encodes all but unreserved characters (RFC 3986 section 2.3) and those of `kept`.
pub fn encode(text: &str, kept: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        let unreserved = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if unreserved || kept.contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push(char::from(DIGITS[usize::from(byte >> 4)]));
            out.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_no_escape_is_refused_with_its_place() {
        assert_eq!(decode("a/%23+b").unwrap(), "a/#+b");
        for (text, error) in [
            ("%", PercentError::Escape(0)),
            ("a%2", PercentError::Escape(1)),
            ("ab%zz", PercentError::Escape(2)),
            ("%41%ff", PercentError::NotUtf8(1)),
        ] {
            assert_eq!(decode(text), Err(error), "{text}");
        }
    }

    #[test]
    fn reserved_characters_are_encoded_unless_kept() {
        assert_eq!(encode("a/b c#\u{e9}", b"/"), "a/b%20c%23%C3%A9");
        assert_eq!(encode("a/b", b""), "a%2Fb");
    }

    proptest! {
        #[test]
        fn what_is_encoded_decodes_to_itself(text in ".*") {
            prop_assert_eq!(decode(&encode(&text, b"/")).unwrap(), text);
        }
    }
}
