//! The types of section 1.5, written.

use alloc::vec::Vec;

/// Appends a packet: its first byte, its length, and the body that `body` appends.
pub(super) fn packet(out: &mut Vec<u8>, first: u8, body: impl FnOnce(&mut Vec<u8>)) {
    out.push(first);
    with_length(out, body);
}

/// Appends a length as a variable byte integer and what `body` appends.
pub(super) fn with_length(out: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.push(0);
    body(out);
    let length = out.len() - at - 1;
    let (bytes, count) = varint_bytes(length as u32);
    out[at] = bytes[0];
    if count > 1 {
        out.splice(at + 1..at + 1, bytes[1..count].iter().copied());
    }
}

/// Appends a variable byte integer.
pub(super) fn varint(out: &mut Vec<u8>, value: u32) {
    let (bytes, count) = varint_bytes(value);
    out.extend_from_slice(&bytes[..count]);
}

fn varint_bytes(mut value: u32) -> ([u8; 4], usize) {
    let mut bytes = [0; 4];
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = (value & 0x7f) as u8;
        value >>= 7;
        if value == 0 {
            return (bytes, index + 1);
        }
        *byte |= 0x80;
    }
    (bytes, 4)
}

/// How many bytes a variable byte integer takes.
pub fn length_of_varint(value: usize) -> usize {
    match value {
        0..=0x7f => 1,
        0x80..=0x3fff => 2,
        0x4000..=0x1f_ffff => 3,
        _ => 4,
    }
}

/// Appends bytes with their length; what is longer than 65,535 bytes is cut, which callers rule out.
pub(super) fn binary(out: &mut Vec<u8>, bytes: &[u8]) {
    let bytes = &bytes[..bytes.len().min(0xffff)];
    out.extend_from_slice(&(bytes.len() as u16).to_be_bytes());
    out.extend_from_slice(bytes);
}

/// Appends a string with its length.
pub(super) fn text(out: &mut Vec<u8>, text: &str) {
    binary(out, text.as_bytes());
}
