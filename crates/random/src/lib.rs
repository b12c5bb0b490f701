//! Random numbers: of a seed, the same on every machine; and of the system, which nobody guesses.
//!
//! What it deliberately does not do: no generator for keys but the system's own, and none that a thread
//! keeps. The decision worth arguing: what only must differ ([`number`]) never fails; what is a secret
//! ([`bytes`]) may, and says so.
//!
//! It touches the system's generator of random numbers, and nothing else.
//!
//! ```
//! use weir_random::{Random, bytes};
//!
//! let (mut one, mut other) = (Random::new(7), Random::new(7));
//! assert_eq!(one.bits(), other.bits());
//! assert!(one.below(6) < 6);
//!
//! let key: [u8; 16] = bytes()?;
//! assert_ne!(key, bytes()?);
//! # Ok::<(), std::io::Error>(())
//! ```
#![forbid(unsafe_code)]

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// What the state of a seeded generator moves on by: odd, and 2^64 by the golden ratio.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Numbers of a seed: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). For noise, order and faults, never
/// for secrets.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A stream of its own for each seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mixed(self.0)
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A whole number below `end`; 0 where `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.unit() * end as f64) as usize
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// A normally distributed number with mean 0 and deviation 1 (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (core::f64::consts::TAU * self.unit()).cos()
    }
}

/// The same for several threads at once.
#[derive(Debug)]
pub struct SharedRandom(AtomicU64);

impl SharedRandom {
    /// A stream of its own for each seed.
    pub fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    /// The next 64 bits, whoever draws them.
    pub fn bits(&self) -> u64 {
        let before = self.0.fetch_add(STEP, Ordering::Relaxed);
        mixed(before.wrapping_add(STEP))
    }
}

/// The bits of a state of SplitMix64.
fn mixed(state: u64) -> u64 {
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// A number that tells one thing from all others and does not tell how many there were: names, places
/// to count from, waits. Its keys are the standard library's, which are drawn from the system.
pub fn number() -> u64 {
    RandomState::new().hash_one(())
}

/// Bytes of the system, for what nobody may guess.
pub fn bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    fill(&mut bytes)?;
    Ok(bytes)
}

/// The same, as many as there is room for.
pub fn fill(bytes: &mut [u8]) -> io::Result<()> {
    let none = |error| io::Error::other(format!("the system gives no random bytes: {error}"));
    getrandom::fill(bytes).map_err(none)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_first_numbers_are_those_of_the_published_generator() {
        let mut random = Random::new(1_234_567);
        let first = [random.bits(), random.bits(), random.bits()];
        let published = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!(first, published);
        let shared = SharedRandom::new(1_234_567);
        assert_eq!([shared.bits(), shared.bits(), shared.bits()], published);
    }

    #[test]
    fn normal_numbers_have_mean_0_and_deviation_1() {
        let mut random = Random::new(1);
        let numbers: Vec<f64> = (0..20_000).map(|_| random.normal()).collect();
        let mean = numbers.iter().sum::<f64>() / 20_000.0;
        let square = numbers.iter().map(|x| x * x).sum::<f64>() / 20_000.0;
        assert!(mean.abs() < 0.03 && (square - 1.0).abs() < 0.05);
    }

    #[test]
    fn what_is_drawn_is_never_the_same() {
        assert_ne!(number(), number());
        assert_ne!(bytes::<16>().unwrap(), bytes::<16>().unwrap());
    }
}
