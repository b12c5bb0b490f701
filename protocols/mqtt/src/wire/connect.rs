//! CONNECT (section 3.1).

use super::fault::Fault;
use super::packet_type::PacketType;
use super::property::Properties;
use super::qos::QoS;
use super::reader::Reader;
use super::reason::ReasonCode;
use super::rules::Place;
use super::version::Version;
use super::writer;
use alloc::vec::Vec;

/// A request to connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connect<'a> {
    /// The protocol's version.
    pub version: Version,
    /// Whether the client is a broker's bridge: bit 7 of the level says so, by a custom of Mosquitto's that brokers
    /// know, in the versions before 5.0.
    pub bridge: bool,
    /// Clean Start; in 3.1.1 Clean Session.
    pub clean_start: bool,
    /// Seconds; 0 for off.
    pub keep_alive: u16,
    /// Properties of the packet.
    pub properties: Properties<'a>,
    /// The client identifier, which may be empty.
    pub client_id: &'a str,
    /// The will.
    pub will: Option<LastWill<'a>>,
    /// The user name.
    pub user_name: Option<&'a str>,
    /// The password.
    pub password: Option<&'a [u8]>,
}

/// What is published when the client is gone (section 3.1.2.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastWill<'a> {
    /// Its quality of service.
    pub qos: QoS,
    /// Whether it is retained.
    pub retain: bool,
    /// Properties of the will.
    pub properties: Properties<'a>,
    /// Its topic.
    pub topic: &'a str,
    /// Its payload.
    pub payload: &'a [u8],
}

/// The version that the body of a CONNECT says, so that even a bad one is answered in it; 3.1.1 where it is one that is
/// not spoken here.
pub fn version_of(body: &[u8]) -> Option<Version> {
    let mut from = Reader::new(body, 0);
    let name = from.binary().ok()?;
    let level = from.u8().ok()?;
    match version_of_level(name, level) {
        Some((version, _)) => Some(version),
        None if matches!(name, b"MQTT" | b"MQIsdp") => Some(Version::V311),
        None => None,
    }
}

/// The version of a protocol name and level, and whether it is a bridge's.
fn version_of_level(name: &[u8], level: u8) -> Option<(Version, bool)> {
    let is_bridge = level & BRIDGE != 0;
    match (name, level & !BRIDGE) {
        (b"MQIsdp", 3) => Some((Version::V31, is_bridge)),
        (b"MQTT", 4) => Some((Version::V311, is_bridge)),
        (b"MQTT", 5) if !is_bridge => Some((Version::V5, false)),
        _ => None,
    }
}

/// Bit 7 of the level.
const BRIDGE: u8 = 0x80;

const USER_NAME: u8 = 0x80;
const PASSWORD: u8 = 0x40;
const WILL_RETAIN: u8 = 0x20;
const WILL: u8 = 0x04;
const CLEAN_START: u8 = 0x02;

