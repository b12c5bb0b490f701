//! Datagrams between the board and this side of its line, as packets of IPv4.

use crate::host::{BOARD, OWN};
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{IpProtocol, Ipv4Address, Ipv4Packet, Ipv4Repr, TcpPacket, UdpPacket, UdpRepr};

/// The hops that RFC 1700 recommends.
const HOPS: u8 = 64;

/// A datagram from a port to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Datagram {
    pub(crate) from: u16,
    pub(crate) to: u16,
    pub(crate) bytes: Vec<u8>,
}

/// What is inside of a packet to this side; nothing in one that is not whole.
fn inside(packet: &[u8], protocol: IpProtocol) -> Option<&[u8]> {
    let packet = Ipv4Packet::new_checked(packet).ok()?;
    let is_ours = packet.dst_addr() == Ipv4Address::from(OWN) && packet.next_header() == protocol;
    (is_ours && packet.verify_checksum()).then(|| packet.payload())
}

impl Datagram {
    /// The board's datagram in a packet.
    pub(crate) fn read(packet: &[u8]) -> Option<Self> {
        let datagram = UdpPacket::new_checked(inside(packet, IpProtocol::Udp)?).ok()?;
        let [board, own] = [BOARD, OWN].map(|it| Ipv4Address::from(it).into());
        datagram.verify_checksum(&board, &own).then(|| Self {
            from: datagram.src_port(),
            to: datagram.dst_port(),
            bytes: datagram.payload().to_vec(),
        })
    }

    /// The packet in which it goes to the board.
    pub(crate) fn write(&self) -> Vec<u8> {
        let (own, board) = (Ipv4Address::from(OWN), Ipv4Address::from(BOARD));
        let datagram = UdpRepr {
            src_port: self.from,
            dst_port: self.to,
        };
        let head = Ipv4Repr {
            src_addr: own,
            dst_addr: board,
            next_header: IpProtocol::Udp,
            payload_len: datagram.header_len() + self.bytes.len(),
            hop_limit: HOPS,
        };
        let sums = ChecksumCapabilities::default();
        let mut packet = vec![0; head.buffer_len() + head.payload_len];
        let mut outer = Ipv4Packet::new_unchecked(&mut packet);
        head.emit(&mut outer, &sums);
        let mut inner = UdpPacket::new_unchecked(outer.payload_mut());
        let copy = |place: &mut [u8]| place.copy_from_slice(&self.bytes);
        datagram.emit(
            &mut inner,
            &own.into(),
            &board.into(),
            self.bytes.len(),
            copy,
            &sums,
        );
        packet
    }
}

/// The ports of a packet by which the board wants to be connected: its own and the server's.
pub(crate) fn opening(packet: &[u8]) -> Option<(u16, u16)> {
    let segment = TcpPacket::new_checked(inside(packet, IpProtocol::Tcp)?).ok()?;
    let is_opening = segment.syn() && !segment.ack() && !segment.rst();
    is_opening.then(|| (segment.src_port(), segment.dst_port()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_is_whole_or_none() {
        let datagram = Datagram {
            from: 5_683,
            to: 49_152,
            bytes: b"21.5".to_vec(),
        };
        let mut packet = datagram.write();
        assert_eq!(packet.len(), 20 + 8 + 4);
        // It goes to the board, and is not of it.
        assert_eq!(Datagram::read(&packet), None);
        packet[12..20].rotate_left(4);
        assert_eq!(Datagram::read(&packet), Some(datagram));
        packet[30] ^= 1;
        assert_eq!(Datagram::read(&packet), None);
        assert_eq!(Datagram::read(&packet[..25]), None);
        assert_eq!(opening(&packet), None);
    }
}
