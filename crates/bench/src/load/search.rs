//! The highest open-loop rate whose 99th percentile stays under a limit.
//!
//! Doubles until two trials in a row fail (one may be another process's moment on the processor, and
//! a server that coalesces does not fail by rate alone), halves the interval on a logarithmic scale
//! until it is under a fifth, then confirms with a longer step; only a confirmation counts, and one
//! that fails lowers the rate. A short trial lets a slow backlog pass, a long one does not.

use super::job::{TrafficOutcome, Trial};
use super::traffic::Traffic;

/// What is searched for.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// The first rate tried, messages a second.
    pub(crate) start_rate: f64,
    /// Milliseconds a trial.
    pub(crate) trial_ms: u64,
    /// Milliseconds of a confirmation.
    pub(crate) measure_ms: u64,
    /// What the 99th percentile must stay under, milliseconds.
    pub(crate) p99_ms_max: f64,
}

/// What a rate can be offered by: the connections of one process, or machines that share a load.
pub(crate) trait Steps {
    /// Offers a rate for so many milliseconds; whether it passed.
    fn offer(&mut self, rate: f64, ms: u64, p99_ms_max: f64) -> Result<Trial, String>;
    /// What is offered from now on may be the result.
    fn confirm(&mut self);
    /// Even what is far beyond the limit is offered to its end: there is no lower rate.
    fn see_through(&mut self);
    /// What the last step gave, behind these trials.
    fn outcome(&mut self, trials: Vec<Trial>) -> TrafficOutcome;
}

const RESOLUTION: f64 = 1.2;
const STEP_DOWN: f64 = 0.85;
const DOUBLINGS_MAX: usize = 16;
const CONFIRMATIONS_MAX: usize = 5;
/// A percentile of fewer messages says nothing.
const MESSAGES_A_TRIAL_MIN: f64 = 4.0;

/// Searches, and gives the outcome of the last confirmation.
pub(crate) fn run(steps: &mut impl Steps, limits: &Limits) -> Result<TrafficOutcome, String> {
    let mut trials = Vec::new();
    let mut attempt = |steps: &mut dyn Steps, rate: f64, ms: u64| {
        let trial = steps.offer(rate, ms, limits.p99_ms_max)?;
        trials.push(trial);
        Ok::<bool, String>(trial.passed)
    };
    let least = MESSAGES_A_TRIAL_MIN / (limits.trial_ms as f64 / 1e3);
    let start = limits.start_rate.max(least);
    let found = highest(start, least, |rate| attempt(steps, rate, limits.trial_ms))?;
    steps.confirm();
    let mut rate = found.unwrap_or(least);
    for confirmation in 0..CONFIRMATIONS_MAX {
        if confirmation > 0 {
            rate = (rate * STEP_DOWN).max(least);
        }
        if rate <= least {
            steps.see_through();
        }
        if attempt(steps, rate, limits.measure_ms)? {
            return Ok(steps.outcome(trials));
        }
        if rate <= least {
            break;
        }
    }
    let missed = trials.last().map(|last| missed(last, limits.p99_ms_max));
    Ok(TrafficOutcome {
        missed,
        ..steps.outcome(trials)
    })
}

/// What was reached is still worth showing, as what it is.
fn missed(last: &Trial, asked: f64) -> String {
    format!(
        "p99 {:.0} ms, {} lost at {:.1} messages/s; asked under {asked} ms",
        last.p99_ms, last.lost, last.rate
    )
}

impl Steps for Traffic<'_> {
    fn offer(&mut self, rate: f64, ms: u64, p99_ms_max: f64) -> Result<Trial, String> {
        self.open_loop(rate, ms / 4, ms)?;
        let (p99_ms, lost) = (self.step.p99_ms(), self.step.lost());
        let closed = self.closed();
        if lost > 0 || closed > 0 {
            self.reopen()?;
        }
        let step = &self.step;
        let whole = lost == 0 && step.refused() == 0 && closed == 0 && !step.overrun;
        Ok(Trial {
            rate,
            p99_ms,
            lost,
            passed: whole && p99_ms < p99_ms_max,
        })
    }

    fn confirm(&mut self) {
        self.announces = true;
    }

    fn see_through(&mut self) {
        self.give_up_ns = u64::MAX;
    }

    fn outcome(&mut self, trials: Vec<Trial>) -> TrafficOutcome {
        self.step.outcome(trials)
    }
}

/// The highest rate that passes, to within [`RESOLUTION`]; `None` if none from `least` on does.
fn highest(
    start: f64,
    least: f64,
    mut passes: impl FnMut(f64) -> Result<bool, String>,
) -> Result<Option<f64>, String> {
    let mut good = start;
    while !passes(good)? {
        if good <= least {
            return Ok(None);
        }
        good = (good / 2.0).max(least);
    }
    let mut bad = good * 2.0;
    let (mut rate, mut failures) = (bad, 0);
    for _ in 0..DOUBLINGS_MAX {
        if passes(rate)? {
            (good, bad, failures) = (rate, rate * 2.0, 0);
        } else if failures == 1 {
            break;
        } else {
            (bad, failures) = (rate, 1);
        }
        rate *= 2.0;
    }
    while bad / good > RESOLUTION {
        let middle = (good * bad).sqrt();
        if passes(middle)? {
            good = middle
        } else {
            bad = middle
        }
    }
    Ok(Some(good))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_search_ends_just_under_the_limit(limit in 1.0f64..1e6, start in 10.0f64..1e4) {
            prop_assume!(limit > start / 100.0);
            let found = highest(start, 0.01, |rate| Ok(rate <= limit)).unwrap().unwrap();
            prop_assert!(found <= limit && limit / found <= RESOLUTION * 1.001);
        }
    }

    #[test]
    fn a_target_that_delivers_nothing_has_no_highest_rate() {
        assert_eq!(highest(1000.0, 4.0, |_| Ok(false)).unwrap(), None);
    }
}
