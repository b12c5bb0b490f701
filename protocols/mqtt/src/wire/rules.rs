//! Which properties there are (section 2.2.2.2): type, and the packets that may carry them.

use super::packet_type::PacketType;

/// How a property's value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A byte that is 0 or 1.
    Bit,
    U16,
    U32,
    Varint,
    Text,
    Binary,
    Pair,
}

/// Where properties stand: in a packet, or in the will of a CONNECT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Packet(PacketType),
    Will,
}

impl Place {
    fn bit(self) -> u32 {
        match self {
            Place::Packet(packet) => 1 << packet as u8,
            Place::Will => 1,
        }
    }
}

pub(super) struct Rule {
    pub(super) id: u8,
    pub(super) kind: Kind,
    places: u32,
    /// Whether 0 is no value of it.
    pub(super) nonzero: bool,
}

impl Rule {
    pub(super) fn allows(&self, place: Place) -> bool {
        self.places & place.bit() != 0
    }
}

const WILL: u32 = 1;
const CONNECT: u32 = 1 << 1;
const CONNACK: u32 = 1 << 2;
const PUBLISH: u32 = 1 << 3;
const ACKS: u32 = 0b1111 << 4;
const SUBSCRIBE: u32 = 1 << 8;
const SUBACK: u32 = 1 << 9;
const UNSUBSCRIBE: u32 = 1 << 10;
const UNSUBACK: u32 = 1 << 11;
const DISCONNECT: u32 = 1 << 14;
const AUTH: u32 = 1 << 15;
const ANSWERS: u32 = CONNACK | ACKS | SUBACK | UNSUBACK | DISCONNECT | AUTH;
const ALL: u32 = WILL | CONNECT | PUBLISH | SUBSCRIBE | UNSUBSCRIBE | ANSWERS;

const fn rule(id: u8, kind: Kind, places: u32) -> Rule {
    Rule {
        id,
        kind,
        places,
        nonzero: false,
    }
}

const fn nonzero(id: u8, kind: Kind, places: u32) -> Rule {
    Rule {
        id,
        kind,
        places,
        nonzero: true,
    }
}

pub(super) const PAYLOAD_FORMAT_INDICATOR: u8 = 0x01;
pub(super) const MESSAGE_EXPIRY_INTERVAL: u8 = 0x02;
pub(super) const CONTENT_TYPE: u8 = 0x03;
pub(super) const RESPONSE_TOPIC: u8 = 0x08;
pub(super) const CORRELATION_DATA: u8 = 0x09;
pub(super) const SUBSCRIPTION_IDENTIFIER: u8 = 0x0B;
pub(super) const SESSION_EXPIRY_INTERVAL: u8 = 0x11;
pub(super) const ASSIGNED_CLIENT_IDENTIFIER: u8 = 0x12;
pub(super) const SERVER_KEEP_ALIVE: u8 = 0x13;
pub(super) const AUTHENTICATION_METHOD: u8 = 0x15;
pub(super) const AUTHENTICATION_DATA: u8 = 0x16;
pub(super) const REQUEST_PROBLEM_INFORMATION: u8 = 0x17;
pub(super) const WILL_DELAY_INTERVAL: u8 = 0x18;
pub(super) const REQUEST_RESPONSE_INFORMATION: u8 = 0x19;
pub(super) const RESPONSE_INFORMATION: u8 = 0x1A;
pub(super) const SERVER_REFERENCE: u8 = 0x1C;
pub(super) const REASON_STRING: u8 = 0x1F;
pub(super) const RECEIVE_MAXIMUM: u8 = 0x21;
pub(super) const TOPIC_ALIAS_MAXIMUM: u8 = 0x22;
pub(super) const TOPIC_ALIAS: u8 = 0x23;
pub(super) const MAXIMUM_QOS: u8 = 0x24;
pub(super) const RETAIN_AVAILABLE: u8 = 0x25;
pub(super) const USER_PROPERTY: u8 = 0x26;
pub(super) const MAXIMUM_PACKET_SIZE: u8 = 0x27;
pub(super) const WILDCARD_SUBSCRIPTION_AVAILABLE: u8 = 0x28;
pub(super) const SUBSCRIPTION_IDENTIFIER_AVAILABLE: u8 = 0x29;
pub(super) const SHARED_SUBSCRIPTION_AVAILABLE: u8 = 0x2A;

static RULES: &[Rule] = &[
    rule(PAYLOAD_FORMAT_INDICATOR, Kind::Bit, PUBLISH | WILL),
    rule(MESSAGE_EXPIRY_INTERVAL, Kind::U32, PUBLISH | WILL),
    rule(CONTENT_TYPE, Kind::Text, PUBLISH | WILL),
    rule(RESPONSE_TOPIC, Kind::Text, PUBLISH | WILL),
    rule(CORRELATION_DATA, Kind::Binary, PUBLISH | WILL),
    nonzero(SUBSCRIPTION_IDENTIFIER, Kind::Varint, PUBLISH | SUBSCRIBE),
    rule(
        SESSION_EXPIRY_INTERVAL,
        Kind::U32,
        CONNECT | CONNACK | DISCONNECT,
    ),
    rule(ASSIGNED_CLIENT_IDENTIFIER, Kind::Text, CONNACK),
    rule(SERVER_KEEP_ALIVE, Kind::U16, CONNACK),
    rule(AUTHENTICATION_METHOD, Kind::Text, CONNECT | CONNACK | AUTH),
    rule(AUTHENTICATION_DATA, Kind::Binary, CONNECT | CONNACK | AUTH),
    rule(REQUEST_PROBLEM_INFORMATION, Kind::Bit, CONNECT),
    rule(WILL_DELAY_INTERVAL, Kind::U32, WILL),
    rule(REQUEST_RESPONSE_INFORMATION, Kind::Bit, CONNECT),
    rule(RESPONSE_INFORMATION, Kind::Text, CONNACK),
    rule(SERVER_REFERENCE, Kind::Text, CONNACK | DISCONNECT),
    rule(REASON_STRING, Kind::Text, ANSWERS),
    nonzero(RECEIVE_MAXIMUM, Kind::U16, CONNECT | CONNACK),
    rule(TOPIC_ALIAS_MAXIMUM, Kind::U16, CONNECT | CONNACK),
    rule(TOPIC_ALIAS, Kind::U16, PUBLISH),
    rule(MAXIMUM_QOS, Kind::Bit, CONNACK),
    rule(RETAIN_AVAILABLE, Kind::Bit, CONNACK),
    rule(USER_PROPERTY, Kind::Pair, ALL),
    nonzero(MAXIMUM_PACKET_SIZE, Kind::U32, CONNECT | CONNACK),
    rule(WILDCARD_SUBSCRIPTION_AVAILABLE, Kind::Bit, CONNACK),
    rule(SUBSCRIPTION_IDENTIFIER_AVAILABLE, Kind::Bit, CONNACK),
    rule(SHARED_SUBSCRIPTION_AVAILABLE, Kind::Bit, CONNACK),
];

/// The rule of an identifier.
pub(super) fn of(id: u8) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id == id)
}
