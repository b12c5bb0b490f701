//! URLs: `xmpp://user:password@host:port/service` (RFC 5122 says less: it names no password).

use std::{fmt, io};
use weir_model::url::{Bracketed, decoded};

/// A parsed URL.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Url {
    /// TLS from the first byte (XEP-0368).
    pub(super) direct_tls: bool,
    /// Where the server listens.
    pub(super) host: String,
    pub(super) port: u16,
    /// Where the URL names one.
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
    /// The server's domain: behind an `@` in the user's name, else the host.
    pub(super) domain: String,
    /// What the path names: a publish-subscribe service.
    pub(super) service: Option<String>,
}

const SCHEMES: &[(&str, bool, u16)] = &[("xmpp", false, 5222), ("xmpps", true, 5223)];

/// Whom it names, without the login.
impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", Bracketed(&self.host), self.port)
    }
}

impl Url {
    /// Reads a client's URL; an error says what was expected.
    pub(super) fn parse(text: &str) -> io::Result<Self> {
        Self::parse_with(text, None)
    }

    /// Reads a URL, with the port where it names none if that is another than clients have.
    pub(super) fn parse_with(text: &str, port_unsaid: Option<u16>) -> io::Result<Self> {
        let bad = |problem: String| io::Error::new(io::ErrorKind::InvalidInput, problem);
        let url = weir_model::Url::parse(text)
            .map_err(|error| bad(format!("{error}: expected xmpp://user@host:5222/service")))?;
        let scheme = url.scheme;
        let line = SCHEMES.iter().find(|line| line.0 == scheme);
        let &(_, direct_tls, port) =
            line.ok_or_else(|| bad(format!("`{scheme}` is no scheme of XMPP: xmpp, xmpps")))?;
        let port = url.authority.port.unwrap_or(port_unsaid.unwrap_or(port));
        let host = url.authority.host.to_owned();
        let (user, password) = match url.authority.login() {
            Some((user, password)) => (Some(user), password),
            None => (None, None),
        };
        let (user, domain) = match user {
            Some(user) => match user.split_once('@') {
                Some((local, domain)) => (Some(local.to_owned()), domain.to_owned()),
                None => (Some(user), host.clone()),
            },
            None => (None, host.clone()),
        };
        let service = decoded(url.target.trim_matches('/'));
        Ok(Self {
            direct_tls,
            host,
            port,
            user,
            password,
            domain,
            service: (!service.is_empty()).then_some(service),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_url_has_its_parts() {
        let url = Url::parse("xmpp://ann:s%3Acret@example.org/weir.example.org").unwrap();
        assert_eq!(
            (url.host.as_str(), url.port, url.direct_tls),
            ("example.org", 5222, false)
        );
        assert_eq!(
            (url.user.as_deref(), url.password.as_deref()),
            (Some("ann"), Some("s:cret"))
        );
        assert_eq!(
            (url.domain.as_str(), url.service.as_deref()),
            ("example.org", Some("weir.example.org"))
        );
        let url = Url::parse("xmpps://ann%40example.org@[::1]:15223").unwrap();
        assert_eq!(
            (url.host.as_str(), url.port, url.direct_tls),
            ("::1", 15223, true)
        );
        assert_eq!(
            (url.user.as_deref(), url.domain.as_str()),
            (Some("ann"), "example.org")
        );
        for text in ["localhost", "http://a", "xmpp://", "xmpp://a:b"] {
            assert!(Url::parse(text).is_err(), "{text}");
        }
    }
}
