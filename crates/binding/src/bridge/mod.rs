//! What bridges of any protocol to another broker share: lines, settings, what people are told, the mark against
//! rings, and the way into the hub.
//!
//! What it deliberately does not do: no connection and no queue. A protocol's bridge is the client's half of the
//! protocol and a durable consumer of the log (`docs/decisions`, a bridge is a client and a consumer).

mod aside;
mod give;
mod mapping;
mod outward;
mod run;
mod settings;
mod together;
mod told;
mod wary;

pub use aside::{SetAside, aside_topic};
pub use give::{Taken, give, opaque};
pub use mapping::{Mapping, NoFilter, first};
pub use outward::{before, consume, set_aside};
pub use run::{Bridge, End, Running, Ticks, UNSENT_BYTES_MAX, run, who};
pub use settings::{Login, RawLine, bridges, certificates, lines, login};
pub use together::Together;
pub use told::{Told, count, state_topic};
pub use wary::{Sent, Wary};

use crate::Gateway;
use bytes::Bytes;
use std::sync::Arc;
use weir_hub::{Content, Hub, Message};

/// The property of a message that names a gateway which it went through by a bridge; there is one for each, or one for
/// all where names of properties do not repeat.
pub const VIA: &str = "weir-via";
/// Between the values of properties of one name, where there is one property for them all.
pub const BETWEEN: &str = ", ";
/// Under what the log knows this gateway's own name for [`VIA`]; the beginning of the keys of bridges' records.
pub const HERE: &str = "bridge";

/// Says whether a message went through this gateway before.
pub fn has_been_here(properties: &[(String, String)], here: &str) -> bool {
    gone_through(properties).any(|gateway| gateway == here)
}

/// The gateways that a message went through.
fn gone_through(properties: &[(String, String)]) -> impl Iterator<Item = &str> {
    let via = properties.iter().filter(|(name, _)| name == VIA);
    via.flat_map(|(_, gateways)| gateways.split(BETWEEN))
}

/// Says whether a client brings a message that went out of here by a bridge.
pub fn came_back(hub: &Hub, properties: &[(String, String)]) -> bool {
    let mut via = gone_through(properties).peekable();
    if via.peek().is_none() {
        return false;
    }
    let here = hub.consumer(HERE);
    here.is_some_and(|here| via.any(|gateway| gateway.as_bytes() == here.as_ref()))
}

/// This gateway's name for [`VIA`], made at the first start with a bridge and kept in the log.
pub fn here(context: &dyn Gateway) -> Arc<str> {
    if let Some(known) = context.hub().consumer(HERE) {
        return String::from_utf8_lossy(&known).into();
    }
    let made = format!("{:016x}", weir_random::number());
    remember(context, HERE, made.clone().into());
    made.into()
}

/// Keeps a bridge's record in the log; says whether the log took it.
pub fn remember(context: &dyn Gateway, key: &str, state: Bytes) -> bool {
    let gateway = context.hub().internal();
    gateway.remember(context.now(), key, state).is_ok()
}

/// Says whether a message goes out: not what came in by the same bridge, nor what was here before.
pub fn goes_out(message: &Message, origin: &str, here: &str) -> bool {
    message.origin.as_ref() != origin && !has_been_here(&message.attributes.properties, here)
}

/// The media type of what goes out where the publisher said the format by other means than a content type.
pub fn declared_media(message: &Message) -> Option<&'static str> {
    match &message.content {
        Content::Observations { format, .. }
            if message.declared && message.attributes.content_type.is_none() =>
        {
            Some(format.media)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_hub::Given;
    use weir_model::{Cursor, Time};

    fn message(origin: &str, via: &[&str]) -> Message {
        let content = Content::Opaque("text/plain".into());
        let (cursor, time) = (Cursor::new(1, 1), Time::from_nanos(0));
        let mut message = Message::new(cursor, time, "a".into(), content);
        message.origin = origin.into();
        let properties = via.iter().map(|id| (VIA.to_owned(), (*id).to_owned()));
        message.attributes = Given {
            properties: properties.collect(),
            ..Given::default()
        }
        .into();
        message
    }

    #[test]
    fn what_came_in_by_a_bridge_goes_out_by_others_only() {
        for (origin, via, goes) in [
            ("", &[][..], true),
            ("bridge/site", &[], false),
            ("bridge/other", &[], true),
            ("", &["there"], true),
            ("", &["there", "here"], false),
            ("", &["there, here"], false),
            ("", &["there, nowhere"], true),
            ("bridge/other", &["here"], false),
        ] {
            let message = message(origin, via);
            assert_eq!(
                goes_out(&message, "bridge/site", "here"),
                goes,
                "{origin} {via:?}"
            );
        }
    }
}
