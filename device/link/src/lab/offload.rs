//! Super-frames: what the system hands over uncut, cut into the packets that a link carries, and joined again.
//!
//! With `IFF_VNET_HDR` a TUN device gives what TCP or a UDP sender with segmentation wrote at once, up to 64 kB,
//! after a header that says how to cut it (VIRTIO 1.2 section 5.1.6), and takes the like. Cutting is exact: each
//! packet has the headers and the checksum that it would have on a wire, and the model decides on it alone. What
//! this deliberately does not do: join packets of which one has not been cut off the other, as a receiver of a
//! network card would; what arrives joined was sent joined, and arrives at one time.

/// Bytes of the header before each frame: `struct virtio_net_hdr`.
pub(super) const HEADER_BYTES: usize = 10;
/// The checksum is still to be made: `VIRTIO_NET_HDR_F_NEEDS_CSUM`.
const NEEDS_CHECKSUM: u8 = 1;
/// `VIRTIO_NET_HDR_GSO_ECN`, a bit beside the kind.
const WITH_ECN: u8 = 0x80;
/// `VIRTIO_NET_HDR_GSO_TCPV4`, `_UDP_L4`, `_TCPV6`.
const TCP_OVER_IPV4: u8 = 1;
const UDP: u8 = 5;
const TCP_OVER_IPV6: u8 = 4;
/// Where the checksum is in a header of TCP (RFC 9293 section 3.1) and of UDP (RFC 768).
const TCP_CHECKSUM: usize = 16;
const UDP_CHECKSUM: usize = 6;
const FIN_AND_PSH: u8 = 0x09;
const CWR: u8 = 0x80;

/// How to cut a frame: `struct virtio_net_hdr`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Header {
    flags: u8,
    kind: u8,
    header_bytes: u16,
    segment_bytes: u16,
    checksum_start: u16,
    checksum_offset: u16,
}

impl Header {
    fn read(bytes: &[u8; HEADER_BYTES]) -> Self {
        let word = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        Self {
            flags: bytes[0],
            kind: bytes[1] & !WITH_ECN,
            header_bytes: word(2),
            segment_bytes: word(4),
            checksum_start: word(6),
            checksum_offset: word(8),
        }
    }

    fn bytes(self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        (bytes[0], bytes[1]) = (self.flags, self.kind);
        let words = [
            self.header_bytes,
            self.segment_bytes,
            self.checksum_start,
            self.checksum_offset,
        ];
        for (at, word) in words.into_iter().enumerate() {
            bytes[2 + 2 * at..4 + 2 * at].copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }
}

/// Where the parts of a packet begin that is one of many alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    kind: u8,
    /// Behind the headers of IP.
    transport: usize,
    /// Behind those of TCP or UDP.
    payload: usize,
    /// Bytes of payload in every packet but the last.
    size: usize,
}

impl Shape {
    /// How a frame is to be cut; nothing where it is a packet as it stands.
    fn of(header: Header, frame: &[u8]) -> Option<Self> {
        let transport = usize::from(header.checksum_start);
        let own = match header.kind {
            UDP => 8,
            TCP_OVER_IPV4 | TCP_OVER_IPV6 => 4 * usize::from(frame.get(transport + 12)? >> 4),
            _ => return None,
        };
        let size = usize::from(header.segment_bytes);
        let payload = transport + own;
        let least = if header.kind == UDP { 8 } else { 20 };
        let is_sound = transport >= 20 && own >= least && size > 0 && payload < frame.len();
        is_sound.then_some(Self {
            kind: header.kind,
            transport,
            payload,
            size,
        })
    }

    fn is_udp(self) -> bool {
        self.kind == UDP
    }

    /// Where the checksum of the transport is, in the packet.
    fn checksum(self) -> usize {
        match self.is_udp() {
            true => self.transport + UDP_CHECKSUM,
            false => self.transport + TCP_CHECKSUM,
        }
    }

