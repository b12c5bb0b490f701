//! base64url without padding (RFC 4648 section 5), which is how SenML shows bytes in text.

use alloc::string::String;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Bytes as text.
pub(crate) fn url(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let mut word = [0; 4];
        word[1..=group.len()].copy_from_slice(group);
        let bits = u32::from_be_bytes(word);
        for index in 0..=group.len() {
            let sextet = bits >> (18 - 6 * index) & 63;
            text.push(char::from(ALPHABET[sextet as usize]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vectors_of_rfc_4648_section_10_without_padding() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg"),
            ("fo", "Zm8"),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(url(bytes.as_bytes()), text);
        }
        assert_eq!(url(&[0xfb, 0xff]), "-_8");
    }
}
