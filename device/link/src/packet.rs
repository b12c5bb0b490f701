//! What a packet is, as far as it is counted: IPv4 (RFC 791), IPv6 (RFC 8200), TCP (RFC 9293), UDP (RFC 768).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

const TCP: u8 = 6;
const UDP: u8 = 17;
/// Extension headers of IPv6 that are 8 bytes and a length: hop-by-hop, routing, destination options.
const OPTIONS: [u8; 3] = [0, 43, 60];
const FRAGMENT: u8 = 44;

/// A packet's addresses and lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Protocol above IP: 6 TCP, 17 UDP, 1 and 58 ICMP.
    pub protocol: u8,
    /// Where it comes from; port 0 where there are none.
    pub source: SocketAddr,
    /// Where it goes.
    pub destination: SocketAddr,
    /// The whole packet, in bytes.
    pub ip_bytes: u32,
    /// Behind the IP headers.
    pub transport_bytes: u32,
    /// Behind TCP's or UDP's header.
    pub payload_bytes: u32,
    /// What TCP says.
    pub tcp: Option<TcpPart>,
}

/// The part of a TCP header that tells phases and repetitions apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpPart {
    /// Sequence number of the first byte.
    pub sequence: u32,
    /// SYN.
    pub syn: bool,
    /// FIN.
    pub fin: bool,
    /// RST.
    pub rst: bool,
}

impl Segment {
    /// Reads a packet; nothing where it is none.
    pub fn read(packet: &[u8]) -> Option<Self> {
        match packet.first()? >> 4 {
            4 => Self::of_ipv4(packet),
            6 => Self::of_ipv6(packet),
            _ => None,
        }
    }

    fn of_ipv4(packet: &[u8]) -> Option<Self> {
        let header = usize::from(packet[0] & 15) * 4;
        let address = |at: usize| Some(IpAddr::V4(Ipv4Addr::from(bytes::<4>(packet, at)?)));
        let ends = [address(12)?, address(16)?];
        let fragment = u16::from_be_bytes(bytes(packet, 6)?) & 0x1fff;
        let protocol = *packet.get(9)?;
        Self::of_transport(packet, header, protocol, ends, fragment == 0)
    }

    fn of_ipv6(packet: &[u8]) -> Option<Self> {
        let address = |at: usize| Some(IpAddr::V6(Ipv6Addr::from(bytes::<16>(packet, at)?)));
        let ends = [address(8)?, address(24)?];
        let (mut next, mut at, mut is_first) = (*packet.get(6)?, 40, true);
        while OPTIONS.contains(&next) || next == FRAGMENT {
            let [following, length] = bytes(packet, at)?;
            if next == FRAGMENT {
                is_first &= u16::from_be_bytes(bytes(packet, at + 2)?) & 0xfff8 == 0;
            }
            at += match next {
                FRAGMENT => 8,
                _ => 8 * (usize::from(length) + 1),
            };
            next = following;
        }
        Self::of_transport(packet, at, next, ends, is_first)
    }

    /// Only a first fragment has ports.
    fn of_transport(
        packet: &[u8],
        at: usize,
        protocol: u8,
        [source, destination]: [IpAddr; 2],
        is_first: bool,
    ) -> Option<Self> {
        let transport = packet.get(at..)?;
        let has_ports = is_first && matches!(protocol, TCP | UDP);
        let port = |at| has_ports.then(|| bytes(transport, at).map(u16::from_be_bytes));
        let tcp = (is_first && protocol == TCP).then(|| TcpPart::read(transport));
        let header = match (is_first, protocol) {
            (true, TCP) => usize::from(transport.get(12)? >> 4) * 4,
            (true, UDP) => 8,
            _ => 0,
        };
        Some(Self {
            protocol,
            source: SocketAddr::new(source, port(0).flatten().unwrap_or(0)),
            destination: SocketAddr::new(destination, port(2).flatten().unwrap_or(0)),
            ip_bytes: packet.len() as u32,
            transport_bytes: transport.len() as u32,
            payload_bytes: transport.len().saturating_sub(header) as u32,
            tcp: tcp.flatten(),
        })
    }
}

impl TcpPart {
    fn read(transport: &[u8]) -> Option<Self> {
        let flags = *transport.get(13)?;
        Some(Self {
            sequence: u32::from_be_bytes(bytes(transport, 4)?),
            fin: flags & 1 != 0,
            syn: flags & 2 != 0,
            rst: flags & 4 != 0,
        })
    }
}

fn bytes<const N: usize>(packet: &[u8], at: usize) -> Option<[u8; N]> {
    packet.get(at..at + N)?.try_into().ok()
}

#[cfg(test)]
pub(crate) mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    /// An IPv4 packet of a TCP segment, from 10.77.0.1:1000 to 10.77.0.2:80 or the other way.
    pub(crate) fn tcp(up: bool, sequence: u32, flags: u8, payload: usize) -> Vec<u8> {
        let mut packet = vec![0x45, 0];
        packet.extend((40 + payload as u16).to_be_bytes());
        packet.extend([0, 0, 0, 0, 64, TCP, 0, 0]);
        let ends = [[10, 77, 0, 1], [10, 77, 0, 2]];
        let ports = [1000u16, 80];
        let [from, to] = if up { [0, 1] } else { [1, 0] };
        packet.extend(ends[from].iter().chain(&ends[to]));
        packet.extend(ports[from].to_be_bytes());
        packet.extend(ports[to].to_be_bytes());
        packet.extend(sequence.to_be_bytes());
        packet.extend([0, 0, 0, 0, 0x50, flags, 0, 0, 0, 0, 0, 0]);
        packet.resize(40 + payload, 0);
        packet
    }

    #[test]
    fn a_tcp_segment_is_read_with_its_payload_and_flags() {
        let segment = Segment::read(&tcp(true, 7, 0x12, 5)).unwrap();
        assert_eq!(segment.source.to_string(), "10.77.0.1:1000");
        assert_eq!(segment.destination.to_string(), "10.77.0.2:80");
        let lengths = (
            segment.ip_bytes,
            segment.transport_bytes,
            segment.payload_bytes,
        );
        assert_eq!(lengths, (45, 25, 5));
        let part = segment.tcp.unwrap();
        assert_eq!(
            (part.sequence, part.syn, part.fin, part.rst),
            (7, true, false, false)
        );
    }

    #[test]
    fn a_datagram_behind_options_of_ipv6_is_read() {
        let mut packet = vec![0x60, 0, 0, 0, 0, 18, 60, 64];
        packet.extend([0xfd; 16]);
        packet.extend([0xfe; 16]);
        packet.extend([UDP, 0, 1, 4, 0, 0, 0, 0]);
        packet.extend([0x16, 0x33, 0, 9, 0, 10, 0, 0, b'h', b'i']);
        let segment = Segment::read(&packet).unwrap();
        assert_eq!((segment.protocol, segment.source.port()), (UDP, 5683));
        assert_eq!((segment.transport_bytes, segment.payload_bytes), (10, 2));
    }

    #[test]
    fn a_later_fragment_has_no_ports() {
        let mut packet = tcp(true, 0, 0, 8);
        packet[7] = 1;
        let segment = Segment::read(&packet).unwrap();
        assert_eq!((segment.source.port(), segment.tcp), (0, None));
        assert_eq!(segment.payload_bytes, segment.transport_bytes);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(packet in proptest::collection::vec(any::<u8>(), 0..120)) {
            if let Some(segment) = Segment::read(&packet) {
                prop_assert!(segment.payload_bytes <= segment.transport_bytes);
                prop_assert!(segment.transport_bytes <= segment.ip_bytes);
            }
        }
    }
}
