//! Text on the stack, for names that are joined and have a limit anyway.

use core::ops::ControlFlow;

/// At most `N` bytes of text.
pub(crate) struct StackText<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Default for StackText<N> {
    fn default() -> Self {
        let bytes = [0; N];
        Self { bytes, len: 0 }
    }
}

impl<const N: usize> StackText<N> {
    /// Number of bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Adds text; `Break` where there is no room.
    pub(crate) fn push(&mut self, text: &str) -> ControlFlow<()> {
        let Some(room) = self.bytes.get_mut(self.len..self.len + text.len()) else {
            return ControlFlow::Break(());
        };
        room.copy_from_slice(text.as_bytes());
        self.len += text.len();
        ControlFlow::Continue(())
    }

    /// Takes the place of what was there; `Break` where there is no room.
    pub(crate) fn set(&mut self, text: &str) -> ControlFlow<()> {
        self.len = 0;
        self.push(text)
    }

    /// Drops what lies behind a length that there was before.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// The text.
    pub(crate) fn as_str(&self) -> &str {
        core::str::from_utf8(&self.bytes[..self.len]).unwrap_or_default()
    }
}
