//! URIs as options and back (RFC 7252 sections 6.4 and 6.5).

use super::option::Number;
use super::options::Options;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};
use core::str::from_utf8;

/// A path or query that options cannot carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAUri {
    /// Offset of the byte at which it went wrong.
    pub at: usize,
}

impl fmt::Display for NotAUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "not a path or query that CoAP can carry (byte {})",
            self.at
        )
    }
}

/// The path that the Uri-Path options make, percent-encoded; `/` where there is none.
pub fn path_of(options: &Options) -> String {
    let mut path = String::new();
    for segment in options.all(Number::URI_PATH) {
        path.push('/');
        encode(segment, &mut path);
    }
    if path.is_empty() { "/".into() } else { path }
}

/// Names and values of the Uri-Query options; a name without `=` has an empty value.
pub fn query_of(options: &Options) -> Vec<(String, String)> {
    let texts = options
        .all(Number::URI_QUERY)
        .map(|value| from_utf8(value).unwrap_or_default());
    texts
        .map(|text| text.split_once('=').unwrap_or((text, "")))
        .map(|(name, value)| (name.into(), value.into()))
        .collect()
}

/// The URI that Location-Path and Location-Query make.
pub fn location(options: &Options) -> Option<String> {
    let mut uri = String::new();
    for segment in options.all(Number::LOCATION_PATH) {
        uri.push('/');
        encode(segment, &mut uri);
    }
    let mut mark = '?';
    for argument in options.all(Number::LOCATION_QUERY) {
        uri.push(mark);
        encode(argument, &mut uri);
        mark = '&';
    }
    (!uri.is_empty()).then_some(uri)
}

/// Adds the segments of a percent-encoded path, as Uri-Path or Location-Path.
// [RFC7252-6.4-1]
pub fn set_path(options: &mut Options, number: Number, path: &str) -> Result<(), NotAUri> {
    let trimmed = path.strip_prefix('/').unwrap_or(path);
    let mut at = path.len() - trimmed.len();
    if trimmed.is_empty() {
        return Ok(());
    }
    for segment in trimmed.split('/') {
        add(options, number, segment, at)?;
        at += segment.len() + 1;
    }
    Ok(())
}

/// Adds the arguments of a percent-encoded query, as Uri-Query or Location-Query.
// [RFC7252-6.4-2]
pub fn set_query(options: &mut Options, number: Number, query: &str) -> Result<(), NotAUri> {
    let mut at = 0;
    for argument in query.split('&').filter(|_| !query.is_empty()) {
        add(options, number, argument, at)?;
        at += argument.len() + 1;
    }
    Ok(())
}

// [RFC7252-5.10.1-2] [RFC7252-5.10.7-1]
fn add(options: &mut Options, number: Number, text: &str, at: usize) -> Result<(), NotAUri> {
    let value = decode(text).map_err(|offset| NotAUri { at: at + offset })?;
    let path = matches!(number, Number::URI_PATH | Number::LOCATION_PATH);
    if value.len() > 255 || path && matches!(&value[..], b"." | b"..") {
        return Err(NotAUri { at });
    }
    options.push(number, &value);
    Ok(())
}

/// What may stand in a segment as it is (RFC 3986 section 3.3), but `&`, which parts arguments.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$'()*+,;=:@".contains(&byte)
}

// [RFC7252-6.5-1]
fn encode(value: &[u8], out: &mut String) {
    for &byte in value {
        if is_plain(byte) {
            out.push(char::from(byte))
        } else {
            write!(out, "%{byte:02X}").unwrap_or_default()
        }
    }
}

fn decode(text: &str) -> Result<Vec<u8>, usize> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte != b'%' {
            out.push(byte);
            at += 1;
            continue;
        }
        let digits = bytes
            .get(at + 1..at + 3)
            .and_then(|two| from_utf8(two).ok());
        let digits = digits.filter(|two| two.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let byte = digits.and_then(|two| u8::from_str_radix(two, 16).ok());
        out.push(byte.ok_or(at)?);
        at += 3;
    }
    from_utf8(&out).map_err(|error| error.valid_up_to())?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// [RFC7252-6.4-1] [RFC7252-5.10.1-2] [RFC7252-6.5-1]
    #[test]
    fn a_path_goes_into_options_and_back() {
        for path in ["/", "/a", "/a/", "/live/a/%23", "/a%2Fb/%C3%BC", "/x+y/:@"] {
            let mut options = Options::new();
            set_path(&mut options, Number::URI_PATH, path).unwrap();
            assert_eq!(path_of(&options), path);
        }
    }

    /// [RFC7252-5.10.1-2] [RFC7252-6.4-2]
    #[test]
    fn a_query_goes_into_options_and_back() {
        let mut options = Options::new();
        set_query(&mut options, Number::URI_QUERY, "topic=a%26b&stream&x=1=2").unwrap();
        let pairs = query_of(&options);
        let texts: Vec<_> = pairs
            .iter()
            .map(|(a, b)| (a.as_str(), b.as_str()))
            .collect();
        assert_eq!(texts, [("topic", "a&b"), ("stream", ""), ("x", "1=2")]);
        let mut response = Options::new();
        set_path(&mut response, Number::LOCATION_PATH, "/large/1").unwrap();
        set_query(&mut response, Number::LOCATION_QUERY, "first=1&second=2").unwrap();
        assert_eq!(location(&response).unwrap(), "/large/1?first=1&second=2");
    }

    /// [RFC7252-5.10.7-1]
    #[test]
    fn what_options_cannot_carry_is_named_with_its_place() {
        let mut options = Options::new();
        let mut refused = |path: &str| set_path(&mut options, Number::URI_PATH, path).unwrap_err();
        assert_eq!(refused("/a/%zz").at, 3);
        assert_eq!(refused("/a/%+1").at, 3);
        assert_eq!(refused("/../b").at, 1);
        assert_eq!(refused(&"x".repeat(256)).at, 0);
    }
}
