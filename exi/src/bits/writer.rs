//! Writing.

use alloc::vec::Vec;

/// Words that are shifted at a time.
const WORDS: usize = 32;

/// A sink for bits. Whole words are appended to `out`; the rest waits in `word`.
#[derive(Debug, Default, Clone)]
pub(crate) struct Writer {
    out: Vec<u8>,
    /// Waiting bits, from the most significant on.
    word: u64,
    /// How many wait: below 64.
    waiting: u32,
    /// Whether everything is aligned on bytes.
    pub(crate) aligned: bool,
}

impl Writer {
    pub(crate) fn new(aligned: bool) -> Self {
        Self {
            aligned,
            ..Self::default()
        }
    }

    /// Forgets everything but keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.out.clear();
        (self.word, self.waiting) = (0, 0);
    }

    /// Goes to where another writer stands, and keeps the memory.
    pub(crate) fn restart(&mut self, other: &Self) {
        self.out.clear();
        self.out.extend_from_slice(&other.out);
        (self.word, self.waiting, self.aligned) = (other.word, other.waiting, other.aligned);
    }

    /// Whole bytes written and not yet taken.
    pub(crate) fn len(&self) -> usize {
        self.out.len() + (self.waiting / 8) as usize
    }

    /// Appends `count` bits, at most 32, of a value below two to the `count`.
    #[inline]
    pub(crate) fn bits(&mut self, value: u32, count: u32) {
        let total = self.waiting + count;
        if total < 64 {
            self.word |= (u64::from(value) << (63 - total)) << 1;
            self.waiting = total;
        } else {
            self.spill(value, count);
        }
    }

    fn spill(&mut self, value: u32, count: u32) {
        let over = self.waiting + count - 64;
        self.word |= u64::from(value) >> over;
        self.out.extend_from_slice(&self.word.to_be_bytes());
        self.word = (u64::from(value) << 32) << (32 - over);
        self.waiting = over;
    }

    /// Appends an n-bit unsigned integer (section 7.1.9).
    #[inline]
    pub(crate) fn n_bit(&mut self, value: u32, count: u32) {
        if !self.aligned {
            return self.bits(value, count);
        }
        for byte in 0..count.div_ceil(8) {
            self.bits(value >> (8 * byte) & 255, 8);
        }
    }

    /// Appends a Boolean (section 7.1.2).
    pub(crate) fn boolean(&mut self, value: bool) {
        self.n_bit(u32::from(value), 1);
    }

    /// Appends an unsigned integer (section 7.1.6).
    #[inline]
    pub(crate) fn unsigned(&mut self, value: u64) {
        let mut rest = value;
        while rest > 127 {
            self.bits(rest as u32 & 127 | 128, 8);
            rest >>= 7;
        }
        self.bits(rest as u32, 8);
    }

    /// Appends an unsigned integer given by its decimal digits.
    pub(crate) fn unsigned_digits(&mut self, digits: &str) {
        if let Ok(value) = digits.parse() {
            return self.unsigned(value);
        }
        // Base 2^28, least significant first: four octets of seven bits each.
        let mut limbs: Vec<u32> = Vec::new();
        for digit in digits.bytes() {
            let mut carry = u64::from(digit.wrapping_sub(b'0'));
            for limb in &mut limbs {
                let wide = u64::from(*limb) * 10 + carry;
                *limb = (wide & 0x0fff_ffff) as u32;
                carry = wide >> 28;
            }
            if carry > 0 {
                limbs.push(carry as u32);
            }
        }
        let octets = limbs
            .iter()
            .flat_map(|limb| (0..4).map(move |at| limb >> (7 * at) & 127));
        let octets: Vec<u32> = octets.collect();
        let last = octets.iter().rposition(|octet| *octet != 0).unwrap_or(0);
        for (at, octet) in octets[..=last].iter().enumerate() {
            self.bits(octet | u32::from(at < last) << 7, 8);
        }
    }

    /// Appends characters, each as an unsigned integer (section 7.1.10).
    pub(crate) fn characters(&mut self, text: &str) {
        if text.is_ascii() {
            return self.octets(text.as_bytes());
        }
        for character in text.chars() {
            self.unsigned(u64::from(u32::from(character)));
        }
    }

    /// Appends bytes.
    pub(crate) fn octets(&mut self, bytes: &[u8]) {
        if self.waiting & 7 == 0 {
            self.settle();
            self.out.extend_from_slice(bytes);
            return;
        }
        let (shift, mut word) = (self.waiting, self.word);
        let (words, rest) = bytes.as_chunks::<8>();
        self.out.reserve(bytes.len() + 8);
        for run in words.chunks(WORDS) {
            let mut shifted = [[0u8; 8]; WORDS];
            for (target, source) in shifted.iter_mut().zip(run) {
                let next = u64::from_be_bytes(*source);
                *target = (word | next >> shift).to_be_bytes();
                word = next << (64 - shift);
            }
            self.out
                .extend_from_slice(shifted[..run.len()].as_flattened());
        }
        self.word = word;
        rest.iter().for_each(|byte| self.bits(u32::from(*byte), 8));
    }

    /// Moves the whole bytes that wait to the output.
    fn settle(&mut self) {
        let whole = (self.waiting / 8) as usize;
        self.out
            .extend_from_slice(&self.word.to_be_bytes()[..whole]);
        self.word = if whole == 8 {
            0
        } else {
            self.word << (8 * whole)
        };
        self.waiting &= 7;
    }

    /// Pads with zeros up to a byte boundary.
    // [C14N-3-2] [C14N-4.1-1]
    pub(crate) fn align(&mut self) {
        self.waiting = self.waiting.next_multiple_of(8);
        self.settle();
    }

    /// The whole bytes written so far and not yet taken.
    pub(crate) fn bytes(&mut self) -> &[u8] {
        self.settle();
        &self.out
    }

    /// Moves the whole bytes written so far to the end of a vector.
    pub(crate) fn drain_into(&mut self, target: &mut Vec<u8>) {
        self.settle();
        target.append(&mut self.out);
    }
}
