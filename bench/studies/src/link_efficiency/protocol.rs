//! The protocols of the cells, how each is secured, and how an echo comes about with it.

use serde::{Deserialize, Serialize};

/// A protocol and what it promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Protocol {
    /// CoAP, confirmable messages.
    CoapCon,
    /// CoAP, non-confirmable messages.
    CoapNon,
    /// CoAP over TCP (RFC 8323).
    CoapTcp,
    /// WebSocket.
    WebSocket,
    /// HTTP/1.1 on a connection that stays open.
    Http1,
    /// HTTP/2, which is spoken in TLS.
    Http2,
    /// MQTT at quality of service 0.
    MqttQos0,
    /// MQTT at quality of service 1.
    MqttQos1,
    /// MQTT at quality of service 2.
    MqttQos2,
}

/// What keeps others from reading along.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Security {
    /// Nothing.
    None,
    /// TLS 1.3 on the connection.
    Tls,
    /// OSCORE in each message, in place of DTLS, which the gateway does not speak.
    Oscore,
}

/// How the server comes to send back what it got (paper 003, section III).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Echo {
    /// The server answers the message itself.
    Answer,
    /// The device subscribes to what it publishes.
    Subscription,
}

impl Protocol {
    /// All, in the order of the report.
    pub(super) const ALL: [Self; 9] = [
        Self::CoapCon,
        Self::CoapNon,
        Self::CoapTcp,
        Self::WebSocket,
        Self::Http1,
        Self::Http2,
        Self::MqttQos0,
        Self::MqttQos1,
        Self::MqttQos2,
    ];

    /// Its name as a level of a factor.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::CoapCon => "coap-con",
            Self::CoapNon => "coap-non",
            Self::CoapTcp => "coap-tcp",
            Self::WebSocket => "websocket",
            Self::Http1 => "http-1.1",
            Self::Http2 => "http-2",
            Self::MqttQos0 => "mqtt-qos-0",
            Self::MqttQos1 => "mqtt-qos-1",
            Self::MqttQos2 => "mqtt-qos-2",
        }
    }

    /// The ways in which an echo comes about: a broker only hands on.
    pub(super) fn echoes(self) -> &'static [Echo] {
        match self {
            Self::CoapCon | Self::CoapNon | Self::WebSocket => &[Echo::Answer, Echo::Subscription],
            Self::CoapTcp | Self::Http1 | Self::Http2 => &[Echo::Answer],
            _ => &[Echo::Subscription],
        }
    }

    /// How it is secured; HTTP/2 always is.
    pub(super) fn securities(self) -> &'static [Security] {
        match self {
            Self::CoapCon => &[Security::None, Security::Oscore],
            Self::CoapNon => &[Security::None],
            Self::Http2 => &[Security::Tls],
            _ => &[Security::None, Security::Tls],
        }
    }

    /// Whether the paper measured it, or names it.
    pub(super) fn is_of_the_paper(self) -> bool {
        !matches!(self, Self::CoapTcp | Self::Http1 | Self::Http2)
    }

    /// The quality of service, of MQTT.
    pub(super) fn qos(self) -> Option<u8> {
        match self {
            Self::MqttQos0 => Some(0),
            Self::MqttQos1 => Some(1),
            Self::MqttQos2 => Some(2),
            _ => None,
        }
    }
}

impl Security {
    /// Its name as a level of a factor.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Tls => "tls",
            Self::Oscore => "oscore",
        }
    }
}

impl Echo {
    /// Its name as a level of a factor.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Subscription => "subscription",
        }
    }
}
