//! Any packet.

use super::ack::Ack;
use super::connack::Connack;
use super::connect::Connect;
use super::disconnect::{Auth, Disconnect};
use super::fault::Fault;
use super::header::Header;
use super::packet_type::PacketType;
use super::publish::Publish;
use super::reader::Reader;
use super::subscribe::{Suback, Subscribe, Unsubscribe};
use super::version::Version;
use super::writer;
use alloc::vec::Vec;

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
        header.check_flags(version)?;
        let mut reader = Reader::new(body, header.length);
        let packet = Self::read(version, header, &mut reader)?;
        reader.finish()?;
        let version = match &packet {
            Packet::Connect(connect) => connect.version,
            _ => version,
        };
        // [MQTT-1.5.5-1]
        if header.padded && version == Version::V5 {
            Err(Fault::malformed(1, "a length in more bytes than needed"))
        } else {
            Ok(packet)
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
