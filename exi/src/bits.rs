//! Bit- and byte-aligned streams (EXI 1.0 sections 7.1.6 and 7.1.9), read and written a word at a
//! time.

mod reader;
mod window;
mod writer;

pub(crate) use reader::{Reader, character};
pub(crate) use window::Window;
pub(crate) use writer::Writer;

/// Bits that `count` distinct values need: the ceiling of the binary logarithm (section 6.2).
#[inline]
pub(crate) fn width(count: u32) -> u32 {
    if count <= 1 {
        0
    } else {
        32 - (count - 1).leading_zeros()
    }
}

/// The first `count` bits of a word, at most 32.
#[inline(always)]
fn leading(word: u64, count: u32) -> u32 {
    (word >> 1 >> (63 - count)) as u32
}

/// Set where a byte of a word is not ASCII.
pub(crate) const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
