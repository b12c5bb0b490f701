//! URLs of the client: scheme, delivery, authority, base path.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::{fmt, io};
use weir_model::url::Bracketed;
use weir_model::{Cursor, Filter, percent};

/// How messages are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// An answer that never ends.
    Stream,
    Sse,
    Poll,
    LongPoll,
    Socket,
}

impl Way {
    /// What stands before `http` or `https`.
    const PREFIXES: &'static [(&'static str, Way)] = &[
        ("", Way::Sse),
        ("stream+", Way::Stream),
        ("sse+", Way::Sse),
        ("poll+", Way::Poll),
        ("longpoll+", Way::LongPoll),
    ];

    /// The way of a scheme, and whether it is secure.
    fn of_scheme(scheme: &str) -> Option<(Self, bool)> {
        match scheme {
            "ws" => return Some((Way::Socket, false)),
            "wss" => return Some((Way::Socket, true)),
            _ => {}
        }
        let (secure, prefix) = match scheme.strip_suffix("https") {
            Some(prefix) => (true, prefix),
            None => (false, scheme.strip_suffix("http")?),
        };
        let line = Self::PREFIXES.iter().find(|line| line.0 == prefix)?;
        Some((line.1, secure))
    }
}

/// A parsed URL.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Url {
    pub(super) way: Way,
    pub(super) secure: bool,
    pub(super) host: String,
    pub(super) port: u16,
    /// What stands before a topic: `/live` where the URL says nothing else.
    base: String,
    /// `Basic ...` of `user:password@`.
    pub(super) credential: Option<String>,
}

/// Whom it names, without the login.
impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", Bracketed(&self.host), self.port)
    }
}

impl Url {
    /// Reads a URL; an error says what was expected.
    pub(super) fn parse(text: &str) -> io::Result<Self> {
        let bad = |problem: String| io::Error::new(io::ErrorKind::InvalidInput, problem);
        if let Some(mark) = text.chars().find(|c| matches!(c, '?' | '#')) {
            return Err(bad(format!(
                "`{mark}` in the URL: it names the gateway only; what else is asked for are options"
            )));
        }
        let url = weir_model::Url::parse(text)
            .map_err(|error| bad(format!("{error}: expected such as http://host:8080")))?;
        let scheme = url.scheme;
        let (way, secure) = Way::of_scheme(scheme)
            .ok_or_else(|| bad(format!("`{scheme}` is no scheme of HTTP")))?;
        let port = if secure { 443 } else { 80 };
        let base = base(url.path).map_err(bad)?;
        Ok(Self {
            way,
            secure,
            host: url.authority.host.into(),
            port: url.authority.port.unwrap_or(port),
            base,
            credential: url.authority.login().map(basic),
        })
    }

