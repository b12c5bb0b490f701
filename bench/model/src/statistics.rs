//! Means of few rounds and their 95 % confidence intervals by Student's t.
//!
//! Ratios are compared on a logarithmic scale, pair by pair: a mean of logarithms treats "twice"
//! and "half" alike, and what disturbs both of a pair cancels.

pub mod line;
pub mod student;

use serde::{Deserialize, Serialize};

/// Ends of an interval that are further apart say nothing but that.
const SHOWN_FACTOR_MAX: f64 = 1000.0;

/// A mean over rounds and its 95 % confidence interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Rounds.
    pub n: u64,
    /// Their mean; of ratios the geometric one.
    pub mean: f64,
    /// The interval's lower end; the mean itself where one round is all there is, which tells nothing.
    pub low: f64,
    /// The interval's upper end.
    pub high: f64,
}

impl Estimate {
    /// Of one value a round; `None` of no round.
    pub fn of(values: &[f64]) -> Option<Self> {
        let n = values.len();
        if n == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n as f64;
        if n == 1 {
            return Some(Self {
                n: 1,
                mean,
                low: mean,
                high: mean,
            });
        }
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1) as f64;
        let half = student::quantile(0.975, (n - 1) as f64) * (variance / n as f64).sqrt();
        Some(Self {
            n: n as u64,
            mean,
            low: mean - half,
            high: mean + half,
        })
    }

    /// Of the ratios of pairs (ours, theirs), one a round.
    pub fn of_ratios(pairs: &[(f64, f64)]) -> Option<Self> {
        let whole = pairs
            .iter()
            .filter(|(ours, theirs)| *ours > 0.0 && *theirs > 0.0);
        let logs: Vec<f64> = whole.map(|(ours, theirs)| (ours / theirs).ln()).collect();
        let Self { n, mean, low, high } = Self::of(&logs)?;
        Some(Self {
            n,
            mean: mean.exp(),
            low: low.exp(),
            high: high.exp(),
        })
    }

    /// What is known and not measured.
    pub const fn exactly(figure: f64) -> Self {
        Self {
            n: u64::MAX,
            mean: figure,
            low: figure,
            high: figure,
        }
    }

    /// Whether it is less than another, where both have intervals and these do not meet.
    pub fn is_below(&self, other: &Self) -> Option<bool> {
        if self.n < 2 || other.n < 2 {
            return None;
        }
        if self.high < other.low {
            return Some(true);
        }
        (other.high < self.low).then_some(false)
    }

    /// Whether all of it is at least a bound, or none of it; of one round nothing is known.
    pub fn is_at_least(&self, bound: f64) -> Option<bool> {
        let (all, none) = (self.low >= bound, self.high < bound);
        (self.n > 1 && (all || none)).then_some(all)
    }

    /// Whether all of it is at most a bound, or none of it; of one round nothing is known.
    pub fn is_at_most(&self, bound: f64) -> Option<bool> {
        let (all, none) = (self.high <= bound, self.low > bound);
        (self.n > 1 && (all || none)).then_some(all)
    }

    /// So many times as much.
    pub fn times(&self, factor: f64) -> Self {
        Self {
            n: self.n,
            mean: self.mean * factor,
            low: self.low * factor,
            high: self.high * factor,
        }
    }

    /// So much more.
    pub fn plus(&self, more: f64) -> Self {
        Self {
            n: self.n,
            mean: self.mean + more,
            low: self.low + more,
            high: self.high + more,
        }
    }

    /// The interval in words; of one round there is none.
    pub fn interval(&self) -> String {
        if self.n < 2 {
            return "one round".into();
        }
        let number = crate::number::number;
        if self.low > 0.0 && self.high / self.low > SHOWN_FACTOR_MAX {
            return format!("over a factor of {} (wide)", number(SHOWN_FACTOR_MAX));
        }
        let wide = if self.is_wide() { " (wide)" } else { "" };
        format!("{} to {}{wide}", number(self.low), number(self.high))
    }

    /// Whether the interval is too wide to rank by.
    pub fn is_wide(&self) -> bool {
        let half = (self.high - self.low) / 2.0;
        half > crate::limits::WIDE_SHARE * self.mean.abs()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_interval_of_five_rounds_is_students() {
        let estimate = Estimate::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert!((estimate.mean - 3.0).abs() < 1e-9);
        assert!((estimate.high - 4.963).abs() < 1e-3);
        assert!(estimate.is_wide());
    }

    #[test]
    fn twice_and_half_cancel() {
        let estimate = Estimate::of_ratios(&[(2.0, 1.0), (1.0, 2.0)]).unwrap();
        assert!((estimate.mean - 1.0).abs() < 1e-9);
    }

    #[test]
    fn an_interval_of_which_nothing_is_known_is_not_given_in_digits() {
        let far = Estimate::of_ratios(&[(1.0, 1.0), (2.0, 1.0)]).unwrap();
        assert_eq!(far.interval(), "over a factor of 1,000 (wide)");
        let near = Estimate::of_ratios(&[(2.0, 1.0), (2.0, 1.0)]).unwrap();
        assert_eq!(near.interval(), "2.00 to 2.00");
    }

    #[test]
    fn one_is_below_another_where_their_intervals_do_not_meet() {
        let of = |low, high| Estimate {
            n: 2,
            mean: (low + high) / 2.0,
            low,
            high,
        };
        assert_eq!(of(1.0, 2.0).is_below(&of(2.5, 3.0)), Some(true));
        assert_eq!(of(2.5, 3.0).is_below(&of(1.0, 2.0)), Some(false));
        assert_eq!(of(1.0, 2.0).is_below(&of(1.5, 3.0)), None);
        assert_eq!(of(1.0, 2.0).is_below(&of(1.5, 3.0).times(2.0)), Some(true));
        assert_eq!(of(1.0, 2.0).is_below(&of(1.5, 3.0).plus(1.0)), Some(true));
    }

    #[test]
    fn a_bound_within_the_interval_or_beside_one_round_is_neither_reached_nor_missed() {
        let of = |values: &[f64]| Estimate::of(values).unwrap();
        let bounds = |bound| {
            let it = of(&[9.0, 11.0, 10.0]);
            (it.is_at_least(bound), it.is_at_most(bound))
        };
        assert_eq!(bounds(5.0), (Some(true), Some(false)));
        assert_eq!(bounds(10.5), (None, None));
        assert_eq!(bounds(15.0), (Some(false), Some(true)));
        let once = of(&[10.0]);
        assert_eq!((once.is_at_least(5.0), once.is_at_most(5.0)), (None, None));
    }

    #[test]
    fn one_round_is_below_nothing_and_a_known_figure_is() {
        let [once, twice] = [&[1.0][..], &[1.0, 1.1]].map(|it| Estimate::of(it).unwrap());
        let ten = Estimate::exactly(10.0);
        assert_eq!((once.is_below(&ten), ten.is_below(&once)), (None, None));
        assert_eq!(twice.is_below(&ten), Some(true));
    }

    #[test]
    fn no_round_gives_no_estimate() {
        assert_eq!(Estimate::of(&[]), None);
        assert_eq!(Estimate::of_ratios(&[(0.0, 1.0)]), None);
    }
}
