//! SHA-1 (RFC 3174), which the opening of a WebSocket asks for and which keeps no secret there.

const BEGIN: [u32; 5] = [
    0x6745_2301,
    0xefcd_ab89,
    0x98ba_dcfe,
    0x1032_5476,
    0xc3d2_e1f0,
];
const BLOCK_BYTES: usize = 64;

/// The digest of a short text: of 2 blocks with its padding, at most 119 bytes.
pub(crate) fn digest(text: &[u8]) -> [u8; 20] {
    let mut blocks = [0; 2 * BLOCK_BYTES];
    for (place, &byte) in blocks.iter_mut().zip(text.iter().chain(&[0x80])) {
        *place = byte;
    }
    let used = (text.len() + 9).div_ceil(BLOCK_BYTES) * BLOCK_BYTES;
    let bits = (text.len() as u64 * 8).to_be_bytes();
    for (place, byte) in blocks.iter_mut().skip(used - 8).zip(bits) {
        *place = byte;
    }
    let mut state = BEGIN;
    for block in blocks.chunks_exact(BLOCK_BYTES).take(used / BLOCK_BYTES) {
        mix(&mut state, block);
    }
    let mut digest = [0; 20];
    for (place, byte) in digest
        .iter_mut()
        .zip(state.iter().flat_map(|word| word.to_be_bytes()))
    {
        *place = byte;
    }
    digest
}

/// RFC 3174 section 6.2, whose 80 words are kept 16 at a time.
fn mix(state: &mut [u32; 5], block: &[u8]) {
    let mut words = [0u32; 16];
    for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
        *word = bytes
            .iter()
            .fold(0, |word, &byte| word << 8 | u32::from(byte));
    }
    let [mut a, mut b, mut c, mut d, mut e] = *state;
    for round in 0..80 {
        let word = next(&mut words, round);
        let (function, constant) = match round {
            0..20 => (b & c | !b & d, 0x5a82_7999),
            20..40 => (b ^ c ^ d, 0x6ed9_eba1),
            40..60 => (b & c | b & d | c & d, 0x8f1b_bcdc_u32),
            _ => (b ^ c ^ d, 0xca62_c1d6),
        };
        let sum = a
            .rotate_left(5)
            .wrapping_add(function)
            .wrapping_add(e)
            .wrapping_add(word)
            .wrapping_add(constant);
        (a, b, c, d, e) = (sum, a, b.rotate_left(30), c, d);
    }
    for (old, new) in state.iter_mut().zip([a, b, c, d, e]) {
        *old = old.wrapping_add(new);
    }
}

/// The word of a round; of those behind the sixteenth made of earlier ones.
fn next(words: &mut [u32; 16], round: usize) -> u32 {
    let at = |back: usize| words[(round + 16 - back) % 16];
    if round >= 16 {
        words[round % 16] = (at(3) ^ at(8) ^ at(14) ^ at(16)).rotate_left(1);
    }
    words[round % 16]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hexadecimal(text: &[u8]) -> String {
        digest(text)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    #[test]
    fn digests_are_those_of_rfc_3174_section_7_3() {
        assert_eq!(
            hexadecimal(b"abc"),
            "a9993e364706816aba3e25717850c26c9cd0d89d"
        );
        let long = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        assert_eq!(
            hexadecimal(long),
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
        );
    }
}
