//! What is sent and comes back: letters of one length, unlike the last.

use super::buffer::Buffer;

/// Consonants, so that none is a number or a word.
const LETTERS: &[u8; 8] = b"bcdfghjk";
/// Letters that change from one to the next.
const CHANGING: usize = 8;

/// A payload: made again where it is needed, and kept nowhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Payload {
    pub(crate) length: usize,
    pub(crate) number: u32,
}

impl Payload {
    fn bytes(self) -> impl Iterator<Item = u8> {
        (0..self.length).map(move |place| {
            let digit = match place {
                0..CHANGING => (self.number >> (3 * place)) as usize % LETTERS.len(),
                _ => 0,
            };
            LETTERS.get(digit).copied().unwrap_or_default()
        })
    }

    /// Appends it.
    pub(crate) fn write(self, out: &mut Buffer) {
        self.bytes().for_each(|byte| out.push(&[byte]));
    }

    /// Whether these bytes are it.
    pub(crate) fn is(self, bytes: &[u8]) -> bool {
        bytes.iter().copied().eq(self.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_told_from_the_next() {
        for length in [1, 10, 1_000] {
            let mut out = Buffer::new();
            let payload = Payload { length, number: 7 };
            payload.write(&mut out);
            assert_eq!(out.bytes().len(), length);
            assert!(payload.is(out.bytes()));
            let next = Payload { length, number: 8 };
            assert!(!next.is(out.bytes()));
            assert!(!payload.is(&out.bytes()[1..]));
        }
    }
}
