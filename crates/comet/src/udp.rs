//! UDP (RFC 768): 8 bytes before a message.

use crate::ipv4;
use crate::tcp::Ends;

const HEADER_BYTES: usize = 8;
/// Headers of IPv4 and UDP.
pub(crate) const HEADERS_BYTES: usize = ipv4::HEADER_BYTES + HEADER_BYTES;

/// Reads a datagram to our port: the peer's port, and the message.
pub(crate) fn read(bytes: &[u8], ends: Ends) -> Option<(u16, &[u8])> {
    let (fixed, _) = bytes.split_first_chunk::<HEADER_BYTES>()?;
    let number = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
    let bytes = bytes.get(..usize::from(number(4)))?;
    // Zero means that there is none.
    let is_right = number(6) == 0
        || ends
            .pseudo_header(ipv4::UDP, bytes.len())
            .with(bytes)
            .complement()
            == 0;
    let is_ours = number(2) == ends.port && number(0) != 0;
    let message = bytes.get(HEADER_BYTES..)?;
    (is_right && is_ours).then_some((number(0), message))
}

/// Writes the headers before a message that stands in the packet already; the packet's bytes.
pub(crate) fn write(packet: &mut [u8], ends: Ends, port: u16, message: usize) -> usize {
    let total = HEADERS_BYTES + message;
    let Some((ip, datagram)) = packet
        .get_mut(..total)
        .and_then(|packet| packet.split_first_chunk_mut::<{ ipv4::HEADER_BYTES }>())
    else {
        return 0;
    };
    ipv4::write(ip, [ends.own, ends.peer], ipv4::UDP, total);
    let length = datagram.len();
    if let Some(header) = datagram.first_chunk_mut::<HEADER_BYTES>() {
        [header[0], header[1]] = ends.port.to_be_bytes();
        [header[2], header[3]] = port.to_be_bytes();
        [header[4], header[5]] = (length as u16).to_be_bytes();
        [header[6], header[7]] = [0, 0];
    }
    let sum = ends
        .pseudo_header(ipv4::UDP, length)
        .with(datagram)
        .complement();
    // A sum of zero is written as its other form.
    let sum = if sum == 0 { u16::MAX } else { sum };
    if let Some(place) = datagram.get_mut(6..HEADER_BYTES) {
        place.copy_from_slice(&sum.to_be_bytes());
    }
    total
}
