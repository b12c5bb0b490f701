//! UDP (RFC 768): 8 bytes before a message.

use crate::checksum::Sum;
use crate::ipv4;

const HEADER_BYTES: usize = 8;
/// Headers of IPv4 and UDP.
pub(crate) const HEADERS_BYTES: usize = ipv4::HEADER_BYTES + HEADER_BYTES;

/// Reads a datagram to our port: the peer's port, and the message; `sum` is that of the pseudo-header.
pub(crate) fn read(bytes: &[u8], sum: Sum, own: u16) -> Option<(u16, &[u8])> {
    let (fixed, _) = bytes.split_first_chunk::<HEADER_BYTES>()?;
    let number = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
    let length = usize::from(number(4));
    let message = bytes.get(HEADER_BYTES..length)?;
    let datagram = bytes.get(..length)?;
    // The pseudo-header's bytes are those that IP counts, which may be more: these are taken off.
    let more = (bytes.len() - length) as u16;
    let sum = sum.with_number(u32::from(!more)).with(datagram);
    // Zero means that there is none.
    let is_right = number(6) == 0 || sum.complement() == 0;
    let is_ours = number(2) == own && number(0) != 0;
    (is_right && is_ours).then_some((number(0), message))
}

/// Writes the headers before a message that stands in the packet already; the packet's bytes.
pub(crate) fn write(
    packet: &mut [u8],
    ends: [u32; 2],
    [own, peer]: [u16; 2],
    message: usize,
) -> usize {
    let total = HEADERS_BYTES + message;
    let Some((ip, datagram)) = packet
        .get_mut(..total)
        .and_then(|packet| packet.split_first_chunk_mut::<{ ipv4::HEADER_BYTES }>())
    else {
        return 0;
    };
    let sum = ipv4::write(ip, ends, ipv4::UDP, total);
    let length = datagram.len();
    if let Some(header) = datagram.first_chunk_mut::<HEADER_BYTES>() {
        [header[0], header[1]] = own.to_be_bytes();
        [header[2], header[3]] = peer.to_be_bytes();
        [header[4], header[5]] = (length as u16).to_be_bytes();
        [header[6], header[7]] = [0, 0];
    }
    let sum = sum.with(datagram).complement();
    // A sum of zero is written as its other form.
    let sum = if sum == 0 { u16::MAX } else { sum };
    if let Some(place) = datagram.get_mut(6..HEADER_BYTES) {
        place.copy_from_slice(&sum.to_be_bytes());
    }
    total
}
