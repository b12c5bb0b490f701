//! Segments of TCP (RFC 9293 section 3.1).

use crate::checksum::Sum;
use crate::ipv4;
use crate::limits::RECEIVE_WINDOW;

pub(crate) const FIN: u8 = 1;
pub(crate) const SYN: u8 = 2;
pub(crate) const RST: u8 = 4;
pub(crate) const PSH: u8 = 8;
pub(crate) const ACK: u8 = 16;
/// Headers of IPv4 and TCP, without options.
pub(crate) const HEADERS_BYTES: usize = ipv4::HEADER_BYTES + HEADER_BYTES;
const HEADER_BYTES: usize = 20;
const DEFAULT_MSS: u16 = 536;

/// A segment's header: the peer's port, and what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) port: u16,
    pub(crate) sequence: u32,
    pub(crate) acknowledgement: u32,
    pub(crate) flags: u8,
    pub(crate) window: u16,
}

impl Segment {
    pub(crate) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Length in sequence numbers.
    pub(crate) fn length(&self, payload: &[u8]) -> u32 {
        payload.len() as u32 + u32::from(self.has(SYN)) + u32::from(self.has(FIN))
    }
}

/// Reads a segment: the port that it is for, its header, the options, the payload; `sum` is that of the
/// pseudo-header.
pub(crate) fn read(bytes: &[u8], sum: Sum) -> Option<(u16, Segment, &[u8], &[u8])> {
    let fixed = bytes.first_chunk::<HEADER_BYTES>()?;
    let header_bytes = usize::from(fixed[12] >> 4) * 4;
    let options = bytes.get(HEADER_BYTES..header_bytes)?;
    let payload = bytes.get(header_bytes..)?;
    let number = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
    let long = |at: usize| u32::from(number(at)) << 16 | u32::from(number(at + 2));
    if number(0) == 0 || sum.with(bytes).complement() != 0 {
        return None;
    }
    let segment = Segment {
        port: number(0),
        sequence: long(4),
        acknowledgement: long(8),
        flags: fixed[13],
        window: number(14),
    };
    Some((number(2), segment, options, payload))
}

/// The largest segment that the options of a SYN allow (RFC 9293 section 3.7.1).
pub(crate) fn largest_segment(mut options: &[u8]) -> u16 {
    loop {
        options = match *options {
            [1, ref rest @ ..] => rest,
            [2, 4, high, low, ..] => return u16::from_be_bytes([high, low]),
            [kind, length, ..] if kind != 0 && length >= 2 => {
                match options.get(usize::from(length)..) {
                    Some(rest) => rest,
                    None => return DEFAULT_MSS,
                }
            }
            _ => return DEFAULT_MSS,
        }
    }
}

/// Writes the headers before a payload that stands in the packet already; the packet's bytes.
pub(crate) fn write(
    packet: &mut [u8],
    ends: [u32; 2],
    own: u16,
    segment: &Segment,
    payload: usize,
) -> usize {
    let total = HEADERS_BYTES + payload;
    let Some((ip, tcp)) = packet
        .get_mut(..total)
        .and_then(|packet| packet.split_first_chunk_mut::<{ ipv4::HEADER_BYTES }>())
    else {
        return 0;
    };
    let sum = ipv4::write(ip, ends, ipv4::TCP, total);
    if let Some(header) = tcp.first_chunk_mut::<HEADER_BYTES>() {
        [header[0], header[1]] = own.to_be_bytes();
        [header[2], header[3]] = segment.port.to_be_bytes();
        [header[4], header[5], header[6], header[7]] = segment.sequence.to_be_bytes();
        [header[8], header[9], header[10], header[11]] = segment.acknowledgement.to_be_bytes();
        header[12] = (HEADER_BYTES as u8 / 4) << 4;
        header[13] = segment.flags;
        [header[14], header[15]] = segment.window.to_be_bytes();
        [header[16], header[17], header[18], header[19]] = [0; 4];
    }
    let sum = sum.with(tcp).complement();
    if let Some(place) = tcp.get_mut(16..18) {
        place.copy_from_slice(&sum.to_be_bytes());
    }
    total
}

/// A segment without payload.
pub(crate) fn bare(port: u16, sequence: u32, acknowledgement: u32, flags: u8) -> Segment {
    Segment {
        port,
        sequence,
        acknowledgement,
        flags,
        window: RECEIVE_WINDOW,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_largest_segment_is_found_behind_other_options() {
        assert_eq!(largest_segment(&[]), 536);
        assert_eq!(largest_segment(&[1, 1, 2, 4, 5, 180]), 1460);
        assert_eq!(
            largest_segment(&[4, 2, 8, 10, 0, 0, 0, 0, 0, 0, 0, 0, 2, 4, 1, 0]),
            256
        );
        assert_eq!(largest_segment(&[0, 2, 4, 1, 0]), 536);
        assert_eq!(largest_segment(&[8, 0, 2, 4]), 536);
        assert_eq!(largest_segment(&[8, 200]), 536);
    }

    proptest! {
        #[test]
        fn any_options_are_read(options in proptest::collection::vec(any::<u8>(), 0..40)) {
            largest_segment(&options);
        }

        #[test]
        fn what_is_written_is_read(payload in proptest::collection::vec(any::<u8>(), 0..40)) {
            let (own, peer) = (0x0a09_0002, 0x0a09_0001);
            let segment = Segment { flags: ACK | PSH, ..bare(5000, 1 << 31, 7, 0) };
            let mut packet = [0; 80];
            packet[40..40 + payload.len()].copy_from_slice(&payload);
            let total = write(&mut packet, [own, peer], 80, &segment, payload.len());
            let header = ipv4::read(&packet[..total], peer).expect("a packet");
            // Read at the other end, where both ports are the other way round.
            let segment_bytes = &packet[header.payload.0..total];
            let (port, read, options, text) = read(segment_bytes, header.sum).expect("a segment");
            prop_assert_eq!(Segment { port, ..read }, segment);
            prop_assert!(read.port == 80 && options.is_empty());
            prop_assert_eq!(text, &payload[..]);
        }
    }
}
