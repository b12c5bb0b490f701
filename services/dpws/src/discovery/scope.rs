//! How scopes are matched (WS-Discovery 1.1 section 5.1, of April 2005 section 5.1).
//!
//! A probe's scope is `asked`, one of the device's is `own`. What it deliberately does not do: decode
//! percent-encoding, which the comparison of the specification does not know.

use crate::names::Generation;

/// A matching rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Scheme, authority, and segments of the path that begin alike.
    Uri,
    /// The same UUID.
    Uuid,
    /// The same server, and a distinguished name below.
    Ldap,
    /// The same text.
    Exact,
    /// Only a device without scopes (1.1).
    None,
}

impl Rule {
    /// The rule that a URI names; `None` where it is not known.
    pub(crate) fn of(generation: &Generation, uri: Option<&str>) -> Option<Self> {
        let Some(uri) = uri.filter(|uri| !uri.is_empty()) else {
            return Some(Rule::Uri);
        };
        let name = uri.strip_prefix(generation.discovery)?.strip_prefix('/')?;
        match name {
            "uuid" => Some(Rule::Uuid),
            "ldap" => Some(Rule::Ldap),
            "strcmp0" => Some(Rule::Exact),
            "none" => Some(Rule::None),
            name => (name == generation.scope_rule).then_some(Rule::Uri),
        }
    }

    /// Says whether all that is asked is matched by some of the device's own.
    pub(crate) fn matches(self, asked: &[String], own: &[String]) -> bool {
        if self == Rule::None {
            return own.is_empty();
        }
        let found = |asked: &String| own.iter().any(|own| self.fits(asked, own));
        asked.iter().all(found)
    }

    fn fits(self, asked: &str, own: &str) -> bool {
        match self {
            Rule::Uri => uri_fits(asked, own),
            Rule::Uuid => uuid(asked).is_some_and(|asked| uuid(own).as_ref() == Some(&asked)),
            Rule::Ldap => ldap_fits(asked, own),
            Rule::Exact => asked == own,
            Rule::None => false,
        }
    }
}

/// Scheme, authority and path of a URI (RFC 3986 appendix B); query and fragment are not compared.
fn parts(uri: &str) -> (&str, &str, &str) {
    let uri = uri.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = uri.split_once(':').unwrap_or(("", uri));
    match rest.strip_prefix("//") {
        Some(rest) => {
            let end = rest.find('/').unwrap_or(rest.len());
            (scheme, &rest[..end], &rest[end..])
        }
        None => (scheme, "", rest),
    }
}

fn uri_fits(asked: &str, own: &str) -> bool {
    let (asked, own) = (parts(asked), parts(own));
    let segments = |path: &'_ str| -> Vec<String> {
        let segments = path.trim_end_matches('/').split('/');
        segments.map(str::to_owned).collect()
    };
    let (above, below) = (segments(asked.2), segments(own.2));
    let mut all = above.iter().chain(&below);
    asked.0.eq_ignore_ascii_case(own.0)
        && asked.1.eq_ignore_ascii_case(own.1)
        && !all.any(|segment| matches!(segment.as_str(), "." | ".."))
        && below.starts_with(&above)
}

/// The UUID of `uuid:...` or `urn:uuid:...`.
fn uuid(uri: &str) -> Option<String> {
    let lower = uri.to_ascii_lowercase();
    let rest = lower.strip_prefix("urn:").unwrap_or(&lower);
    rest.strip_prefix("uuid:").map(str::to_owned)
}

/// The server is the same, and the name asked for is above the own one, or it: RDNs are written from the
/// lowest on (RFC 4514 section 2.1).
fn ldap_fits(asked: &str, own: &str) -> bool {
    let (asked, own) = (parts(asked), parts(own));
    let is_ldap = |scheme: &str| scheme.eq_ignore_ascii_case("ldap");
    let names = |path: &str| -> Vec<String> {
        let names = path.trim_start_matches('/').rsplit(',');
        let trimmed = names.map(|name| name.trim().to_ascii_lowercase());
        trimmed.filter(|name| !name.is_empty()).collect()
    };
    let (above, below) = (names(asked.2), names(own.2));
    is_ldap(asked.0)
        && is_ldap(own.0)
        && asked.1.eq_ignore_ascii_case(own.1)
        && below.starts_with(&above)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::names::{OASIS, XMLSOAP};

    fn fits(rule: &str, asked: &str, own: &str) -> bool {
        let uri = format!("{}/{rule}", OASIS.discovery);
        let rule = Rule::of(&OASIS, Some(&uri)).unwrap();
        rule.matches(&[asked.into()], &[own.into()])
    }

    #[test]
    fn segments_are_compared_not_letters() {
        // The example of WS-Discovery 1.1 section 5.1.
        let own = "http://example.com/abc/def";
        for (asked, expected) in [
            ("http://example.com/abc", true),
            ("HTTP://EXAMPLE.COM/abc/", true),
            ("http://example.com", true),
            ("http://example.com/abc/def?x#y", true),
            ("http://example.com/a", false),
            ("http://example.com/ABC", false),
            ("http://example.com/abc/def/g", false),
            ("http://example.com/x/../abc", false),
            ("https://example.com/abc", false),
            ("urn:abc", false),
        ] {
            assert_eq!(fits("rfc3986", asked, own), expected, "{asked}");
        }
        assert!(fits("rfc3986", "urn:weir:gateway", "URN:weir:gateway"));
    }

    #[test]
    fn uuids_names_and_texts_have_rules_of_their_own() {
        let uuid = "urn:uuid:5E2C0F26-0000-4000-8000-0000DEADBEEF";
        assert!(fits("uuid", &uuid.to_lowercase()[4..], uuid));
        assert!(!fits("uuid", "urn:x", "urn:x"));
        let own = "ldap:///ou=hall, o=plant,c=RS";
        assert!(fits("ldap", "ldap:///o=plant,c=rs", own));
        assert!(!fits("ldap", "ldap:///ou=hall,o=plant,c=DE", own));
        assert!(!fits("ldap", "ldap:///cn=x,ou=hall,o=plant,c=RS", own));
        assert!(fits("strcmp0", "a", "a") && !fits("strcmp0", "a", "A"));
    }

    #[test]
    fn a_rule_belongs_to_its_generation() {
        let old = format!("{}/rfc2396", XMLSOAP.discovery);
        assert_eq!(Rule::of(&XMLSOAP, Some(&old)), Some(Rule::Uri));
        assert_eq!(Rule::of(&OASIS, Some(&old)), None);
        assert_eq!(Rule::of(&OASIS, None), Some(Rule::Uri));
        let none = format!("{}/none", OASIS.discovery);
        let none = Rule::of(&OASIS, Some(&none)).unwrap();
        assert!(none.matches(&[], &[]) && !none.matches(&[], &["urn:x".into()]));
    }
}
