//! Noise: a quantity that wanders, and waiting times.

use weir_random::Random;

/// A waiting time of a process without memory, in the unit of `mean`; infinite where that is.
pub fn wait(random: &mut Random, mean: f64) -> f64 {
    if mean.is_infinite() {
        return mean;
    }
    -mean * (1.0 - random.unit()).ln()
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
