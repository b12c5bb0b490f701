//! From a message to the sections of a delivery.

use super::bare::bare_of;
use super::distinct::distinct;
use crate::wire::{Header, Map, Message, MessageId, Properties, Symbol, Value};
use bytes::Bytes;
use weir_binding::Part;
use weir_hub::{Content, Gap, Message as Published, Quality};
use weir_model::Time;

/// Appends all but the bytes of a part: what goes with the message, its position, and what is missing before it. Says
/// which bytes then follow; none where the message has expired.
pub(super) fn write_head(
    message: &Published,
    part: &Part,
    gap: Option<&Gap>,
    failed: u32,
    now: Time,
    out: &mut Vec<u8>,
) -> Option<Bytes> {
    let given = &message.attributes;
    let left = given
        .expires
        .map(|expires| (expires.nanos() - now.nanos()) / 1_000_000);
    if left.is_some_and(|millis| millis <= 0) {
        return None;
    }
    let mut sections = Message::of(Bytes::new());
    let header = Header {
        durable: message.quality != Quality::AtMostOnce,
        ttl: left.map(|millis| u32::try_from(millis).unwrap_or(u32::MAX)),
        delivery_count: failed,
        ..Header::default()
    };
    sections.header = (header != Header::default()).then_some(header);
    let annotations = &mut sections.message_annotations;
    annotations.push("weir-cursor", Value::String(message.cursor.to_string()));
    if let Some(gap) = gap {
        annotations.push("weir-gap", Value::String(text_of(gap)));
    }
    if let Some(bare) = bare_as_published(message, part) {
        write_bare(sections, bare, part, out);
        return Some(Bytes::new());
    }
    sections.properties = Some(Box::new(Properties {
        to: Some(part.topic.to_string()),
        reply_to: given.response_topic.clone(),
        correlation_id: given.correlation.clone().map(id_of),
        content_type: media_of(message, part).map(Symbol::from),
        absolute_expiry_time: given.expires.map(|expires| expires.nanos() / 1_000_000),
        ..Properties::default()
    }));
    let properties = distinct(&given.properties);
    let pairs = properties
        .iter()
        .map(|(name, value)| (Value::from(&**name), Value::from(&**value)));
    sections.application_properties = Map(pairs.collect());
    sections.write_head(out);
    Message::write_data_head(part.payload.len(), out);
    Some(part.payload.clone())
}

/// The bare message of who published it by AMQP, where the part is what was published.
fn bare_as_published(message: &Published, part: &Part) -> Option<Message> {
    let (body, payload) = (&message.body, &part.payload);
    let is_published = body.as_ptr() == payload.as_ptr() && body.len() == payload.len();
    let native = message.attributes.native.as_ref();
    bare_of(native.filter(|_| is_published)?, payload)
}

/// Nothing of a bare message is changed on its way (section 3.2), but that `to` is the topic: by that a receiver knows
/// where of many it was sent.
// [AMQP-3.2-2]
fn write_bare(sections: Message, bare: Message, part: &Part, out: &mut Vec<u8>) {
    let mut properties = bare.properties.unwrap_or_default();
    properties.to = Some(part.topic.to_string());
    let whole = Message {
        properties: Some(properties),
        application_properties: bare.application_properties,
        body: bare.body,
        ..sections
    };
    whole.write(out);
}

/// The media type: of the format that the part is in, unless it goes out as it came with a type of its own.
fn media_of(message: &Published, part: &Part) -> Option<String> {
    let given = message.attributes.content_type.as_deref();
    let same = match (&message.content, part.format) {
        (Content::Observations { format, .. }, Some(other)) => format.name == other.name,
        _ => true,
    };
    let own = match &message.content {
        Content::Opaque(media) => Some(&**media),
        Content::Observations { .. } => part.format.map(|format| format.media),
    };
    let media = given.filter(|_| same).or(own)?;
    media.is_ascii().then(|| media.to_owned())
}

/// Text stays text, so that a client finds what it gave.
fn id_of(bytes: Bytes) -> MessageId {
    match std::str::from_utf8(&bytes) {
        Ok(text) => MessageId::String(text.to_owned()),
        Err(_) => MessageId::Binary(bytes),
    }
}

/// A gap as an annotation tells it: its reason and, where known, how many.
fn text_of(gap: &Gap) -> String {
    match gap.count {
        Some(count) => format!("{}:{count}", gap.reason.name()),
        None => gap.reason.name().to_owned(),
    }
}
