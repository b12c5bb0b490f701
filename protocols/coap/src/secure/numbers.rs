//! Sequence numbers of ours: none is used twice with the same keys, whatever happens in between.
//!
//! What it deliberately does not do: write anything down. Whoever owns it says up to where numbers are
//! reserved, after that is on disk; beyond, none is given (RFC 8613 appendix B.1.1).

use core::sync::atomic::{AtomicU64, Ordering};

/// Largest sequence number (RFC 8613 section 7.2.1: 40 bits).
pub const SEQUENCE_MAX: u64 = (1 << 40) - 1;

/// A row of sequence numbers, shared by all contexts and threads of a process.
#[derive(Debug, Default)]
pub struct Numbers {
    next: AtomicU64,
    /// The first that must not be used yet.
    reserved: AtomicU64,
}

impl Numbers {
    /// A row that begins here; nothing is given before it is reserved.
    pub fn from(next: u64) -> Self {
        Self {
            next: AtomicU64::new(next),
            reserved: AtomicU64::new(next),
        }
    }

    /// Begins later than said before: what is given from now on is not below this.
    pub fn begin(&self, next: u64) {
        self.next.fetch_max(next, Ordering::SeqCst);
    }

    /// Allows the numbers below this; it is on disk that they may be used.
    pub fn reserve(&self, below: u64) {
        self.reserved.fetch_max(below, Ordering::SeqCst);
    }

    /// The next number.
    // [RFC8613-7.2.1-1]
    pub fn draw(&self) -> Option<u64> {
        let step = |next| {
            let below = self.reserved.load(Ordering::SeqCst).min(SEQUENCE_MAX + 1);
            (next < below).then_some(next + 1)
        };
        let drawn = self
            .next
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, step);
        drawn.ok()
    }

    /// How many may still be drawn.
    pub fn left(&self) -> u64 {
        let reserved = self.reserved.load(Ordering::SeqCst);
        reserved.saturating_sub(self.next.load(Ordering::SeqCst))
    }

    /// Up to where numbers are allowed.
    pub fn reserved(&self) -> u64 {
        self.reserved.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// [RFC8613-7.2.1-1]
    #[test]
    fn nothing_is_given_that_is_not_reserved_nor_anything_twice() {
        let numbers = Numbers::from(5);
        assert_eq!(numbers.draw(), None);
        numbers.reserve(7);
        assert_eq!((numbers.draw(), numbers.draw()), (Some(5), Some(6)));
        assert_eq!((numbers.draw(), numbers.left()), (None, 0));
        numbers.begin(3);
        numbers.reserve(8);
        assert_eq!(numbers.draw(), Some(7));
        let last = Numbers::from(SEQUENCE_MAX);
        last.reserve(u64::MAX);
        assert_eq!((last.draw(), last.draw()), (Some(SEQUENCE_MAX), None));
    }
}
