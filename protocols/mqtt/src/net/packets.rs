//! From a message to the PUBLISH packets that a subscription gets.

use crate::wire::{Property, PropertyList, QoS};
use bytes::Bytes;
use std::sync::Arc;
use weir_codec::{Format, by_name};
use weir_hub::{Attributes, Item, Message, Quality};
use weir_model::{Cursor, Time};

/// One packet to be.
pub(super) struct Part {
    pub(super) topic: Arc<str>,
    pub(super) payload: Bytes,
}

/// The packets of a message [MQTT-3.3.2-3]: one as published, or one a datastream where only some are wanted.
pub(super) fn parts_of(item: &Item, format: Option<&'static Format>) -> Vec<Part> {
    let message = &item.message;
    let named = |topic: &str| -> Arc<str> {
        match format {
            Some(format) => format!("$as/{}/{topic}", format.name).into(),
            None => topic.into(),
        }
    };
    if item.whole {
        let payload = match format {
            Some(format) if message.batch().is_some() => item.encoded(format),
            _ => message.body.clone(),
        };
        let topic = match format {
            Some(_) => named(&message.topic),
            None => message.topic.clone(),
        };
        return vec![Part { topic, payload }];
    }
    let format = format.or_else(|| format_of(message));
    let Some(encoding) = format else {
        return Vec::new();
    };
    let batches = item.datastreams();
    let part = |batch: &weir_model::Batch| {
        let mut out = Vec::new();
        (encoding.encode)(batch, &mut out);
        Part {
            topic: named(batch.stream(0).topic),
            payload: out.into(),
        }
    };
    batches.iter().map(part).collect()
}

/// What a part of a message is encoded in: what the whole was, or bare values where it was a bare value
/// or a flat object of which nobody said what it is.
fn format_of(message: &Message) -> Option<&'static Format> {
    let weir_hub::Content::Observations { format, .. } = &message.content else {
        return None;
    };
    let bare = !message.declared && format.name == "json" && !has_observations(&message.body);
    match bare {
        true => by_name("plain"),
        false => Some(format),
    }
}

fn has_observations(body: &[u8]) -> bool {
    body.windows(14).any(|window| window == b"\"observations\"")
}

/// The quality of a message as MQTT has it.
pub(super) fn qos_of(quality: Quality) -> QoS {
    QoS::of_bits(quality.bits()).unwrap_or_default()
}

/// Appends what goes with a message; `false` where it has expired.
pub(super) fn write_attributes(attributes: &Attributes, now: Time, out: &mut PropertyList) -> bool {
    // [MQTT-3.3.2-4]
    if let Some(text) = attributes.payload_is_text {
        out.push(Property::PayloadFormatIndicator(text));
    }
    // [MQTT-3.3.2-5] [MQTT-3.3.2-6]
    if let Some(expires) = attributes.expires {
        let left = expires.nanos().saturating_sub(now.nanos());
        if left <= 0 {
            return false;
        }
        let secs = u32::try_from((left + 999_999_999) / 1_000_000_000).unwrap_or(u32::MAX);
        out.push(Property::MessageExpiryInterval(secs));
    }
    // [MQTT-3.3.2-20]
    if let Some(text) = &attributes.content_type {
        out.push(Property::ContentType(text));
    }
    // [MQTT-3.3.2-15] [MQTT-3.3.2-16]
    if let Some(topic) = &attributes.response_topic {
        out.push(Property::ResponseTopic(topic));
    }
    if let Some(data) = &attributes.correlation {
        out.push(Property::CorrelationData(data));
    }
    // [MQTT-3.3.2-17] [MQTT-3.3.2-18]
    for (name, value) in &attributes.properties {
        out.push(Property::UserProperty(name, value));
    }
    true
}

/// Says whether a message has expired.
pub(super) fn has_expired(message: &Message, now: Time) -> bool {
    message
        .attributes
        .expires
        .is_some_and(|expires| expires <= now)
}

/// The property that tells a position.
pub(super) fn write_cursor(cursor: Cursor, out: &mut PropertyList) {
    out.push(Property::UserProperty("weir-cursor", &cursor.to_string()));
}
