//! The samples themselves, behind the figures: one row a sample, or a row a bucket with its count.
//!
//! A result carries its samples until its cell is kept; from there they go to `samples.parquet`, which
//! holds every row in columns that programs for tables read. What it deliberately does not do: give a
//! histogram's samples one by one, which nobody has; the bucket's upper end stands with its count.

mod join;
mod sheet;

use serde::{Deserialize, Serialize};

use crate::latency::{Latency, Percentiles};
use crate::limits::SAMPLES_A_SERIES_MAX;

pub use join::join;
pub use sheet::Sheet;

/// The sheet of a run, in its folder.
pub const SHEET: &str = "samples.parquet";

/// The samples of one metric of one contender in one round, in the order in which they came.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Number of the round.
    pub round: usize,
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// The samples, or the buckets' values.
    pub values: Vec<f64>,
    /// How often each was seen; empty where each is one sample.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counts: Vec<u64>,
}

impl Series {
    /// Of single samples; of more than [`SAMPLES_A_SERIES_MAX`] the first.
    pub fn of(round: usize, metric: &str, unit: &str, values: &[f64]) -> Self {
        Self {
            round,
            metric: metric.into(),
            unit: unit.into(),
            values: values[..values.len().min(SAMPLES_A_SERIES_MAX)].to_vec(),
            counts: Vec::new(),
        }
    }

    /// Of a histogram: a row a bucket, in microseconds.
    pub fn of_latency(round: usize, metric: &str, latency: &Latency) -> Self {
        let (values, counts) = latency.buckets_us().unzip();
        Self {
            round,
            metric: metric.into(),
            unit: "us".into(),
            values,
            counts,
        }
    }

    /// Each row: its number, its value, its count.
    pub fn rows(&self) -> impl Iterator<Item = (usize, f64, u64)> + '_ {
        let count = |at: usize| self.counts.get(at).copied().unwrap_or(1);
        let values = self.values.iter().enumerate();
        values.map(move |(at, &value)| (at, value, count(at)))
    }
}

/// Samples in their order.
pub struct Sorted(Vec<f64>);

impl Sorted {
    /// Of values.
    pub fn of(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        Self(sorted)
    }

    /// The sample at a share of them is the nearest one above; of none zero.
    pub fn at(&self, share: f64) -> f64 {
        let place = (share * self.0.len() as f64).ceil() as usize;
        self.0.get(place.saturating_sub(1)).copied().unwrap_or(0.0)
    }
}

/// What is printed of samples that are all there.
pub fn percentiles(values: &[f64]) -> Percentiles {
    let sorted = Sorted::of(values);
    let at = |share| sorted.at(share);
    let Sorted(sorted) = &sorted;
    Percentiles {
        n: sorted.len() as u64,
        mean: sorted.iter().sum::<f64>() / sorted.len().max(1) as f64,
        p50: at(0.5),
        p90: at(0.9),
        p99: at(0.99),
        p999: at(0.999),
        max: at(1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_gives_a_row_a_bucket_with_its_count() {
        let mut latency = Latency::new();
        [1000, 1000, 5000]
            .into_iter()
            .for_each(|ns| latency.record(ns));
        let rows: Vec<_> = Series::of_latency(0, "rtt", &latency).rows().collect();
        assert_eq!(rows, [(0, 1.0, 2), (1, 5.003, 1)]);
    }

    #[test]
    fn percentiles_of_samples_are_samples() {
        let shown = percentiles(&[3.0, 1.0, 2.0]);
        assert_eq!((shown.n, shown.mean, shown.p50), (3, 2.0, 2.0));
        assert_eq!((shown.p99, shown.max), (3.0, 3.0));
        assert_eq!(percentiles(&[]), Percentiles::default());
    }
}
