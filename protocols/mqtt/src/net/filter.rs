//! What a filter of a SUBSCRIBE asks for: `$share/NAME/`, `$as/ENC/`, and the filter itself.

use crate::wire::ReasonCode;
use std::sync::Arc;
use weir_binding::{Rendering, Watched};
use weir_codec::{Format, by_name};
use weir_hub::{Grants, Verb};
use weir_model::Filter;

/// A filter, taken apart.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    /// The share's name.
    pub(super) share: Option<String>,
    /// The format that messages are to be in, where not as published.
    pub(super) format: Option<&'static Format>,
    /// Which topics.
    pub(super) filter: Filter,
    /// What is followed there where the topic is a service's.
    pub(super) watched: Option<Watched>,
}

impl Wanted {
    /// Reads a filter as it stands in a packet.
    pub(super) fn parse(text: &str) -> Result<Self, ReasonCode> {
        let (share, rest) = match text.strip_prefix("$share/") {
            None => (None, text),
            Some(rest) => {
                // [MQTT-4.8.2-1] [MQTT-4.8.2-2]
                let (name, rest) = rest.split_once('/').ok_or(INVALID)?;
                if name.is_empty() || name.contains(['+', '#']) {
                    return Err(INVALID);
                }
                (Some(name.to_owned()), rest)
            }
        };
        let (format, rest) = split_format(rest);
        if rest.starts_with("$as/") {
            return Err(INVALID);
        }
        let format = format
            .map(|name| by_name(name).ok_or(INVALID))
            .transpose()?;
        // Wildcards do not match topics with a dollar sign at the front: the hub's filters say so.
        // [MQTT-4.7.2-1]
        // [MQTT-4.7.1-1] [MQTT-4.7.1-2] [MQTT-4.7.3-1] [MQTT-4.7.3-4]
        let filter = Filter::parse(rest).map_err(|_| INVALID)?;
        Ok(Self {
            share,
            format,
            filter,
            watched: None,
        })
    }
}

const INVALID: ReasonCode = ReasonCode::TOPIC_FILTER_INVALID;

/// What a subscription needs that gets messages in another format than as published.
pub(super) struct Conversion {
    pub(super) format: &'static Format,
    filter: Filter,
    grants: Arc<Grants>,
    /// Where a service tells them, how.
    pub(super) rendered: Option<Rendered>,
}

/// How a service tells messages, and the topic that they are told at.
#[derive(Clone)]
pub(super) struct Rendered {
    pub(super) topic: Arc<str>,
    pub(super) rendering: Arc<dyn Rendering>,
}

impl Conversion {
    /// Of a filter that names a format, or the topic of a service.
    pub(super) fn of(wanted: &Wanted, grants: &Arc<Grants>) -> Option<Box<Self>> {
        let rendered = match &wanted.watched {
            Some(Watched::Messages(_, rendering)) => Some(Rendered {
                topic: wanted.filter.as_str().into(),
                rendering: rendering.clone(),
            }),
            _ => None,
        };
        let format = match rendered {
            Some(_) => by_name("json")?,
            None => wanted.format?,
        };
        let filter = wanted.filter.clone();
        let grants = grants.clone();
        Some(Box::new(Self {
            format,
            filter,
            grants,
            rendered,
        }))
    }

    /// Whether what is due of a message published at a topic goes in one packet: the topic must match
    /// [MQTT-3.3.2-3] and may be known, and the format must say itself what belongs where.
    pub(super) fn is_one(&self, topic: &str) -> bool {
        let may = self.filter.matches(topic) && self.grants.allow(Verb::Read, topic);
        self.format.carries.topic && !topic.is_empty() && may
    }
}

/// `ENC` and what follows in `$as/ENC/...`.
pub(super) fn split_format(text: &str) -> (Option<&str>, &str) {
    let parts = text
        .strip_prefix("$as/")
        .and_then(|rest| rest.split_once('/'));
    match parts {
        Some((name, rest)) => (Some(name), rest),
        None => (None, text),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    // [MQTT-4.8.2-1] [MQTT-4.8.2-2] [MQTT-4.7.1-1] [MQTT-4.7.1-2]
    #[test]
    fn a_filter_is_taken_apart_or_refused() {
        let wanted = Wanted::parse("$share/group/$as/senml-cbor/a/+/#").unwrap();
        assert_eq!(wanted.share.as_deref(), Some("group"));
        assert_eq!(wanted.format.map(|format| format.name), Some("senml-cbor"));
        assert_eq!(wanted.filter.as_str(), "a/+/#");
        let bad = [
            "",
            "a/#/b",
            "a+",
            "$share/g",
            "$share//a",
            "$share/g+/a",
            "$share/g/",
            "$as/nothing/a",
            "$as/json",
            "$as/json/$as/json/a",
        ];
        for text in bad {
            assert!(Wanted::parse(text).is_err(), "{text}");
        }
        assert_eq!(Wanted::parse("$SYS/#").unwrap().filter.as_str(), "$SYS/#");
    }
}
