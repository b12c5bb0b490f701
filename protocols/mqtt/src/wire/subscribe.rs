//! SUBSCRIBE, SUBACK, UNSUBSCRIBE and UNSUBACK (sections 3.8 to 3.11).

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

/// A request for subscriptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subscribe<'a> {
    /// The packet identifier.
    pub packet_id: u16,
    /// Properties.
    pub properties: Properties<'a>,
    /// What is asked for, in order.
    pub filters: Filters<'a>,
}

/// A request to end subscriptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsubscribe<'a> {
    /// The packet identifier.
    pub packet_id: u16,
    /// Properties.
    pub properties: Properties<'a>,
    /// The filters, in order; their options mean nothing.
    pub filters: Filters<'a>,
}

/// How a subscription is to be served (section 3.8.3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SubscriptionOptions {
    /// The highest quality of service.
    pub qos: QoS,
    /// Whether the client's own messages are left out.
    pub no_local: bool,
    /// Whether the retain flag stays as published.
    pub retain_as_published: bool,
    /// When retained messages are sent.
    pub retain_handling: RetainHandling,
}

/// When retained messages are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RetainHandling {
    /// At the time of the subscribe.
    #[default]
    Send,
    /// At the time of the subscribe, if the subscription is new.
    SendIfNew,
    /// Never.
    Never,
}

impl SubscriptionOptions {
    /// The options of a byte, which stands at this offset.
    pub fn of_byte(version: Version, byte: u8, offset: usize) -> Result<Self, Fault> {
        let reserved = match version {
            Version::V5 => 0xC0,
            Version::V31 | Version::V311 => 0xFC,
        };
        // [MQTT-3.8.3-5] [MQTT311-3.8.3-4]
        if byte & reserved != 0 {
            return Err(Fault::malformed(
                offset,
                "reserved bits of the subscription options",
            ));
        }
        let qos = QoS::of_bits(byte & 3).ok_or(Fault::protocol(offset, "maximum QoS 3"))?;
        let retain_handling = match byte >> 4 & 3 {
            0 => RetainHandling::Send,
            1 => RetainHandling::SendIfNew,
            2 => RetainHandling::Never,
            _ => return Err(Fault::protocol(offset, "retain handling 3")),
        };
        Ok(Self {
            qos,
            no_local: byte & 4 != 0,
            retain_as_published: byte & 8 != 0,
            retain_handling,
        })
    }

    /// The byte.
    pub fn byte(self) -> u8 {
        self.qos.bits()
            | u8::from(self.no_local) << 2
            | u8::from(self.retain_as_published) << 3
            | (self.retain_handling as u8) << 4
    }
}

/// Topic filters with options, checked: at least one, each UTF-8, with options that may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filters<'a> {
    bytes: &'a [u8],
    options: bool,
}

impl<'a> Filters<'a> {
    fn read(version: Version, options: bool, from: &mut Reader<'a>) -> Result<Self, Fault> {
        let mut reader = from.clone();
        let bytes = from.rest();
        // [MQTT-3.8.3-2] [MQTT-3.10.3-2]
        if bytes.is_empty() {
            return Err(Fault::protocol(reader.offset(), "no topic filter"));
        }
        while !reader.is_empty() {
            // [MQTT-3.8.3-1] [MQTT-3.10.3-1]
            let at = reader.offset();
            let filter = reader.text()?;
            // [MQTT-4.7.3-1]
            if filter.is_empty() {
                let rule = "a topic filter without a character";
                return Err(Fault::new(ReasonCode::TOPIC_FILTER_INVALID, at, rule));
            }
            if !options {
                continue;
            }
            let at = reader.offset();
            let options = SubscriptionOptions::of_byte(version, reader.u8()?, at)?;
            // [MQTT-3.8.3-4]
            if options.no_local && filter.starts_with("$share/") {
                return Err(Fault::protocol(at, "no local on a shared subscription"));
            }
        }
        Ok(Self { bytes, options })
    }

