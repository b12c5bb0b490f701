//! Names as IRIs (RFC 3987) and back.
//!
//! A sensor's URI is an IRI and stands as it is. What is none (`water-temperature`) becomes one in
//! weir's own space, so that equal names are one resource and every name comes back equal.

use super::Property;
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

/// Begins the IRIs of names that are none themselves.
const NAMES: &str = "urn:weir:name:";

/// Appends the IRI of a name.
pub(crate) fn write(name: &str, out: &mut Vec<u8>) {
    if is_iri(name) {
        return out.extend_from_slice(name.as_bytes());
    }
    out.extend_from_slice(NAMES.as_bytes());
    for character in name.chars() {
        let mut bytes = [0; 4];
        let bytes = character.encode_utf8(&mut bytes).as_bytes();
        if character.is_alphanumeric() || matches!(character, '-' | '.' | '_' | '~' | '/') {
            out.extend_from_slice(bytes)
        } else {
            bytes.iter().for_each(|byte| write_percent(*byte, out))
        }
    }
}

fn write_percent(byte: u8, out: &mut Vec<u8>) {
    let digit = |nibble: u8| b"0123456789ABCDEF"[usize::from(nibble & 15)];
    out.extend_from_slice(&[b'%', digit(byte >> 4), digit(byte)]);
}

/// Says whether a name may stand as an IRI and is read back as itself.
///
/// A scheme that is a term of our JSON-LD would be read there as a prefix.
fn is_iri(name: &str) -> bool {
    let Some((scheme, rest)) = name.split_once(':') else {
        return false;
    };
    let term = |property: &Property| property.term().local == scheme;
    is_scheme(scheme)
        && !rest.is_empty()
        && name.chars().all(is_allowed)
        && !name.starts_with(NAMES)
        && !Property::ALL.iter().any(term)
}

/// RFC 3986 section 3.1.
pub(crate) fn is_scheme(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    text.starts_with(|first: char| first.is_ascii_alphabetic()) && text.bytes().all(inner)
}

/// Production IRIREF of Turtle.
pub(crate) fn is_allowed(character: char) -> bool {
    character > ' '
        && !matches!(
            character,
            '<' | '>' | '"' | '{' | '}' | '|' | '^' | '`' | '\\'
        )
}

/// The name that an IRI stands for.
pub(crate) fn name(iri: &str) -> Cow<'_, str> {
    match iri.strip_prefix(NAMES) {
        Some(encoded) => decoded(encoded),
        None => Cow::Borrowed(iri),
    }
}

fn decoded(encoded: &str) -> Cow<'_, str> {
    if !encoded.contains('%') {
        return Cow::Borrowed(encoded);
    }
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let escaped = match rest {
            [b'%', high, low, ..] => hex(*high).zip(hex(*low)),
            _ => None,
        };
        match escaped {
            Some((high, low)) => {
                bytes.push(high * 16 + low);
                rest = &rest[3..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).map_or(Cow::Borrowed(encoded), Cow::Owned)
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

/// Appends what a reference means where `base` is (RFC 3986 section 5.2).
pub(crate) fn resolve(base: &str, reference: &str, out: &mut String) {
    let scheme = reference.split_once(':').map(|(scheme, _)| scheme);
    if base.is_empty() || scheme.is_some_and(is_scheme) {
        return out.push_str(reference);
    }
    let start = out.len();
    let (path_at, path_end) = path_of(base);
    let kept = match reference.as_bytes() {
        [] => base.find('#').unwrap_or(base.len()),
        [b'#', ..] => base.find('#').unwrap_or(base.len()),
        [b'?', ..] => path_end,
        [b'/', b'/', ..] => base.find(':').map_or(0, |colon| colon + 1),
        [b'/', ..] => path_at,
        _ => base[..path_end]
            .rfind('/')
            .map_or(path_at, |slash| slash + 1)
            .max(path_at),
    };
    out.push_str(&base[..kept]);
    out.push_str(reference);
    if !reference.is_empty() && !reference.starts_with(['#', '?']) {
        let (path_at, path_end) = path_of(&out[start..]);
        remove_dots(out, start + path_at, start + path_end);
    }
}

/// Where the path of an IRI begins and ends.
fn path_of(iri: &str) -> (usize, usize) {
    let colon = iri.find(':').map_or(0, |colon| colon + 1);
    let end = iri.find(['?', '#']).unwrap_or(iri.len()).max(colon);
    let begin = match iri[colon..].strip_prefix("//") {
        Some(rest) => rest
            .find(['/', '?', '#'])
            .map_or(iri.len(), |at| colon + 2 + at),
        None => colon,
    };
    (begin, end.max(begin))
}

/// RFC 3986 section 5.2.4, of the path from one place to another.
fn remove_dots(iri: &mut String, from: usize, to: usize) {
    if !iri[from..to].contains("/.") {
        return;
    }
    let tail = iri.split_off(to);
    let path = iri.split_off(from);
    let mut segments: Vec<&str> = Vec::new();
    let mut last_is_folder = false;
    for segment in path.split('/').skip(1) {
        last_is_folder = matches!(segment, "." | "..");
        match segment {
            "." => {}
            ".." => drop(segments.pop()),
            _ => segments.push(segment),
        }
    }
    for segment in segments {
        iri.push('/');
        iri.push_str(segment);
    }
    if last_is_folder {
        iri.push('/');
    }
    iri.push_str(&tail);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn references_are_resolved_as_rfc_3986_section_5_4_has_them() {
        for (reference, target) in [
            ("g:h", "g:h"),
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q#s"),
            ("g#s", "http://a/b/c/g#s"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../..", "http://a/"),
            ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"),
            ("g;x=1/../y", "http://a/b/c/y"),
        ] {
            let mut out = String::new();
            resolve("http://a/b/c/d;p?q", reference, &mut out);
            assert_eq!(out, target, "{reference}");
        }
    }

    fn written(name: &str) -> String {
        let mut out = Vec::new();
        write(name, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_is_an_iri_stands_as_it_is() {
        for name in [
            "urn:dev:mac:0024befffe804ff1",
            "http://example.org/a?b#c",
            "urn:é",
        ] {
            assert_eq!(written(name), name);
        }
        assert_eq!(
            written("water-temperature"),
            "urn:weir:name:water-temperature"
        );
        assert_eq!(written("topic:x"), "urn:weir:name:topic%3Ax");
        assert_eq!(written("a b"), "urn:weir:name:a%20b");
    }

    proptest! {
        #[test]
        fn every_name_comes_back(text in "\\PC{0,12}") {
            for text in [text.clone(), alloc::format!("urn:weir:name:{text}")] {
                let iri = written(&text);
                prop_assert!(iri.chars().all(is_allowed), "{}", iri);
                prop_assert_eq!(name(&iri), text);
            }
        }
    }
}
