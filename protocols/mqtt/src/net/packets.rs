//! From a message to the PUBLISH packets that a subscription gets.

use super::filter::{Conversion, Rendered};
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

/// The packets of a message [MQTT-3.3.2-3]: one as published or as converted, or one a datastream where
/// only some are wanted, or the format does not say which is which.
pub(super) fn parts_of(item: &Item, conversion: Option<&Conversion>) -> Vec<Part> {
    match conversion {
        None if item.whole => vec![as_published(&item.message)],
        None => match format_of(&item.message) {
            Some(format) => each_datastream(item, format, |topic| topic.into()),
            None => Vec::new(),
        },
        Some(conversion) => match &conversion.rendered {
            Some(rendered) => told(item, rendered),
            None => converted(item, conversion),
        },
    }
}

/// What a service tells of a message, a packet each.
fn told(item: &Item, rendered: &Rendered) -> Vec<Part> {
    let mut parts = Vec::new();
    rendered.rendering.render(item, &mut |text| {
        let topic = rendered.topic.clone();
        let payload = Bytes::copy_from_slice(text);
        parts.push(Part { topic, payload });
    });
    parts
}

fn as_published(message: &Message) -> Part {
    Part {
        topic: message.topic.clone(),
        payload: message.body.clone(),
    }
}

fn converted(item: &Item, conversion: &Conversion) -> Vec<Part> {
    let (format, message) = (conversion.format, &item.message);
    let named = |topic: &str| -> Arc<str> { format!("$as/{}/{topic}", format.name).into() };
    let payload = match message.batch() {
        // An opaque retained message is what it is.
        None if item.whole => message.body.clone(),
        None => return Vec::new(),
        Some(_) if conversion.is_one(&message.topic) => item.encoded(format),
        Some(_) => return each_datastream(item, format, named),
    };
    let topic = named(&message.topic);
    vec![Part { topic, payload }]
}

fn each_datastream(
    item: &Item,
    format: &'static Format,
    named: impl Fn(&str) -> Arc<str>,
) -> Vec<Part> {
    let batches = item.datastreams();
    let part = |batch: &weir_model::Batch| {
        let mut out = Vec::new();
        (format.encode)(batch, &mut out);
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

/// Appends what goes with a message, in the format it was converted to or as published; `false` where it
/// has expired.
pub(super) fn write_attributes(
    attributes: &Attributes,
    converted: Option<&'static Format>,
    now: impl FnOnce() -> Time,
    out: &mut PropertyList,
) -> bool {
    let given = attributes.payload_is_text;
    // [MQTT-3.3.2-4]
    if let Some(text) = given.map(|given| converted.map_or(given, |format| format.text)) {
        out.push(Property::PayloadFormatIndicator(text));
    }
    // [MQTT-3.3.2-5] [MQTT-3.3.2-6]
    if let Some(expires) = attributes.expires {
        let left = expires.nanos().saturating_sub(now().nanos());
        if left <= 0 {
            return false;
        }
        let secs = u32::try_from((left + 999_999_999) / 1_000_000_000).unwrap_or(u32::MAX);
        out.push(Property::MessageExpiryInterval(secs));
    }
    // [MQTT-3.3.2-20]
    if let Some(given) = attributes.content_type.as_deref() {
        let media = converted.map_or(given, |format| format.media);
        out.push(Property::ContentType(media));
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
