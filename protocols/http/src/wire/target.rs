//! The request target (RFC 9112 section 3.2) and its query.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use weir_model::percent;

/// The path and query of a target in origin or absolute form; `*` stays as it is.
pub fn origin(target: &str) -> &str {
    let begins = |scheme: &&str| {
        // Whoever sends bytes that no target may hold has them looked at in whole characters all the same.
        let begin = target.get(..scheme.len());
        begin.is_some_and(|begin| begin.eq_ignore_ascii_case(scheme))
    };
    let Some(scheme) = ["http://", "https://"].into_iter().find(begins) else {
        return target;
    };
    let rest = &target[scheme.len()..];
    rest.find(['/', '?']).map_or("/", |at| &rest[at..])
}

/// Path, still encoded, and decoded query of a target.
pub fn split(target: &str) -> (String, Vec<(String, String)>) {
    match origin(target).split_once('?') {
        None => (origin(target).to_owned(), Vec::new()),
        Some((path, query)) => (path.to_owned(), pairs(query)),
    }
}

/// Decoded pairs of a query; a name without `=` has an empty value.
pub fn pairs(query: &str) -> Vec<(String, String)> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(name), decoded(value))
        })
        .collect()
}

/// Percent-decoded text; what is no escape stays, and what is not UTF-8 is replaced.
///
/// `+` is a space (WHATWG URL section 5.1), as forms and most libraries write it, except where people
/// write it and mean it: as a whole level of a topic filter, and before the offset of a time.
pub fn decoded(text: &str) -> String {
    if !text.contains(['%', '+']) {
        return text.to_owned();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        match (first, percent::byte(tail)) {
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
    use super::*;

    #[test]
    fn a_query_is_decoded_and_a_path_is_not() {
        let (path, query) = split("/live/a%2Fb/%23?since=1-2f&where=value%3E80&bare&x=a+b%zz");
        assert_eq!(path, "/live/a%2Fb/%23");
        let expected = [
            ("since", "1-2f"),
            ("where", "value>80"),
            ("bare", ""),
            ("x", "a b%zz"),
        ];
        let expected = expected.map(|(name, value)| (name.into(), value.into()));
        assert_eq!(query, expected);
    }

    #[test]
    fn a_plus_is_a_space_but_for_levels_and_offsets() {
        assert_eq!(decoded("value>18+and+value<24"), "value>18 and value<24");
        assert_eq!(decoded("heating/+/supply"), "heating/+/supply");
        assert_eq!(decoded("+"), "+");
        assert_eq!(decoded("heating%2F+"), "heating/+");
        assert_eq!(
            decoded("2026-11-20T10:00:00+01:00"),
            "2026-11-20T10:00:00+01:00"
        );
    }

    #[test]
    fn an_absolute_target_loses_its_authority() {
        assert_eq!(origin("http://weir.example:8080/live?a"), "/live?a");
        assert_eq!(origin("HTTPS://weir.example"), "/");
        assert_eq!(origin("http://weir.example?a"), "?a");
        assert_eq!(origin("*"), "*");
        assert_eq!(origin("http://"), "/");
    }

    #[test]
    fn a_target_of_other_characters_is_cut_between_them() {
        for target in ["/liveўЕ", "/liveЕ", "httpsЕ//", "Е", "http:/Е"] {
            assert_eq!(origin(target), target);
        }
    }
}
