//! What a session hands over, of its own: a packet's bytes are gone by then.

use crate::wire::{
    Connect, Fault, LastWill, Properties, Property, PropertyList, Publish, QoS, ReasonCode,
    Subscribe, SubscriptionOptions, Version,
};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use bytes::Bytes;

/// A message received.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// Its topic, aliases resolved.
    pub topic: String,
    /// Its payload.
    pub payload: Bytes,
    /// Its quality of service.
    pub qos: QoS,
    /// Whether it is, or was, retained.
    pub retain: bool,
    /// Whether it was sent before.
    pub dup: bool,
    /// The packet identifier, for the acknowledgment; 0 with QoS 0.
    pub packet_id: u16,
    /// Its properties, if it has any.
    pub properties: Option<Box<MessageProperties>>,
}

/// The properties of a message (section 3.3.2.3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageProperties {
    /// Whether the payload is said to be UTF-8.
    pub payload_is_text: Option<bool>,
    /// Seconds that it lives.
    pub expiry_secs: Option<u32>,
    /// Content type.
    pub content_type: Option<String>,
    /// Where an answer is to be sent.
    pub response_topic: Option<String>,
    /// What an answer is to carry.
    pub correlation: Option<Bytes>,
    /// Subscription identifiers, from a server only.
    pub subscription_ids: Vec<u32>,
    /// User properties, in order [MQTT-3.1.3-10].
    pub user: Vec<(String, String)>,
}

impl MessageProperties {
    pub(super) fn of(properties: &Properties<'_>) -> Option<Box<Self>> {
        if properties.is_empty() {
            return None;
        }
        let mut of = Self::default();
        for property in properties.iter() {
            match property {
                Property::PayloadFormatIndicator(text) => of.payload_is_text = Some(text),
                Property::MessageExpiryInterval(secs) => of.expiry_secs = Some(secs),
                Property::ContentType(text) => of.content_type = Some(text.into()),
                Property::ResponseTopic(topic) => of.response_topic = Some(topic.into()),
                Property::CorrelationData(data) => {
                    of.correlation = Some(Bytes::copy_from_slice(data));
                }
                Property::SubscriptionIdentifier(id) => of.subscription_ids.push(id),
                Property::UserProperty(name, value) => of.user.push((name.into(), value.into())),
                _ => {}
            }
        }
        Some(Box::new(of))
    }

    /// Appends them as a PUBLISH carries them.
    pub fn write(&self, out: &mut PropertyList) {
        if let Some(text) = self.payload_is_text {
            out.push(Property::PayloadFormatIndicator(text));
        }
        if let Some(secs) = self.expiry_secs {
            out.push(Property::MessageExpiryInterval(secs));
        }
        if let Some(text) = &self.content_type {
            out.push(Property::ContentType(text));
        }
        if let Some(topic) = &self.response_topic {
            out.push(Property::ResponseTopic(topic));
        }
        if let Some(data) = &self.correlation {
            out.push(Property::CorrelationData(data));
        }
        for id in &self.subscription_ids {
            out.push(Property::SubscriptionIdentifier(*id));
        }
        // [MQTT-3.3.2-18]
        for (name, value) in &self.user {
            out.push(Property::UserProperty(name, value));
        }
    }
}

impl Message {
    pub(super) fn of(publish: &Publish<'_>, topic: String) -> Box<Self> {
        Box::new(Self {
            topic,
            payload: Bytes::copy_from_slice(publish.payload),
            qos: publish.qos,
            retain: publish.retain,
            dup: publish.dup,
            packet_id: publish.packet_id,
            properties: MessageProperties::of(&publish.properties),
        })
    }
}

/// What is published when the client is gone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Will {
    /// The message.
    pub message: Message,
    /// Seconds to wait before it is published.
    pub delay_secs: u32,
}

impl Will {
    fn of(will: &LastWill<'_>) -> Self {
        let delay = will.properties.find(|property| match property {
            Property::WillDelayInterval(secs) => Some(secs),
            _ => None,
        });
        let message = Message {
            topic: will.topic.to_owned(),
            payload: Bytes::copy_from_slice(will.payload),
            qos: will.qos,
            // [MQTT-3.1.2-14] [MQTT-3.1.2-15]
            retain: will.retain,
            properties: MessageProperties::of(&will.properties),
            ..Message::default()
        };
        Self {
            message,
            delay_secs: delay.unwrap_or(0),
        }
    }
}

/// Who wants to connect, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectRequest {
    /// The protocol's version.
    pub version: Version,
    /// Whether a session that exists is discarded.
    pub clean_start: bool,
    /// The client identifier; empty for one that the server assigns.
    pub client_id: String,
    /// Seconds that the session lives on after the connection; `u32::MAX` for ever.
    pub session_expiry_secs: u32,
    /// The will, kept with the session [MQTT-3.1.2-7].
    pub will: Option<Box<Will>>,
    /// The user name.
    pub user_name: Option<String>,
    /// The password.
    pub password: Option<Vec<u8>>,
    /// Whether a topic for responses is asked for.
    pub wants_response_information: bool,
}

impl ConnectRequest {
    pub(super) fn of(connect: &Connect<'_>) -> Result<Self, Fault> {
        if let Some(will) = &connect.will {
            check_will(will)?;
        }
        let properties = &connect.properties;
        let expiry = properties.find(|property| match property {
            Property::SessionExpiryInterval(secs) => Some(secs),
            _ => None,
        });
        // A session of 3.1.1 ends with the connection, or never.
        let session_expiry_secs = match connect.version {
            Version::V31 | Version::V311 if !connect.clean_start => u32::MAX,
            _ => expiry.unwrap_or(0),
        };
        Ok(Self {
            version: connect.version,
            clean_start: connect.clean_start,
            client_id: connect.client_id.to_owned(),
            session_expiry_secs,
            will: connect.will.as_ref().map(|will| Box::new(Will::of(will))),
            user_name: connect.user_name.map(str::to_owned),
            password: connect.password.map(<[u8]>::to_vec),
            wants_response_information: properties
                .find(|property| match property {
                    Property::RequestResponseInformation(wanted) => Some(wanted),
                    _ => None,
                })
                .unwrap_or(false),
        })
    }
}

fn check_will(will: &LastWill<'_>) -> Result<(), Fault> {
    match weir_model::topic::check(will.topic) {
        Ok(()) => Ok(()),
        Err(_) => Err(Fault::new(
            ReasonCode::TOPIC_NAME_INVALID,
            0,
            "the will topic is no topic name",
        )),
    }
}

/// Which subscriptions are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscribeRequest {
    /// The packet identifier, for the answer.
    pub packet_id: u16,
    /// The subscription identifier.
    pub identifier: Option<u32>,
    /// User properties, in order.
    pub user: Vec<(String, String)>,
    /// Filters with options, in order.
    pub filters: Vec<(String, SubscriptionOptions)>,
}

impl SubscribeRequest {
    /// A bridge, which in the versions before 5.0 cannot say so, gets nothing back that it brought, and the retain flag
    /// as published: else what goes both ways would go round for ever.
    pub(super) fn of(subscribe: &Subscribe<'_>, of_bridge: bool) -> Box<Self> {
        let user = subscribe.properties.user_properties();
        let filters = subscribe.filters.iter().map(|(filter, mut options)| {
            options.no_local |= of_bridge;
            options.retain_as_published |= of_bridge;
            (filter, options)
        });
        Box::new(Self {
            packet_id: subscribe.packet_id,
            identifier: subscribe.properties.subscription_identifier(),
            user: user
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
            filters: filters
                .map(|(filter, options)| (filter.into(), options))
                .collect(),
        })
    }
}
