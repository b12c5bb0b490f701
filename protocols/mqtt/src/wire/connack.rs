//! CONNACK (section 3.2).

use super::fault::Fault;
use super::packet_type::PacketType;
use super::property::Properties;
use super::reader::Reader;
use super::reason::ReasonCode;
use super::rules::Place;
use super::version::Version;
use alloc::vec::Vec;

/// The answer to a CONNECT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connack<'a> {
    /// Whether the server holds a session of this client.
    pub session_present: bool,
    /// Whether it is accepted, or why not; in 3.1.1 the nearest return code is sent.
    pub code: ReasonCode,
    /// Properties.
    pub properties: Properties<'a>,
}

impl<'a> Connack<'a> {
    pub(super) fn read(version: Version, from: &mut Reader<'a>) -> Result<Self, Fault> {
        let start = from.offset();
        let flags = from.u8()?;
        // [MQTT-3.2.2-1]
        if flags > 1 {
            return Err(Fault::malformed(
                start,
                "reserved connect acknowledge flags",
            ));
        }
        let byte = from.u8()?;
        let code = match version {
            Version::V5 => Some(ReasonCode(byte)).filter(|code| code.is_of(PacketType::Connack)),
            Version::V31 | Version::V311 => ReasonCode::of_connack_v311(byte),
        };
        let code = code.ok_or(Fault::protocol(start + 1, "no code of a CONNACK"))?;
        // [MQTT-3.2.2-6]
        if flags == 1 && code.is_failure() {
            return Err(Fault::protocol(start, "a session is present, but refused"));
        }
        let properties = match version {
            Version::V5 => Properties::read(Place::Packet(PacketType::Connack), from)?,
            Version::V31 | Version::V311 => Properties::NONE,
        };
        Ok(Self {
            session_present: flags == 1,
            code,
            properties,
        })
    }

    pub(super) fn write(&self, version: Version, out: &mut Vec<u8>) {
        // In 3.1 the byte is reserved (section 3.2).
        out.push(u8::from(self.session_present && version != Version::V31));
        match version {
            Version::V5 => {
                out.push(self.code.0);
                self.properties.write(out);
            }
            Version::V31 | Version::V311 => out.push(self.code.connack_v311()),
        }
    }
}
