//! The fixed header (section 2.1): where a packet ends.

use super::fault::Fault;
use super::packet_type::PacketType;
use super::reason::ReasonCode;
use super::version::Version;

/// A packet's type, flags and place in the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Its type.
    pub packet: PacketType,
    /// The low four bits of the first byte.
    pub flags: u8,
    /// Where the body begins: the length of this header.
    pub length: usize,
    /// Where the packet ends.
    pub end: usize,
    /// Whether its length takes more bytes than needed, which 5.0 forbids and the versions before do not.
    pub padded: bool,
}

impl Header {
    /// Refuses flags that a packet cannot have in this version.
    pub(super) fn check_flags(&self, version: Version) -> Result<(), Fault> {
        check_flags(self.packet, Some(version), self.flags)
    }
}

/// What is known of the bytes at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framed {
    /// A whole packet.
    Whole(Header),
    /// At least so many more bytes are needed.
    Incomplete(usize),
}

/// Finds where the first packet ends; refuses one of more than `bytes_max` bytes as soon as it says so.
pub fn frame(bytes: &[u8], bytes_max: usize) -> Result<Framed, Fault> {
    let Some((&first, rest)) = bytes.split_first() else {
        return Ok(Framed::Incomplete(2));
    };
    let packet =
        PacketType::of_bits(first >> 4).ok_or(Fault::malformed(0, "packet type 0 is reserved"))?;
    let flags = first & 0x0f;
    check_flags(packet, None, flags)?;
    let Some((length, taken)) = remaining_length(rest)? else {
        return Ok(Framed::Incomplete(1));
    };
    let padded = taken > 1 && rest[taken - 1] == 0;
    let (head, end) = (1 + taken, 1 + taken + length);
    if end > bytes_max {
        let rule = "the packet is larger than the maximum packet size";
        return Err(Fault::new(ReasonCode::PACKET_TOO_LARGE, 1, rule));
    }
    match end.checked_sub(bytes.len()) {
        Some(missing @ 1..) => Ok(Framed::Incomplete(missing)),
        _ => Ok(Framed::Whole(Header {
            packet,
            flags,
            length: head,
            end,
            padded,
        })),
    }
}

/// Refuses flags that a packet cannot have in this version; where that is not known yet, in any.
fn check_flags(packet: PacketType, version: Option<Version>, flags: u8) -> Result<(), Fault> {
    // In 3.1 what is sent again says so (MQTT 3.1, section 3.6, 3.8 and 3.10).
    let is_sent_again = matches!(
        packet,
        PacketType::Pubrel | PacketType::Subscribe | PacketType::Unsubscribe
    );
    let may_say_again = is_sent_again && matches!(version, None | Some(Version::V31));
    let known = flags & !(u8::from(may_say_again) << 3);
    // [MQTT-2.1.3-1] [MQTT311-2.2.2-2] [MQTT-3.6.1-1] [MQTT-3.8.1-1] [MQTT-3.10.1-1]
    // [MQTT-3.14.1-1] [MQTT-3.15.1-1]
    if packet == PacketType::Publish || known == packet.flags() {
        Ok(())
    } else {
        Err(Fault::malformed(0, "reserved flags of the first byte"))
    }
}

/// The remaining length and how many bytes it took, once it is there.
fn remaining_length(bytes: &[u8]) -> Result<Option<(usize, usize)>, Fault> {
    let mut value = 0;
    for (index, &byte) in bytes.iter().take(4).enumerate() {
        value |= usize::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Ok(Some((value, index + 1)));
        }
    }
    if bytes.len() < 4 {
        Ok(None)
    } else {
        Err(Fault::malformed(4, "a length of more than four bytes"))
    }
}
