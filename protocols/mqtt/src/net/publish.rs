//! From a message of a client to the hub, and how that went.

use super::filter::split_format;
use super::record::after;
use crate::session::{Message, MessageProperties};
use crate::wire::ReasonCode;
use std::borrow::Cow;
use std::sync::Arc;
use weir_binding::bridge;
use weir_codec::{by_media, by_name};
use weir_hub::{
    Attributes, ClientId, Fault, Given, Hub, LogFault, Media, Principal, Publish, Quality, Ticket,
    Verb,
};
use weir_model::{Filter, Time};

/// Why a message is not taken.
#[derive(Debug)]
pub(super) enum Refused {
    /// For good, for this reason.
    Code(ReasonCode, String),
    /// The log takes nothing now: to be tried again.
    Busy,
    /// The key that it was given here stands for another message.
    Another,
    /// The gateway is stopping, or its log has failed.
    Over(ReasonCode),
}

/// Says whether a topic is the one at which brokers let a bridge tell whether it is connected (Mosquitto,
/// `notification_topic`): one of the gateway's own, which belongs to the client of that identifier, if it may publish
/// anything at all.
pub(super) fn is_own_state(principal: &Principal, client_id: &str, topic: &str) -> bool {
    let state = topic.strip_prefix("$SYS/broker/connection/");
    let is_its = state.and_then(|state| state.strip_suffix("/state")) == Some(client_id);
    let anything =
        || Filter::parse("#").is_ok_and(|all| principal.grants.may_overlap(Verb::Publish, &all));
    is_its && anything()
}

/// Who publishes a message: a client's state is the gateway's to say.
fn publisher<'p>(principal: &'p Principal, client_id: &str, topic: &str) -> Cow<'p, Principal> {
    if topic.starts_with('$') && is_own_state(principal, client_id, topic) {
        Cow::Owned(Principal::gateway())
    } else {
        Cow::Borrowed(principal)
    }
}

/// Gives a message to the hub, under this key where its publisher gave it none. What is not in the format that its
/// topic says, or contradicts what is declared, is refused where its publisher is answered, else kept as bytes.
pub(super) fn publish(
    hub: &Arc<Hub>,
    now: Time,
    (principal, client_id): (&Principal, &str),
    client: Option<ClientId>,
    message: &Message,
    key: Option<Vec<u8>>,
    is_answered: bool,
) -> Result<Ticket, Refused> {
    if came_back(hub, message) {
        let reason = "it went through this gateway before";
        let code = ReasonCode::NO_MATCHING_SUBSCRIBERS;
        return Err(Refused::Code(code, reason.into()));
    }
    let mut request = request_of(message, now, client)?;
    request.is_answered = is_answered;
    if let (false, Media::Format(format)) = (is_answered, &request.media) {
        request.media = Media::Claimed(format);
    }
    let own = request.key.is_none() && key.is_some();
    request.key = request.key.or(key);
    let principal = publisher(principal, client_id, &request.topic);
    let caller = hub.caller(now, &principal);
    match caller.and_then(|caller| caller.publish(request)) {
        Ok(ticket) => Ok(ticket),
        Err(Fault::KeyReused(_)) if own => Err(Refused::Another),
        Err(fault) => Err(refused(&fault)),
    }
}

/// Says whether a client brings a message that went out of here by a bridge.
fn came_back(hub: &Hub, message: &Message) -> bool {
    let user = message.properties.as_deref().map_or(&[][..], |of| &of.user);
    bridge::came_back(hub, user)
}

pub(super) fn request_of(
    message: &Message,
    now: Time,
    client: Option<ClientId>,
) -> Result<Publish, Refused> {
    let properties = message.properties.as_deref();
    let is_text = properties.and_then(|of| of.payload_is_text) == Some(true);
    if is_text && std::str::from_utf8(&message.payload).is_err() {
        let reason = "the payload is not UTF-8 as its format indicator says";
        return Err(Refused::Code(
            ReasonCode::PAYLOAD_FORMAT_INVALID,
            reason.into(),
        ));
    }
    let (format, topic) = split_format(&message.topic);
    let media = media_of(format, properties, message)?;
    let mut publish = Publish::new(topic, media, message.payload.clone());
    publish.quality = Quality::from_bits(message.qos.bits()).unwrap_or_default();
    // [MQTT-3.3.1-5] [MQTT-3.3.1-6] [MQTT-3.3.1-7] [MQTT-3.3.1-8]
    publish.retain = message.retain;
    publish.client = client;
    publish.key = properties.and_then(key_of);
    if let Some(of) = properties {
        publish.attributes = attributes_of(of, now);
    }
    Ok(publish)
}

/// A publisher's own key against repeats.
fn key_of(properties: &MessageProperties) -> Option<Vec<u8>> {
    let mut user = properties.user.iter();
    let key = user.find(|(name, _)| name.eq_ignore_ascii_case("idempotency-key"));
    key.map(|(_, value)| value.as_bytes().to_vec())
}

fn media_of(
    format: Option<&str>,
    properties: Option<&MessageProperties>,
    message: &Message,
) -> Result<Media, Refused> {
    if let Some(name) = format {
        let Some(format) = by_name(name) else {
            let reason = format!("`{name}` is no format: see GET /formats");
            return Err(Refused::Code(ReasonCode::TOPIC_NAME_INVALID, reason));
        };
        return Ok(Media::Format(format));
    }
    let content_type = properties.and_then(|of| of.content_type.as_deref());
    // Plain text may be one value, and any text else: it is looked at like what says nothing.
    let declared = content_type.and_then(by_media);
    let declared = declared.filter(|format| !format.vague);
    Ok(match (declared, content_type) {
        // A content type is for those who get the message [MQTT-3.3.2-20]: it helps to read it, and refuses nothing.
        (Some(format), _) if !message.payload.is_empty() => Media::Claimed(format),
        (_, content_type) if message.payload.is_empty() => {
            Media::Opaque(content_type.unwrap_or("application/octet-stream").into())
        }
        _ => Media::Undeclared,
    })
}

fn attributes_of(of: &MessageProperties, now: Time) -> Attributes {
    Attributes::from(Given {
        content_type: of.content_type.clone(),
        response_topic: of.response_topic.clone(),
        correlation: of.correlation.clone(),
        payload_is_text: of.payload_is_text,
        expires: of.expiry_secs.map(|secs| after(now, secs)),
        properties: of.user.clone(),
        native: None,
    })
}

pub(super) fn refused(fault: &Fault) -> Refused {
    let code = match fault {
        Fault::Denied { .. } | Fault::Reserved(_) => ReasonCode::NOT_AUTHORIZED,
        Fault::Revoked(_) => return Refused::Over(ReasonCode::NOT_AUTHORIZED),
        Fault::Topic(_) => ReasonCode::TOPIC_NAME_INVALID,
        Fault::Undecodable { .. } | Fault::Message(_) | Fault::Contradicted { .. } => {
            ReasonCode::PAYLOAD_FORMAT_INVALID
        }
        Fault::OverLimit { .. } | Fault::Crowded { .. } => ReasonCode::QUOTA_EXCEEDED,
        // Who is too fast is read no further for a while.
        Fault::Log(LogFault::Busy) | Fault::Short | Fault::TooFast { .. } => return Refused::Busy,
        Fault::Stopping => return Refused::Over(ReasonCode::SERVER_SHUTTING_DOWN),
        Fault::Log(_) => return Refused::Over(ReasonCode::IMPLEMENTATION_SPECIFIC_ERROR),
        _ => ReasonCode::UNSPECIFIED_ERROR,
    };
    Refused::Code(code, fault.to_string())
}
