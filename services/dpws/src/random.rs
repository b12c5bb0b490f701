//! Delays and names that nobody can guess: the keys are the standard library's, drawn from the system.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// A row of numbers that nobody can tell from the ones before.
#[derive(Debug)]
pub(crate) struct Random {
    keys: RandomState,
    count: u64,
}

impl Default for Random {
    fn default() -> Self {
        Self {
            keys: RandomState::new(),
            count: 0,
        }
    }
}

impl Random {
    /// The next number.
    fn next(&mut self) -> u64 {
        self.count += 1;
        self.keys.hash_one(self.count)
    }

    /// A time from `least` to `most`.
    pub(super) fn between(&mut self, least: Duration, most: Duration) -> Duration {
        let span = most.saturating_sub(least).as_nanos().max(1) as u64;
        least + Duration::from_nanos(self.next() % span)
    }

    /// `urn:uuid:` with a random UUID (RFC 9562 section 5.4).
    pub(crate) fn uuid(&mut self) -> String {
        let bits = (u128::from(self.next()) << 64) | u128::from(self.next());
        let bits = bits & !(0xf << 76) & !(0x3 << 62) | (0x4 << 76) | (0x2 << 62);
        let hex = format!("{bits:032x}");
        let parts = [
            &hex[..8],
            &hex[8..12],
            &hex[12..16],
            &hex[16..20],
            &hex[20..],
        ];
        format!("urn:uuid:{}", parts.join("-"))
    }
}
