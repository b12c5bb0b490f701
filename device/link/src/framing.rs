//! What a packet weighs on the wire.

/// How the link layer wraps a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Not at all: rates are those of the network layer.
    None,
    /// This many bytes more a packet.
    Overhead(u32),
    /// SLIP (RFC 1055): an END before and after, and an escape before each END and ESC within.
    Slip,
    /// Frames of at most `bytes`, each with `header` bytes of its own, as IEEE 802.15.4 has them.
    Frames {
        /// Bytes of a whole frame.
        bytes: u32,
        /// Bytes of each frame that carry nothing of the packet.
        header: u32,
    },
}

const END: u8 = 0xc0;
const ESC: u8 = 0xdb;

impl Framing {
    /// Bytes on the wire for a packet.
    pub fn wire_bytes(self, packet: &[u8]) -> u64 {
        let length = packet.len() as u64;
        match self {
            Framing::None => length,
            Framing::Overhead(bytes) => length + u64::from(bytes),
            Framing::Slip => length + 2 + escapes(packet),
            Framing::Frames { bytes, header } => {
                let room = u64::from(bytes.saturating_sub(header)).max(1);
                length + length.div_ceil(room) * u64::from(header)
            }
        }
    }
}

fn escapes(packet: &[u8]) -> u64 {
    let escaped = packet.iter().filter(|&&byte| byte == END || byte == ESC);
    escaped.count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slip_has_two_ends_and_a_byte_more_for_each_escape() {
        assert_eq!(Framing::Slip.wire_bytes(b"abc"), 5);
        assert_eq!(Framing::Slip.wire_bytes(&[1, END, 2, ESC]), 8);
    }

    #[test]
    fn a_packet_takes_as_many_frames_as_it_needs() {
        let frames = Framing::Frames {
            bytes: 127,
            header: 27,
        };
        assert_eq!(frames.wire_bytes(&[0; 100]), 127);
        assert_eq!(frames.wire_bytes(&[0; 101]), 101 + 54);
        assert_eq!(frames.wire_bytes(&[0; 1280]), 1280 + 13 * 27);
    }
}
