//! Any packet.

use super::ack::Ack;
use super::connack::Connack;
use super::connect::Connect;
use super::disconnect::{Auth, Disconnect};
use super::fault::Fault;
use super::header::Header;
use super::publish::Publish;
use super::reader::Reader;
use super::subscribe::{Suback, Subscribe, Unsubscribe};
use super::{Version, writer};
use alloc::vec::Vec;

/// The types of section 2.1.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum PacketType {
    /// Connection request.
    Connect = 1,
    /// Connect acknowledgment.
    Connack = 2,
    /// Publish message.
    Publish = 3,
    /// Publish acknowledgment (QoS 1).
    Puback = 4,
    /// Publish received (QoS 2, part 1).
    Pubrec = 5,
    /// Publish release (QoS 2, part 2).
    Pubrel = 6,
    /// Publish complete (QoS 2, part 3).
    Pubcomp = 7,
    /// Subscribe request.
    Subscribe = 8,
    /// Subscribe acknowledgment.
    Suback = 9,
    /// Unsubscribe request.
    Unsubscribe = 10,
    /// Unsubscribe acknowledgment.
    Unsuback = 11,
    /// PING request.
    Pingreq = 12,
    /// PING response.
    Pingresp = 13,
    /// Disconnect notification.
    Disconnect = 14,
    /// Authentication exchange (5.0 only).
    Auth = 15,
}

impl PacketType {
    /// Every type.
    pub const ALL: [Self; 15] = [
        Self::Connect,
        Self::Connack,
        Self::Publish,
        Self::Puback,
        Self::Pubrec,
        Self::Pubrel,
        Self::Pubcomp,
        Self::Subscribe,
        Self::Suback,
        Self::Unsubscribe,
        Self::Unsuback,
        Self::Pingreq,
        Self::Pingresp,
        Self::Disconnect,
        Self::Auth,
    ];

    /// The type of four bits; 0 is none.
    pub fn of_bits(bits: u8) -> Option<Self> {
        let index = usize::from(bits).checked_sub(1)?;
        Self::ALL.get(index).copied()
    }

    /// The first byte of such a packet, PUBLISH without its flags.
    pub(super) fn first(self) -> u8 {
        (self as u8) << 4 | self.flags()
    }

    /// The flags that every packet of the type has, but PUBLISH.
    fn flags(self) -> u8 {
        match self {
            Self::Pubrel | Self::Subscribe | Self::Unsubscribe => 2,
            _ => 0,
        }
    }

    /// Refuses flags that a packet cannot have in this version; where that is not known yet, in any.
    pub(super) fn check_flags(self, version: Option<Version>, flags: u8) -> Result<(), Fault> {
        // In 3.1 what is sent again says so (MQTT 3.1, section 3.6, 3.8 and 3.10).
        let may_say_again = matches!(self, Self::Pubrel | Self::Subscribe | Self::Unsubscribe)
            && matches!(version, None | Some(Version::V31));
        let known = flags & !(u8::from(may_say_again) << 3);
        // [MQTT-2.1.3-1] [MQTT311-2.2.2-2] [MQTT-3.6.1-1] [MQTT-3.8.1-1] [MQTT-3.10.1-1]
        // [MQTT-3.14.1-1] [MQTT-3.15.1-1]
        match self == Self::Publish || known == self.flags() {
            true => Ok(()),
            false => Err(Fault::malformed(0, "reserved flags of the first byte")),
        }
    }
}

