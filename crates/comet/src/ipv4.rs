//! IPv4 (RFC 791) as a host needs it that never sends fragments and takes none.

use crate::checksum::Sum;

pub(crate) const HEADER_BYTES: usize = 20;
pub(crate) const ICMP: u8 = 1;
pub(crate) const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;
const TIME_TO_LIVE: u8 = 64;
const DO_NOT_FRAGMENT: u8 = 0x40;

/// What the header of a packet to us says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) source: u32,
    pub(crate) protocol: u8,
    /// Where the payload begins and ends.
    pub(crate) payload: (usize, usize),
}

/// Reads a packet; nothing where it is none, is damaged, is a fragment or is not for `own`.
pub(crate) fn read(packet: &[u8], own: u32) -> Option<Header> {
    let fixed = packet.first_chunk::<HEADER_BYTES>()?;
    let header_bytes = usize::from(fixed[0] & 15) * 4;
    let total = usize::from(u16::from_be_bytes([fixed[2], fixed[3]]));
    let header = packet.get(..header_bytes)?;
    let is_whole = fixed[0] >> 4 == 4
        && (HEADER_BYTES..=total).contains(&header_bytes)
        && total <= packet.len()
        && Sum::default().with(header).complement() == 0;
    // Neither more fragments nor an offset.
    let is_fragment = u16::from_be_bytes([fixed[6], fixed[7]]) & 0x3fff != 0;
    let source = u32::from_be_bytes([fixed[12], fixed[13], fixed[14], fixed[15]]);
    let destination = u32::from_be_bytes([fixed[16], fixed[17], fixed[18], fixed[19]]);
    let is_ours = destination == own && is_unicast(source) && source != own;
    (is_whole && !is_fragment && is_ours).then_some(Header {
        source,
        protocol: fixed[9],
        payload: (header_bytes, total),
    })
}

/// Neither this network nor multicast nor reserved (RFC 1122 section 3.2.1.3).
fn is_unicast(address: u32) -> bool {
    (1..0xe0).contains(&(address >> 24))
}

/// Writes the header of a packet with so many bytes in all.
pub(crate) fn write(out: &mut [u8; HEADER_BYTES], ends: [u32; 2], protocol: u8, total: usize) {
    *out = [0; HEADER_BYTES];
    out[0] = 0x45;
    [out[2], out[3]] = (total as u16).to_be_bytes();
    // What is not fragmented needs no identification (RFC 6864 section 4.1).
    out[6] = DO_NOT_FRAGMENT;
    out[8] = TIME_TO_LIVE;
    out[9] = protocol;
    [out[12], out[13], out[14], out[15]] = ends[0].to_be_bytes();
    [out[16], out[17], out[18], out[19]] = ends[1].to_be_bytes();
    [out[10], out[11]] = Sum::default().with(out).complement().to_be_bytes();
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
        let expected = Header {
            source: PEER,
            protocol: TCP,
            payload: (20, 24),
        };
        assert_eq!(read, expected);
    }

    #[test]
    fn a_damaged_or_foreign_packet_is_not_taken() {
        assert_eq!(read(&packet(), OWN + 1), None);
        for at in 0..20 {
            let mut damaged = packet();
            damaged[at] ^= 1;
            assert_eq!(read(&damaged, OWN), None, "byte {at}");
        }
        assert_eq!(read(&packet()[..23], OWN), None);
        assert_eq!(read(&[], OWN), None);
    }

    #[test]
    fn a_fragment_is_not_taken() {
        let mut fragment = packet();
        fragment[6] = 0x20;
        [fragment[10], fragment[11]] = [0, 0];
        let sum = Sum::default().with(&fragment[..20]).complement();
        [fragment[10], fragment[11]] = sum.to_be_bytes();
        assert_eq!(read(&fragment, OWN), None);
    }
}
