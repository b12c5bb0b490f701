//! DISCONNECT and AUTH (sections 3.14 and 3.15), which look alike.

use super::fault::Fault;
use super::packet_type::PacketType;
use super::property::Properties;
use super::reader::Reader;
use super::reason::ReasonCode;
use super::rules::Place;
use super::version::Version;
use alloc::vec::Vec;

/// The last packet on a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Disconnect<'a> {
    /// Why it ends.
    pub code: ReasonCode,
    /// Properties.
    pub properties: Properties<'a>,
}

/// A step of an extended authentication.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Auth<'a> {
    /// Which step.
    pub code: ReasonCode,
    /// Properties.
    pub properties: Properties<'a>,
}

impl<'a> Disconnect<'a> {
    pub(super) fn read(version: Version, from: &mut Reader<'a>) -> Result<Self, Fault> {
        if version != Version::V5 {
            return Ok(Self::default());
        }
        let (code, properties) = read(PacketType::Disconnect, from)?;
        Ok(Self { code, properties })
    }

    pub(super) fn write(&self, version: Version, out: &mut Vec<u8>) {
        if version == Version::V5 {
            write(self.code, &self.properties, out);
        }
    }
}

impl<'a> Auth<'a> {
    pub(super) fn read(from: &mut Reader<'a>) -> Result<Self, Fault> {
        let (code, properties) = read(PacketType::Auth, from)?;
        Ok(Self { code, properties })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        write(self.code, &self.properties, out);
    }
}

/// Both may be left out, the code for success.
fn read<'a>(
    packet: PacketType,
    from: &mut Reader<'a>,
) -> Result<(ReasonCode, Properties<'a>), Fault> {
    if from.is_empty() {
        return Ok((ReasonCode::SUCCESS, Properties::NONE));
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
    Ok((code, properties))
}

fn write(code: ReasonCode, properties: &Properties<'_>, out: &mut Vec<u8>) {
    if code == ReasonCode::SUCCESS && properties.is_empty() {
        return;
    }
    out.push(code.0);
    if !properties.is_empty() {
        properties.write(out);
    }
}