    /// The server of a URL that is no gateway's, and what is asked of it: path and query.
    pub(super) fn of_server(text: &str) -> io::Result<(Self, String)> {
        if let Some(other) = text.chars().find(|c| !c.is_ascii_graphic()) {
            let problem = format!("`{other}` may not stand in a URL as it is");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        let whole = text.split('#').next().unwrap_or_default();
        let start = whole.find("://").map_or(0, |at| at + 3);
        let end = whole[start..].find(['/', '?']);
        let (server, target) = whole.split_at(end.map_or(whole.len(), |at| start + at));
        let slash = if target.starts_with('/') { "" } else { "/" };
        Ok((Self::parse(server)?, format!("{slash}{target}")))
    }

    /// The `Host` field.
    pub(super) fn authority(&self) -> String {
        let host = Bracketed(&self.host).to_string();
        match (self.secure, self.port) {
            (false, 80) | (true, 443) => host,
            (_, port) => format!("{host}:{port}"),
        }
    }

    /// The target of a topic.
    pub(super) fn topic(&self, topic: &str) -> String {
        format!("{}/{}", self.base, encoded(topic))
    }

    /// The target of the past of some filters, beside where they are live.
    pub(super) fn past(&self, filters: &[Filter], query: &str) -> String {
        let base = match self.base.strip_suffix("/live") {
            Some(prefix) => format!("{prefix}/history"),
            None => self.base.clone(),
        };
        let beside = Self {
            base,
            ..self.clone()
        };
        beside.filters(filters, query, None)
    }

    /// The target of a subscription; `query` comes first, as it is.
    pub(super) fn filters(&self, filters: &[Filter], query: &str, since: Option<Cursor>) -> String {
        let mut target = match filters {
            [one] => self.topic(one.as_str()),
            _ => self.base.clone(),
        };
        let mut pairs: Vec<String> = Vec::new();
        pairs.extend((!query.is_empty()).then(|| query.to_owned()));
        if filters.len() > 1 {
            let topics = filters.iter().map(|filter| encoded(filter.as_str()));
            pairs.extend(topics.map(|topic| format!("topic={topic}")));
        }
        pairs.extend(since.map(|cursor| format!("since={cursor}")));
        if !pairs.is_empty() {
            target.push('?');
            target.push_str(&pairs.join("&"));
        }
        target
    }
}

/// What a login is in `Authorization` (RFC 7617 section 2).
fn basic((user, password): (String, Option<String>)) -> String {
    let password = password.unwrap_or_default();
    format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
}

/// The path that topics are below: where the gateway is, and `live` there, written out or not.
fn base(path: &str) -> Result<String, String> {
    let path = path.trim_end_matches('/');
    let beside = path.strip_suffix("/live").unwrap_or(path);
    if beside.split('/').any(|level| level == "live") {
        let topic = path.split_once("/live/").map_or("", |(_, topic)| topic);
        Err(format!(
            "`{path}`: the URL names the gateway; `{topic}` is an argument of its own"
        ))
    } else {
        Ok(format!("{beside}/live"))
    }
}

/// A topic or filter as part of a target.
fn encoded(text: &str) -> String {
    percent::encode(text, b"/")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_url_has_its_parts() {
        let url = Url::parse("sse+https://ann:secret@weir.example/gate/live/").unwrap();
        assert_eq!((url.way, url.secure, url.port), (Way::Sse, true, 443));
        assert_eq!(url.credential.as_deref(), Some("Basic YW5uOnNlY3JldA=="));
        let encoded = Url::parse("http://ann:s%65cret@weir.example").unwrap();
        assert_eq!(encoded.credential, url.credential);
        assert_eq!(url.topic("a/b c"), "/gate/live/a/b%20c");
        let url = Url::parse("http://[::1]:8080").unwrap();
        assert_eq!((url.host.as_str(), url.port), ("::1", 8080));
        assert_eq!(url.authority(), "[::1]:8080");
        let filters = ["a/#", "b/+"].map(|text| Filter::parse(text).unwrap());
        let since = Some(Cursor::new(1, 0x2f));
        assert_eq!(
            url.filters(&filters[..1], "stream", since),
            "/live/a/%23?stream&since=1-2f"
        );
        assert_eq!(url.past(&filters[..1], "as=csv"), "/history/a/%23?as=csv");
        assert_eq!(
            url.filters(&filters, "", None),
            "/live?topic=a/%23&topic=b/%2B"
        );
    }

    #[test]
    fn a_path_is_where_the_gateway_is_and_no_topic() {
        for (path, target) in [
            ("", "/live/a"),
            ("/", "/live/a"),
            ("/live", "/live/a"),
            ("/gate", "/gate/live/a"),
            ("/gate/live/", "/gate/live/a"),
        ] {
            let url = Url::parse(&format!("http://h{path}")).unwrap();
            assert_eq!(url.topic("a"), target, "{path}");
        }
        for path in ["/live/heating", "/gate/live/a/b", "/live?as=csv", "/live#a"] {
            let refused = Url::parse(&format!("http://h{path}")).unwrap_err();
            assert!(refused.to_string().contains("names the gateway"), "{path}");
        }
    }

    #[test]
    fn what_is_no_url_is_refused() {
        for text in [
            "localhost:8080",
            "mqtt://a",
            "http://",
            "http://a:99999",
            "http://?a",
        ] {
            assert!(Url::parse(text).is_err(), "{text}");
        }
    }
}
