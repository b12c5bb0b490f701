//! The request target (RFC 9112 section 3.2) and its query.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use weir_model::percent;

/// Longest host, bytes (RFC 1035 section 2.3.4).
const HOST_BYTES_MAX: usize = 255;

/// The path and query of a target in origin or absolute form; `*` stays as it is.
pub fn origin(target: &str) -> &str {
    match absolute(target) {
        None => target,
        Some(rest) => rest.find(['/', '?']).map_or("/", |at| &rest[at..]),
    }
}

/// What a target in absolute form names as the host; `None` where it is in another form.
pub fn authority(target: &str) -> Option<&str> {
    let rest = absolute(target)?;
    rest.split(['/', '?']).next()
}

/// What follows the scheme of a target in absolute form.
fn absolute(target: &str) -> Option<&str> {
    // What most are, before anything is compared.
    if target.starts_with('/') {
        return None;
    }
    let begins = |scheme: &&str| {
        // Whoever sends bytes that no target may hold has them looked at in whole characters all the same.
        let begin = target.get(..scheme.len());
        begin.is_some_and(|begin| begin.eq_ignore_ascii_case(scheme))
    };
    let scheme = ["http://", "https://"].into_iter().find(begins)?;
    Some(&target[scheme.len()..])
}

/// Whether a text is a host, with a port or without, and nothing before it (RFC 9110 section 4.2.4 has user
/// information refused): what RFC 3986 section 3.2.2 lets a name be beyond this, nobody's name is.
pub fn is_authority(text: &str) -> bool {
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, port)) => (Host::Address(address), port),
        None => {
            let at = text.find(':').unwrap_or(text.len());
            (Host::Name(&text[..at]), &text[at..])
        }
    };
    let port = port
        .strip_prefix(':')
        .unwrap_or(if port.is_empty() { "" } else { "?" });
    let is_port = port.len() <= 5 && port.bytes().all(|byte| byte.is_ascii_digit());
    is_port && host.is_one()
}

enum Host<'a> {
    /// Between brackets.
    Address(&'a str),
    Name(&'a str),
}

impl Host<'_> {
    fn is_one(&self) -> bool {
        let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
        let is_digit = |byte: &u8| byte.is_ascii_hexdigit() || b":.".contains(byte);
        let (text, fits) = match self {
            Host::Address(text) => (text, text.as_bytes().iter().all(is_digit)),
            Host::Name(text) => (text, text.as_bytes().iter().all(is_letter)),
        };
        fits && !text.is_empty() && text.len() <= HOST_BYTES_MAX
    }
}

/// Path and query of a target, both still encoded.
pub fn split(target: &str) -> (String, String) {
    let origin = origin(target);
    let (path, query) = origin.split_once('?').unwrap_or((origin, ""));
    (path.to_owned(), query.to_owned())
}

/// Decoded pairs of a query; a name without `=` has an empty value.
pub fn pairs(query: &str) -> Vec<(String, String)> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (percent::decode_query(name), percent::decode_query(value))
        })
        .collect()
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
        assert_eq!(pairs(&query), expected);
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
    fn an_absolute_target_names_its_host() {
        assert_eq!(
            authority("http://weir.example:8080/live?a"),
            Some("weir.example:8080")
        );
        assert_eq!(authority("HTTPS://a@b?c"), Some("a@b"));
        assert_eq!(authority("http:///x"), Some(""));
        for target in ["/live", "*", "//a/b", "a:80", "ftp://a/"] {
            assert_eq!(authority(target), None, "{target}");
        }
    }

    #[test]
    fn a_host_has_a_port_or_none_and_nobody_before_it() {
        for host in [
            "a",
            "a.b-c_d~",
            "127.0.0.1:8080",
            "a:",
            "[::1]",
            "[::ffff:1.2.3.4]:80",
        ] {
            assert!(is_authority(host), "{host}");
        }
        let long = "h".repeat(256);
        for wrong in [
            "",
            ":80",
            "a@b",
            "a:b",
            "a:80:80",
            "a:123456",
            "a/b",
            "a b",
            "a,b",
            "a%2eb",
            "[]",
            "[::1",
            "[::1]x",
            "[a.example]",
            "::1",
            "a\\b",
            "a?b",
            "a#b",
            "\u{fc}.example",
            &long,
        ] {
            assert!(!is_authority(wrong), "{wrong}");
        }
    }

    #[test]
    fn a_target_of_other_characters_is_cut_between_them() {
        for target in ["/liveўЕ", "/liveЕ", "httpsЕ//", "Е", "http:/Е"] {
            assert_eq!(origin(target), target);
        }
    }
}
