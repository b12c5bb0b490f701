//! The highest open-loop rate whose 99th percentile stays under a limit.
//!
//! Doubles until two trials in a row are far beyond the limit, whatever lies between: a server that
//! coalesces does not fail by rate alone, and may miss the limit by a little over a wide range and keep
//! it above, and one trial may be another process's moment on the processor. Only where nothing passes
//! does it go down. Then halves the interval above the highest that passed, on a logarithmic scale,
//! until it is under a fifth, and confirms with a longer step; only a confirmation counts, and one that
//! fails lowers the rate. A short trial lets a slow backlog pass, a long one does not.

use super::job::TrafficOutcome;
use super::traffic::Traffic;
use weir_bench_model::pace::Trial;

/// What is searched for.
#[derive(Clone, Copy)]
pub struct Limits {
    /// The first rate tried, messages a second.
    pub start_rate: f64,
    /// Milliseconds a trial.
    pub trial_ms: u64,
    /// Milliseconds of a confirmation.
    pub measure_ms: u64,
    /// What the 99th percentile must stay under, milliseconds.
    pub p99_ms_max: f64,
}

/// What a rate can be offered by: the connections of one process, or machines that share a load.
pub trait Steps {
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
/// So many times the limit is far beyond it: a backlog grows.
const FAR: f64 = 2.0;
const DOUBLINGS_MAX: usize = 16;
/// What a confirmation that fails lowers the rate by, and what every one after [`NEAR_MAX`] of them does.
const STEP_DOWN: f64 = 0.85;
const STRIDE_DOWN: f64 = 0.5;
const NEAR_MAX: usize = 5;
/// A percentile of fewer messages says nothing.
const MESSAGES_A_TRIAL_MIN: f64 = 4.0;

/// Searches, and gives the outcome of the last confirmation.
pub fn run(steps: &mut impl Steps, limits: &Limits) -> Result<TrafficOutcome, String> {
    let mut trials = Vec::new();
    let mut attempt = |steps: &mut dyn Steps, rate: f64, ms: u64| {
        let trial = steps.offer(rate, ms, limits.p99_ms_max)?;
        trials.push(trial);
        Ok::<Verdict, String>(Verdict::of(&trial, limits.p99_ms_max))
    };
    let least = MESSAGES_A_TRIAL_MIN / (limits.trial_ms as f64 / 1e3);
    let start = limits.start_rate.max(least);
    let found = highest(start, least, |rate| attempt(steps, rate, limits.trial_ms))?;
    steps.confirm();
    for rate in descent(found.unwrap_or(least), least) {
        if rate <= least {
            steps.see_through();
        }
        if attempt(steps, rate, limits.measure_ms)? == Verdict::Passed {
            return Ok(steps.outcome(trials));
        }
    }
    let missed = trials.last().map(|last| missed(last, limits.p99_ms_max));
    Ok(TrafficOutcome {
        missed,
        ..steps.outcome(trials)
    })
}

/// What a trial says of its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Passed,
    /// Late, but not by much.
    Near,
    /// Much too late, or not whole: something was lost, refused or cut off.
    Far,
}

impl Verdict {
    fn of(trial: &Trial, p99_ms_max: f64) -> Self {
        let near = p99_ms_max..FAR * p99_ms_max;
        if trial.passed {
            Self::Passed
        } else if trial.lost == 0 && near.contains(&trial.p99_ms) {
            Self::Near
        } else {
            Self::Far
        }
    }
}

