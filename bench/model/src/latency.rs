//! Latencies as a histogram that merges without loss: HdrHistogram, three digits, nanoseconds.
//!
//! Deliberately no means alone: whoever wants one gets the percentiles and the count with it.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::limits::LATENCY_NS_MAX;
use crate::quantiles::Quantiles;

/// A distribution of latencies, in nanoseconds, exact to three digits.
#[derive(Clone, Debug)]
pub struct Latency(Histogram<u64>);

/// What is printed of a distribution, in the unit of its metric: microseconds of a [`Latency`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Percentiles {
    /// Samples.
    pub n: u64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p999: f64,
    /// Greatest sample.
    pub max: f64,
}

impl Default for Latency {
    fn default() -> Self {
        Self::new()
    }
}

impl Latency {
    /// An empty distribution.
    pub fn new() -> Self {
        let histogram = Histogram::new_with_bounds(1, LATENCY_NS_MAX, 3);
        Self(histogram.expect("constant bounds are valid"))
    }

    /// Adds one sample; what exceeds [`LATENCY_NS_MAX`] counts as that.
    pub fn record(&mut self, nanoseconds: u64) {
        self.0.saturating_record(nanoseconds);
    }

    /// Adds all samples of another distribution.
    pub fn merge(&mut self, other: &Latency) {
        let same_bounds = self.0.add(&other.0);
        same_bounds.expect("all distributions share their bounds");
    }

    /// The number of samples.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The value at a quantile from 0 to 1, in nanoseconds; 0 of an empty distribution.
    pub fn quantile_ns(&self, quantile: f64) -> u64 {
        self.0.value_at_quantile(quantile)
    }

    /// The filled buckets: upper end in microseconds, and count.
    pub fn buckets_us(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        let buckets = self.0.iter_recorded();
        buckets.map(|b| (b.value_iterated_to() as f64 / 1e3, b.count_at_value()))
    }

    /// What is drawn, in microseconds.
    pub fn quantiles(&self) -> Quantiles {
        Quantiles::of(self.count(), |share| self.quantile_ns(share) as f64 / 1e3)
    }

    /// What is printed, in microseconds.
    pub fn percentiles(&self) -> Percentiles {
        let us = |quantile| self.0.value_at_quantile(quantile) as f64 / 1e3;
        Percentiles {
            n: self.0.len(),
            mean: self.0.mean() / 1e3,
            p50: us(0.5),
            p90: us(0.9),
            p99: us(0.99),
            p999: us(0.999),
            max: self.0.max() as f64 / 1e3,
        }
    }
}

/// Travels between processes as its filled buckets: pairs of nanoseconds and count.
impl Serialize for Latency {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let buckets = self.0.iter_recorded();
        serializer.collect_seq(buckets.map(|b| (b.value_iterated_to(), b.count_at_value())))
    }
}

impl<'de> Deserialize<'de> for Latency {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let buckets = Vec::<(u64, u64)>::deserialize(deserializer)?;
        let mut latency = Latency::new();
        for (value, count) in buckets {
            latency.0.saturating_record_n(value, count);
        }
        Ok(latency)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_distribution_survives_the_way_between_processes() {
        let mut sent = Latency::new();
        for value in [1, 900, 12_345, 70_000_000, 80_000_000_000] {
            sent.record(value);
        }
        let text = serde_json::to_string(&sent).unwrap();
        let received: Latency = serde_json::from_str(&text).unwrap();
        assert_eq!(received.count(), 5);
        assert_eq!(received.percentiles().p50, sent.percentiles().p50);
        assert_eq!(received.percentiles().p999, sent.percentiles().p999);
    }

    #[test]
    fn an_empty_distribution_has_zero_percentiles() {
        assert_eq!(Latency::new().percentiles().p99, 0.0);
    }
}
