//! Frames: their headers read and written (RFC 6455 section 5.2).

use crate::close::Close;
use crate::reader::Failure;

/// What a frame is; unknown values survive until somebody objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opcode(pub u8);

impl Opcode {
    /// Goes on with the message begun.
    pub const CONTINUATION: Self = Self(0x0);
    /// A message of UTF-8 text.
    pub const TEXT: Self = Self(0x1);
    /// A message of bytes.
    pub const BINARY: Self = Self(0x2);
    /// The last frame of its sender.
    pub const CLOSE: Self = Self(0x8);
    /// Asks for a pong.
    pub const PING: Self = Self(0x9);
    /// Answers a ping.
    pub const PONG: Self = Self(0xa);

    /// Says whether it is a control frame (RFC 6455 section 5.5).
    pub fn is_control(self) -> bool {
        self.0 & 0x8 != 0
    }
}

/// A frame's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Whether the message ends with it.
    pub fin: bool,
    /// Whether the message is deflated (RFC 7692 section 6).
    pub rsv1: bool,
    /// What it is.
    pub opcode: Opcode,
    /// The masking key, if masked.
    pub mask: Option<[u8; 4]>,
    /// Payload bytes.
    pub length: u64,
}

impl Header {
    /// Reads a header and its own length; `None` while bytes are missing.
    pub fn read(bytes: &[u8]) -> Result<Option<(Self, usize)>, Failure> {
        let [first, second, rest @ ..] = bytes else {
            return Ok(None);
        };
        if first & 0x30 != 0 {
            return Err(Failure::protocol("reserved bit 2 or 3 is set"));
        }
        let Some((length, at)) = read_length(second & 0x7f, rest)? else {
            return Ok(None);
        };
        let masked = second & 0x80 != 0;
        let mask = match (masked, rest.get(at..at + 4)) {
            (false, _) => None,
            (true, None) => return Ok(None),
            (true, Some(key)) => key.try_into().ok(),
        };
        let header = Self {
            fin: first & 0x80 != 0,
            rsv1: first & 0x40 != 0,
            opcode: Opcode(first & 0x0f),
            mask,
            length,
        };
        Ok(Some((header, 2 + at + if masked { 4 } else { 0 })))
    }

    /// Appends the header.
    pub fn write(&self, out: &mut Vec<u8>) {
        let bits = (u8::from(self.fin) << 7) | (u8::from(self.rsv1) << 6) | self.opcode.0;
        let masked = u8::from(self.mask.is_some()) << 7;
        match self.length {
            short @ 0..=125 => out.extend_from_slice(&[bits, masked | short as u8]),
            medium @ 126..=0xffff => {
                out.extend_from_slice(&[bits, masked | 126]);
                out.extend_from_slice(&(medium as u16).to_be_bytes());
            }
            long => {
                out.extend_from_slice(&[bits, masked | 127]);
                out.extend_from_slice(&long.to_be_bytes());
            }
        }
        out.extend_from_slice(self.mask.as_ref().map_or(&[], |key| key.as_slice()));
    }
}

/// The payload's length and how many bytes said so; the shortest form is a MUST (RFC 6455 section 5.2).
fn read_length(short: u8, rest: &[u8]) -> Result<Option<(u64, usize)>, Failure> {
    let (length, at, least) = match short {
        126 => match rest.first_chunk::<2>() {
            None => return Ok(None),
            Some(bytes) => (u64::from(u16::from_be_bytes(*bytes)), 2, 126),
        },
        127 => match rest.first_chunk::<8>() {
            None => return Ok(None),
            Some(bytes) => (u64::from_be_bytes(*bytes), 8, 0x1_0000),
        },
        length => (u64::from(length), 0, 0),
    };
    if length < least || length > i64::MAX as u64 {
        return Err(Failure::protocol("a length is not in its shortest form"));
    }
    Ok(Some((length, at)))
}

/// Appends a whole unmasked frame, as servers send them.
pub fn write_frame(opcode: Opcode, payload: &[u8], out: &mut Vec<u8>) {
    whole(opcode, payload, None).write(out);
    out.extend_from_slice(payload);
}

/// Appends a whole frame masked with a key drawn at random, as clients send them (RFC 6455 section 5.3).
pub fn write_masked(opcode: Opcode, payload: &[u8], key: [u8; 4], out: &mut Vec<u8>) {
    whole(opcode, payload, Some(key)).write(out);
    let start = out.len();
    out.extend_from_slice(payload);
    mask(&mut out[start..], key);
}

/// Appends a close frame; the reason is cut where a control frame ends.
pub fn write_close(close: &Close, key: Option<[u8; 4]>, out: &mut Vec<u8>) {
    let payload = close.payload();
    match key {
        None => write_frame(Opcode::CLOSE, &payload, out),
        Some(key) => write_masked(Opcode::CLOSE, &payload, key, out),
    }
}

fn whole(opcode: Opcode, payload: &[u8], mask: Option<[u8; 4]>) -> Header {
    Header {
        fin: true,
        rsv1: false,
        opcode,
        mask,
        length: payload.len() as u64,
    }
}

/// Masks or unmasks in place.
pub fn mask(bytes: &mut [u8], key: [u8; 4]) {
    let wide = u64::from_ne_bytes([
        key[0], key[1], key[2], key[3], key[0], key[1], key[2], key[3],
    ]);
    let mut words = bytes.chunks_exact_mut(8);
    for word in &mut words {
        let mut eight = [0; 8];
        eight.copy_from_slice(word);
        word.copy_from_slice(&(u64::from_ne_bytes(eight) ^ wide).to_ne_bytes());
    }
    let rest = words.into_remainder().iter_mut();
    rest.zip(key.iter().cycle())
        .for_each(|(byte, key)| *byte ^= key);
}
