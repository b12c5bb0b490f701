//! ICMP (RFC 792): an echo, answered in the packet that asked.

use crate::checksum::Sum;
use crate::ipv4;

const ECHO: u8 = 8;
const ECHO_REPLY: u8 = 0;

/// Turns a request into its reply; the bytes of the packet, or none where it asked for nothing.
pub(crate) fn echo(packet: &mut [u8], header: &ipv4::Header, own: u32) -> usize {
    let (begin, end) = header.payload;
    let Some(message) = packet.get_mut(begin..end) else {
        return 0;
    };
    if message.first() != Some(&ECHO) || Sum::default().with(message).complement() != 0 {
        return 0;
    }
    let Some([kind, _, sum @ ..]) = message.first_chunk_mut::<4>() else {
        return 0;
    };
    (*kind, *sum) = (ECHO_REPLY, [0, 0]);
    let sum = Sum::default().with(message).complement().to_be_bytes();
    message[2] = sum[0];
    message[3] = sum[1];
    // Options are not sent back.
    packet.copy_within(begin..end, ipv4::HEADER_BYTES);
    let total = ipv4::HEADER_BYTES + end - begin;
    let Some(out) = packet.first_chunk_mut() else {
        return 0;
    };
    ipv4::write(out, [own, header.source], ipv4::ICMP, total);
    total
}