impl<'a> Connect<'a> {
    pub(super) fn read(from: &mut Reader<'a>) -> Result<Self, Fault> {
        let (version, bridge) = read_version(from)?;
        let start = from.offset();
        let flags = from.u8()?;
        check_flags(version, flags, start)?;
        let keep_alive = from.u16()?;
        let properties = match version {
            Version::V5 => Properties::read(Place::Packet(PacketType::Connect), from)?,
            Version::V31 | Version::V311 => Properties::NONE,
        };
        // [MQTT-3.1.3-1] [MQTT-3.1.3-3] [MQTT-3.1.3-4]
        let client_id = from.text()?;
        // [MQTT-3.1.2-9]
        let will = if flags & WILL != 0 {
            Some(LastWill::read(version, flags, start, from)?)
        } else {
            None
        };
        // [MQTT-3.1.2-16] [MQTT-3.1.2-17] [MQTT-3.1.3-12]
        let user_name = (flags & USER_NAME != 0).then(|| from.text()).transpose()?;
        // [MQTT-3.1.2-18] [MQTT-3.1.2-19]
        let password = (flags & PASSWORD != 0).then(|| from.binary()).transpose()?;
        Ok(Self {
            version,
            bridge,
            clean_start: flags & CLEAN_START != 0,
            keep_alive,
            properties,
            client_id,
            will,
            user_name,
            password,
        })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let (name, level): (&str, u8) = match self.version {
            Version::V31 => ("MQIsdp", 3),
            Version::V311 => ("MQTT", 4),
            Version::V5 => ("MQTT", 5),
        };
        let is_marked = self.bridge && self.version != Version::V5;
        writer::text(out, name);
        out.push(level | if is_marked { BRIDGE } else { 0 });
        out.push(self.flags());
        out.extend_from_slice(&self.keep_alive.to_be_bytes());
        if self.version == Version::V5 {
            self.properties.write(out);
        }
        writer::text(out, self.client_id);
        if let Some(will) = &self.will {
            if self.version == Version::V5 {
                will.properties.write(out);
            }
            writer::text(out, will.topic);
            writer::binary(out, will.payload);
        }
        if let Some(name) = self.user_name {
            writer::text(out, name);
        }
        if let Some(password) = self.password {
            writer::binary(out, password);
        }
    }

    fn flags(&self) -> u8 {
        let mut flags = 0;
        if self.clean_start {
            flags |= CLEAN_START;
        }
        if let Some(will) = &self.will {
            flags |= WILL | will.qos.bits() << 3;
            if will.retain {
                flags |= WILL_RETAIN;
            }
        }
        if self.user_name.is_some() {
            flags |= USER_NAME;
        }
        if self.password.is_some() {
            flags |= PASSWORD;
        }
        flags
    }
}

fn read_version(from: &mut Reader<'_>) -> Result<(Version, bool), Fault> {
    let start = from.offset();
    let unsupported =
        |offset, rule| Fault::new(ReasonCode::UNSUPPORTED_PROTOCOL_VERSION, offset, rule);
    // [MQTT-3.1.2-1]
    let name = from.binary()?;
    if !matches!(name, b"MQTT" | b"MQIsdp") {
        return Err(unsupported(
            start,
            "the protocol name is neither MQTT nor MQIsdp",
        ));
    }
    let start = from.offset();
    // [MQTT-3.1.2-2]
    let rule = "only MQTT 3.1 (level 3), 3.1.1 (4) and 5.0 (5) are spoken";
    version_of_level(name, from.u8()?).ok_or(unsupported(start, rule))
}

fn check_flags(version: Version, flags: u8, offset: usize) -> Result<(), Fault> {
    let fault = |rule| Err(Fault::malformed(offset, rule));
    // [MQTT-3.1.2-3]
    if flags & 1 != 0 {
        return fault("the reserved connect flag is set");
    }
    // [MQTT-3.1.2-11] [MQTT-3.1.2-13]
    if flags & WILL == 0 && flags & 0x38 != 0 {
        return fault("will QoS or will retain without a will");
    }
    // [MQTT-3.1.2-12]
    if flags & 0x18 == 0x18 {
        return fault("will QoS 3");
    }
    // [MQTT311-3.1.2-22]
    if version != Version::V5 && flags & PASSWORD != 0 && flags & USER_NAME == 0 {
        return fault("a password without a user name");
    }
    Ok(())
}

impl<'a> LastWill<'a> {
    fn read(
        version: Version,
        flags: u8,
        flags_at: usize,
        from: &mut Reader<'a>,
    ) -> Result<Self, Fault> {
        let qos = QoS::of_bits(flags >> 3 & 3).ok_or(Fault::malformed(flags_at, "will QoS 3"))?;
        let properties = match version {
            Version::V5 => Properties::read(Place::Will, from)?,
            Version::V31 | Version::V311 => Properties::NONE,
        };
        Ok(Self {
            qos,
            retain: flags & WILL_RETAIN != 0,
            properties,
            // [MQTT-3.1.3-11]
            topic: from.text()?,
            payload: from.binary()?,
        })
    }
}
