//! URLs of the client: scheme, login, authority, path of the WebSocket.

use std::io;
use weir_model::percent;

/// A parsed URL.
#[derive(Clone, Debug, PartialEq, Eq)]
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

impl Url {
    /// Reads a URL; an error says what was expected.
    pub(in crate::net) fn parse(text: &str) -> io::Result<Self> {
        let bad = |problem: String| io::Error::new(io::ErrorKind::InvalidInput, problem);
        let (scheme, rest) = text.split_once("://").ok_or_else(|| {
            bad(format!(
                "`{text}` is no URL: expected such as mqtt://host:1883"
            ))
        })?;
        let line = SCHEMES.iter().find(|line| line.0 == scheme);
        let &(_, secure, websocket, port) =
            line.ok_or_else(|| bad(format!("`{scheme}` is no scheme of MQTT")))?;
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let (login, authority) = match authority.rsplit_once('@') {
            None => (None, authority),
            Some((login, authority)) => (Some(login), authority),
        };
        let port_at = authority
            .rsplit_once(':')
            .filter(|(_, port)| !port.ends_with(']'));
        let (host, port) = match port_at {
            None => (authority, port),
            Some((host, port)) => {
                let number = port.parse();
                (
                    host,
                    number.map_err(|_| bad(format!("`{port}` is no port")))?,
                )
            }
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return Err(bad(format!("`{text}` names no host")));
        }
        let path = match path.trim_end_matches('/') {
            "" => "/mqtt",
            _ if !websocket => {
                let problem =
                    format!("`{path}`: the URL names the broker; the topic is an argument");
                return Err(bad(problem));
            }
            path => path,
        };
        Ok(Self {
            secure,
            websocket,
            host: host.into(),
            port,
            path: path.into(),
            login: login.map(read_login),
        })
    }
}

fn read_login(login: &str) -> (String, String) {
    let decoded = |text: &str| percent::decode(text).unwrap_or_else(|_| text.to_owned());
    match login.split_once(':') {
        Some((user, password)) => (decoded(user), decoded(password)),
        None => (decoded(login), String::new()),
    }
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
