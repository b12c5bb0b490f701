//! Numbers and orders that look random and are the same for the same seed, everywhere (SplitMix64).

/// The source of all that is chosen, and of the order of what is measured.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Of a seed.
    pub fn of(seed: u64) -> Self {
        Self(seed)
    }

    /// Of a seed, for one purpose: another name gives other numbers.
    pub fn new(seed: u64, purpose: &str) -> Self {
        let fold = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        Self(seed ^ purpose.bytes().fold(0xcbf2_9ce4_8422_2325, fold))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Less than `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// From 0 to 1, without 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Of the normal distribution of mean 0 and deviation 1 (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (self.unit() * std::f64::consts::TAU).cos()
    }

    /// One of a list.
    pub fn one_of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }

    /// Puts a list into another order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn a_seed_gives_the_same_numbers_and_a_purpose_others() {
        let first = |seed, purpose| Random::new(seed, purpose).next();
        assert_eq!(first(1, "caps"), first(1, "caps"));
        assert_ne!(first(1, "caps"), first(1, "obs"));
        assert_ne!(first(1, "caps"), first(2, "caps"));
    }

    #[test]
    fn normal_numbers_have_their_mean_and_deviation() {
        let mut random = Random::new(1, "test");
        let numbers: Vec<f64> = (0..20_000).map(|_| random.normal()).collect();
        let mean = numbers.iter().sum::<f64>() / 20_000.0;
        let variance = numbers.iter().map(|n| (n - mean).powi(2)).sum::<f64>() / 20_000.0;
        assert!(
            mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05,
            "{mean} {variance}"
        );
    }
}
