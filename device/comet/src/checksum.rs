//! The Internet checksum (RFC 1071).

/// A sum that is not folded yet.
#[derive(Clone, Copy, Default)]
pub(crate) struct Sum(u32);

impl Sum {
    /// That of a number.
    pub(crate) const fn of(number: u32) -> Self {
        Self(number)
    }

    /// Adds bytes; only the last ones of a text may be of odd number.
    pub(crate) fn with(self, bytes: &[u8]) -> Self {
        let (pairs, odd) = bytes.as_chunks::<2>();
        let mut sum = self.0;
        for &pair in pairs {
            sum += u32::from(u16::from_be_bytes(pair));
        }
        sum += odd.first().map_or(0, |&byte| u32::from(byte) << 8);
        // Folded early: sums of a few packets never overflow.
        Self((sum & 0xffff) + (sum >> 16))
    }

    pub(crate) fn with_number(self, number: u32) -> Self {
        self.with(&number.to_be_bytes())
    }

    /// What goes into the packet; zero where the packet's own checksum was among the bytes and is right.
    pub(crate) fn complement(self) -> u16 {
        let folded = (self.0 & 0xffff) + (self.0 >> 16);
        !(((folded & 0xffff) + (folded >> 16)) as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 1071 section 3.
    #[test]
    fn the_sum_is_the_examples() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(Sum::default().with(&bytes).complement(), !0xddf2);
    }

    #[test]
    fn a_text_with_its_checksum_sums_to_nothing() {
        let sum = Sum::default().with(b"odd").complement();
        let whole = Sum::default().with_number(u32::from(sum)).with(b"odd");
        assert_eq!(whole.complement(), 0);
    }
}
