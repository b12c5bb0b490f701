//! URLs of AMQP: scheme, login, authority, virtual host or path, query; and which versions they mean.
//!
//! `amqp10://host`, `amqp091://user:password@host/VIRTUAL-HOST?exchange=NAME&queue=NAME`; `amqp://` is whichever
//! the peer speaks. The query names what brokers need: the exchange (`amq.topic`), and a queue that the broker
//! keeps while nobody reads.

use crate::client::Options;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::{fmt, io};
use weir_binding::{Target, nearest};
use weir_model::url::{Bracketed, decoded};

/// A version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::net) enum Version {
    V10,
    V091,
}

impl Version {
    /// Its name, for people.
    pub(in crate::net) fn name(self) -> &'static str {
        match self {
            Self::V10 => "AMQP 1.0",
            Self::V091 => "AMQP 0.9.1",
        }
    }
}

const fn scheme(name: &'static str, secure: bool, websocket: bool, port: u16) -> Scheme {
    Scheme {
        name,
        secure,
        websocket,
        port,
    }
}

const SCHEMES: &[Scheme] = &[
    scheme("amqp", false, false, 5672),
    scheme("amqps", true, false, 5671),
    scheme("amqp10", false, false, 5672),
    scheme("amqps10", true, false, 5671),
    scheme("amqp091", false, false, 5672),
    scheme("amqps091", true, false, 5671),
    scheme("amqp10+ws", false, true, 80),
    scheme("amqp10+wss", true, true, 443),
];
/// Their names.
pub(in crate::net) const NAMES: &[&str] = &[
    "amqp",
    "amqps",
    "amqp10",
    "amqps10",
    "amqp091",
    "amqps091",
    "amqp10+ws",
    "amqp10+wss",
];

/// Names that the query may have.
const OPTIONS: &[&str] = &["exchange", "queue"];

/// A scheme.
#[derive(Clone, Copy, Debug)]
struct Scheme {
    /// Its name, in small letters.
    name: &'static str,
    /// Whether TLS is spoken.
    secure: bool,
    /// Whether a WebSocket carries it.
    websocket: bool,
    /// The port where none is named.
    port: u16,
}

/// A parsed URL.
#[derive(Clone, PartialEq, Eq)]
pub(in crate::net) struct Url {
    pub(in crate::net) scheme: &'static str,
    pub(in crate::net) secure: bool,
    pub(in crate::net) websocket: bool,
    pub(in crate::net) host: String,
    pub(in crate::net) port: u16,
    /// As it stands there, without a `/` at its end; empty where there is none. Of a WebSocket `/` alone is the root.
    pub(in crate::net) path: String,
    /// Names and values behind `?`, decoded.
    pub(in crate::net) query: Vec<(String, String)>,
    pub(in crate::net) login: Option<(String, String)>,
}

fn bad(problem: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, problem)
}

/// Whom it names, without the login.
impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", Bracketed(&self.host), self.port)
    }
}

impl Url {
    /// Reads a URL; an error says what was expected.
    pub(in crate::net) fn parse(text: &str) -> io::Result<Self> {
        let url = weir_model::Url::parse(text)
            .map_err(|error| bad(format!("{error}: expected such as amqp://host")))?;
        let name = url.scheme;
        let scheme = SCHEMES.iter().find(|scheme| scheme.name == name);
        let scheme = scheme.ok_or_else(|| {
            bad(format!(
                "`{name}` is no scheme of AMQP: {}",
                NAMES.join(", ")
            ))
        })?;
        let path = match url.path {
            "/" if scheme.websocket => url.path,
            path => path.trim_end_matches('/'),
        };
        let query: Vec<_> = url.pairs().collect();
        // What is behind a WebSocket's path is its server's own.
        let unknown = query.iter().find(|(name, _)| !OPTIONS.contains(&&**name));
        if let Some((name, _)) = unknown.filter(|_| !scheme.websocket) {
            return Err(bad(format!(
                "`?{name}=` is unknown; {}",
                nearest(name, OPTIONS)
            )));
        }
        Ok(Self {
            scheme: scheme.name,
            secure: scheme.secure,
            websocket: scheme.websocket,
            host: url.authority.host.into(),
            port: url.authority.port.unwrap_or(scheme.port),
            path: path.into(),
            query,
            login: url
                .authority
                .login()
                .map(|(user, password)| (user, password.unwrap_or_default())),
        })
    }

