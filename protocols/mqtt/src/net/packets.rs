//! From a message to the PUBLISH packets that a subscription gets.

use super::filter::{Conversion, Rendered};
use crate::wire::{Property, PropertyList, QoS};
use bytes::Bytes;
use weir_binding::{parts_as_published, parts_in};
use weir_codec::Format;
use weir_hub::{Attributes, Item, Message, Quality};
use weir_model::{Cursor, Time};

pub(super) use weir_binding::Part;

/// The packets of a message [MQTT-3.3.2-3]: one as published or as converted, or one a datastream where
/// only some are wanted, or the format does not say which is which.
pub(super) fn parts_of(item: &Item, conversion: Option<&Conversion>) -> Vec<Part> {
    let Some(conversion) = conversion else {
        return parts_as_published(item);
    };
    if let Some(rendered) = &conversion.rendered {
        return told(item, rendered);
    }
    let format = conversion.format;
    let mut parts = parts_in(item, format, |topic| conversion.is_one(topic));
    for part in &mut parts {
        part.topic = format!("$as/{}/{}", format.name, part.topic).into();
    }
    parts
}

/// What a service tells of a message, a packet each.
pub(super) fn told(item: &Item, rendered: &Rendered) -> Vec<Part> {
    let mut parts = Vec::new();
    rendered.rendering.render(item, &mut |text| {
        parts.push(Part {
            topic: rendered.topic.clone(),
            payload: Bytes::copy_from_slice(text),
            format: None,
        });
    });
    parts
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
