//! Which of some words a text is, byte by byte and without keeping the text.
//!
//! What it deliberately does not do: compare. A text is known by 32 bits of a hash, so that a word takes four
//! bytes of flash and none is walked through. Of other texts one in 4,294,967,296 is taken for a word; whoever
//! looks for one on purpose says in another way what he could have said as it is written.

/// A text, as far as it was read: FNV-1a (Fowler, Noll, Vo) of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word(u32);

const PRIME: u32 = 0x0100_0193;

impl Word {
    /// Fills places where no text is.
    pub(crate) const ZERO: Self = Self(0);
    /// The empty text.
    pub(crate) const START: Self = Self(0x811c_9dc5);

    /// A whole text.
    pub(crate) const fn of(text: &str) -> Self {
        Self::START.and(text)
    }

    /// The same text at another place, where it is another word.
    pub(crate) const fn at(self, place: u8) -> Self {
        Self(self.0 ^ (place as u32) << 16)
    }

    /// This text and another behind it.
    pub(crate) const fn and(self, text: &str) -> Self {
        let mut word = self;
        let mut rest = text.as_bytes();
        while let [byte, more @ ..] = rest {
            word.push(*byte);
            rest = more;
        }
        word
    }

    pub(crate) fn is_empty(self) -> bool {
        self == Self::START
    }

    /// The text goes on.
    pub(crate) const fn push(&mut self, byte: u8) {
        self.0 = (self.0 ^ byte as u32).wrapping_mul(PRIME);
    }

    /// The place of the word that the text is, whole.
    #[inline(never)]
    pub(crate) fn found(self, words: &[Self]) -> Option<usize> {
        words.iter().position(|&word| word == self)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    const WORDS: [&str; 5] = ["since", "snapshot", "snap", "stream", "wait"];

    fn read(text: &str) -> Option<usize> {
        let mut word = Word::START;
        text.bytes().for_each(|byte| word.push(byte));
        word.found(&WORDS.map(Word::of))
    }

    #[test]
    fn a_word_is_found_whole_or_not_at_all() {
        for (number, word) in WORDS.iter().enumerate() {
            assert_eq!(read(word), Some(number));
            assert_eq!(read(&word[..word.len() - 1]), None);
        }
        assert_eq!(read("streams"), None);
        assert_eq!(read("snapshop"), None);
        assert_eq!(read("\0wait"), None);
        assert_eq!(read(""), None);
        assert_eq!(read(&"wait".repeat(100)), None);
    }

    #[test]
    fn hashes_are_those_of_the_authors_list() {
        // http://www.isthe.com/chongo/tech/comp/fnv: test vectors of FNV-1a, 32 bits.
        assert_eq!(Word::of("a"), Word(0xe40c_292c));
        assert_eq!(Word::of("foobar"), Word(0xbf9c_f968));
    }
}
