//! Numbers that nobody can guess who does not know the seed: jitter, first Message IDs, tokens.

use super::echo::Sip;
use core::hash::Hasher;

/// A row of numbers from a seed that the driver draws (RFC 7252 section 11.4).
#[derive(Clone, Debug)]
pub(super) struct Random {
    seed: u64,
    count: u64,
}

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, count: 0 }
    }

    /// The next number: the count under a keyed hash, so that earlier ones tell nothing.
    pub(super) fn next(&mut self) -> u64 {
        self.count = self.count.wrapping_add(1);
        let mut sip = Sip::new(self.seed, !self.seed.rotate_left(17));
        sip.write_u64(self.count);
        sip.finish()
    }

    /// A number below `bound`.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }
}
