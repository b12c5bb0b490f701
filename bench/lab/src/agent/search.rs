//! A search for the highest rate in which all agents take part: decided here, tried there.
//!
//! Each step is a job of its own, an open loop at one rate, and what the agents gave is joined before it
//! is judged, so that none has to know what the others saw. What it costs: connections are opened anew
//! for every step, and a step that is beyond the target is seen to its end.

use super::crew::{Agent, Shared, together};
use crate::worker::Site;
use weir_bench_load::load::job::{Event, Job, Kind, TrafficOutcome, TrafficPlan};
use weir_bench_load::load::search::{self, Limits, Steps};
use weir_bench_model::pace::{Pace, Trial};

/// The plan of a job that searches, and what for.
pub(super) fn of(job: &Job) -> Option<(&TrafficPlan, Limits)> {
    let Kind::Traffic(plan) = &job.kind else {
        return None;
    };
    match plan.pace {
        Pace::Search {
            start_rate,
            trial_ms,
            measure_ms,
            p99_ms_max,
        } => {
            let limits = Limits {
                start_rate,
                trial_ms,
                measure_ms,
                p99_ms_max,
            };
            Some((plan, limits))
        }
        _ => None,
    }
}

/// Searches; the outcome is that of the last confirmation, with what it took.
pub(super) fn run(
    agents: &mut [Agent],
    (job, plan): (&Job, &TrafficPlan),
    limits: &Limits,
    site: &mut Site<'_>,
) -> Result<Shared, String> {
    let together = |rate, ms| {
        let job = step(job, plan, rate, ms);
        together(agents, &job, site)
    };
    let mut shared = SharedSteps {
        together,
        last: None,
    };
    let outcome = search::run(&mut shared, limits)?;
    let last = shared.last.take().ok_or("a search without a step")?;
    let outcome = Event::Traffic(Box::new(outcome));
    Ok(Shared { outcome, ..last })
}

/// One step of a search as a job.
fn step(job: &Job, plan: &TrafficPlan, rate: f64, ms: u64) -> Job {
    let pace = Pace::Open {
        rate,
        warm_up_ms: ms / 4,
        measure_ms: ms,
    };
    let plan = TrafficPlan {
        pace,
        ..plan.clone()
    };
    Job {
        kind: Kind::Traffic(plan),
        ..*job
    }
}

/// Steps that all machines take.
struct SharedSteps<F> {
    /// Offers a rate for so many milliseconds.
    together: F,
    last: Option<Shared>,
}

impl<F: FnMut(f64, u64) -> Result<Shared, String>> Steps for SharedSteps<F> {
    fn offer(&mut self, rate: f64, ms: u64, p99_ms_max: f64) -> Result<Trial, String> {
        let shared = (self.together)(rate, ms)?;
        let Event::Traffic(outcome) = &shared.outcome else {
            return Err(format!("an unexpected outcome {:?}", shared.outcome));
        };
        let trial = judged(outcome, rate, p99_ms_max);
        self.last = Some(shared);
        Ok(trial)
    }

    /// Every step is told of as it goes on.
    fn confirm(&mut self) {}

    /// None is given up.
    fn see_through(&mut self) {}

    fn outcome(&mut self, trials: Vec<Trial>) -> TrafficOutcome {
        match self.last.as_ref().map(|shared| &shared.outcome) {
            Some(Event::Traffic(outcome)) => TrafficOutcome {
                trials,
                ..outcome.as_ref().clone()
            },
            _ => TrafficOutcome::default(),
        }
    }
}

/// Whether all that was owed came, and in time; answers count where nobody subscribes.
fn judged(outcome: &TrafficOutcome, rate: f64, p99_ms_max: f64) -> Trial {
    let latency = match outcome.expected {
        0 => &outcome.acknowledgement,
        _ => &outcome.delivery,
    };
    let p99_ms = latency.quantile_ns(0.99) as f64 / 1e6;
    let lost = outcome.expected.saturating_sub(outcome.received);
    let unanswered = outcome.sent - outcome.acknowledged.min(outcome.sent);
    let is_whole = lost == 0 && outcome.refused == 0 && (outcome.expected > 0 || unanswered == 0);
    Trial {
        rate,
        p99_ms,
        lost,
        passed: is_whole && latency.count() > 0 && p99_ms < p99_ms_max,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::worker::{Clocks, Spent};
    use weir_bench_model::latency::Latency;

    /// Machines whose target takes so much a second and is late beyond.
    fn target(capacity: f64) -> impl FnMut(f64, u64) -> Result<Shared, String> {
        move |rate, _| {
            let mut delivery = Latency::new();
            delivery.record(if rate <= capacity {
                1_000_000
            } else {
                900_000_000
            });
            let outcome = TrafficOutcome {
                offered_rate: rate,
                expected: 1,
                received: 1,
                delivery,
                ..TrafficOutcome::default()
            };
            Ok(Shared {
                outcome: Event::Traffic(Box::new(outcome)),
                load: Spent::default(),
                clocks: Clocks {
                    bound_us: 1.0,
                    round_trips_us: Vec::new(),
                },
            })
        }
    }

    #[test]
    fn the_rate_that_all_machines_reach_together_is_found_and_confirmed() {
        let limits = Limits {
            start_rate: 100.0,
            trial_ms: 1000,
            measure_ms: 2000,
            p99_ms_max: 50.0,
        };
        let mut steps = SharedSteps {
            together: target(10_000.0),
            last: None,
        };
        let outcome = search::run(&mut steps, &limits).unwrap();
        assert!(outcome.missed.is_none());
        assert!(
            (8_000.0..=10_000.0).contains(&outcome.offered_rate),
            "{outcome:?}"
        );
        assert!(outcome.trials.last().unwrap().passed && outcome.trials.len() > 8);
    }

    #[test]
    fn a_step_that_lost_or_had_nothing_answered_does_not_pass() {
        let mut delivery = Latency::new();
        delivery.record(1);
        let whole = TrafficOutcome {
            expected: 2,
            received: 2,
            delivery,
            ..TrafficOutcome::default()
        };
        assert!(judged(&whole, 1.0, 50.0).passed);
        let lossy = TrafficOutcome {
            received: 1,
            ..whole.clone()
        };
        assert_eq!(
            (
                judged(&lossy, 1.0, 50.0).passed,
                judged(&lossy, 1.0, 50.0).lost
            ),
            (false, 1)
        );
        let silent = TrafficOutcome {
            sent: 5,
            ..TrafficOutcome::default()
        };
        assert!(!judged(&silent, 1.0, 50.0).passed);
    }
}