/// A packet, borrowed from its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packet<'a> {
    /// Connection request.
    Connect(Connect<'a>),
    /// Connect acknowledgment.
    Connack(Connack<'a>),
    /// Publish message.
    Publish(Publish<'a>),
    /// Publish acknowledgment (QoS 1).
    Puback(Ack<'a>),
    /// Publish received (QoS 2, part 1).
    Pubrec(Ack<'a>),
    /// Publish release (QoS 2, part 2).
    Pubrel(Ack<'a>),
    /// Publish complete (QoS 2, part 3).
    Pubcomp(Ack<'a>),
    /// Subscribe request.
    Subscribe(Subscribe<'a>),
    /// Subscribe acknowledgment.
    Suback(Suback<'a>),
    /// Unsubscribe request.
    Unsubscribe(Unsubscribe<'a>),
    /// Unsubscribe acknowledgment.
    Unsuback(Suback<'a>),
    /// PING request.
    Pingreq,
    /// PING response.
    Pingresp,
    /// Disconnect notification.
    Disconnect(Disconnect<'a>),
    /// Authentication exchange.
    Auth(Auth<'a>),
}

impl<'a> Packet<'a> {
    /// Reads the packet that `header` found at the front of `bytes`. A CONNECT says its version itself.
    pub fn decode(version: Version, header: &Header, bytes: &'a [u8]) -> Result<Self, Fault> {
        let body = bytes
            .get(header.length..header.end)
            .ok_or(Fault::malformed(bytes.len(), "the packet is not whole"))?;
        header.packet.check_flags(Some(version), header.flags)?;
        let mut reader = Reader::new(body, header.length);
        let packet = Self::read(version, header, &mut reader)?;
        reader.finish()?;
        let version = match &packet {
            Packet::Connect(connect) => connect.version,
            _ => version,
        };
        // [MQTT-1.5.5-1]
        match header.padded && version == Version::V5 {
            true => Err(Fault::malformed(1, "a length in more bytes than needed")),
            false => Ok(packet),
        }
    }

    fn read(version: Version, header: &Header, from: &mut Reader<'a>) -> Result<Self, Fault> {
        let packet = header.packet;
        Ok(match packet {
            PacketType::Connect => Packet::Connect(Connect::read(from)?),
            PacketType::Connack => Packet::Connack(Connack::read(version, from)?),
            PacketType::Publish => Packet::Publish(Publish::read(version, header.flags, from)?),
            PacketType::Puback => Packet::Puback(Ack::read(version, packet, from)?),
            PacketType::Pubrec => Packet::Pubrec(Ack::read(version, packet, from)?),
            PacketType::Pubrel => Packet::Pubrel(Ack::read(version, packet, from)?),
            PacketType::Pubcomp => Packet::Pubcomp(Ack::read(version, packet, from)?),
            PacketType::Subscribe => Packet::Subscribe(Subscribe::read(version, from)?),
            PacketType::Suback => Packet::Suback(Suback::read(version, packet, from)?),
            PacketType::Unsubscribe => Packet::Unsubscribe(Unsubscribe::read(version, from)?),
            PacketType::Unsuback => Packet::Unsuback(Suback::read(version, packet, from)?),
            PacketType::Pingreq => Packet::Pingreq,
            PacketType::Pingresp => Packet::Pingresp,
            PacketType::Disconnect => Packet::Disconnect(Disconnect::read(version, from)?),
            PacketType::Auth if version != Version::V5 => {
                return Err(Fault::malformed(0, "packet type 15 is reserved in 3.1.1"));
            }
            PacketType::Auth => Packet::Auth(Auth::read(from)?),
        })
    }

    /// Its type.
    pub fn packet_type(&self) -> PacketType {
        match self {
            Packet::Connect(_) => PacketType::Connect,
            Packet::Connack(_) => PacketType::Connack,
            Packet::Publish(_) => PacketType::Publish,
            Packet::Puback(_) => PacketType::Puback,
            Packet::Pubrec(_) => PacketType::Pubrec,
            Packet::Pubrel(_) => PacketType::Pubrel,
            Packet::Pubcomp(_) => PacketType::Pubcomp,
            Packet::Subscribe(_) => PacketType::Subscribe,
            Packet::Suback(_) => PacketType::Suback,
            Packet::Unsubscribe(_) => PacketType::Unsubscribe,
            Packet::Unsuback(_) => PacketType::Unsuback,
            Packet::Pingreq => PacketType::Pingreq,
            Packet::Pingresp => PacketType::Pingresp,
            Packet::Disconnect(_) => PacketType::Disconnect,
            Packet::Auth(_) => PacketType::Auth,
        }
    }

    /// Appends the packet. A CONNECT is written in the version that it says itself.
    pub fn encode(&self, version: Version, out: &mut Vec<u8>) {
        let packet = self.packet_type();
        let first = match self {
            Packet::Publish(publish) => packet.first() | publish.flags(),
            _ => packet.first(),
        };
        writer::packet(out, first, |out| match self {
            Packet::Connect(connect) => connect.write(out),
            Packet::Connack(connack) => connack.write(version, out),
            Packet::Publish(publish) => {
                publish.write_head(version, out);
                out.extend_from_slice(publish.payload);
            }
            Packet::Puback(ack)
            | Packet::Pubrec(ack)
            | Packet::Pubrel(ack)
            | Packet::Pubcomp(ack) => ack.write(version, out),
            Packet::Subscribe(subscribe) => subscribe.write(version, out),
            Packet::Unsubscribe(unsubscribe) => unsubscribe.write(version, out),
            Packet::Suback(suback) => suback.write(version, true, out),
            Packet::Unsuback(unsuback) => unsuback.write(version, version == Version::V5, out),
            Packet::Pingreq | Packet::Pingresp => {}
            Packet::Disconnect(disconnect) => disconnect.write(version, out),
            Packet::Auth(auth) => auth.write(out),
        });
    }
}
