//! A recorded link: at which milliseconds it could carry a packet.
//!
//! The file is the one Mahimahi made common: a whole number of milliseconds a line, not falling, each an
//! opportunity to carry 1,500 bytes; what an opportunity has left serves the next packet, and one that
//! nobody waits for is gone. The trace begins anew after its last millisecond.

use crate::limits::OPPORTUNITIES_MAX;
use crate::time::Nanos;
use std::fmt;
use weir_random::Random;

/// Bytes of one opportunity.
pub(crate) const OPPORTUNITY_BYTES: u64 = 1_500;
const MILLI: Nanos = 1_000_000;

/// Opportunities, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    millis: Vec<u32>,
}

/// Why a file is no trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceFault {
    /// Line, from 1; 0 for the whole file.
    pub line: usize,
    /// What is wrong with it.
    pub problem: &'static str,
}

impl fmt::Display for TraceFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "the trace {}", self.problem),
            line => write!(f, "line {line} of the trace {}", self.problem),
        }
    }
}

impl std::error::Error for TraceFault {}

impl Trace {
    /// Reads a file's text.
    pub fn parse(text: &str) -> Result<Self, TraceFault> {
        let mut millis = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let fault = |problem| TraceFault {
                line: index + 1,
                problem,
            };
            let milli = line.trim().parse();
            let milli = milli.map_err(|_| fault("is no whole number of milliseconds"))?;
            if millis.last().is_some_and(|&last| milli < last) {
                return Err(fault("goes back in time"));
            }
            if millis.len() == OPPORTUNITIES_MAX {
                return Err(fault("is one too many"));
            }
            millis.push(milli);
        }
        Self::of(millis)
    }

    fn of(millis: Vec<u32>) -> Result<Self, TraceFault> {
        match millis.last() {
            None | Some(0) => Err(TraceFault {
                line: 0,
                problem: "has no opportunity after its first millisecond",
            }),
            Some(_) => Ok(Self { millis }),
        }
    }

    /// A trace as a telephone sees LTE while it moves: not recorded but drawn. The rate walks at random,
    /// a step every 100 ms, between 1 and 30 Mbit/s around 12, and now and then stands still for up to
    /// half a second as at a handover.
    pub fn lte(seed: u64) -> Self {
        let (mut random, mut millis) = (Random::new(seed), Vec::new());
        let (mut logarithm, mut owed) = (12f64.ln(), 0.0);
        let mut milli = 0;
        while milli < 120_000 {
            let pull = 0.05 * (12f64.ln() - logarithm);
            logarithm += pull + 0.25 * (random.unit() + random.unit() - 1.0);
            logarithm = logarithm.clamp(0.0, 30f64.ln());
            let outage = random.chance(0.004);
            let step = if outage {
                100 + (random.unit() * 400.0) as u32
            } else {
                100
            };
            for at in milli..milli + step {
                owed += if outage {
                    0.0
                } else {
                    logarithm.exp() * 1e3 / 8.0
                };
                while owed >= OPPORTUNITY_BYTES as f64 {
                    owed -= OPPORTUNITY_BYTES as f64;
                    millis.push(at + 1);
                }
            }
            milli += step;
        }
        Self { millis }
    }

    /// The same with a third of the opportunities.
    pub(crate) fn every_third(&self) -> Self {
        let mut millis: Vec<_> = self.millis.iter().step_by(3).copied().collect();
        millis.extend(
            self.millis
                .last()
                .filter(|last| millis.last() != Some(last)),
        );
        Self { millis }
    }

    /// The file's text.
    pub fn text(&self) -> String {
        let lines = self.millis.iter().map(|milli| format!("{milli}\n"));
        lines.collect()
    }

    /// Bits a second over the whole of it.
    pub fn mean_rate(&self) -> f64 {
        let bits = self.millis.len() as f64 * OPPORTUNITY_BYTES as f64 * 8.0;
        bits * 1e9 / self.period() as f64
    }

    /// Opportunities from one time up to another, counted through all repetitions.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    pub(crate) fn opportunities(&self, from: Nanos, to: Nanos) -> u64 {
        self.first_at(to).saturating_sub(self.first_at(from))
    }

    /// Bits a second over the best tenth of a second.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    pub(crate) fn peak_rate(&self) -> f64 {
        const TENTH: u32 = 100;
        let within = |(at, &first): (usize, &u32)| {
            let behind = self.millis.partition_point(|&milli| milli < first + TENTH);
            behind - at
        };
        let most = self.millis.iter().enumerate().map(within).max();
        most.unwrap_or(0) as f64 * OPPORTUNITY_BYTES as f64 * 8.0 * 1e3 / f64::from(TENTH)
    }

    fn period(&self) -> Nanos {
        self.millis
            .last()
            .map_or(MILLI, |&last| u64::from(last) * MILLI)
    }

    /// When an opportunity is, counted through all repetitions.
    pub(crate) fn time(&self, index: u64) -> Nanos {
        let (round, within) = (index / self.length(), index % self.length());
        let milli = self.millis.get(within as usize).copied().unwrap_or(0);
        round * self.period() + u64::from(milli) * MILLI
    }

    /// The first opportunity at or after a time.
    pub(crate) fn first_at(&self, time: Nanos) -> u64 {
        let round = time / self.period();
        let within = time % self.period();
        let before = self
            .millis
            .partition_point(|&milli| u64::from(milli) * MILLI < within);
        round * self.length() + before as u64
    }

    fn length(&self) -> u64 {
        self.millis.len().max(1) as u64
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_trace_repeats_and_is_found_by_time() {
        let trace = Trace::parse("1\n1\n4\n").unwrap();
        let times: Vec<_> = (0..6).map(|index| trace.time(index) / MILLI).collect();
        assert_eq!(times, [1, 1, 4, 5, 5, 8]);
        assert_eq!(trace.first_at(0), 0);
        assert_eq!(trace.first_at(MILLI), 0);
        assert_eq!(trace.first_at(MILLI + 1), 2);
        assert_eq!(trace.first_at(4 * MILLI + 1), 3);
        assert_eq!(trace.mean_rate(), 3.0 * 12_000.0 / 0.004);
        assert_eq!(Trace::parse(&trace.text()).unwrap(), trace);
    }

    #[test]
    fn opportunities_are_counted_across_the_end_of_the_trace() {
        let trace = Trace::parse("1\n1\n4\n").unwrap();
        let half = MILLI / 2;
        assert_eq!(trace.opportunities(0, 4 * MILLI + half), 3);
        assert_eq!(trace.opportunities(MILLI + half, 5 * MILLI + half), 3);
        assert_eq!(trace.opportunities(2 * MILLI, 3 * MILLI), 0);
        assert_eq!(trace.peak_rate(), 3.0 * 12_000.0 / 0.1);
        let lte = Trace::lte(2);
        assert!(lte.peak_rate() > lte.mean_rate(), "{}", lte.peak_rate());
    }

    #[test]
    fn what_is_no_trace_is_refused_with_its_line() {
        let said = |text: &str| Trace::parse(text).unwrap_err().to_string();
        assert_eq!(
            said("1\nx\n"),
            "line 2 of the trace is no whole number of milliseconds"
        );
        assert_eq!(said("2\n1\n"), "line 2 of the trace goes back in time");
        assert_eq!(
            said(""),
            "the trace has no opportunity after its first millisecond"
        );
        assert_eq!(
            said("0\n0\n"),
            "the trace has no opportunity after its first millisecond"
        );
    }

    #[test]
    fn the_drawn_trace_is_the_same_every_time_and_has_rates_of_lte() {
        let trace = Trace::lte(1);
        assert_eq!(trace, Trace::lte(1));
        let rate = trace.mean_rate();
        assert!((5e6..20e6).contains(&rate), "{rate} bit/s");
    }
}
