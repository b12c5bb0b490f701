//! PUBACK, PUBREC, PUBREL and PUBCOMP (sections 3.4 to 3.7), which look alike.

use super::fault::Fault;
use super::packet_type::PacketType;
use super::property::Properties;
use super::reader::Reader;
use super::reason::ReasonCode;
use super::rules::Place;
use super::version::Version;
use alloc::vec::Vec;

/// An acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack<'a> {
    /// The packet identifier of the PUBLISH.
    pub packet_id: u16,
    /// How it went.
    pub code: ReasonCode,
    /// Properties.
    pub properties: Properties<'a>,
}

impl<'a> Ack<'a> {
    /// Without properties.
    pub fn new(packet_id: u16, code: ReasonCode) -> Self {
        Self {
            packet_id,
            code,
            properties: Properties::NONE,
        }
    }

    pub(super) fn read(
        version: Version,
        packet: PacketType,
        from: &mut Reader<'a>,
    ) -> Result<Self, Fault> {
        let packet_id = from.packet_id()?;
        if version != Version::V5 || from.is_empty() {
            return Ok(Self::new(packet_id, ReasonCode::SUCCESS));
        }
        let start = from.offset();
        let code = ReasonCode(from.u8()?);
        if !code.is_of(packet) {
            return Err(Fault::protocol(start, "no reason code of this packet"));
        }
        let properties = if from.is_empty() {
            Properties::NONE
        } else {
            Properties::read(Place::Packet(packet), from)?
        };
        Ok(Self {
            packet_id,
            code,
            properties,
        })
    }

    pub(super) fn write(&self, version: Version, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.packet_id.to_be_bytes());
        let plain = self.code == ReasonCode::SUCCESS && self.properties.is_empty();
        if version != Version::V5 || plain {
            return;
        }
        out.push(self.code.0);
        if !self.properties.is_empty() {
            self.properties.write(out);
        }
    }
}
