//! A small seeded generator (SplitMix64), so that a run of the demo can be repeated exactly.
//!
//! It is for noise and faults, never for keys or tokens.

/// A stream of numbers that depends on its seed alone.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A stream that starts at `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 inclusive to 1 exclusive.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A whole number below `end`; 0 where `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.unit() * end as f64) as usize
    }

    /// A normally distributed number with mean 0 and deviation 1 (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (core::f64::consts::TAU * self.unit()).cos()
    }

    /// A waiting time of a process without memory, in the unit of `mean`; infinite where that is.
    pub fn wait(&mut self, mean: f64) -> f64 {
        if mean.is_infinite() {
            return mean;
        }
        -mean * (1.0 - self.unit()).ln()
    }
}

/// A quantity that wanders about 0 and forgets (Ornstein and Uhlenbeck).
#[derive(Clone, Debug)]
pub struct Wander {
    now: f64,
    deviation: f64,
    memory_s: f64,
}

impl Wander {
    /// Wanders with this standard deviation, forgetting over `memory_s` seconds.
    pub fn new(deviation: f64, memory_s: f64) -> Self {
        Self {
            now: 0.0,
            deviation,
            memory_s,
        }
    }

    /// Moves on by `dt_s` seconds and says where it is; exact for every step length.
    pub fn step(&mut self, dt_s: f64, random: &mut Random) -> f64 {
        let keep = (-dt_s / self.memory_s).exp();
        self.now = self.now * keep + self.deviation * (1.0 - keep * keep).sqrt() * random.normal();
        self.now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_stream() {
        let (mut one, mut two) = (Random::new(7), Random::new(7));
        assert!((0..100).all(|_| one.bits() == two.bits()));
    }

    #[test]
    fn normal_numbers_have_mean_0_and_deviation_1() {
        let mut random = Random::new(1);
        let numbers: Vec<f64> = (0..20_000).map(|_| random.normal()).collect();
        let mean = numbers.iter().sum::<f64>() / 20_000.0;
        let square = numbers.iter().map(|x| x * x).sum::<f64>() / 20_000.0;
        assert!(mean.abs() < 0.03 && (square - 1.0).abs() < 0.05);
    }
}
