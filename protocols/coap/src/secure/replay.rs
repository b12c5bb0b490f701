//! What of a peer was taken already: a window over its sequence numbers (RFC 8613 section 7.4).

/// Numbers that may come late.
const WIDTH: u64 = 64;

/// A window: the largest number taken and which of those before it were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// One above the largest number taken; zero before any.
    next: u64,
    /// Bit `i` stands for the number `next - 1 - i`.
    taken: u64,
}

impl Window {
    /// A window in which everything up to this number counts as taken.
    pub fn after(sequence: u64) -> Self {
        Self {
            next: sequence + 1,
            taken: u64::MAX,
        }
    }

    /// Takes a number; says whether it is new.
    // [RFC8613-7.4-1]
    pub fn take(&mut self, sequence: u64) -> bool {
        if sequence >= self.next {
            let ahead = sequence - self.next + 1;
            self.taken = self.taken.checked_shl(ahead.min(64) as u32).unwrap_or(0) | 1;
            self.next = sequence + 1;
            return true;
        }
        let behind = self.next - 1 - sequence;
        let bit = if behind < WIDTH {
            1 << behind
        } else {
            return false;
        };
        let is_new = self.taken & bit == 0;
        self.taken |= bit;
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// [RFC8613-7.4-1]
    #[test]
    fn a_number_is_taken_once_and_not_when_it_is_too_late() {
        let mut window = Window::default();
        for (sequence, is_new) in [
            (0, true),
            (0, false),
            (5, true),
            (3, true),
            (3, false),
            (5, false),
            (69, true),
            (6, true),
            (5, false),
            (4, false),
            (1 << 39, true),
            (70, false),
        ] {
            assert_eq!(window.take(sequence), is_new, "{sequence}");
        }
        let mut window = Window::after(9);
        assert_eq!(
            [9, 3, 10, 10].map(|number| window.take(number)),
            [false, false, true, false]
        );
    }
}
