//! Base64 (RFC 4648), with the place of what is wrong: with padding (section 4) in XML and bare, for URLs
//! and without it (section 5) where SenML and the syntaxes show bytes in text.

use crate::error::DecodeError;
use alloc::string::String;
use alloc::vec::Vec;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const FOR_URLS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/// What stands for a sextet that is none.
const NO_SEXTET: u8 = 64;

static SEXTETS: [u8; 256] = sextets();

const fn sextets() -> [u8; 256] {
    let mut sextets = [NO_SEXTET; 256];
    let mut index = 0;
    while index < 64 {
        sextets[ALPHABET[index] as usize] = index as u8;
        index += 1;
    }
    sextets
}

/// Four characters for up to three bytes; what stands behind the last byte is zero.
fn four(group: &[u8], alphabet: &[u8; 64]) -> [u8; 4] {
    let mut word = [0; 4];
    word[1..=group.len()].copy_from_slice(group);
    let bits = u32::from_be_bytes(word);
    [18, 12, 6, 0].map(|shift| alphabet[(bits >> shift & 63) as usize])
}

/// Bytes as base64url without padding.
pub(crate) fn url(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let four = four(group, FOR_URLS);
        text.extend(four[..=group.len()].iter().copied().map(char::from));
    }
    text
}

/// Appends base64 with padding (RFC 4648 section 4).
pub fn to_base64(block: &[u8], out: &mut Vec<u8>) {
    out.reserve(block.len().div_ceil(3) * 4);
    for group in block.chunks(3) {
        let mut four = four(group, ALPHABET);
        four[group.len() + 1..].fill(b'=');
        out.extend_from_slice(&four);
    }
}

/// Appends what base64 stands for; white space between its characters is passed over, as in XML.
pub fn from_base64(text: &[u8], out: &mut Vec<u8>) -> Result<(), DecodeError> {
    let (mut bits, mut have, mut padding) = (0_u32, 0, 0);
    for (at, &byte) in text.iter().enumerate() {
        let sextet = SEXTETS[usize::from(byte)];
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => continue,
            b'=' => padding += 1,
            _ if sextet == NO_SEXTET || padding > 0 => {
                return Err(DecodeError::expected(at, "base64"));
            }
            _ => {}
        }
        bits = bits << 6 | u32::from(sextet & 63);
        have += 1;
        if have == 4 && padding <= 2 {
            out.extend_from_slice(&bits.to_be_bytes()[1..4 - padding]);
            (bits, have) = (0, 0);
        }
    }
    match have {
        0 => Ok(()),
        _ => Err(DecodeError::truncated(text.len())),
    }
}

/// Appends what base64url without padding stands for (RFC 4648 section 5).
pub(crate) fn from_url(text: &[u8], out: &mut Vec<u8>) -> Result<(), DecodeError> {
    for (index, group) in text.chunks(4).enumerate() {
        let mut bits = 0_u32;
        for (place, &byte) in group.iter().enumerate() {
            let sextet = match byte {
                b'-' => 62,
                b'_' => 63,
                b'+' | b'/' => NO_SEXTET,
                _ => SEXTETS[usize::from(byte)],
            };
            if sextet == NO_SEXTET {
                return Err(DecodeError::expected(index * 4 + place, "base64url"));
            }
            bits |= u32::from(sextet) << (18 - 6 * place);
        }
        if group.len() == 1 {
            return Err(DecodeError::truncated(text.len()));
        }
        out.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    Ok(())
}

/// Where in base64 the byte at this place begins, white space counted.
pub(crate) fn place(text: &[u8], at: usize) -> usize {
    let wanted = at / 3 * 4 + at % 3;
    let characters = text.iter().enumerate();
    let mut characters = characters.filter(|(_, byte)| !byte.is_ascii_whitespace());
    characters
        .nth(wanted)
        .map_or(text.len(), |(place, _)| place)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_vectors_of_rfc_4648_section_10() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ] {
            let mut out = Vec::new();
            to_base64(bytes.as_bytes(), &mut out);
            assert_eq!(out, text.as_bytes());
            let mut back = Vec::new();
            from_base64(&out, &mut back).unwrap();
            assert_eq!(back, bytes.as_bytes());
        }
        let mut out = Vec::new();
        from_base64(b" Zm 9v\nYmFy ", &mut out).unwrap();
        assert_eq!(out, b"foobar");
        for (text, at) in [("Zm9", 3), ("Z*==", 1), ("Zg==Zg==", 4), ("Z===", 4)] {
            assert_eq!(from_base64(text.as_bytes(), &mut out).unwrap_err().at, at);
        }
    }

    #[test]
    fn the_vectors_without_padding_are_in_the_alphabet_for_urls() {
        for (bytes, text) in [
            (&b""[..], &b""[..]),
            (b"f", b"Zg"),
            (b"fo", b"Zm8"),
            (b"foo", b"Zm9v"),
            (&[0xfb, 0xff], b"-_8"),
        ] {
            let mut back = Vec::new();
            from_url(text, &mut back).unwrap();
            assert_eq!(back, bytes);
            assert_eq!(url(bytes).as_bytes(), text);
        }
        let mut out = Vec::new();
        for (text, at) in [("Zg==", 2), ("Zm9v+", 4), ("Zm9vZ", 5)] {
            assert_eq!(from_url(text.as_bytes(), &mut out).unwrap_err().at, at);
        }
    }

    #[test]
    fn a_byte_is_found_among_white_space() {
        assert_eq!(
            [0, 1, 2, 3, 4].map(|at| place(b"Zm 9v\nYmFy", at)),
            [0, 1, 3, 6, 7]
        );
    }
}
