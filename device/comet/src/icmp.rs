//! ICMP (RFC 792): an echo, answered in the packet that asked.

use crate::checksum::Sum;
use crate::ipv4;

const ECHO: u8 = 8;
const ECHO_REPLY: u8 = 0;

/// Turns a request into its reply; the bytes of the packet, or none where it asked for nothing.
#[inline(never)]
pub(crate) fn echo(packet: &mut [u8], header: &ipv4::Header, own: u32) -> usize {
    let (begin, end) = header.payload;
    let Some(message) = packet.get_mut(begin..end) else {
        return 0;
    };
    if Sum::of(0).with(message).complement() != 0 {
        return 0;
    }
    let [kind @ ECHO, _, high, low, ..] = message else {
        return 0;
    };
    *kind = ECHO_REPLY;
    // The sum without the kind that it had (RFC 1624).
    let (sum, carries) = u16::from_be_bytes([*high, *low]).overflowing_add(u16::from(ECHO) << 8);
    [*high, *low] = (sum + u16::from(carries)).to_be_bytes();
    // Options are not sent back.
    packet.copy_within(begin..end, ipv4::HEADER_BYTES);
    let total = ipv4::HEADER_BYTES + end - begin;
    let Some(out) = packet.first_chunk_mut() else {
        return 0;
    };
    ipv4::write(out, [own, header.source], ipv4::ICMP, total);
    total
}
