//! A distribution as it is drawn: what its samples were at fixed shares of them.
//!
//! A histogram of thousands of buckets is too much for every metric of a run, and five percentiles are a line
//! with five corners. Shares are even up to nine in ten and then ten to each further nine, as far as there are
//! samples to speak of them; so a distribution takes at most [`SHARES_MAX`] numbers. What it deliberately does
//! not do: stand in for the samples, which `samples.parquet` has.

use serde::{Deserialize, Serialize};

use crate::samples::Sorted;

/// Most numbers of a distribution: 46 up to 90 %, nine to each further nine, and the greatest sample.
pub const SHARES_MAX: usize = 74;

/// Samples below which there is nothing to draw.
const SAMPLES_MIN: u64 = 20;

/// Values at the first of the fixed shares, and last the greatest sample.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Quantiles(Vec<f64>);

/// The shares, without the last, which is all.
fn shares() -> impl Iterator<Item = f64> {
    let even = (0..=45).map(|step| f64::from(step) / 50.0);
    let tail = [10.0, 100.0, 1000.0].into_iter().flat_map(|nine| {
        let steps = (1..=9).map(f64::from);
        steps.map(move |step| 1.0 - (1.0 - step / 10.0) / nine)
    });
    // As they are printed: 0.9991 and not 0.9991000000000001.
    even.chain(tail).map(|share| (share * 1e4).round() / 1e4)
}

impl Quantiles {
    /// Of so many samples, of which `at` gives the one at a share; of few none.
    pub fn of(samples: u64, at: impl Fn(f64) -> f64) -> Self {
        if samples < SAMPLES_MIN {
            return Self::default();
        }
        let told = 1.0 - 1.0 / samples as f64;
        let shares = shares().take_while(|share| *share <= told);
        let mut values = Vec::with_capacity(SHARES_MAX);
        values.extend(shares.chain([1.0]).map(at));
        Self(values)
    }

    /// Of samples that are all there.
    pub fn of_samples(values: &[f64]) -> Self {
        let sorted = Sorted::of(values);
        Self::of(values.len() as u64, |share| sorted.at(share))
    }

    /// Whether none are kept.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Share and value, the greatest sample last.
    pub fn points(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let before = self.0.len().saturating_sub(1);
        let shares = shares().take(before).chain([1.0]);
        shares.zip(self.0.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::latency::Latency;

    #[test]
    fn the_shares_rise_and_are_as_many_as_is_said() {
        let all: Vec<f64> = shares().chain([1.0]).collect();
        assert_eq!(all.len(), SHARES_MAX);
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "{all:?}");
        for named in [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999] {
            assert!(all.contains(&named), "{named}");
        }
    }

    #[test]
    fn a_distribution_with_two_hills_keeps_both() {
        let of_half = |n: u32| if n.is_multiple_of(2) { 10.0 } else { 1000.0 };
        let values: Vec<f64> = (0..10_000).map(of_half).collect();
        let kept = Quantiles::of_samples(&values);
        let at = |wanted: f64| kept.points().find(|(share, _)| *share == wanted).unwrap().1;
        assert_eq!(
            (at(0.0), at(0.48), at(0.52), at(1.0)),
            (10.0, 10.0, 1000.0, 1000.0)
        );
        assert_eq!(kept.points().count(), SHARES_MAX);
    }

    #[test]
    fn nothing_is_said_of_shares_for_which_there_are_too_few_samples() {
        let values: Vec<f64> = (1..=100).map(f64::from).collect();
        let points: Vec<_> = Quantiles::of_samples(&values).points().collect();
        assert_eq!(points[points.len() - 2..], [(0.99, 99.0), (1.0, 100.0)]);
        assert!(Quantiles::of_samples(&values[..19]).is_empty());
    }

    #[test]
    fn of_a_histogram_they_are_its_own() {
        let mut latency = Latency::new();
        (1..=1000_u64).for_each(|n| latency.record(n * 1_000_000));
        let (kept, p) = (latency.quantiles(), latency.percentiles());
        let at = |wanted: f64| kept.points().find(|(share, _)| *share == wanted).unwrap().1;
        let shown = [p.p50, p.p90, p.p99, p.p999];
        assert_eq!([0.5, 0.9, 0.99, 0.999].map(at), shown);
        assert_eq!(kept.points().last(), Some((1.0, p.max)));
    }
}
