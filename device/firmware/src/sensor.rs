//! A simulated sensor: a temperature that wanders between 18 and 26 degrees.

/// Hundredths of a degree Celsius.
pub(crate) type Centidegrees = u32;

const LOWEST: Centidegrees = 18_00;
const HIGHEST: Centidegrees = 26_00;
/// The most that it changes from one time to the next.
const STEP: Centidegrees = 12;

/// The sensor; it begins as zeros.
pub(crate) struct Sensor {
    above: Centidegrees,
    state: u32,
}

impl Sensor {
    pub(crate) const fn new() -> Self {
        Self { above: 0, state: 0 }
    }

    /// The next value: another step of a random walk (xorshift, Marsaglia 2003) that stays in its bounds.
    pub(crate) fn next(&mut self) -> Centidegrees {
        let mut state = self.state ^ 0x9e37_79b9;
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        self.state = state ^ 0x9e37_79b9;
        let step = state % (2 * STEP + 1);
        self.above = (self.above + step)
            .saturating_sub(STEP)
            .min(HIGHEST - LOWEST);
        LOWEST + self.above
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_wanders_within_its_bounds() {
        let mut sensor = Sensor::new();
        let values: Vec<Centidegrees> = (0..10_000).map(|_| sensor.next()).collect();
        assert!(
            values
                .iter()
                .all(|value| (LOWEST..=HIGHEST).contains(value))
        );
        assert!(
            values
                .windows(2)
                .all(|pair| pair[0].abs_diff(pair[1]) <= STEP)
        );
        let spread = values.iter().max().unwrap() - values.iter().min().unwrap();
        assert!(spread > 4_00, "{spread}");
    }
}