/// The rates to confirm, one after the other, down to the least.
fn descent(found: f64, least: f64) -> impl Iterator<Item = f64> {
    let mut confirmations = 0;
    std::iter::successors(Some(found.max(least)), move |&rate| {
        confirmations += 1;
        let step = if confirmations < NEAR_MAX {
            STEP_DOWN
        } else {
            STRIDE_DOWN
        };
        (rate > least).then(|| (rate * step).max(least))
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
    mut offer: impl FnMut(f64) -> Result<Verdict, String>,
) -> Result<Option<f64>, String> {
    let above = upward(start, &mut offer)?;
    let found = match above {
        None => downward(start, least, &mut offer)?,
        above => above,
    };
    let Some(mut good) = found else {
        return Ok(None);
    };
    let mut bad = good * 2.0;
    while bad / good > RESOLUTION {
        let middle = (good * bad).sqrt();
        match offer(middle)? {
            Verdict::Passed => good = middle,
            Verdict::Near | Verdict::Far => bad = middle,
        }
    }
    Ok(Some(good))
}

/// The highest of the doubled rates that passes; ends where two in a row are far beyond.
fn upward(
    start: f64,
    offer: &mut impl FnMut(f64) -> Result<Verdict, String>,
) -> Result<Option<f64>, String> {
    let (mut highest, mut far, mut rate) = (None, 0, start);
    for _ in 0..DOUBLINGS_MAX {
        match offer(rate)? {
            Verdict::Passed => (highest, far) = (Some(rate), 0),
            Verdict::Near => far = 0,
            Verdict::Far => far += 1,
        }
        if far == 2 {
            break;
        }
        rate *= 2.0;
    }
    Ok(highest)
}

/// The first of the halved rates that passes.
fn downward(
    start: f64,
    least: f64,
    offer: &mut impl FnMut(f64) -> Result<Verdict, String>,
) -> Result<Option<f64>, String> {
    let mut rate = start;
    while rate > least {
        rate = (rate / 2.0).max(least);
        if offer(rate)? == Verdict::Passed {
            return Ok(Some(rate));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::Verdict::{Far, Near, Passed};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_search_ends_just_under_the_limit(limit in 1.0f64..1e6, start in 10.0f64..1e4) {
            prop_assume!(limit > start / 100.0);
            let offer = |rate| Ok(if rate <= limit { Passed } else { Far });
            let found = highest(start, 0.01, offer).unwrap().unwrap();
            prop_assert!(found <= limit && limit / found <= RESOLUTION * 1.001);
        }

        #[test]
        fn rates_that_miss_by_a_little_do_not_hide_the_higher_ones_that_pass(
            from in 60.0f64..1000.0, to in 1000.0f64..5000.0, limit in 10_000.0f64..1e6,
        ) {
            let offer = |rate| Ok(match rate {
                rate if rate > limit => Far,
                rate if (from..to).contains(&rate) => Near,
                _ => Passed,
            });
            let found = highest(60.0, 4.0, offer).unwrap().unwrap();
            prop_assert!(found <= limit && limit / found <= RESOLUTION * 1.001);
        }
    }

    #[test]
    fn a_single_moment_of_another_process_does_not_end_the_search() {
        let mut disturbed = false;
        let offer = |rate: f64| {
            Ok(match rate {
                400.0 if !std::mem::replace(&mut disturbed, true) => Far,
                rate if rate <= 3000.0 => Passed,
                _ => Far,
            })
        };
        let found = highest(100.0, 4.0, offer).unwrap().unwrap();
        assert!((2500.0..=3000.0).contains(&found), "{found}");
    }

    #[test]
    fn a_target_that_delivers_nothing_has_no_highest_rate() {
        assert_eq!(highest(1000.0, 4.0, |_| Ok(Far)).unwrap(), None);
    }

    #[test]
    fn what_is_lost_or_twice_too_late_is_far_beyond() {
        let trial = |p99_ms, lost, passed| Trial {
            rate: 1.0,
            p99_ms,
            lost,
            passed,
        };
        assert_eq!(Verdict::of(&trial(49.0, 0, true), 50.0), Passed);
        assert_eq!(Verdict::of(&trial(51.0, 0, false), 50.0), Near);
        assert_eq!(Verdict::of(&trial(101.0, 0, false), 50.0), Far);
        assert_eq!(Verdict::of(&trial(51.0, 1, false), 50.0), Far);
        assert_eq!(Verdict::of(&trial(1.0, 0, false), 50.0), Far);
    }

    #[test]
    fn confirmations_go_down_by_small_steps_and_then_by_great_ones_to_the_least() {
        let rates: Vec<f64> = descent(1000.0, 100.0).collect();
        assert_eq!(rates.len(), 8, "{rates:?}");
        assert!((rates[4] - 522.0).abs() < 0.1 && (rates[5] - 261.0).abs() < 0.1);
        assert_eq!(rates.last(), Some(&100.0));
        assert_eq!(descent(1.0, 4.0).collect::<Vec<_>>(), [4.0]);
    }
}