    /// Each in turn.
    pub fn iter(&self) -> impl Iterator<Item = (&'a str, SubscriptionOptions)> + use<'a> {
        let mut reader = Reader::new(self.bytes, 0);
        let with_options = self.options;
        core::iter::from_fn(move || {
            let filter = reader.text().ok()?;
            let options = if with_options {
                let byte = reader.u8().ok()?;
                SubscriptionOptions::of_byte(Version::V5, byte, 0).ok()?
            } else {
                SubscriptionOptions::default()
            };
            Some((filter, options))
        })
    }

    /// Bytes for a SUBSCRIBE of these filters, for [`Filters::of_bytes`].
    pub fn write(filters: &[(&str, SubscriptionOptions)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (filter, options) in filters {
            writer::text(&mut bytes, filter);
            bytes.push(options.byte());
        }
        bytes
    }

    /// Bytes for an UNSUBSCRIBE of these filters, for [`Filters::of_bytes`].
    pub fn write_names(filters: &[&str]) -> Vec<u8> {
        let mut bytes = Vec::new();
        filters
            .iter()
            .for_each(|filter| writer::text(&mut bytes, filter));
        bytes
    }

    /// Filters that were written by [`Filters::write`] (`options`) or [`Filters::write_names`].
    pub fn of_bytes(bytes: &'a [u8], options: bool) -> Result<Self, Fault> {
        Self::read(Version::V5, options, &mut Reader::new(bytes, 0))
    }
}

impl<'a> Subscribe<'a> {
    pub(super) fn read(version: Version, from: &mut Reader<'a>) -> Result<Self, Fault> {
        let (packet_id, properties) = read_head(version, PacketType::Subscribe, from)?;
        let filters = Filters::read(version, true, from)?;
        Ok(Self {
            packet_id,
            properties,
            filters,
        })
    }

    pub(super) fn write(&self, version: Version, out: &mut Vec<u8>) {
        write_head(version, self.packet_id, &self.properties, out);
        out.extend_from_slice(self.filters.bytes);
    }
}

impl<'a> Unsubscribe<'a> {
    pub(super) fn read(version: Version, from: &mut Reader<'a>) -> Result<Self, Fault> {
        let (packet_id, properties) = read_head(version, PacketType::Unsubscribe, from)?;
        let filters = Filters::read(version, false, from)?;
        Ok(Self {
            packet_id,
            properties,
            filters,
        })
    }

    pub(super) fn write(&self, version: Version, out: &mut Vec<u8>) {
        write_head(version, self.packet_id, &self.properties, out);
        out.extend_from_slice(self.filters.bytes);
    }
}

/// The answer to a SUBSCRIBE or an UNSUBSCRIBE: a code for each filter, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suback<'a> {
    /// The packet identifier of the request.
    pub packet_id: u16,
    /// Properties.
    pub properties: Properties<'a>,
    /// The codes as bytes; an UNSUBACK of 3.1.1 has none.
    pub codes: &'a [u8],
}

impl<'a> Suback<'a> {
    pub(super) fn read(
        version: Version,
        packet: PacketType,
        from: &mut Reader<'a>,
    ) -> Result<Self, Fault> {
        let (packet_id, properties) = read_head(version, packet, from)?;
        let start = from.offset();
        if version != Version::V5 && packet == PacketType::Unsuback {
            return Ok(Self {
                packet_id,
                properties,
                codes: &[],
            });
        }
        let codes = from.rest();
        let is_code = |code: u8| match version {
            Version::V5 => ReasonCode(code).is_of(packet),
            // [MQTT311-3.9.3-2]
            Version::V31 | Version::V311 => matches!(code, 0 | 1 | 2 | 0x80),
        };
        match codes.iter().position(|&code| !is_code(code)) {
            Some(at) => Err(Fault::protocol(start + at, "no reason code of this packet")),
            None if codes.is_empty() => Err(Fault::protocol(start, "no reason code")),
            None => Ok(Self {
                packet_id,
                properties,
                codes,
            }),
        }
    }

    pub(super) fn write(&self, version: Version, codes: bool, out: &mut Vec<u8>) {
        write_head(version, self.packet_id, &self.properties, out);
        if !codes {
            return;
        }
        match version {
            Version::V5 => out.extend_from_slice(self.codes),
            Version::V31 | Version::V311 => {
                out.extend(self.codes.iter().map(|&code| code.min(0x80)))
            }
        }
    }
}

fn read_head<'a>(
    version: Version,
    packet: PacketType,
    from: &mut Reader<'a>,
) -> Result<(u16, Properties<'a>), Fault> {
    let packet_id = from.packet_id()?;
    let properties = match version {
        Version::V5 => Properties::read(Place::Packet(packet), from)?,
        Version::V31 | Version::V311 => Properties::NONE,
    };
    Ok((packet_id, properties))
}

fn write_head(version: Version, packet_id: u16, properties: &Properties<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(&packet_id.to_be_bytes());
    if version == Version::V5 {
        properties.write(out);
    }
}
