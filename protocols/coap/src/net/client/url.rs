//! URLs of the client: `coap://host[:port]/live` and its kin (RFC 7252 section 6, RFC 8323 section 8).

use crate::wire::{Message, Number, set_path};
use std::io;
use weir_model::Filter;
use weir_model::url::Bracketed;

/// What carries the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Over {
    Datagrams,
    Stream,
    WebSocket,
}

/// A URL taken apart.
#[derive(Clone, Debug)]
pub(super) struct Url {
    pub(super) over: Over,
    pub(super) secure: bool,
    pub(super) host: String,
    pub(super) port: u16,
    /// The path before a topic, without a slash at its end.
    base: String,
}

const SCHEMES: &[(&str, Over, bool, u16)] = &[
    ("coap", Over::Datagrams, false, 5683),
    ("coap+tcp", Over::Stream, false, 5683),
    ("coaps+tcp", Over::Stream, true, 5684),
    ("coap+ws", Over::WebSocket, false, 80),
    ("coaps+ws", Over::WebSocket, true, 443),
    // As MQTT spells it.
    ("coap+wss", Over::WebSocket, true, 443),
];

impl Url {
    // [RFC7252-6.1-1] [RFC7252-6.1-2]
    pub(super) fn parse(text: &str) -> io::Result<Self> {
        let bad = |problem: String| io::Error::new(io::ErrorKind::InvalidInput, problem);
        let expected = "expected such as coap://127.0.0.1:5683/live";
        let url =
            weir_model::Url::parse(text).map_err(|error| bad(format!("{error}: {expected}")))?;
        let known = SCHEMES.iter().find(|line| line.0 == url.scheme);
        let &(_, over, secure, port) = known
            .ok_or_else(|| bad(format!("`{}` is no scheme of CoAP: {expected}", url.scheme)))?;
        if url.authority.userinfo.is_some() {
            return Err(bad(format!("`{url}`: a URL of CoAP has no login")));
        }
        let path = url.path.strip_prefix('/').unwrap_or(url.path);
        let path = path.trim_end_matches('/');
        Ok(Self {
            over,
            secure,
            host: url.authority.host.to_owned(),
            port: url.authority.port.unwrap_or(port),
            base: if path.is_empty() { "live" } else { path }.to_owned(),
        })
    }

    /// Host and port as a `Host` field has them.
    pub(super) fn authority(&self) -> String {
        format!("{}:{}", Bracketed(&self.host), self.port)
    }

    fn set_base(&self, message: &mut Message) -> io::Result<()> {
        let set = set_path(&mut message.options, Number::URI_PATH, &self.base);
        set.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error.to_string()))
    }

    /// Points a message at a topic.
    // [RFC7252-5.4.4-1]
    pub(super) fn set_topic(&self, message: &mut Message, topic: &str) -> io::Result<()> {
        self.set_base(message)?;
        for level in topic.split('/') {
            if level.len() > 255 || matches!(level, "." | "..") {
                let sentence = format!("the level `{level}` of the topic cannot be in a CoAP path");
                return Err(io::Error::new(io::ErrorKind::InvalidInput, sentence));
            }
            message.options.push(Number::URI_PATH, level.as_bytes());
        }
        Ok(())
    }

    /// Points a message at what filters match.
    pub(super) fn set_filters(&self, message: &mut Message, filters: &[Filter]) -> io::Result<()> {
        match filters {
            [one] => self.set_topic(message, one.as_str())?,
            several => {
                self.set_base(message)?;
                for filter in several {
                    let pair = format!("topic={}", filter.as_str());
                    message.options.push(Number::URI_QUERY, pair.as_bytes());
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::wire::{Code, path_of, query_of};

    /// [RFC7252-5.4.4-1] [RFC7252-6.1-1]
    #[test]
    fn a_url_has_its_parts() {
        let url = Url::parse("coap://[::1]:5690/gate/live/").unwrap();
        assert_eq!(
            (url.over, url.host.as_str(), url.port),
            (Over::Datagrams, "::1", 5690)
        );
        assert_eq!(url.authority(), "[::1]:5690");
        let mut message = Message::new(Code::POST);
        url.set_topic(&mut message, "a/b c").unwrap();
        assert_eq!(path_of(&message.options), "/gate/live/a/b%20c");
        let url = Url::parse("coap+ws://weir.example").unwrap();
        assert_eq!((url.over, url.port), (Over::WebSocket, 80));
        let filters = ["a/#", "b/+"].map(|text| Filter::parse(text).unwrap());
        let mut message = Message::new(Code::GET);
        url.set_filters(&mut message, &filters).unwrap();
        assert_eq!(path_of(&message.options), "/live");
        let pairs = query_of(&message.options);
        let values: Vec<_> = pairs.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!(values, ["a/#", "b/+"]);
    }

    /// [RFC7252-6.1-2]
    #[test]
    fn what_is_no_url_is_refused() {
        for text in [
            "localhost",
            "mqtt://a",
            "coap://",
            "coap://a:99999",
            "coap://[::1",
        ] {
            assert!(Url::parse(text).is_err(), "{text}");
        }
    }
}
