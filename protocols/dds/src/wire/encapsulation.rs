//! How the bytes of a sample are laid out, as its first two say (DDSI-RTPS 2.5 section 10.5, table 10.3;
//! DDS-XTypes 1.3 section 7.6.2.1.2).

/// A layout of plain data: byte order, and how wide a value is aligned at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encapsulation {
    /// Whether the most significant byte comes first.
    pub is_big: bool,
    /// Alignment of values of eight bytes: 8 in XCDR version 1, 4 in version 2.
    pub widest: usize,
}

impl Encapsulation {
    /// What is written: plain XCDR version 1 in little-endian order, which every implementation reads.
    pub const WRITTEN: Self = Self {
        is_big: false,
        widest: 8,
    };

    /// The layout that an identifier stands for; `None` for those that a final type has not: parameter
    /// lists, delimited data, XML.
    // [DDSI-10.5-1] [XTYPES-7.6.2.1.2-1]
    pub fn of(identifier: [u8; 2]) -> Option<Self> {
        let (is_big, widest) = match identifier {
            [0, 0] => (true, 8),
            [0, 1] => (false, 8),
            [0, 6] => (true, 4),
            [0, 7] => (false, 4),
            _ => return None,
        };
        Some(Self { is_big, widest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_layouts_of_plain_data_are_read() {
        assert_eq!(
            Encapsulation::of([0, 1]),
            Some(Encapsulation::WRITTEN),
            "CDR_LE"
        );
        let plain = (0..=0xff).filter(|id| Encapsulation::of([0, *id]).is_some());
        assert_eq!(plain.collect::<alloc::vec::Vec<_>>(), [0, 1, 6, 7]);
        assert_eq!(Encapsulation::of([1, 1]), None);
    }
}
