//! From values to pixels, and where the ticks stand.

/// A scale of numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    log: bool,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// Over all values; a linear one begins at zero where `zero` is asked or near.
    pub(super) fn of(values: &[f64], log: bool, zero: bool, [from, to]: [f64; 2]) -> Self {
        let fits = |value: &&f64| value.is_finite() && (!log || **value > 0.0);
        let fitting = || values.iter().filter(fits).copied();
        let low = fitting().fold(f64::INFINITY, f64::min);
        let high = fitting().fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = match low <= high {
            true => (low, high),
            false => (if log { 1.0 } else { 0.0 }, 10.0),
        };
        let (low, high) = match log {
            true => decades(low, high),
            false => padded(low, high, zero),
        };
        Self {
            log,
            low,
            high,
            from,
            to,
        }
    }

    /// Where a value stands; what is off the scale stands at its end.
    pub(super) fn at(&self, value: f64) -> f64 {
        let share = match self.log {
            true => (value.max(self.low) / self.low).ln() / (self.high / self.low).ln(),
            false => (value - self.low) / (self.high - self.low),
        };
        self.from + share.clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// Where bars begin.
    pub(super) fn base(&self) -> f64 {
        self.at(if self.log { self.low } else { 0.0 })
    }

    /// About so many round values.
    pub(super) fn ticks(&self, count: usize) -> Vec<f64> {
        match self.log {
            true => self.ticks_of_decades(count),
            false => self.ticks_of_steps(count),
        }
    }

    fn ticks_of_steps(&self, count: usize) -> Vec<f64> {
        let step = round_up((self.high - self.low) / count.max(1) as f64);
        let first = (self.low / step - 1e-9).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        (first..=last).map(|at| at as f64 * step).collect()
    }

    fn ticks_of_decades(&self, count: usize) -> Vec<f64> {
        let first = self.low.log10().floor() as i32;
        let last = self.high.log10().ceil() as i32;
        let decades = (last - first).max(1) as usize;
        let parts: &[f64] = match count / decades {
            0 | 1 => &[1.0],
            2 => &[1.0, 3.0],
            _ => &[1.0, 2.0, 5.0],
        };
        let every = decades.div_ceil(count.max(1)).max(1);
        let of = |decade: i32| parts.iter().map(move |part| part * 10f64.powi(decade));
        let all = (first..=last).step_by(every).flat_map(of);
        let within = |tick: &f64| *tick >= self.low * 0.999 && *tick <= self.high * 1.001;
        all.filter(within).collect()
    }
}

/// Down and up to 1, 2 or 5 times a power of ten.
fn decades(low: f64, high: f64) -> (f64, f64) {
    let floor = |value: f64| {
        let power = 10f64.powf(value.log10().floor());
        let parts = [5.0, 2.0, 1.0];
        let part = parts
            .into_iter()
            .find(|part| part * power <= value * 1.0001);
        part.unwrap_or(1.0) * power
    };
    let (low, high) = (floor(low), 1.0 / floor(1.0 / high));
    match low < high {
        true => (low, high),
        false => (low / 2.0, low * 2.0),
    }
}

fn padded(low: f64, high: f64, zero: bool) -> (f64, f64) {
    let near = low >= 0.0 && low < high * 0.4;
    let low = if zero || near { low.min(0.0) } else { low };
    let high = if zero { high.max(0.0) } else { high };
    let span = match high > low {
        true => high - low,
        false => high.abs().max(1.0),
    };
    let step = round_up(span / 5.0);
    let end = (high / step - 1e-9).ceil() * step;
    ((low / step + 1e-9).floor() * step, end.max(low + step))
}

/// The next of 1, 2, 5 times a power of ten.
fn round_up(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let parts = [1.0, 2.0, 5.0, 10.0];
    let part = parts.into_iter().find(|part| part * power >= step * 0.9999);
    part.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_scale_has_round_ticks_from_zero() {
        let scale = Scale::of(&[3.0, 47.0], false, true, [0.0, 100.0]);
        assert_eq!(scale.ticks(5), [0.0, 10.0, 20.0, 30.0, 40.0, 50.0]);
        assert_eq!(scale.at(25.0), 50.0);
        assert_eq!(scale.base(), 0.0);
    }

    #[test]
    fn a_logarithmic_scale_ends_at_round_values_and_keeps_what_is_not_positive_at_its_end() {
        let scale = Scale::of(&[0.0, 12.0, 900.0], true, false, [0.0, 100.0]);
        assert_eq!(scale.ticks(3), [10.0, 100.0, 1000.0]);
        assert_eq!((scale.at(10.0), scale.at(1000.0)), (0.0, 100.0));
        assert_eq!(scale.at(-5.0), 0.0);
    }

    #[test]
    fn a_scale_of_one_value_or_none_is_still_a_scale() {
        for values in [&[][..], &[7.0], &[0.0], &[f64::NAN]] {
            for log in [false, true] {
                let scale = Scale::of(values, log, false, [0.0, 100.0]);
                assert!(scale.at(7.0).is_finite() && scale.ticks(4).len() < 20);
            }
        }
    }
}
