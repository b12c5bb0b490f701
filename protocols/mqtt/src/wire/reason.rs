//! Reason codes (MQTT 5.0 section 2.4) and the return codes of 3.1.1.

use super::packet_type::PacketType;
use core::fmt;

/// A reason code; unknown values survive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ReasonCode(pub u8);

macro_rules! codes {
    ($($name:ident = $value:literal, $text:literal;)*) => {
        impl ReasonCode {
            $(
                #[doc = concat!($text, ".")]
                pub const $name: Self = Self($value);
            )*
        }

        const NAMES: &[(u8, &str)] = &[$(($value, $text)),*];
    };
}

codes! {
    SUCCESS = 0x00, "Success";
    GRANTED_QOS_1 = 0x01, "Granted QoS 1";
    GRANTED_QOS_2 = 0x02, "Granted QoS 2";
    DISCONNECT_WITH_WILL = 0x04, "Disconnect with Will Message";
    NO_MATCHING_SUBSCRIBERS = 0x10, "No matching subscribers";
    NO_SUBSCRIPTION_EXISTED = 0x11, "No subscription existed";
    CONTINUE_AUTHENTICATION = 0x18, "Continue authentication";
    RE_AUTHENTICATE = 0x19, "Re-authenticate";
    UNSPECIFIED_ERROR = 0x80, "Unspecified error";
    MALFORMED_PACKET = 0x81, "Malformed Packet";
    PROTOCOL_ERROR = 0x82, "Protocol Error";
    IMPLEMENTATION_SPECIFIC_ERROR = 0x83, "Implementation specific error";
    UNSUPPORTED_PROTOCOL_VERSION = 0x84, "Unsupported Protocol Version";
    CLIENT_IDENTIFIER_NOT_VALID = 0x85, "Client Identifier not valid";
    BAD_USER_NAME_OR_PASSWORD = 0x86, "Bad User Name or Password";
    NOT_AUTHORIZED = 0x87, "Not authorized";
    SERVER_UNAVAILABLE = 0x88, "Server unavailable";
    SERVER_BUSY = 0x89, "Server busy";
    BANNED = 0x8A, "Banned";
    SERVER_SHUTTING_DOWN = 0x8B, "Server shutting down";
    BAD_AUTHENTICATION_METHOD = 0x8C, "Bad authentication method";
    KEEP_ALIVE_TIMEOUT = 0x8D, "Keep Alive timeout";
    SESSION_TAKEN_OVER = 0x8E, "Session taken over";
    TOPIC_FILTER_INVALID = 0x8F, "Topic Filter invalid";
    TOPIC_NAME_INVALID = 0x90, "Topic Name invalid";
    PACKET_IDENTIFIER_IN_USE = 0x91, "Packet Identifier in use";
    PACKET_IDENTIFIER_NOT_FOUND = 0x92, "Packet Identifier not found";
    RECEIVE_MAXIMUM_EXCEEDED = 0x93, "Receive Maximum exceeded";
    TOPIC_ALIAS_INVALID = 0x94, "Topic Alias invalid";
    PACKET_TOO_LARGE = 0x95, "Packet too large";
    MESSAGE_RATE_TOO_HIGH = 0x96, "Message rate too high";
    QUOTA_EXCEEDED = 0x97, "Quota exceeded";
    ADMINISTRATIVE_ACTION = 0x98, "Administrative action";
    PAYLOAD_FORMAT_INVALID = 0x99, "Payload format invalid";
    RETAIN_NOT_SUPPORTED = 0x9A, "Retain not supported";
    QOS_NOT_SUPPORTED = 0x9B, "QoS not supported";
    USE_ANOTHER_SERVER = 0x9C, "Use another server";
    SERVER_MOVED = 0x9D, "Server moved";
    SHARED_SUBSCRIPTIONS_NOT_SUPPORTED = 0x9E, "Shared Subscriptions not supported";
    CONNECTION_RATE_EXCEEDED = 0x9F, "Connection rate exceeded";
    MAXIMUM_CONNECT_TIME = 0xA0, "Maximum connect time";
    SUBSCRIPTION_IDENTIFIERS_NOT_SUPPORTED = 0xA1, "Subscription Identifiers not supported";
    WILDCARD_SUBSCRIPTIONS_NOT_SUPPORTED = 0xA2, "Wildcard Subscriptions not supported";
}

