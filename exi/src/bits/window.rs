//! A word of the input, of which several small numbers are taken before it is settled that they
//! are wanted.

/// Bits at hand behind the place of a reader. Nothing is consumed until [`Window::used`] is added to
/// that place.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Window {
    word: u64,
    used: u32,
    aligned: bool,
}

/// Bits that a word has behind any bit of its first byte.
const BITS: u32 = 57;

impl Window {
    /// Begins with a word whose first bit is the next.
    #[inline(always)]
    pub(super) fn new(word: u64, aligned: bool) -> Self {
        Self {
            word,
            used: 0,
            aligned,
        }
    }

    /// An n-bit unsigned integer (EXI 1.0 section 7.1.9), if the window holds it and it is one.
    #[inline(always)]
    pub(crate) fn take(&mut self, count: u32) -> Option<u32> {
        if self.aligned {
            return self.take_bytes(count);
        }
        if self.used + count > BITS {
            return None;
        }
        Some(self.bits(count))
    }

    /// The same in byte-aligned streams, of at most two bytes.
    #[inline(always)]
    fn take_bytes(&mut self, count: u32) -> Option<u32> {
        let value = match count {
            0 => return Some(0),
            1..=8 if self.used + 8 <= BITS => self.bits(8),
            9..=16 if self.used + 16 <= BITS => u32::from((self.bits(16) as u16).swap_bytes()),
            _ => return None,
        };
        (value >> count == 0).then_some(value)
    }

    #[inline(always)]
    fn bits(&mut self, count: u32) -> u32 {
        let value = super::leading(self.word, count);
        self.word <<= count;
        self.used += count;
        value
    }

    /// Bits taken so far.
    #[inline(always)]
    pub(crate) fn used(&self) -> usize {
        self.used as usize
    }
}
