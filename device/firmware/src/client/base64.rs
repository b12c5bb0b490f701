//! Base64 (RFC 4648 section 4), into a place of fixed size.

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The text of some bytes; `TEXT` is four for each three of them.
pub(crate) fn text<const TEXT: usize>(bytes: &[u8]) -> [u8; TEXT] {
    let mut text = [b'='; TEXT];
    for (four, three) in text.chunks_mut(4).zip(bytes.chunks(3)) {
        let of = |place: usize| u32::from(three.get(place).copied().unwrap_or_default());
        let bits = of(0) << 16 | of(1) << 8 | of(2);
        for (place, letter) in four.iter_mut().take(three.len() + 1).enumerate() {
            let digit = bits >> (18 - 6 * place) & 63;
            *letter = LETTERS.get(digit as usize).copied().unwrap_or_default();
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_those_of_rfc_4648_section_10() {
        assert_eq!(&text::<4>(b"f"), b"Zg==");
        assert_eq!(&text::<8>(b"fooba"), b"Zm9vYmE=");
        assert_eq!(&text::<8>(b"foobar"), b"Zm9vYmFy");
    }
}
