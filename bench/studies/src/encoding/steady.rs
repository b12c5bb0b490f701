//! The steady state (Georges et al. 2007, as Tamayo et al. 2012, section 4.2.1, apply it): k = 10
//! samples in a row whose coefficient of variation is under 0.05; their mean and its interval.
//!
//! A sample is as many calls as take a millisecond, and counts the thread's own processor time, so
//! that what else the machine does delays a run and does not change it. That coefficient alone lets
//! a slow drift pass; a window whose halves differ by more than its bound is therefore not steady.
//! What never gets steady keeps its least varying window and says so.

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// Samples in a window: the paper's k.
pub(super) const K: usize = 10;
/// Coefficient of variation under which a window is steady: the paper's.
pub(super) const COV_MAX: f64 = 0.05;
/// Shortest sample, nanoseconds.
const SAMPLE_NS_MIN: u64 = 1_000_000;
/// Most calls in a sample.
const CALLS_MAX: u64 = 1 << 20;

/// How long a measurement may look for its steady state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    /// Processor time after which the best window is taken, nanoseconds; a window is always filled.
    pub ns: u64,
}

/// What a measurement gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Steady {
    /// The window, microseconds a call.
    pub us: Vec<f64>,
    /// Its coefficient of variation.
    pub cov: f64,
    /// Whether it is steady.
    pub is_steady: bool,
}

/// Calls until the state is steady or the budget is spent; a call that fails ends it.
pub(super) fn measure(
    budget: Budget,
    call: &mut dyn FnMut() -> Result<(), String>,
) -> Result<Steady, String> {
    let calls = calls_per_sample(call)?;
    let end = thread_cpu_ns().saturating_add(budget.ns);
    let mut window = Window::default();
    loop {
        window.push(sample_ns(calls, call)? as f64 / calls as f64 / 1e3);
        if window.is_steady() || (window.is_full() && thread_cpu_ns() > end) {
            return Ok(window.into_steady());
        }
    }
}

/// How many calls take a sample's time; this also is the warm-up of code and caches.
fn calls_per_sample(call: &mut dyn FnMut() -> Result<(), String>) -> Result<u64, String> {
    let mut calls = 1;
    loop {
        let spent = sample_ns(calls, call)?;
        if spent >= SAMPLE_NS_MIN || calls >= CALLS_MAX {
            return Ok(calls);
        }
        calls = (calls * 2)
            .max(calls * SAMPLE_NS_MIN / spent.max(1))
            .min(CALLS_MAX);
    }
}

/// Processor time of so many calls, nanoseconds.
fn sample_ns(calls: u64, call: &mut dyn FnMut() -> Result<(), String>) -> Result<u64, String> {
    let start = thread_cpu_ns();
    for _ in 0..calls {
        call()?;
    }
    Ok(thread_cpu_ns() - start)
}

/// Processor time of this thread, nanoseconds.
pub(super) fn thread_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The last samples, and the least varying window so far.
#[derive(Default)]
struct Window {
    last: std::collections::VecDeque<f64>,
    best: Option<Steady>,
}

impl Window {
    fn push(&mut self, us: f64) {
        if self.last.len() == K {
            self.last.pop_front();
        }
        self.last.push_back(us);
        if self.is_full() {
            let now = Steady::of(self.last.iter().copied().collect());
            let better = |best: &Steady| (now.is_steady, -now.cov) > (best.is_steady, -best.cov);
            if self.best.as_ref().is_none_or(better) {
                self.best = Some(now);
            }
        }
    }

    fn is_full(&self) -> bool {
        self.last.len() == K
    }

    fn is_steady(&self) -> bool {
        self.best.as_ref().is_some_and(|best| best.is_steady)
    }

    fn into_steady(self) -> Steady {
        self.best.unwrap_or_else(|| Steady::of(self.last.into()))
    }
}

impl Steady {
    /// Judges a window.
    pub(super) fn of(us: Vec<f64>) -> Self {
        let mean = mean(&us);
        let variance = us.iter().map(|one| (one - mean).powi(2)).sum::<f64>();
        let deviation = (variance / (us.len().max(2) - 1) as f64).sqrt();
        let cov = deviation / mean;
        let (first, second) = us.split_at(us.len() / 2);
        let drifts = (self::mean(first) / self::mean(second) - 1.0).abs() > COV_MAX;
        let is_steady = us.len() >= K && cov < COV_MAX && !drifts;
        Self { us, cov, is_steady }
    }

    /// The middle of the window.
    pub(super) fn median_us(&self) -> f64 {
        median(&self.us)
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The median of some values; 0 of none.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[n / 2],
        n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn window(samples: impl IntoIterator<Item = f64>) -> Window {
        let mut window = Window::default();
        samples.into_iter().for_each(|us| window.push(us));
        window
    }

    #[test]
    fn ten_equal_samples_after_a_warm_up_are_steady() {
        let warm_up = [90.0, 50.0, 20.0];
        let steady = window(warm_up.into_iter().chain([10.0; K])).into_steady();
        assert!(steady.is_steady);
        assert_eq!(steady.us, [10.0; K]);
        assert_eq!(steady.median_us(), 10.0);
    }

    #[test]
    fn what_varies_keeps_its_best_window_and_is_not_steady() {
        let wild = (0..40).map(|i| if i % 2 == 0 { 10.0 } else { 20.0 });
        let steady = window(wild).into_steady();
        assert!(!steady.is_steady && steady.cov > 0.3);
        assert_eq!(steady.us.len(), K);
    }

    #[test]
    fn a_drift_is_no_steady_state_however_little_it_varies() {
        let drift: Vec<f64> = (0..K).map(|i| 100.0 + 1.2 * i as f64).collect();
        let steady = Steady::of(drift);
        assert!(steady.cov < COV_MAX && !steady.is_steady);
    }

    #[test]
    fn a_call_that_fails_ends_the_measurement() {
        let mut calls = 0;
        let result = measure(Budget { ns: 1 }, &mut || {
            calls += 1;
            if calls > 3 {
                Err("broken".into())
            } else {
                Ok(())
            }
        });
        assert_eq!(result, Err("broken".into()));
    }
}
