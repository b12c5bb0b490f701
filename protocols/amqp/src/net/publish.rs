//! From a message of a client to the hub, and how that went.

use super::bare::native_of;
use super::body::{bytes_of, text_of};
use super::filter::split_format;
use crate::session::Received;
use crate::wire::{Condition, DeliveryState, Error, Message, MessageId, Properties, Value};
use bytes::Bytes;
use weir_codec::{Format, by_media};
use weir_hub::{Attributes, ClientId, Fault, Given, LogFault, Media, Publish, Quality};
use weir_model::Time;

/// Why a message is not taken.
#[derive(Debug)]
pub(super) enum Refused {
    /// For good, for this reason.
    Error(Error),
    /// The log takes nothing now: to be tried again.
    Busy,
    /// The gateway is stopping: others may take it.
    Stopping,
    /// It went out of here by a bridge.
    CameBack,
    /// The log has failed.
    Broken(String),
}

/// What is asked of the hub for a message, at the address of its link or, where that has none, at its own.
pub(super) fn request_of(
    received: &Received,
    address: Option<&str>,
    now: Time,
    client: ClientId,
) -> Result<Publish, Error> {
    let message = Message::read(&received.payload)
        .map_err(|fault| Error::new(fault.condition, fault.to_string()))?;
    let properties = message.properties.as_deref();
    let to = properties.and_then(|of| of.to.as_deref());
    let address = address.or(to).ok_or_else(|| {
        let sentence = "neither the link nor the message says where to";
        Error::new(Condition::INVALID_FIELD, sentence)
    })?;
    let (format, topic) = split_format(address)?;
    let encoded = properties.and_then(|of| of.content_encoding.as_ref());
    if let Some(encoding) = encoded.filter(|encoding| encoding.as_str() != "identity") {
        let sentence = format!("content encoding `{encoding}`: send the bytes as they are");
        return Err(Error::new(Condition::NOT_IMPLEMENTED, sentence));
    }
    let topic = topic.to_owned();
    let key = key_of(&message);
    let attributes = attributes_of(&message, now);
    let content_type = properties.and_then(|of| of.content_type.as_ref());
    let content_type = content_type.map(|symbol| symbol.as_str().to_owned());
    let body = bytes_of(message.body);
    let media = media_of(format, content_type, &body);
    let mut publish = Publish::new(topic, media, body);
    publish.quality = match (received.settled, received.second) {
        (true, _) => Quality::AtMostOnce,
        (false, false) => Quality::AtLeastOnce,
        (false, true) => Quality::ExactlyOnce,
    };
    // A settled transfer has no outcome (AMQP 1.0 section 3.4).
    publish.is_answered = !received.settled;
    publish.client = Some(client);
    publish.key = key;
    publish.attributes = attributes;
    Ok(publish)
}

/// A publisher's own key against repeats.
fn key_of(message: &Message) -> Option<Vec<u8>> {
    let mut annotations = message.message_annotations.0.iter();
    let is_key = |name: &str| name.eq_ignore_ascii_case("idempotency-key");
    let (_, value) = annotations.find(|(name, _)| name.as_str().is_some_and(is_key))?;
    match value {
        Value::Binary(bytes) => Some(bytes.to_vec()),
        Value::Uuid(bytes) => Some(bytes.to_vec()),
        other => text_of(other).map(String::into_bytes),
    }
}

/// What a body is: of the format that the address or the content type names, or to be looked at.
pub(super) fn media_of(
    format: Option<&'static Format>,
    content_type: Option<String>,
    body: &Bytes,
) -> Media {
    if let Some(format) = format {
        return Media::Format(format);
    }
    // Plain text may be one value, and any text else: it is looked at like what says nothing.
    let declared = content_type.as_deref().and_then(by_media);
    let declared = declared.filter(|format| !format.vague);
    match (declared, content_type) {
        (Some(format), _) if !body.is_empty() => Media::Format(format),
        (_, content_type) if body.is_empty() => {
            Media::Opaque(content_type.unwrap_or("application/octet-stream".into()))
        }
        _ => Media::Undeclared,
    }
}

fn attributes_of(message: &Message, now: Time) -> Attributes {
    let nothing = Properties::default();
    let of = message.properties.as_deref().unwrap_or(&nothing);
    let ttl = message.header.and_then(|header| header.ttl);
    let at = |millis: i64| Time::from_nanos(millis.saturating_mul(1_000_000));
    let by_ttl = ttl.map(|millis| now.nanos().saturating_add(i64::from(millis) * 1_000_000));
    let expires = of
        .absolute_expiry_time
        .map(at)
        .or(by_ttl.map(Time::from_nanos));
    let properties = message.application_properties.0.iter();
    let properties = properties.filter_map(|(name, value)| Some((text_of(name)?, text_of(value)?)));
    Attributes::from(Given {
        content_type: of
            .content_type
            .as_ref()
            .map(|symbol| symbol.as_str().to_owned()),
        response_topic: of.reply_to.clone(),
        correlation: of.correlation_id.as_ref().map(bytes_of_id),
        payload_is_text: None,
        expires,
        properties: properties.collect(),
        native: native_of(message),
    })
}

fn bytes_of_id(id: &MessageId) -> Bytes {
    match id {
        MessageId::Ulong(number) => Bytes::copy_from_slice(&number.to_be_bytes()),
        MessageId::Uuid(bytes) => Bytes::copy_from_slice(bytes),
        MessageId::Binary(bytes) => bytes.clone(),
        MessageId::String(text) => Bytes::copy_from_slice(text.as_bytes()),
    }
}

pub(super) fn refused(fault: &Fault) -> Refused {
    match fault {
        // Who is too fast is read no further for a while.
        Fault::Log(LogFault::Busy) | Fault::Short | Fault::TooFast { .. } => Refused::Busy,
        Fault::Stopping => Refused::Stopping,
        Fault::Log(_) => Refused::Broken(fault.to_string()),
        other => Refused::Error(error_of(other)),
    }
}

/// What the hub refuses, as a condition.
pub(super) fn error_of(fault: &Fault) -> Error {
    let condition = match fault {
        // [AMQP-2.8.15-1]
        Fault::Denied { .. } | Fault::Reserved(_) | Fault::Revoked(_) => {
            Condition::UNAUTHORIZED_ACCESS
        }
        Fault::Topic(_) => Condition::INVALID_FIELD,
        Fault::Undecodable { .. } | Fault::Message(_) => Condition::DECODE_ERROR,
        Fault::OverLimit { .. } | Fault::Crowded { .. } | Fault::TooFast { .. } => {
            Condition::RESOURCE_LIMIT_EXCEEDED
        }
        Fault::KeyReused(_) | Fault::Contradicted { .. } => Condition::PRECONDITION_FAILED,
        Fault::Unknown(_) => Condition::NOT_FOUND,
        _ => Condition::INTERNAL_ERROR,
    };
    Error::new(condition, fault.to_string())
}

/// What a client is told of a message that is not taken (AMQP 1.0 section 3.4.3).
pub(super) fn rejected(error: Error) -> DeliveryState {
    DeliveryState::Rejected(Some(error))
}
