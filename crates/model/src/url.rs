//! URLs taken apart: how people and configurations say where a peer is. They are absolute and without a
//! fragment (RFC 3986 section 4.3), since they name what is asked.
//!
//! The parts borrow from the text and stand as they are written there; the login is decoded where it is
//! asked for, and shown nowhere: not in an error, not by `Debug`, not by `Display`. What it deliberately
//! does not do: relative references, and names of hosts beyond what tells them from a port.

use crate::percent;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use core::fmt;

/// An absolute URL with an authority.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Url<'a> {
    /// What stands before `://`.
    pub scheme: &'a str,
    /// Who and where.
    pub authority: Authority<'a>,
    /// From its first `/` on; empty where there is none.
    pub path: &'a str,
    /// What follows `?`.
    pub query: Option<&'a str>,
    /// Path and query, as they are asked for.
    pub target: &'a str,
}

/// `user:password@host:port`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Authority<'a> {
    /// What stands before `@`, as it is written.
    pub userinfo: Option<&'a str>,
    /// A name or an address, of IPv6 without brackets.
    pub host: &'a str,
    /// Where one is named.
    pub port: Option<u16>,
}

/// Why a text is no URL, with the text but for its login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlError {
    /// What is wrong.
    pub fault: UrlFault,
    shown: String,
}

/// What is wrong with a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlFault {
    /// It does not begin with `scheme://`.
    Scheme,
    /// It names no host.
    Host,
    /// What stands behind the host is no port.
    Port,
    /// An address of IPv6 does not stand between `[` and `]`.
    Brackets,
    /// It has a `#`, which names a part of what is there.
    Fragment,
}

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = &self.shown;
        match self.fault {
            UrlFault::Scheme => write!(f, "`{shown}` is no URL"),
            UrlFault::Host => write!(f, "`{shown}` names no host"),
            UrlFault::Port => write!(f, "`{shown}` has no port behind `:`"),
            UrlFault::Brackets => {
                write!(f, "`{shown}`: an IPv6 address stands between `[` and `]`")
            }
            UrlFault::Fragment => write!(f, "`{shown}`: `#` means nothing here"),
        }
    }
}

impl core::error::Error for UrlError {}

/// What stands before `://`.
pub fn scheme(url: &str) -> Option<&str> {
    url.split_once("://").map(|(scheme, _)| scheme)
}

/// A URL without its login, for whoever may see it; of a text that is none, what may be shown of it.
pub fn shown(url: &str) -> String {
    told(url, |_| String::new())
}

/// A URL without its password, for who gave it.
pub fn without_password(url: &str) -> String {
    told(url, |login| {
        let user = login.split(':').next().unwrap_or_default();
        format!("{user}@")
    })
}

fn told(url: &str, login: impl Fn(&str) -> String) -> String {
    let begin = url.find("://").map_or(0, |at| at + 3);
    let (authority, rest) = split(&url[begin..], &['/', '?', '#']);
    match authority.rsplit_once('@') {
        Some((userinfo, place)) => format!("{}{}{place}{rest}", &url[..begin], login(userinfo)),
        None => url.to_owned(),
    }
}

/// An error that shows nothing before the last `@`: what makes a URL wrong may stand in its password.
fn refused(text: &str, fault: UrlFault) -> UrlError {
    let begin = text.find("://").map_or(0, |at| at + 3);
    let behind = text[begin..].rfind('@').map_or(begin, |at| begin + at + 1);
    UrlError {
        fault,
        shown: format!("{}{}", &text[..begin], &text[behind..]),
    }
}

/// A text up to the first of some characters, and from there.
fn split<'a>(text: &'a str, any: &[char]) -> (&'a str, &'a str) {
    text.split_at(text.find(any).unwrap_or(text.len()))
}

impl<'a> Url<'a> {
    /// Takes a URL apart.
    pub fn parse(text: &'a str) -> Result<Self, UrlError> {
        let refused = |fault| refused(text, fault);
        let (scheme, rest) = text.split_once("://").ok_or(refused(UrlFault::Scheme))?;
        let (authority, rest) = split(rest, &['/', '?', '#']);
        let authority = Authority::read(authority).map_err(refused)?;
        if rest.contains('#') {
            return Err(refused(UrlFault::Fragment));
        }
        let (path, query) = rest
            .split_once('?')
            .map_or((rest, None), |(path, query)| (path, Some(query)));
        Ok(Self {
            scheme,
            authority,
            path,
            query,
            target: rest,
        })
    }

    /// Names and values of the query, decoded; a name alone has an empty value.
    pub fn pairs(&self) -> impl Iterator<Item = (String, String)> + use<'a> {
        let pairs = self.query.unwrap_or_default().split('&');
        pairs.filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(name), decoded(value))
        })
    }
}

impl<'a> Authority<'a> {
    /// Takes `user:password@host:port` apart, where no URL is around it.
    pub fn parse(text: &'a str) -> Result<Self, UrlError> {
        Self::read(text).map_err(|fault| refused(text, fault))
    }

    fn read(text: &'a str) -> Result<Self, UrlFault> {
        let (userinfo, place) = text
            .rsplit_once('@')
            .map_or((None, text), |(userinfo, place)| (Some(userinfo), place));
        let (host, port) = match place.strip_prefix('[') {
            Some(rest) => rest.split_once(']').ok_or(UrlFault::Brackets)?,
            None => split(place, &[':']),
        };
        if host.is_empty() {
            return Err(UrlFault::Host);
        }
        let port = match port.strip_prefix(':') {
            Some(port) if port.contains(':') => return Err(UrlFault::Brackets),
            Some(port) => Some(port.parse().map_err(|_| UrlFault::Port)?),
            None if port.is_empty() => None,
            None => return Err(UrlFault::Port),
        };
        Ok(Self {
            userinfo,
            host,
            port,
        })
    }