    /// User and password of the URL, or else those of `Authorization` (RFC 9110 section 11.6.2): a token is the
    /// password of `token`.
    pub(in crate::net) fn login(&self, credential: Option<&str>) -> Option<(String, String)> {
        if self.login.is_some() {
            return self.login.clone();
        }
        let (scheme, value) = credential?.split_once(' ')?;
        if scheme.eq_ignore_ascii_case("bearer") {
            return Some(("token".into(), value.trim().into()));
        }
        let decoded = STANDARD.decode(value.trim()).ok()?;
        let text = String::from_utf8(decoded).ok()?;
        let (user, password) = text.split_once(':')?;
        Some((user.into(), password.into()))
    }

    /// The value of a name behind `?`.
    pub(in crate::net) fn option(&self, name: &str) -> Option<&str> {
        let found = self.query.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// The versions that a URL means, in the order in which they are tried: a peer that speaks both has had 1.0
/// added, and one that speaks 1.0 alone answers 0.9.1 with nothing else.
pub(in crate::net) fn versions(url: &Url) -> &'static [Version] {
    match url.scheme {
        "amqp" | "amqps" => &[Version::V10, Version::V091],
        "amqp091" | "amqps091" => &[Version::V091],
        _ => &[Version::V10],
    }
}

/// What is asked of any peer of a URL.
pub(in crate::net) fn options(url: &Url, target: &Target) -> Options {
    let mut options = Options {
        login: url.login(target.credential.as_deref()),
        queue: url.option("queue").map(str::to_owned),
        ..Options::default()
    };
    if let Some(exchange) = url.option("exchange") {
        options.exchange = exchange.to_owned();
    }
    let host = url.path.trim_start_matches('/');
    if !url.websocket && !host.is_empty() {
        options.host = decoded(host);
    }
    options
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_scheme_has_its_versions() {
        assert_eq!(NAMES.len(), SCHEMES.len());
        for (name, scheme) in NAMES.iter().zip(SCHEMES) {
            assert_eq!(*name, scheme.name);
            let url = Url::parse(&format!("{name}://h")).unwrap();
            let (has_10, has_091) = (
                versions(&url).contains(&Version::V10),
                versions(&url).contains(&Version::V091),
            );
            assert_eq!(has_091, !name.contains("10"), "{name}");
            assert_eq!(has_10, !name.contains("091"), "{name}");
        }
    }

    #[test]
    fn a_url_has_its_parts() {
        let text = "amqp10+wss://ann:s%40cret@weir.example/gate/amqp?queue=a%2Fb&c";
        let url = Url::parse(text).unwrap();
        assert_eq!((url.secure, url.websocket, url.port), (true, true, 443));
        assert_eq!(url.login(None), Some(("ann".into(), "s@cret".into())));
        assert_eq!(
            (url.path.as_str(), url.option("queue")),
            ("/gate/amqp", Some("a/b"))
        );
        assert_eq!((url.option("c"), url.option("d")), (Some(""), None));
        let path = |text: &str| Url::parse(text).unwrap().path;
        assert_eq!(path("amqp10+ws://qpid/"), "/");
        assert_eq!(path("amqp10+ws://gate/amqp/"), "/amqp");
        assert!(path("amqp10+ws://h").is_empty() && path("amqp://h/").is_empty());
        let url = Url::parse("amqp091://[::1]/%2Fhouse").unwrap();
        assert_eq!((url.host.as_str(), url.port), ("::1", 5672));
        assert_eq!(url.path, "/%2Fhouse");
        assert_eq!(
            url.login(Some("Bearer abc")),
            Some(("token".into(), "abc".into()))
        );
        for text in ["localhost:5672", "http://a", "amqp://", "amqp://a:b"] {
            assert!(Url::parse(text).is_err(), "{text}");
        }
        let misspelt = Url::parse("amqp://h?exchnge=x").unwrap_err();
        assert!(misspelt.to_string().contains("`?exchnge=` is unknown"));
    }
}
