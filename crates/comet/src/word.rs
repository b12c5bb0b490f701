//! Which of some words a text is, byte by byte and without keeping the text.

/// How far a text agrees with one of some words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// The first of the words that begin with the text.
    index: u8,
    /// Bytes of the text, or [`NONE`] where no word begins with it.
    at: u8,
}

const NONE: u8 = u8::MAX;

impl Word {
    /// The empty text.
    pub(crate) const START: Self = Self { index: 0, at: 0 };

    pub(crate) fn is_empty(self) -> bool {
        self.at == 0
    }

    /// The text goes on; `words` gives each word by its number.
    pub(crate) fn push<'a>(&mut self, byte: u8, words: impl Fn(usize) -> Option<&'a [u8]>) {
        if self.at == NONE {
            return;
        }
        let at = usize::from(self.at);
        let text = words(usize::from(self.index)).and_then(|word| word.get(..at));
        let mut index = self.index;
        while let Some(word) = words(usize::from(index)) {
            if word.get(at) == Some(&byte) && word.get(..at) == text {
                *self = Self {
                    index,
                    at: self.at + 1,
                };
                return;
            }
            index += 1;
        }
        self.at = NONE;
    }

    /// The word that the text is, whole.
    pub(crate) fn found<'a>(self, words: impl Fn(usize) -> Option<&'a [u8]>) -> Option<usize> {
        let at = usize::from(self.at);
        // Of words that begin alike, the first may be longer than the text.
        let text = words(usize::from(self.index))?.get(..at)?;
        let mut index = usize::from(self.index);
        loop {
            if words(index)? == text {
                return Some(index);
            }
            index += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    const WORDS: [&str; 5] = ["since", "snapshot", "snap", "stream", "wait"];

    fn read(text: &str) -> Option<usize> {
        let words = |index: usize| WORDS.get(index).map(|word| word.as_bytes());
        let mut word = Word::START;
        text.bytes().for_each(|byte| word.push(byte, words));
        word.found(words)
    }

    #[test]
    fn a_word_is_found_whole_or_not_at_all() {
        for (number, word) in WORDS.iter().enumerate() {
            assert_eq!(read(word), Some(number));
            assert_eq!(read(&word[..word.len() - 1]), None);
        }
        assert_eq!(read("streams"), None);
        assert_eq!(read("snapshop"), None);
        assert_eq!(read(""), None);
        assert_eq!(read(&"wait".repeat(100)), None);
    }
}
