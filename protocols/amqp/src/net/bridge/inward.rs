//! From the broker to the log: published as any client would, settled when it is on disk.

use super::Bridge;
use crate::client::{ClientEvent, Incoming, Settle};
use crate::net::publish::media_of;
use bytes::Bytes;
use weir_binding::bridge::{SetAside, Taken, count, first, give, has_been_here};
use weir_hub::{Attributes, ClientId, Given, Publish, Ticket};

/// What a weir at the other end says of a message, which here would be another's.
const NOT_OURS: [&str; 2] = ["weir-cursor", "weir-gap"];

/// What is to be done about a message.
pub(super) enum Answer {
    /// To be settled so once the log has it on disk.
    Later(u64, Settle, Ticket),
    /// To be settled so.
    Now(u64, Settle),
    /// The log takes nothing now: to be tried again.
    Busy,
    /// It can be kept nowhere, and why: the broker keeps it.
    Stands(String),
    /// The gateway is stopping, or its log has failed.
    Over,
}

/// Gives what came to the hub; what is none for it is set aside, and the broker told that it is refused, by
/// which a dead-letter exchange has it too where the queue has one.
pub(super) fn take(bridge: &Bridge, client: ClientId, event: &ClientEvent) -> Answer {
    match event {
        ClientEvent::Message(message) => take_message(bridge, client, message),
        ClientEvent::Poison {
            tag,
            key,
            reason,
            payload,
        } => set_aside(bridge, *tag, key, reason, payload),
        _ => Answer::Over,
    }
}

fn take_message(bridge: &Bridge, client: ClientId, message: &Incoming) -> Answer {
    if has_been_here(&message.headers, &bridge.here) {
        count(&bridge.told.looped);
        return Answer::Now(message.tag, Settle::Accept);
    }
    let refused = |reason: &str| {
        set_aside(
            bridge,
            message.tag,
            &message.topic,
            reason,
            &message.payload,
        )
    };
    let named = first(&bridge.plan.inward, |line| line.to_local(&message.topic));
    let Some((_, topic)) = named else {
        return refused("no line names its topic");
    };
    let mut publish = request_of(message, topic);
    publish.origin = bridge.origin.clone();
    publish.client = Some(client);
    match give(&*bridge.context, publish) {
        Taken::Logged(ticket) => {
            count(&bridge.told.received);
            Answer::Later(message.tag, Settle::Accept, ticket)
        }
        Taken::Busy => Answer::Busy,
        Taken::Over => Answer::Over,
        Taken::Refused(reason) => refused(&reason),
    }
}

fn request_of(message: &Incoming, topic: String) -> Publish {
    let content_type = message.content_type.clone();
    let media = media_of(None, content_type.clone(), &message.payload);
    let mut publish = Publish::new(topic, media, message.payload.clone());
    let is_key = |name: &str| name.eq_ignore_ascii_case("idempotency-key");
    let mut headers = message.headers.iter();
    let key = headers.find(|(name, _)| is_key(name));
    publish.key = key.map(|(_, value)| value.as_bytes().to_vec());
    let headers = message.headers.iter();
    let properties = headers.filter(|(name, _)| !NOT_OURS.contains(&name.as_str()));
    publish.attributes = Attributes::from(Given {
        content_type,
        properties: properties.cloned().collect(),
        ..Given::default()
    });
    publish
}

fn set_aside(bridge: &Bridge, tag: u64, name: &str, reason: &str, payload: &Bytes) -> Answer {
    let aside = SetAside {
        way: "in",
        name,
        reason,
        payload: payload.clone(),
    };
    match aside.keep(&*bridge.context, &bridge.told) {
        Taken::Logged(ticket) => Answer::Later(tag, Settle::Reject, ticket),
        Taken::Refused(reason) => Answer::Stands(format!("`{name}` cannot be kept: {reason}")),
        Taken::Busy => Answer::Busy,
        Taken::Over => Answer::Over,
    }
}
