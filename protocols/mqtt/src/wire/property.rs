//! Properties (section 2.2.2): checked once, then read one by one where they lie.

use super::fault::Fault;
use super::packet_type::PacketType;
use super::reader::Reader;
use super::rules::{self, Kind, Place};
use super::writer;
use alloc::vec::Vec;

/// One property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the standard's names say what they are")]
pub enum Property<'a> {
    /// Whether the payload is UTF-8.
    PayloadFormatIndicator(bool),
    /// Seconds.
    MessageExpiryInterval(u32),
    ContentType(&'a str),
    ResponseTopic(&'a str),
    CorrelationData(&'a [u8]),
    SubscriptionIdentifier(u32),
    /// Seconds; `u32::MAX` for never.
    SessionExpiryInterval(u32),
    AssignedClientIdentifier(&'a str),
    /// Seconds.
    ServerKeepAlive(u16),
    AuthenticationMethod(&'a str),
    AuthenticationData(&'a [u8]),
    RequestProblemInformation(bool),
    /// Seconds.
    WillDelayInterval(u32),
    RequestResponseInformation(bool),
    ResponseInformation(&'a str),
    ServerReference(&'a str),
    ReasonString(&'a str),
    ReceiveMaximum(u16),
    TopicAliasMaximum(u16),
    TopicAlias(u16),
    /// Whether QoS 1 is the highest, instead of 0.
    MaximumQoS(bool),
    RetainAvailable(bool),
    UserProperty(&'a str, &'a str),
    MaximumPacketSize(u32),
    WildcardSubscriptionAvailable(bool),
    SubscriptionIdentifierAvailable(bool),
    SharedSubscriptionAvailable(bool),
}

/// The properties of a packet, checked: each is one that the packet may carry, at most once unless it
/// may be repeated, and its value is possible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Properties<'a> {
    bytes: &'a [u8],
}

impl<'a> Properties<'a> {
    /// No properties.
    pub const NONE: Properties<'static> = Properties { bytes: &[] };

    pub(super) fn read(place: Place, from: &mut Reader<'a>) -> Result<Self, Fault> {
        let length = from.varint()?;
        let start = from.offset();
        let bytes = from.take(length as usize)?;
        check(place, Reader::new(bytes, start))?;
        Ok(Self { bytes })
    }

    /// Each in turn, in the order in which they stand.
    pub fn iter(&self) -> impl Iterator<Item = Property<'a>> + use<'a> {
        let mut reader = Reader::new(self.bytes, 0);
        core::iter::from_fn(move || {
            let id = reader.u8().ok()?;
            value(rules::of(id)?, &mut reader).ok()
        })
    }

    /// The first that `pick` takes.
    pub fn find<T>(&self, pick: impl FnMut(Property<'a>) -> Option<T>) -> Option<T> {
        self.iter().find_map(pick)
    }

    /// The user properties, in their order.
    pub fn user_properties(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        self.iter().filter_map(|property| match property {
            Property::UserProperty(name, value) => Some((name, value)),
            _ => None,
        })
    }

    /// The topic alias of a PUBLISH.
    pub fn topic_alias(&self) -> Option<u16> {
        self.find(|property| match property {
            Property::TopicAlias(alias) => Some(alias),
            _ => None,
        })
    }

    /// The subscription identifier of a SUBSCRIBE.
    pub fn subscription_identifier(&self) -> Option<u32> {
        self.find(|property| match property {
            Property::SubscriptionIdentifier(id) => Some(id),
            _ => None,
        })
    }

    /// The reason string of an answer.
    pub fn reason_string(&self) -> Option<&'a str> {
        self.find(|property| match property {
            Property::ReasonString(text) => Some(text),
            _ => None,
        })
    }

    /// Says whether there is none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Their bytes without the length before them.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        // [MQTT-2.2.2-1]
        writer::varint(out, self.bytes.len() as u32);
        out.extend_from_slice(self.bytes);
    }
}

fn check(place: Place, mut reader: Reader<'_>) -> Result<(), Fault> {
    let mut seen = 0u64;
    while !reader.is_empty() {
        let start = reader.offset();
        let id = reader.u8()?;
        let rule =
            rules::of(id).ok_or(Fault::malformed(start, "no property of this identifier"))?;
        if !rule.allows(place) {
            return Err(Fault::malformed(
                start,
                "a property that this packet may not have",
            ));
        }
        let repeats = rule.kind == Kind::Pair
            || (id == rules::SUBSCRIPTION_IDENTIFIER
                && place == Place::Packet(PacketType::Publish));
        if seen & 1 << id != 0 && !repeats {
            return Err(Fault::protocol(
                start,
                "a property that may stand only once, twice",
            ));
        }
        seen |= 1 << id;
        value(rule, &mut reader)?;
    }
    // Section 3.1.2.11.10: data without a method means nothing.
    let data = 1u64 << rules::AUTHENTICATION_DATA;
    let method = 1u64 << rules::AUTHENTICATION_METHOD;
    if seen & data != 0 && seen & method == 0 {
        Err(Fault::protocol(
            reader.offset(),
            "authentication data without an authentication method",
        ))
    } else {
        Ok(())
    }
}

/// Reads the value behind an identifier.
fn value<'a>(rule: &rules::Rule, from: &mut Reader<'a>) -> Result<Property<'a>, Fault> {
    let start = from.offset();
    Ok(match rule.kind {
        Kind::Bit => match from.u8()? {
            bit @ (0 | 1) => of_bit(rule.id, bit == 1),
            _ => {
                return Err(Fault::protocol(
                    start,
                    "a property that is 0 or 1 is neither",
                ));
            }
        },
        Kind::U16 => of_number(rule.id, checked(rule, start, u32::from(from.u16()?))?),
        Kind::U32 => of_number(rule.id, checked(rule, start, from.u32()?)?),
        Kind::Varint => of_number(rule.id, checked(rule, start, from.varint()?)?),
        // [MQTT-3.3.2-19]
        Kind::Text => of_text(rule.id, from.text()?),
        Kind::Binary if rule.id == rules::CORRELATION_DATA => {
            Property::CorrelationData(from.binary()?)
        }
        Kind::Binary => Property::AuthenticationData(from.binary()?),
        // [MQTT-1.5.7-1]
        Kind::Pair => Property::UserProperty(from.text()?, from.text()?),
    })
}

fn checked(rule: &rules::Rule, start: usize, value: u32) -> Result<u32, Fault> {
    if rule.nonzero && value == 0 {
        Err(Fault::protocol(start, "a property that may not be 0 is 0"))
    } else {
        Ok(value)
    }
}

fn of_bit<'a>(id: u8, bit: bool) -> Property<'a> {
    match id {
        rules::PAYLOAD_FORMAT_INDICATOR => Property::PayloadFormatIndicator(bit),
        rules::REQUEST_PROBLEM_INFORMATION => Property::RequestProblemInformation(bit),
        rules::REQUEST_RESPONSE_INFORMATION => Property::RequestResponseInformation(bit),
        rules::MAXIMUM_QOS => Property::MaximumQoS(bit),
        rules::RETAIN_AVAILABLE => Property::RetainAvailable(bit),
        rules::WILDCARD_SUBSCRIPTION_AVAILABLE => Property::WildcardSubscriptionAvailable(bit),
        rules::SUBSCRIPTION_IDENTIFIER_AVAILABLE => Property::SubscriptionIdentifierAvailable(bit),
        _ => Property::SharedSubscriptionAvailable(bit),
    }
}

fn of_number<'a>(id: u8, number: u32) -> Property<'a> {
    match id {
        rules::MESSAGE_EXPIRY_INTERVAL => Property::MessageExpiryInterval(number),
        rules::SUBSCRIPTION_IDENTIFIER => Property::SubscriptionIdentifier(number),
        rules::SESSION_EXPIRY_INTERVAL => Property::SessionExpiryInterval(number),
        rules::SERVER_KEEP_ALIVE => Property::ServerKeepAlive(number as u16),
        rules::WILL_DELAY_INTERVAL => Property::WillDelayInterval(number),
        rules::RECEIVE_MAXIMUM => Property::ReceiveMaximum(number as u16),
        rules::TOPIC_ALIAS_MAXIMUM => Property::TopicAliasMaximum(number as u16),
        rules::TOPIC_ALIAS => Property::TopicAlias(number as u16),
        _ => Property::MaximumPacketSize(number),
    }
}

fn of_text(id: u8, text: &str) -> Property<'_> {
    match id {
        rules::CONTENT_TYPE => Property::ContentType(text),
        rules::RESPONSE_TOPIC => Property::ResponseTopic(text),
        rules::ASSIGNED_CLIENT_IDENTIFIER => Property::AssignedClientIdentifier(text),
        rules::AUTHENTICATION_METHOD => Property::AuthenticationMethod(text),
        rules::RESPONSE_INFORMATION => Property::ResponseInformation(text),
        rules::SERVER_REFERENCE => Property::ServerReference(text),
        _ => Property::ReasonString(text),
    }
}

/// Properties on their way into a packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PropertyList {
    bytes: Vec<u8>,
}

impl PropertyList {
    /// Appends one.
    pub fn push(&mut self, property: Property<'_>) {
        let out = &mut self.bytes;
        let (id, value) = split(property);
        out.push(id);
        match value {
            Value::Bit(bit) => out.push(u8::from(bit)),
            Value::U16(number) => out.extend_from_slice(&number.to_be_bytes()),
            Value::U32(number) => out.extend_from_slice(&number.to_be_bytes()),
            Value::Varint(number) => writer::varint(out, number),
            Value::Bytes(bytes) => writer::binary(out, bytes),
            Value::Pair(name, value) => {
                writer::text(out, name);
                writer::text(out, value);
            }
        }
    }

    /// Appends one if the packet's properties stay within so many bytes.
    pub fn push_within(&mut self, property: Property<'_>, bytes_max: usize) {
        let before = self.bytes.len();
        self.push(property);
        if self.bytes.len() > bytes_max {
            self.bytes.truncate(before);
        }
    }

    /// Appends what was read before.
    pub fn extend(&mut self, properties: Properties<'_>) {
        self.bytes.extend_from_slice(properties.bytes);
    }

    /// The properties as a packet has them.
    pub fn as_properties(&self) -> Properties<'_> {
        Properties { bytes: &self.bytes }
    }

    /// Says whether there is none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Takes all out and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }
}

enum Value<'a> {
    Bit(bool),
    U16(u16),
    U32(u32),
    Varint(u32),
    Bytes(&'a [u8]),
    Pair(&'a str, &'a str),
}

fn split(property: Property<'_>) -> (u8, Value<'_>) {
    use Property as P;
    use Value::{Bit, Bytes, Pair, U16, U32, Varint};
    match property {
        P::PayloadFormatIndicator(bit) => (rules::PAYLOAD_FORMAT_INDICATOR, Bit(bit)),
        P::MessageExpiryInterval(secs) => (rules::MESSAGE_EXPIRY_INTERVAL, U32(secs)),
        P::ContentType(text) => (rules::CONTENT_TYPE, Bytes(text.as_bytes())),
        P::ResponseTopic(text) => (rules::RESPONSE_TOPIC, Bytes(text.as_bytes())),
        P::CorrelationData(data) => (rules::CORRELATION_DATA, Bytes(data)),
        P::SubscriptionIdentifier(id) => (rules::SUBSCRIPTION_IDENTIFIER, Varint(id)),
        P::SessionExpiryInterval(secs) => (rules::SESSION_EXPIRY_INTERVAL, U32(secs)),
        P::AssignedClientIdentifier(id) => {
            (rules::ASSIGNED_CLIENT_IDENTIFIER, Bytes(id.as_bytes()))
        }
        P::ServerKeepAlive(secs) => (rules::SERVER_KEEP_ALIVE, U16(secs)),
        P::AuthenticationMethod(text) => (rules::AUTHENTICATION_METHOD, Bytes(text.as_bytes())),
        P::AuthenticationData(data) => (rules::AUTHENTICATION_DATA, Bytes(data)),
        P::RequestProblemInformation(bit) => (rules::REQUEST_PROBLEM_INFORMATION, Bit(bit)),
        P::WillDelayInterval(secs) => (rules::WILL_DELAY_INTERVAL, U32(secs)),
        P::RequestResponseInformation(bit) => (rules::REQUEST_RESPONSE_INFORMATION, Bit(bit)),
        P::ResponseInformation(text) => (rules::RESPONSE_INFORMATION, Bytes(text.as_bytes())),
        P::ServerReference(text) => (rules::SERVER_REFERENCE, Bytes(text.as_bytes())),
        P::ReasonString(text) => (rules::REASON_STRING, Bytes(text.as_bytes())),
        P::ReceiveMaximum(count) => (rules::RECEIVE_MAXIMUM, U16(count)),
        P::TopicAliasMaximum(count) => (rules::TOPIC_ALIAS_MAXIMUM, U16(count)),
        P::TopicAlias(alias) => (rules::TOPIC_ALIAS, U16(alias)),
        P::MaximumQoS(bit) => (rules::MAXIMUM_QOS, Bit(bit)),
        P::RetainAvailable(bit) => (rules::RETAIN_AVAILABLE, Bit(bit)),
        P::UserProperty(name, value) => (rules::USER_PROPERTY, Pair(name, value)),
        P::MaximumPacketSize(bytes) => (rules::MAXIMUM_PACKET_SIZE, U32(bytes)),
        P::WildcardSubscriptionAvailable(bit) => (rules::WILDCARD_SUBSCRIPTION_AVAILABLE, Bit(bit)),
        P::SubscriptionIdentifierAvailable(bit) => {
            (rules::SUBSCRIPTION_IDENTIFIER_AVAILABLE, Bit(bit))
        }
        P::SharedSubscriptionAvailable(bit) => (rules::SHARED_SUBSCRIPTION_AVAILABLE, Bit(bit)),
    }
}
