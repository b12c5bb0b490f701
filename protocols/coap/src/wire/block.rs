//! Block options: which part of a body a message carries (RFC 7959 section 2.2).

/// The value of Block1 or Block2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Number of the block, of blocks of this size.
    pub number: u32,
    /// Whether more follow.
    pub more: bool,
    /// Size exponent; 7 is BERT (RFC 8323 section 6), and reserved over datagrams.
    pub exponent: u8,
}

impl Block {
    /// The exponent of BERT, and of nothing over datagrams.
    pub const BERT: u8 = 7;
    /// The exponent of the largest block of a datagram, 1,024 bytes.
    pub const LARGEST: u8 = 6;
    /// The highest block number: 20 bits.
    pub const NUMBER_MAX: u32 = (1 << 20) - 1;

    /// Takes the value apart.
    // [RFC7959-2.2-4]
    pub const fn of(value: u32) -> Self {
        Self {
            number: value >> 4,
            more: value & 8 != 0,
            exponent: (value & 7) as u8,
        }
    }

    /// The value.
    pub const fn value(self) -> u32 {
        self.number << 4 | (self.more as u32) << 3 | self.exponent as u32
    }

    /// Bytes of one block; those of BERT are counted in 1,024.
    pub const fn size(self) -> usize {
        let exponent = if self.exponent > Self::LARGEST {
            Self::LARGEST
        } else {
            self.exponent
        };
        1 << (exponent + 4)
    }

    /// Where the block begins in the body.
    pub const fn offset(self) -> usize {
        self.number as usize * self.size()
    }

    /// The same place in the body in blocks of another, smaller size.
    pub const fn at(offset: usize, exponent: u8) -> Self {
        let first = Self {
            number: 0,
            more: false,
            exponent,
        };
        Self {
            number: (offset / first.size()) as u32,
            ..first
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7959 section 3.2: 1:2/0/1/128 is 0x13 with m=0, 0x1b with more.
    /// [RFC7959-2.2-4]
    #[test]
    fn a_block_is_a_number_a_bit_and_a_size() {
        let block = Block::of(0x1b);
        assert_eq!((block.number, block.more, block.size()), (1, true, 128));
        assert_eq!(block.value(), 0x1b);
        assert_eq!(block.offset(), 128);
        assert_eq!(Block::at(2048, 4).number, 8);
        assert_eq!(Block::of(7).size(), 1024);
        assert_eq!(Block::of(u32::MAX >> 8).number, Block::NUMBER_MAX);
    }
}
