//! Welch's t test (Biometrika 34, 1947): do two samples of unlike variance have one mean?

use crate::statistics::student::{quantile, two_sided};

/// Two samples beside each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Welch {
    /// Mean of the first.
    pub(super) before: f64,
    /// Mean of the second.
    pub(super) after: f64,
    /// Second less first.
    pub(super) difference: f64,
    /// Lower end of the difference's 95 % interval; not a number where nothing tells.
    pub(super) low: f64,
    /// Upper end.
    pub(super) high: f64,
    /// Probability of such a difference, or a greater one, of equal means.
    pub(super) p: f64,
}

impl Welch {
    /// Of figures that cannot vary.
    pub(super) fn exact(before: f64, after: f64) -> Self {
        let difference = after - before;
        Self {
            before,
            after,
            difference,
            low: difference,
            high: difference,
            p: if difference == 0.0 { 1.0 } else { 0.0 },
        }
    }

    /// Nothing of an empty sample. Samples without any spread are figures that do not vary, and differ
    /// as they do; single values without others say nothing of their spread, unless they are equal.
    pub(super) fn of(first: &[f64], second: &[f64]) -> Option<Self> {
        let ((before, va), (after, vb)) = (moments(first)?, moments(second)?);
        let difference = after - before;
        let (na, nb) = (first.len() as f64, second.len() as f64);
        let (ea, eb) = (va / na, vb / nb);
        let error = (ea + eb).sqrt();
        let known = Self::exact(before, after);
        if error == 0.0 && (difference == 0.0 || (na > 1.0 && nb > 1.0)) {
            return Some(known);
        }
        if na < 2.0 || nb < 2.0 {
            let (low, high, p) = (f64::NAN, f64::NAN, 1.0);
            return Some(Self {
                low,
                high,
                p,
                ..known
            });
        }
        let degrees = (ea + eb).powi(2) / (ea.powi(2) / (na - 1.0) + eb.powi(2) / (nb - 1.0));
        let half = quantile(0.975, degrees) * error;
        Some(Self {
            low: difference - half,
            high: difference + half,
            p: two_sided(difference / error, degrees),
            ..known
        })
    }
}

/// Mean and unbiased variance; of one value the latter is 0.
fn moments(values: &[f64]) -> Option<(f64, f64)> {
    let n = values.len() as f64;
    if values.is_empty() {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((mean, squares / (n - 1.0).max(1.0)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn near(value: f64, expected: f64) -> bool {
        (value - expected).abs() < 5e-4 * expected.abs().max(1.0)
    }

    #[test]
    fn samples_of_unlike_variance_are_told_apart_as_by_hand() {
        // Means 2 and 6, variances 1 and 4, three values each: error sqrt(5/3), t 3.0984, degrees
        // (5/3)^2 / ((1/3)^2 / 2 + (4/3)^2 / 2) = 50/17.
        let welch = Welch::of(&[1.0, 2.0, 3.0], &[4.0, 6.0, 8.0]).unwrap();
        assert_eq!(
            (welch.before, welch.after, welch.difference),
            (2.0, 6.0, 4.0)
        );
        let t = two_sided(4.0 / (5.0f64 / 3.0).sqrt(), 50.0 / 17.0);
        assert!(
            near(welch.p, t) && (0.04..0.07).contains(&welch.p),
            "{}",
            welch.p
        );
        assert!(welch.low < 0.0 && welch.high > 8.0);
    }

    #[test]
    fn figures_that_do_not_vary_differ_as_they_do_and_one_alone_says_nothing() {
        let exact = Welch::of(&[1.0, 1.0], &[2.0, 2.0]).unwrap();
        assert_eq!((exact.low, exact.high, exact.p), (1.0, 1.0, 0.0));
        let equal = Welch::of(&[1.0], &[1.0]).unwrap();
        assert_eq!((equal.difference, equal.p), (0.0, 1.0));
        let alone = Welch::of(&[1.0], &[2.0]).unwrap();
        assert!(alone.low.is_nan() && alone.p == 1.0);
        assert!(Welch::of(&[], &[1.0]).is_none());
    }
}
