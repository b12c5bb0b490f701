//! Bytes in a place of fixed size.

use super::MESSAGE_BYTES_MAX;

/// At most [`MESSAGE_BYTES_MAX`] bytes; what is more is cut off.
pub struct Buffer {
    bytes: [u8; MESSAGE_BYTES_MAX],
    length: usize,
}

impl Buffer {
    pub(crate) const fn new() -> Self {
        Self {
            bytes: [0; MESSAGE_BYTES_MAX],
            length: 0,
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    pub(crate) fn clear(&mut self) {
        self.length = 0;
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if let Some(place) = self.bytes.get_mut(self.length) {
                *place = byte;
                self.length += 1;
            }
        }
    }

    /// Whether there is room for a byte.
    pub(crate) fn has_space(&self) -> bool {
        self.length < self.bytes.len()
    }

    /// Space behind what is there, to be filled and told by [`grow`](Self::grow).
    pub(crate) fn space(&mut self) -> &mut [u8] {
        self.bytes.get_mut(self.length..).unwrap_or_default()
    }

    pub(crate) fn grow(&mut self, bytes: usize) {
        self.length = (self.length + bytes).min(self.bytes.len());
    }

    /// Drops so many bytes from the front.
    pub(crate) fn drop_front(&mut self, bytes: usize) {
        let bytes = bytes.min(self.length);
        self.bytes.copy_within(bytes..self.length, 0);
        self.length -= bytes;
    }

    /// Keeps so many bytes from the front.
    pub(crate) fn cut(&mut self, bytes: usize) {
        self.length = self.length.min(bytes);
    }

    /// Appends a number in decimal.
    pub(crate) fn push_number(&mut self, number: usize) {
        if number > 9 {
            self.push_number(number / 10);
        }
        self.push(&[b'0' + (number % 10) as u8]);
    }

    /// Bytes behind a place, to be changed where they are.
    pub(crate) fn behind(&mut self, place: usize) -> &mut [u8] {
        self.bytes.get_mut(place..self.length).unwrap_or_default()
    }

    pub(crate) fn len(&self) -> usize {
        self.length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_from_the_front_leaves_the_rest() {
        let mut buffer = Buffer::new();
        buffer.push(b"one");
        buffer.push(b"two");
        buffer.drop_front(3);
        assert_eq!(buffer.bytes(), b"two");
        buffer.push(&[0; MESSAGE_BYTES_MAX]);
        assert_eq!(buffer.len(), MESSAGE_BYTES_MAX);
        assert!(buffer.space().is_empty());
        buffer.clear();
        assert!(buffer.bytes().is_empty());
    }
}
