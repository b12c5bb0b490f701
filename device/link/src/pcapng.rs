//! Writes packets down as pcapng (draft-ietf-opsawg-pcapng), for Wireshark and the like.
//!
//! Two interfaces, `up` and `down`; a packet is stamped with the time at which it came to the link, and
//! one that the link did not carry has a comment that says why.

use crate::pipe::{Cause, Fate};
use crate::time::Nanos;
use crate::way::Way;
use std::io::{self, Write};

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const PACKET: u32 = 6;
/// Packets begin with the header of IPv4 or IPv6.
const LINKTYPE_RAW: u16 = 101;
const OPTION_COMMENT: u16 = 1;
const OPTION_NAME: u16 = 2;
const OPTION_RESOLUTION: u16 = 9;
/// Times are in nanoseconds: ten to minus this.
const NANOSECONDS: u8 = 9;

/// Writes a capture.
pub struct Capture<W> {
    out: W,
    /// Nanoseconds since 1970 when the link was made.
    epoch: u64,
    /// Bytes of a packet that are kept; 0 are all.
    snap: u32,
}

impl<W: Write> Capture<W> {
    /// Begins one; `epoch` is the time in nanoseconds since 1970 at which the link's own began. Of each packet the
    /// first `snap` bytes are kept, of `snap` 0 all.
    pub fn begin(mut out: W, epoch: u64, snap: u32) -> io::Result<Self> {
        let mut section = Vec::new();
        section.extend(0x1a2b_3c4d_u32.to_le_bytes());
        section.extend([1, 0, 0, 0]);
        section.extend(u64::MAX.to_le_bytes());
        block(&mut out, SECTION, &section)?;
        for way in Way::BOTH {
            let mut interface = Vec::new();
            interface.extend(LINKTYPE_RAW.to_le_bytes());
            interface.extend([0, 0]);
            // To readers, too, 0 is no limit.
            interface.extend(snap.to_le_bytes());
            option(&mut interface, OPTION_NAME, way.name().as_bytes());
            option(&mut interface, OPTION_RESOLUTION, &[NANOSECONDS]);
            option(&mut interface, 0, &[]);
            block(&mut out, INTERFACE, &interface)?;
        }
        Ok(Self { out, epoch, snap })
    }

    /// Writes a packet that came at `at`, and what becomes of it.
    pub fn packet(&mut self, way: Way, at: Nanos, packet: &[u8], fate: Fate) -> io::Result<()> {
        let kept = self.kept(packet);
        let stamp = self.epoch + at;
        let mut body = Vec::with_capacity(kept.len() + 64);
        body.extend((way as u32).to_le_bytes());
        body.extend(((stamp >> 32) as u32).to_le_bytes());
        body.extend((stamp as u32).to_le_bytes());
        body.extend((kept.len() as u32).to_le_bytes());
        body.extend((packet.len() as u32).to_le_bytes());
        padded(&mut body, kept);
        if let Fate::Dropped(cause) = fate {
            option(&mut body, OPTION_COMMENT, comment(cause));
            option(&mut body, 0, &[]);
        }
        block(&mut self.out, PACKET, &body)
    }

    fn kept<'a>(&self, packet: &'a [u8]) -> &'a [u8] {
        match self.snap {
            0 => packet,
            snap => &packet[..packet.len().min(snap as usize)],
        }
    }

    /// Ends it.
    pub fn end(mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn comment(cause: Cause) -> &'static [u8] {
    match cause {
        Cause::Queue => b"dropped: the queue was full",
        Cause::Loss => b"dropped: lost on the link",
    }
}

fn block(out: &mut impl Write, kind: u32, body: &[u8]) -> io::Result<()> {
    let length = (body.len() as u32 + 12).to_le_bytes();
    out.write_all(&kind.to_le_bytes())?;
    out.write_all(&length)?;
    out.write_all(body)?;
    out.write_all(&length)
}

fn option(out: &mut Vec<u8>, code: u16, value: &[u8]) {
    out.extend(code.to_le_bytes());
    out.extend((value.len() as u16).to_le_bytes());
    padded(out, value);
}

/// Everything is a whole number of 32-bit words.
fn padded(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(bytes);
    out.resize(out.len().next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Blocks as a reader walks them: kind and body; the lengths before and after must agree.
    fn blocks(mut bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
        let word =
            |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let mut all = Vec::new();
        while !bytes.is_empty() {
            let length = word(bytes, 4) as usize;
            assert_eq!((length % 4, word(bytes, length - 4) as usize), (0, length));
            all.push((word(bytes, 0), bytes[8..length - 4].to_vec()));
            bytes = &bytes[length..];
        }
        all
    }

    #[test]
    fn a_capture_is_a_section_two_interfaces_and_its_packets() {
        let mut out = Vec::new();
        let mut capture = Capture::begin(&mut out, 1 << 40, 96).unwrap();
        let lost = Fate::Dropped(Cause::Loss);
        capture
            .packet(Way::Up, 5, &[0x45; 101], Fate::Arrives(9))
            .unwrap();
        capture.packet(Way::Down, 6, &[0x60; 3], lost).unwrap();
        capture.end().unwrap();
        let blocks = blocks(&out);
        let kinds: Vec<_> = blocks.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds, [SECTION, INTERFACE, INTERFACE, PACKET, PACKET]);
        let (_, first) = &blocks[3];
        assert_eq!(first[..4], [0; 4], "interface up");
        assert_eq!(first[4..12], [0, 1, 0, 0, 5, 0, 0, 0]);
        assert_eq!((first[12], first[16], first.len()), (96, 101, 20 + 96));
        let (_, second) = &blocks[4];
        assert!(second.windows(4).any(|word| word == b"lost"));
    }

    #[test]
    fn a_capture_without_a_limit_has_packets_whole() {
        let mut out = Vec::new();
        let mut capture = Capture::begin(&mut out, 0, 0).unwrap();
        let packet: Vec<u8> = (0..1500_u32).map(|n| n as u8).collect();
        capture
            .packet(Way::Up, 5, &packet, Fate::Arrives(9))
            .unwrap();
        capture.end().unwrap();
        let blocks = blocks(&out);
        assert_eq!(blocks[1].1[4..8], [0; 4], "no limit");
        assert_eq!(blocks[3].1[20..], packet);
    }
}
