//! URLs of the client: scheme, login, authority, path of the WebSocket.

use std::{fmt, io};
use weir_model::url::{Authority, Bracketed};

/// A parsed URL.
#[derive(Clone, PartialEq, Eq)]
pub(in crate::net) struct Url {
    pub(in crate::net) secure: bool,
    pub(in crate::net) websocket: bool,
    pub(in crate::net) host: String,
    pub(in crate::net) port: u16,
    /// Path of the WebSocket.
    pub(in crate::net) path: String,
    pub(in crate::net) login: Option<(String, String)>,
}

/// Scheme, whether it is secure, whether a WebSocket carries it, and its port.
const SCHEMES: &[(&str, bool, bool, u16)] = &[
    ("mqtt", false, false, 1883),
    ("mqtts", true, false, 8883),
    ("mqtt+ws", false, true, 80),
    ("mqtt+wss", true, true, 443),
];

/// Whom it names, without the login.
impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", Bracketed(&self.host), self.port)
    }
}

impl Url {
    /// Reads a URL; an error says what was expected.
    pub(in crate::net) fn parse(text: &str) -> io::Result<Self> {
        let bad = |problem: String| io::Error::new(io::ErrorKind::InvalidInput, problem);
        let url = weir_model::Url::parse(text)
            .map_err(|error| bad(format!("{error}: expected such as mqtt://host:1883")))?;
        let scheme = url.scheme;
        let line = SCHEMES.iter().find(|line| line.0 == scheme);
        let &(_, secure, websocket, port) =
            line.ok_or_else(|| bad(format!("`{scheme}` is no scheme of MQTT")))?;
        let path = match url.target.trim_end_matches('/') {
            "" => "/mqtt",
            path if !websocket => {
                let problem =
                    format!("`{path}`: the URL names the broker; the topic is an argument");
                return Err(bad(problem));
            }
            path => path,
        };
        Ok(Self {
            secure,
            websocket,
            host: url.authority.host.into(),
            port: url.authority.port.unwrap_or(port),
            path: path.into(),
            login: login(url.authority),
        })
    }
}

/// User and password, which is empty where none is named.
fn login(authority: Authority<'_>) -> Option<(String, String)> {
    let (user, password) = authority.login()?;
    Some((user, password.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_url_has_its_parts() {
        let url = Url::parse("mqtt+wss://ann:s%40cret@weir.example/gate/mqtt").unwrap();
        assert_eq!((url.secure, url.websocket, url.port), (true, true, 443));
        assert_eq!(url.login, Some(("ann".into(), "s@cret".into())));
        assert_eq!(url.path, "/gate/mqtt");
        let url = Url::parse("mqtt://[::1]").unwrap();
        assert_eq!(
            (url.host.as_str(), url.port, url.login),
            ("::1", 1883, None)
        );
        for text in [
            "localhost:1883",
            "http://a",
            "mqtt://",
            "mqtt://a:b",
            "mqtt://a/topic",
        ] {
            assert!(Url::parse(text).is_err(), "{text}");
        }
    }
}
