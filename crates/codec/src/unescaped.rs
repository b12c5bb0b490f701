//! Text that does not stand in the input as it is: unescaped on the stack, or on the heap where long.

use alloc::vec::Vec;

/// A buffer for one string, of valid UTF-8 once the string is whole; `N` bytes are kept without the
/// heap.
pub(crate) struct Unescaped<const N: usize = 120> {
    short: [u8; N],
    len: usize,
    /// Holds everything once `short` does not suffice.
    long: Vec<u8>,
}

impl<const N: usize> Default for Unescaped<N> {
    fn default() -> Self {
        let short = [0; N];
        let (len, long) = (0, Vec::new());
        Self { short, len, long }
    }
}

impl<const N: usize> Unescaped<N> {
    pub(crate) fn clear(&mut self) {
        self.len = 0;
        self.long.clear();
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if self.long.is_empty() {
            if let Some(room) = self.short.get_mut(self.len..self.len + bytes.len()) {
                room.copy_from_slice(bytes);
                self.len += bytes.len();
                return;
            }
            self.long.extend_from_slice(&self.short[..self.len]);
        }
        self.long.extend_from_slice(bytes);
    }

    pub(crate) fn push_char(&mut self, character: char) {
        self.push(character.encode_utf8(&mut [0; 4]).as_bytes());
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        if self.long.is_empty() {
            &self.short[..self.len]
        } else {
            &self.long
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        core::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }
}