impl ReasonCode {
    /// What the standard calls it.
    pub fn words(self) -> &'static str {
        let known = NAMES.iter().find(|(value, _)| *value == self.0);
        known.map_or("unknown", |(_, words)| words)
    }

    /// Says whether it means that something failed.
    pub fn is_failure(self) -> bool {
        self.0 >= 0x80
    }

    /// Says whether a packet of this type may carry it (the tables of chapter 3).
    pub fn is_of(self, packet: PacketType) -> bool {
        of_packet(packet).contains(&self.0)
    }

    /// The return code of a 3.1.1 CONNACK that comes nearest (3.1.1 table 3.1).
    pub fn connack_v311(self) -> u8 {
        match self {
            Self::SUCCESS => 0,
            Self::UNSUPPORTED_PROTOCOL_VERSION => 1,
            Self::CLIENT_IDENTIFIER_NOT_VALID => 2,
            Self::BAD_USER_NAME_OR_PASSWORD => 4,
            Self::NOT_AUTHORIZED | Self::BANNED | Self::BAD_AUTHENTICATION_METHOD => 5,
            _ => 3,
        }
    }

    /// The reason code that a return code of 3.1.1 stands for.
    pub fn of_connack_v311(code: u8) -> Option<Self> {
        Some(match code {
            0 => Self::SUCCESS,
            1 => Self::UNSUPPORTED_PROTOCOL_VERSION,
            2 => Self::CLIENT_IDENTIFIER_NOT_VALID,
            3 => Self::SERVER_UNAVAILABLE,
            4 => Self::BAD_USER_NAME_OR_PASSWORD,
            5 => Self::NOT_AUTHORIZED,
            _ => return None,
        })
    }
}

/// The codes that a packet may carry.
fn of_packet(packet: PacketType) -> &'static [u8] {
    match packet {
        // [MQTT-3.2.2-8]
        PacketType::Connack => &[
            0x00, 0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8A, 0x8C, 0x90,
            0x95, 0x97, 0x99, 0x9A, 0x9B, 0x9C, 0x9D, 0x9F,
        ],
        // [MQTT-3.4.2-1] [MQTT-3.5.2-1]
        PacketType::Puback | PacketType::Pubrec => {
            &[0x00, 0x10, 0x80, 0x83, 0x87, 0x90, 0x91, 0x97, 0x99]
        }
        // [MQTT-3.6.2-1] [MQTT-3.7.2-1]
        PacketType::Pubrel | PacketType::Pubcomp => &[0x00, 0x92],
        // [MQTT-3.9.3-2]
        PacketType::Suback => &[
            0x00, 0x01, 0x02, 0x80, 0x83, 0x87, 0x8F, 0x91, 0x97, 0x9E, 0xA1, 0xA2,
        ],
        // [MQTT-3.11.3-2]
        PacketType::Unsuback => &[0x00, 0x11, 0x80, 0x83, 0x87, 0x8F, 0x91],
        // [MQTT-3.14.2-1]
        PacketType::Disconnect => &[
            0x00, 0x04, 0x80, 0x81, 0x82, 0x83, 0x87, 0x89, 0x8B, 0x8D, 0x8E, 0x8F, 0x90, 0x93,
            0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9A, 0x9B, 0x9C, 0x9D, 0x9E, 0x9F, 0xA0, 0xA1,
            0xA2,
        ],
        // [MQTT-3.15.2-1]
        PacketType::Auth => &[0x00, 0x18, 0x19],
        _ => &[],
    }
}

impl fmt::Display for ReasonCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:02X} {}", self.0, self.words())
    }
}