    /// Writes the lengths, and the checksum of IPv4's header, that a packet of these bytes has.
    fn fit(self, packet: &mut [u8]) {
        let length = packet.len();
        if packet[0] >> 4 == 4 {
            put(packet, 2, length as u16);
            put(packet, 10, 0);
            let sum = sum_of(&packet[..self.transport.min(60)]);
            put(packet, 10, !fold(sum));
        } else {
            put(packet, 4, length.saturating_sub(40) as u16);
        }
        if self.is_udp() {
            put(packet, self.transport + 4, (length - self.transport) as u16);
        }
    }

    /// The sum over what TCP and UDP check of IP: addresses, protocol, length (RFC 9293 section 3.1, RFC 8200
    /// section 8.1).
    fn pseudo(self, packet: &[u8]) -> u64 {
        let addresses = match packet[0] >> 4 {
            4 => &packet[12..20],
            _ => packet.get(8..40).unwrap_or_default(),
        };
        let protocol = if self.is_udp() { 17 } else { 6 };
        sum_of(addresses) + protocol + (packet.len() - self.transport) as u64
    }

    /// Writes the transport's checksum.
    fn check(self, packet: &mut [u8]) {
        put(packet, self.checksum(), 0);
        let sum = self.pseudo(packet) + sum_of(&packet[self.transport..]);
        put(packet, self.checksum(), not_zero(!fold(sum)));
    }
}

/// What a packet was cut from, and which of its packets it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    frame: u64,
    index: u32,
    shape: Shape,
}

impl Piece {
    /// Whether it was cut off right behind the other.
    pub(super) fn continues(&self, other: &Piece) -> bool {
        self.frame == other.frame && self.index == other.index + 1
    }
}

/// Cuts frames, one after the other.
#[derive(Debug, Default)]
pub(super) struct Cutter {
    frames: u64,
    packet: Vec<u8>,
}

impl Cutter {
    /// Gives each packet of what was read, header and frame, to `each`.
    pub(super) fn cut(&mut self, read: &mut [u8], mut each: impl FnMut(&[u8], Option<Piece>)) {
        let Some((header, frame)) = read.split_first_chunk_mut::<HEADER_BYTES>() else {
            return;
        };
        let header = Header::read(header);
        let Some(shape) = Shape::of(header, frame) else {
            complete(header, frame);
            return each(frame, None);
        };
        self.frames += 1;
        let (headers, payload) = frame.split_at(shape.payload);
        let last = payload.len().div_ceil(shape.size) - 1;
        for (index, part) in payload.chunks(shape.size).enumerate() {
            self.packet.clear();
            self.packet.extend_from_slice(headers);
            self.packet.extend_from_slice(part);
            number(shape, &mut self.packet, index, index == last);
            shape.fit(&mut self.packet);
            shape.check(&mut self.packet);
            let piece = Piece {
                frame: self.frames,
                index: index as u32,
                shape,
            };
            each(&self.packet, Some(piece));
        }
    }
}

/// Writes what tells one packet of a frame from the next: IPv4's identification, TCP's sequence number, and the
/// flags that only the first or the last has (RFC 3168 section 6.1.2 for CWR).
fn number(shape: Shape, packet: &mut [u8], index: usize, is_last: bool) {
    if packet[0] >> 4 == 4 {
        put(packet, 4, word(packet, 4).wrapping_add(index as u16));
    }
    if shape.is_udp() {
        return;
    }
    let at = shape.transport + 4;
    let sequence = u32::from(word(packet, at)) << 16 | u32::from(word(packet, at + 2));
    let sequence = sequence.wrapping_add((index * shape.size) as u32);
    packet[at..at + 4].copy_from_slice(&sequence.to_be_bytes());
    if !is_last {
        packet[shape.transport + 13] &= !FIN_AND_PSH;
    }
    if index > 0 {
        packet[shape.transport + 13] &= !CWR;
    }
}

/// Makes the checksum that the sender left to its device.
fn complete(header: Header, packet: &mut [u8]) {
    let start = usize::from(header.checksum_start);
    let at = start + usize::from(header.checksum_offset);
    if header.flags & NEEDS_CHECKSUM == 0 || at + 2 > packet.len() {
        return;
    }
    // The field holds the sum of the addresses and the length already.
    let sum = sum_of(&packet[start..]);
    put(packet, at, not_zero(!fold(sum)));
}

