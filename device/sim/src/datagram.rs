//! A client's datagrams: IPv4 and UDP as smoltcp writes and reads them.

use crate::board::ADDRESS;
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{IpProtocol, Ipv4Address, Ipv4Packet, Ipv4Repr, UdpPacket, UdpRepr};

/// The port of CoAP (RFC 7252 section 6.1).
const PORT: u16 = 5_683;
const HOPS: u8 = 64;

/// A packet with a message from a host and port to the board.
pub(crate) fn write(host: [u8; 4], port: u16, message: &[u8]) -> Vec<u8> {
    let udp = UdpRepr {
        src_port: port,
        dst_port: PORT,
    };
    let [from, to] = [host, ADDRESS].map(Ipv4Address::from);
    let ip = Ipv4Repr {
        src_addr: from,
        dst_addr: to,
        next_header: IpProtocol::Udp,
        payload_len: udp.header_len() + message.len(),
        hop_limit: HOPS,
    };
    let mut bytes = vec![0; ip.buffer_len() + ip.payload_len];
    let sums = ChecksumCapabilities::default();
    let mut packet = Ipv4Packet::new_unchecked(&mut bytes);
    ip.emit(&mut packet, &sums);
    let mut datagram = UdpPacket::new_unchecked(packet.payload_mut());
    let put = |place: &mut [u8]| place.copy_from_slice(message);
    udp.emit(
        &mut datagram,
        &from.into(),
        &to.into(),
        message.len(),
        put,
        &sums,
    );
    bytes
}

/// The message in a packet whose lengths and sums are right.
pub(crate) fn read(packet: &[u8]) -> Option<&[u8]> {
    let sums = ChecksumCapabilities::default();
    let packet = Ipv4Packet::new_checked(packet).ok()?;
    let ip = Ipv4Repr::parse(&packet, &sums).ok()?;
    let datagram = UdpPacket::new_checked(packet.payload()).ok()?;
    let (from, to) = (ip.src_addr.into(), ip.dst_addr.into());
    UdpRepr::parse(&datagram, &from, &to, &sums).ok()?;
    Some(datagram.payload())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_read_as_written_and_not_with_a_wrong_bit() {
        let mut packet = write([10, 9, 0, 1], 2_048, b"abc");
        assert_eq!(packet.len(), 31);
        assert_eq!(read(&packet), Some(&b"abc"[..]));
        packet[29] ^= 1;
        assert_eq!(read(&packet), None);
    }
}
