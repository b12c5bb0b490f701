//! IPv4 (RFC 791) as a host needs it that never sends fragments and takes none.

use crate::checksum::Sum;

pub(crate) const HEADER_BYTES: usize = 20;
pub(crate) const ICMP: u8 = 1;
pub(crate) const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;
const TIME_TO_LIVE: u8 = 64;
const DO_NOT_FRAGMENT: u32 = 0x4000;

/// What the header of a packet to us says.
#[derive(Clone, Copy)]
pub(crate) struct Header {
    pub(crate) source: u32,
    pub(crate) protocol: u8,
    /// Where the payload begins and ends.
    pub(crate) payload: (usize, usize),
    /// The sum of the pseudo-header that the sums of TCP and UDP include.
    pub(crate) sum: Sum,
}

/// Reads a packet; nothing where it is none, is damaged, is a fragment or is not for `own`.
pub(crate) fn read(packet: &[u8], own: u32) -> Option<Header> {
    let fixed = packet.first_chunk::<HEADER_BYTES>()?;
    let header_bytes = usize::from(fixed[0] & 15) * 4;
    let total = usize::from(u16::from_be_bytes([fixed[2], fixed[3]]));
    if fixed[0] >> 4 != 4 || header_bytes < HEADER_BYTES || total < header_bytes {
        return None;
    }
    // Neither more fragments nor an offset.
    if total > packet.len() || u16::from_be_bytes([fixed[6], fixed[7]]) & 0x3fff != 0 {
        return None;
    }
    let source = u32::from_be_bytes([fixed[12], fixed[13], fixed[14], fixed[15]]);
    let destination = u32::from_be_bytes([fixed[16], fixed[17], fixed[18], fixed[19]]);
    if destination != own || source == own || !is_unicast(source) {
        return None;
    }
    if Sum::of(0).with(packet.get(..header_bytes)?).complement() != 0 {
        return None;
    }
    Some(Header {
        source,
        protocol: fixed[9],
        payload: (header_bytes, total),
        sum: pseudo_header(fixed, fixed[9], total - header_bytes),
    })
}

/// What the sums of TCP and UDP include of IP's header (RFC 9293 section 3.1).
fn pseudo_header(header: &[u8; HEADER_BYTES], protocol: u8, payload: usize) -> Sum {
    Sum::of(u32::from(protocol) + payload as u32).with(&header[12..])
}

/// Neither this network nor multicast nor reserved (RFC 1122 section 3.2.1.3).
fn is_unicast(address: u32) -> bool {
    (1..0xe0).contains(&(address >> 24))
}

/// Writes the header of a packet with so many bytes in all; the sum of its pseudo-header.
#[inline(never)]
pub(crate) fn write(
    out: &mut [u8; HEADER_BYTES],
    [own, peer]: [u32; 2],
    protocol: u8,
    total: usize,
) -> Sum {
    [out[0], out[1]] = [0x45, 0];
    [out[2], out[3]] = (total as u16).to_be_bytes();
    // What is not fragmented needs no identification (RFC 6864 section 4.1).
    [out[4], out[5], out[6], out[7]] = DO_NOT_FRAGMENT.to_be_bytes();
    [out[8], out[9]] = [TIME_TO_LIVE, protocol];
    [out[10], out[11]] = [0, 0];
    [out[12], out[13], out[14], out[15]] = own.to_be_bytes();
    [out[16], out[17], out[18], out[19]] = peer.to_be_bytes();
    [out[10], out[11]] = Sum::of(0).with(out).complement().to_be_bytes();
    pseudo_header(out, protocol, total - HEADER_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: u32 = 0x0a09_0002;
    const PEER: u32 = 0x0a09_0001;

    fn packet() -> [u8; 24] {
        let mut packet = [7; 24];
        let header = packet.first_chunk_mut().expect("long enough");
        write(header, [PEER, OWN], TCP, 24);
        packet
    }

    #[test]
    fn what_is_written_is_read() {
        let read = read(&packet(), OWN).expect("a packet");
        assert_eq!((read.source, read.protocol), (PEER, TCP));
        assert_eq!(read.payload, (20, 24));
    }

    #[test]
    fn a_damaged_or_foreign_packet_is_not_taken() {
        assert!(read(&packet(), OWN + 1).is_none());
        for at in 0..20 {
            let mut damaged = packet();
            damaged[at] ^= 1;
            assert!(read(&damaged, OWN).is_none(), "byte {at}");
        }
        assert!(read(&packet()[..23], OWN).is_none());
        assert!(read(&[], OWN).is_none());
    }

    #[test]
    fn a_fragment_is_not_taken() {
        let mut fragment = packet();
        fragment[6] = 0x20;
        [fragment[10], fragment[11]] = [0, 0];
        let sum = Sum::default().with(&fragment[..20]).complement();
        [fragment[10], fragment[11]] = sum.to_be_bytes();
        assert!(read(&fragment, OWN).is_none());
    }
}