    /// The user's name and the password behind it, decoded; what is no escape stays as it is.
    pub fn login(&self) -> Option<(String, Option<String>)> {
        let userinfo = self.userinfo?;
        Some(match userinfo.split_once(':') {
            Some((user, password)) => (decoded(user), Some(decoded(password))),
            None => (decoded(userinfo), None),
        })
    }

    /// Host and port, of IPv6 with brackets; the port is this one where none is named.
    pub fn with_port(&self, port: u16) -> String {
        format!("{}:{}", Bracketed(self.host), self.port.unwrap_or(port))
    }
}

/// Percent-decodes a part of a URL; what is not encoded as it should be stays as it is.
pub fn decoded(text: &str) -> String {
    percent::decode(text).unwrap_or_else(|_| text.to_owned())
}

/// A host as URLs and `Host` fields have it: an address of IPv6 between brackets.
#[derive(Clone, Copy, Debug)]
pub struct Bracketed<'a>(pub &'a str);

impl fmt::Display for Bracketed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.contains(':') {
            write!(f, "[{}]", self.0)
        } else {
            f.write_str(self.0)
        }
    }
}

impl fmt::Display for Authority<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Bracketed(self.host).fmt(f)?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

impl fmt::Debug for Authority<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Url<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme, self.authority, self.target)
    }
}

impl fmt::Debug for Url<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use alloc::string::ToString;
    use alloc::vec::Vec;

    #[test]
    fn a_url_has_its_parts() {
        let text = "mqtt+wss://ann:s%40c:ret@weir.example:81/gate/mqtt?a=%2F&b";
        let url = Url::parse(text).unwrap();
        assert_eq!(
            (url.scheme, url.authority.host),
            ("mqtt+wss", "weir.example")
        );
        assert_eq!(url.authority.port, Some(81));
        let login = Some(("ann".into(), Some("s@c:ret".into())));
        assert_eq!(url.authority.login(), login);
        assert_eq!((url.path, url.query), ("/gate/mqtt", Some("a=%2F&b")));
        assert_eq!(url.target, "/gate/mqtt?a=%2F&b");
        let pairs: Vec<_> = url.pairs().collect();
        assert_eq!(pairs, [("a".into(), "/".into()), ("b".into(), "".into())]);
    }

    #[test]
    fn an_authority_is_written_with_brackets_and_a_port() {
        let of = |text| Authority::parse(text).unwrap();
        assert_eq!(of("[::1]").with_port(5), "[::1]:5");
        assert_eq!(of("[::1]:6").to_string(), "[::1]:6");
        assert_eq!((of("a@b").host, of("a@b").port), ("b", None));
        assert_eq!(of("a%@b").login(), Some(("a%".into(), None)));
        assert_eq!(of("b").login(), None);
    }

    #[test]
    fn what_is_no_url_is_said_precisely() {
        for (text, fault) in [
            ("localhost:8080", UrlFault::Scheme),
            ("http://", UrlFault::Host),
            ("http://?a", UrlFault::Host),
            ("http://ann@:1", UrlFault::Host),
            ("http://a:99999", UrlFault::Port),
            ("http://a:", UrlFault::Port),
            ("http://[::1]8", UrlFault::Port),
            ("http://[::1", UrlFault::Brackets),
            ("http://::1", UrlFault::Host),
            ("http://fe80::1", UrlFault::Brackets),
            ("http://h/a#b", UrlFault::Fragment),
        ] {
            assert_eq!(Url::parse(text).unwrap_err().fault, fault, "{text}");
        }
    }

    #[test]
    fn no_login_is_shown() {
        for text in [
            "http://ann:secret@h:1/a?b",
            "http://ann:secret@h/a#b",
            "http://ann:secr/et@h",
            "http://ann:#secret@h",
            "http://ann:secret@",
            "http://ann:secret@h:port/",
            "http://ann:secret@[::1",
            "ann:secret@h",
        ] {
            let told = match Url::parse(text) {
                Ok(url) => format!("{url} {url:?}"),
                Err(error) => format!("{error} {error:?}"),
            };
            assert!(!told.contains("secret"), "{told}");
        }
        let url = Url::parse("http://ann:secret@[::1]:2/a?b").unwrap();
        assert_eq!(url.to_string(), "http://[::1]:2/a?b");
        assert_eq!(shown("http://ann:secret@h/p@q"), "http://h/p@q");
    }

    #[test]
    fn a_url_is_shown_without_its_password() {
        for (url, expected) in [
            (
                "amqp091://ann:s@cret@h:1/v?q=a:b@c",
                "amqp091://ann@h:1/v?q=a:b@c",
            ),
            (
                "xmpp://ann:secret@example.org/weir",
                "xmpp://ann@example.org/weir",
            ),
            ("mqtt://[::1]:1883/a:b@c", "mqtt://[::1]:1883/a:b@c"),
            ("mqtt://ann@host", "mqtt://ann@host"),
            ("dds://0/", "dds://0/"),
        ] {
            assert_eq!(without_password(url), expected);
        }
    }
}
