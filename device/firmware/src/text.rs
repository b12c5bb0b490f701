//! Short texts without an allocator.

/// A text of at most so many bytes; what is more is cut off.
#[derive(Clone, Copy)]
pub(crate) struct Text<const BYTES: usize> {
    bytes: [u8; BYTES],
    length: usize,
}

impl<const BYTES: usize> Text<BYTES> {
    pub(crate) const fn new() -> Self {
        Self {
            bytes: [0; BYTES],
            length: 0,
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// A text that fits.
    pub(crate) const fn of(text: &str) -> Self {
        let mut all = Self::new();
        let mut rest = text.as_bytes();
        while let [byte, more @ ..] = rest {
            all.bytes[all.length] = *byte;
            all.length += 1;
            rest = more;
        }
        all
    }

    /// Writes a digit over what stands in a place.
    pub(crate) fn set_digit(&mut self, place: usize, digit: u32) {
        if let Some(place) = self.bytes.get_mut(place) {
            *place = b'0' + digit as u8;
        }
    }

    pub(crate) fn push_byte(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        }
    }

    #[cfg(feature = "client")]
    pub(crate) fn push(&mut self, text: &str) {
        text.bytes().for_each(|byte| self.push_byte(byte));
    }

    /// A number of at least so many digits.
    pub(crate) fn push_number(&mut self, number: u32, digits: u32) {
        if number >= 10 || digits > 1 {
            self.push_number(number / 10, digits.saturating_sub(1));
        }
        self.push_byte(b'0' + (number % 10) as u8);
    }
}

/// The number that digits say; compiled in, so that anything else ends the compilation.
pub(crate) const fn number(text: &str) -> u32 {
    let mut number = 0;
    let mut rest = text.as_bytes();
    assert!(!rest.is_empty());
    while let [digit, more @ ..] = rest {
        assert!(digit.is_ascii_digit());
        number = number * 10 + (*digit - b'0') as u32;
        rest = more;
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_digits_and_long_texts_end() {
        let mut text = Text::<8>::new();
        text.push_number(0, 1);
        text.push_byte(b',');
        text.push_number(405, 2);
        text.push_byte(b',');
        text.push_number(7, 2);
        text.push_byte(b'.');
        assert_eq!(text.bytes(), b"0,405,07");
        text.set_digit(4, 9);
        assert_eq!(text.bytes(), b"0,409,07");
        assert_eq!(number("1000"), 1000);
    }
}
