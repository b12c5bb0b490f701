//! Protocol headers and frames (AMQP 1.0 sections 2.2 and 2.3).

use super::condition::{Condition, Fault};
use alloc::vec::Vec;

/// Bytes of a protocol header, and of the fixed part of a frame's.
pub const HEADER_BYTES: usize = 8;

/// What follows a protocol header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtocolId {
    /// AMQP itself.
    Amqp,
    /// TLS, which is then spoken in the same stream (section 5.2.1).
    Tls,
    /// SASL first (section 5.3).
    Sasl,
    /// Something else.
    Other(u8),
}

/// `AMQP`, what follows, and the version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProtocolHeader {
    /// What follows.
    pub id: ProtocolId,
    /// Major, minor, revision.
    pub version: [u8; 3],
}

impl ProtocolHeader {
    /// Version 1.0.0 of AMQP.
    pub const AMQP: Self = Self::new(ProtocolId::Amqp);
    /// Version 1.0.0 of the SASL layer.
    pub const SASL: Self = Self::new(ProtocolId::Sasl);

    const fn new(id: ProtocolId) -> Self {
        Self {
            id,
            version: [1, 0, 0],
        }
    }

    /// Reads eight bytes; `None` where they are another protocol's.
    pub fn read(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let id = match (&bytes[..4], bytes[4]) {
            (b"AMQP", 0) => ProtocolId::Amqp,
            (b"AMQP", 2) => ProtocolId::Tls,
            (b"AMQP", 3) => ProtocolId::Sasl,
            (b"AMQP", other) => ProtocolId::Other(other),
            _ => return None,
        };
        Some(Self {
            id,
            version: [bytes[5], bytes[6], bytes[7]],
        })
    }

    /// Its bytes.
    pub fn bytes(&self) -> [u8; HEADER_BYTES] {
        let id = match self.id {
            ProtocolId::Amqp => 0,
            ProtocolId::Tls => 2,
            ProtocolId::Sasl => 3,
            ProtocolId::Other(id) => id,
        };
        let [major, minor, revision] = self.version;
        [b'A', b'M', b'Q', b'P', id, major, minor, revision]
    }
}

/// A frame's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHeader {
    /// Where its body begins, counted from the frame's first byte.
    pub body: usize,
    /// Where the next frame begins.
    pub end: usize,
    /// Whether it is a SASL frame.
    pub is_sasl: bool,
    /// The channel of an AMQP frame.
    pub channel: u16,
}

/// What the front of some bytes is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framed {
    /// A frame, all of it.
    Whole(FrameHeader),
    /// The beginning of one.
    Incomplete,
}

/// Finds the frame at the front (section 2.3.1).
pub fn frame(bytes: &[u8], bytes_max: usize) -> Result<Framed, Fault> {
    let Some((header, _)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
        return Ok(Framed::Incomplete);
    };
    let [a, b, c, d, doff, kind, channel @ ..] = *header;
    let end = u32::from_be_bytes([a, b, c, d]) as usize;
    let body = usize::from(doff) * 4;
    let broken = |offset, rule| Err(Fault::new(Condition::FRAMING_ERROR, offset, rule));
    match kind {
        // [AMQP-2.3.1-1]
        _ if end < HEADER_BYTES => broken(0, "a frame is shorter than its header"),
        _ if end > bytes_max => broken(0, "a frame is larger than the maximum frame size"),
        // [AMQP-2.3.1-2]
        _ if body < HEADER_BYTES || body > end => broken(
            4,
            "the body begins before the header ends or behind the frame",
        ),
        0 | 1 if bytes.len() < end => Ok(Framed::Incomplete),
        0 | 1 => Ok(Framed::Whole(FrameHeader {
            body,
            end,
            is_sasl: kind == 1,
            channel: u16::from_be_bytes(channel),
        })),
        _ => broken(5, "a frame of a type that is not known"),
    }
}

/// Begins a frame; [`close_frame`] fills in its size.
pub(super) fn open_frame(is_sasl: bool, channel: u16, out: &mut Vec<u8>) -> usize {
    let start = out.len();
    let [high, low] = channel.to_be_bytes();
    out.extend_from_slice(&[0, 0, 0, 0, 2, u8::from(is_sasl), high, low]);
    start
}

/// Ends the frame that begins at `start`, of which so many bytes of payload are still to be appended.
pub(super) fn close_frame(start: usize, payload_bytes: usize, out: &mut [u8]) {
    let size = (out.len() - start + payload_bytes) as u32;
    out[start..start + 4].copy_from_slice(&size.to_be_bytes());
}
