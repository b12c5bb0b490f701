//! PUBLISH (section 3.3).

use super::fault::Fault;
use super::packet_type::PacketType;
use super::property::{Properties, Property};
use super::qos::QoS;
use super::reader::Reader;
use super::reason::ReasonCode;
use super::rules::Place;
use super::version::Version;
use super::writer::{self, length_of_varint};
use alloc::vec::Vec;

/// A message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Publish<'a> {
    /// Whether it was sent before.
    pub dup: bool,
    /// Its quality of service.
    pub qos: QoS,
    /// Whether it is, or was, retained.
    pub retain: bool,
    /// Its topic; empty where an alias stands for it.
    pub topic: &'a str,
    /// The packet identifier; 0 with QoS 0.
    pub packet_id: u16,
    /// Properties.
    pub properties: Properties<'a>,
    /// The payload.
    pub payload: &'a [u8],
}

impl<'a> Publish<'a> {
    pub(super) fn read(version: Version, flags: u8, from: &mut Reader<'a>) -> Result<Self, Fault> {
        // [MQTT-3.3.1-4]
        let qos = QoS::of_bits(flags >> 1 & 3).ok_or(Fault::malformed(0, "QoS 3"))?;
        let dup = flags & 8 != 0;
        // [MQTT-3.3.1-2]
        if dup && qos == QoS::AtMostOnce {
            return Err(Fault::malformed(0, "DUP with QoS 0"));
        }
        let start = from.offset() + 2;
        // [MQTT-3.3.2-1]
        let topic = from.text()?;
        // [MQTT-3.3.2-2] [MQTT-4.7.0-1]
        if let Some(at) = topic.find(['+', '#']) {
            let rule = "a wildcard in a topic name";
            return Err(Fault::new(ReasonCode::TOPIC_NAME_INVALID, start + at, rule));
        }
        // [MQTT-2.2.1-2]
        let packet_id = match qos {
            QoS::AtMostOnce => 0,
            _ => from.packet_id()?,
        };
        let properties = match version {
            Version::V5 => Properties::read(Place::Packet(PacketType::Publish), from)?,
            Version::V31 | Version::V311 => Properties::NONE,
        };
        // [MQTT-4.7.3-1]
        if topic.is_empty() && properties.topic_alias().is_none() {
            return Err(Fault::protocol(
                start,
                "neither a topic name nor a topic alias",
            ));
        }
        check_response_topic(&properties, from.offset())?;
        Ok(Self {
            dup,
            qos,
            retain: flags & 1 != 0,
            topic,
            packet_id,
            properties,
            payload: from.rest(),
        })
    }

    pub(super) fn flags(&self) -> u8 {
        u8::from(self.dup) << 3 | self.qos.bits() << 1 | u8::from(self.retain)
    }

    pub(super) fn write_head(&self, version: Version, out: &mut Vec<u8>) {
        writer::text(out, self.topic);
        if self.qos != QoS::AtMostOnce {
            out.extend_from_slice(&self.packet_id.to_be_bytes());
        }
        if version == Version::V5 {
            self.properties.write(out);
        }
    }

    /// The whole packet's length with a payload of so many bytes in the place of its own.
    pub fn packet_length(&self, version: Version, payload_bytes: usize) -> usize {
        let length = self.body_length(version, payload_bytes);
        1 + length_of_varint(length) + length
    }

    fn body_length(&self, version: Version, payload_bytes: usize) -> usize {
        let id = match self.qos {
            QoS::AtMostOnce => 0,
            _ => 2,
        };
        let properties = self.properties.bytes().len();
        let properties = match version {
            Version::V5 => length_of_varint(properties) + properties,
            Version::V31 | Version::V311 => 0,
        };
        2 + self.topic.len() + id + properties + payload_bytes
    }

    /// Appends all but the payload, for one of so many bytes that is written from elsewhere.
    pub fn encode_head(&self, version: Version, payload_bytes: usize, out: &mut Vec<u8>) {
        out.push(PacketType::Publish.first() | self.flags());
        writer::varint(out, self.body_length(version, payload_bytes) as u32);
        self.write_head(version, out);
    }
}

/// A topic that an answer is to be sent to is a topic name.
pub(super) fn check_response_topic(
    properties: &Properties<'_>,
    offset: usize,
) -> Result<(), Fault> {
    let topic = properties.find(|property| match property {
        Property::ResponseTopic(topic) => Some(topic),
        _ => None,
    });
    // [MQTT-3.3.2-13] [MQTT-3.3.2-14]
    if topic.is_some_and(|topic| topic.is_empty() || topic.contains(['+', '#'])) {
        Err(Fault::protocol(
            offset,
            "the response topic is no topic name",
        ))
    } else {
        Ok(())
    }
}
