//! Percent-encoding (RFC 3986 section 2.1): how topics and filters stand in the paths and queries of
//! every protocol that has URIs.
//!
//! `+` as a space is a form's custom and no URI's: [`decode_query`] takes it so, and nothing else does.

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

/// A name or value of a query decoded; what is no escape stays, and what is not UTF-8 is replaced.
///
/// `+` is a space (WHATWG URL section 5.1), as forms and most libraries write it, except where people
/// write it and mean it: as a whole level of a topic filter, and before the offset of a time.
pub fn decode_query(text: &str) -> String {
    if !text.contains(['%', '+']) {
        return String::from(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        match (first, byte(tail)) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            (b'+', _) if !is_level(&bytes, tail) && !is_offset(tail) => bytes.push(b' '),
            (other, _) => bytes.push(*other),
        }
    }
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn is_level(before: &[u8], after: &[u8]) -> bool {
    let ends = after.is_empty() || after.starts_with(b"/") || after.starts_with(b"%2F");
    before.last().is_none_or(|byte| *byte == b'/') && ends
}

fn is_offset(after: &[u8]) -> bool {
    let hours = after.len() > 2 && after[..2].iter().all(u8::is_ascii_digit);
    hours && (after[2..].starts_with(b":") || after[2..].starts_with(b"%3A"))
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

    #[test]
    fn a_plus_is_a_space_but_for_levels_and_offsets() {
        assert_eq!(
            decode_query("value>18+and+value<24"),
            "value>18 and value<24"
        );
        assert_eq!(decode_query("heating/+/supply"), "heating/+/supply");
        assert_eq!(decode_query("+"), "+");
        assert_eq!(decode_query("heating%2F+"), "heating/+");
        assert_eq!(
            decode_query("2026-11-20T10:00:00+01:00"),
            "2026-11-20T10:00:00+01:00"
        );
    }
}
