//! A part of a text that is longer than what is wanted of it.

/// Takes a text in pieces, keeps what lies in a window of it, and counts all.
pub(crate) struct Slice<'a> {
    skip: usize,
    out: &'a mut [u8],
    length: usize,
}

impl<'a> Slice<'a> {
    /// The window begins after `skip` bytes and is as long as `out`.
    pub(crate) fn new(skip: usize, out: &'a mut [u8]) -> Self {
        Self {
            skip,
            out,
            length: 0,
        }
    }

    /// Only counts.
    pub(crate) fn counting() -> Slice<'static> {
        Slice::new(0, &mut [])
    }

    /// Bytes of the whole text so far.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    pub(crate) fn byte(&mut self, byte: u8) {
        let place = self.length.wrapping_sub(self.skip);
        if let Some(kept) = self.out.get_mut(place) {
            *kept = byte;
        }
        self.length += 1;
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        let end = self.length + bytes.len();
        // What lies before or behind the window is only counted.
        if end > self.skip && self.length < self.skip + self.out.len() {
            bytes.iter().for_each(|&byte| self.byte(byte));
        } else {
            self.length = end;
        }
    }

    pub(crate) fn number(&mut self, number: u32, base: u32) {
        let mut digits = [0; 10];
        let (mut rest, mut at) = (number, digits.len());
        loop {
            let digit = (rest % base) as u8;
            let ascii = if digit < 10 { b'0' } else { b'a' - 10 } + digit;
            rest /= base;
            at -= 1;
            if let Some(place) = digits.get_mut(at) {
                *place = ascii;
            }
            if rest == 0 || at == 0 {
                break;
            }
        }
        self.bytes(digits.get(at..).unwrap_or(&[]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(slice: &mut Slice<'_>) {
        slice.bytes(b"HTTP/1.1 ");
        slice.number(204, 10);
        slice.byte(b' ');
        slice.number(0xbeef, 16);
        slice.number(0, 10);
    }

    proptest! {
        #[test]
        fn a_window_shows_what_lies_in_it(skip in 0usize..24, width in 0usize..24) {
            const WHOLE: &[u8] = b"HTTP/1.1 204 beef0";
            let mut kept = [b'.'; 24];
            let mut slice = Slice::new(skip, &mut kept[..width]);
            text(&mut slice);
            prop_assert_eq!(slice.length(), WHOLE.len());
            let seen = WHOLE.get(skip..).unwrap_or(&[]);
            let seen = &seen[..seen.len().min(width)];
            prop_assert_eq!(&kept[..seen.len()], seen);
            prop_assert!(kept[seen.len()..].iter().all(|&byte| byte == b'.'));
        }
    }
}