/// Writes a packet to `out` as a device takes it.
pub(super) fn single(packet: &[u8], out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(&[0; HEADER_BYTES]);
    out.extend_from_slice(packet);
}

/// Writes packets to `out` that continue each other as the one frame that a device takes.
pub(super) fn join<'a>(
    piece: Piece,
    packets: impl IntoIterator<Item = &'a [u8]>,
    out: &mut Vec<u8>,
) {
    let shape = piece.shape;
    let mut packets = packets.into_iter();
    single(packets.next().unwrap_or_default(), out);
    let mut flags = 0;
    for packet in packets {
        out.extend_from_slice(packet.get(shape.payload..).unwrap_or_default());
        flags = packet.get(shape.transport + 13).copied().unwrap_or(0);
    }
    let (header, frame) = out.split_at_mut(HEADER_BYTES);
    if !shape.is_udp() {
        frame[shape.transport + 13] |= flags & FIN_AND_PSH;
    }
    shape.fit(frame);
    // The device is told to make the checksum, and finds the part of it that is IP's.
    let pseudo = fold(shape.pseudo(frame));
    put(frame, shape.checksum(), pseudo);
    let told = Header {
        flags: NEEDS_CHECKSUM,
        kind: shape.kind,
        header_bytes: shape.payload as u16,
        segment_bytes: shape.size as u16,
        checksum_start: shape.transport as u16,
        checksum_offset: (shape.checksum() - shape.transport) as u16,
    };
    header.copy_from_slice(&told.bytes());
}

fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn put(bytes: &mut [u8], at: usize, word: u16) {
    bytes[at..at + 2].copy_from_slice(&word.to_be_bytes());
}

/// The sum of the Internet's checksum (RFC 1071), not folded yet.
fn sum_of(bytes: &[u8]) -> u64 {
    let words = bytes.chunks_exact(4);
    let mut rest = [0; 4];
    rest[..words.remainder().len()].copy_from_slice(words.remainder());
    let word = |four: &[u8]| u64::from(u32::from_be_bytes([four[0], four[1], four[2], four[3]]));
    // Two words at a time sum to the same, once folded.
    words.map(word).sum::<u64>() + word(&rest)
}

fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// Zero would say that there is no checksum; all ones is the same number (RFC 768).
fn not_zero(checksum: u16) -> u16 {
    if checksum == 0 { 0xffff } else { checksum }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::packet::Segment;
    use crate::packet::tests::tcp;
    use proptest::prelude::*;

    /// A frame as the system hands it over, with its header.
    fn read(kind: u8, size: u16, transport: u16, frame: &[u8]) -> Vec<u8> {
        let header = Header {
            flags: NEEDS_CHECKSUM,
            kind,
            header_bytes: 0,
            segment_bytes: size,
            checksum_start: transport,
            checksum_offset: if kind == UDP { 6 } else { 16 },
        };
        [&header.bytes()[..], frame].concat()
    }

    fn cut(read: &[u8]) -> Vec<(Vec<u8>, Option<Piece>)> {
        let mut all = Vec::new();
        let mut read = read.to_vec();
        Cutter::default().cut(&mut read, |packet, piece| {
            all.push((packet.to_vec(), piece))
        });
        all
    }

    /// UDP over IPv6 from port 1000 to 5683.
    fn datagram(payload: usize) -> Vec<u8> {
        let mut packet = vec![0x60, 0, 0, 0, 0, 0, 17, 64];
        packet.extend([0xfd; 32]);
        packet.extend([0x03, 0xe8, 0x16, 0x33, 0, 0, 0, 0]);
        packet.extend((0..payload).map(|at| at as u8));
        packet
    }

    #[test]
    fn the_checksum_is_that_of_the_rfc() {
        // RFC 1071 section 3: these bytes sum to ddf2.
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(fold(sum_of(&bytes)), 0xddf2);
        assert_eq!(fold(sum_of(&bytes[..7])), 0xddf2 - 0xf7);
    }

    #[test]
    fn a_stream_is_cut_at_its_segments() {
        let mut frame = tcp(true, u32::MAX - 999, 0x80 | 0x10 | FIN_AND_PSH, 2_500);
        frame[4..6].copy_from_slice(&[0xff, 0xff]);
        let packets = cut(&read(TCP_OVER_IPV4, 1_000, 20, &frame));
        let read = |at: usize| Segment::read(&packets[at].0).unwrap();
        let sequences = [0, 1, 2].map(|at| read(at).tcp.unwrap().sequence);
        assert_eq!(sequences, [u32::MAX - 999, 0, 1_000]);
        assert_eq!(
            [0, 1, 2].map(|at| read(at).payload_bytes),
            [1_000, 1_000, 500]
        );
        assert_eq!([0, 1, 2].map(|at| packets[at].0[33]), [0x90, 0x10, 0x19]);
        assert_eq!([0, 1, 2].map(|at| word(&packets[at].0, 4)), [0xffff, 0, 1]);
        assert_eq!(
            [0, 1, 2].map(|at| word(&packets[at].0, 2)),
            [1_040, 1_040, 540]
        );
    }

    #[test]
    fn an_uncut_packet_gets_the_checksum_left_to_the_device() {
        let mut packet = tcp(true, 7, 2, 3);
        let shape = Shape {
            kind: TCP_OVER_IPV4,
            transport: 20,
            payload: 40,
            size: 3,
        };
        let pseudo = fold(shape.pseudo(&packet));
        put(&mut packet, 36, pseudo);
        let cut = cut(&read(0, 0, 20, &packet));
        assert_eq!((cut.len(), cut[0].1), (1, None));
        assert_eq!(
            fold(shape.pseudo(&packet) + sum_of(&cut[0].0[20..])),
            0xffff
        );
    }

    #[test]
    fn what_is_no_frame_is_left_as_it_is() {
        assert!(cut(&[0; 9]).is_empty());
        let short = read(TCP_OVER_IPV4, 1_000, 20, &[0x45; 24]);
        assert_eq!(cut(&short)[0].0, [0x45; 24]);
        let endless = read(UDP, 0, 40, &datagram(9));
        assert_eq!(cut(&endless).len(), 1);
    }

    proptest! {
        #[test]
        fn every_checksum_of_a_cut_packet_holds(
            size in 1u16..700, payload in 1usize..3_000, udp: bool,
        ) {
            let (kind, transport, frame) = match udp {
                true => (UDP, 40, datagram(payload)),
                false => (TCP_OVER_IPV4, 20, tcp(true, 9, 0x18, payload)),
            };
            let packets = cut(&read(kind, size, transport, &frame));
            prop_assert_eq!(packets.len(), payload.div_ceil(usize::from(size)));
            for (packet, piece) in &packets {
                let shape = piece.unwrap().shape;
                let transport = &packet[shape.transport..];
                prop_assert_eq!(fold(shape.pseudo(packet) + sum_of(transport)), 0xffff);
                if !udp {
                    prop_assert_eq!(fold(sum_of(&packet[..20])), 0xffff);
                }
            }
        }

        #[test]
        fn what_was_cut_and_joined_is_cut_into_the_same_packets(
            size in 1u16..700, payload in 1usize..3_000, from in 0usize..5, udp: bool,
        ) {
            let (kind, transport, frame) = match udp {
                true => (UDP, 40, datagram(payload)),
                false => (TCP_OVER_IPV4, 20, tcp(true, 9, 0x18, payload)),
            };
            let mut packets = cut(&read(kind, size, transport, &frame));
            packets.drain(..from.min(packets.len() - 1));
            let mut joined = Vec::new();
            let bytes = packets.iter().map(|(packet, _)| &packet[..]);
            join(packets[0].1.unwrap(), bytes, &mut joined);
            let again = cut(&joined);
            prop_assert_eq!(again.len(), packets.len());
            for ((one, piece), (other, _)) in packets.iter().zip(&again) {
                prop_assert_eq!(one, other);
                prop_assert!(piece.is_some());
            }
        }

        #[test]
        fn any_bytes_are_cut_without_harm(
            mut bytes in proptest::collection::vec(any::<u8>(), 0..200),
        ) {
            let mut most = 0;
            Cutter::default().cut(&mut bytes, |packet, _| most = most.max(packet.len()));
            prop_assert!(most <= 200);
        }
    }
}
