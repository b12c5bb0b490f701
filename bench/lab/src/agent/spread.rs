//! A job cut into one for each agent, and their outcomes as one.

use weir_bench_load::load::job::{
    Event, IdleOutcome, IdlePlan, Job, Kind, Share, TrafficOutcome, TrafficPlan,
};
use weir_bench_model::steadiness::PARTS;

/// A job for each of so many agents, or load processes; an error says what cannot be cut.
pub fn cut(job: &Job, parts: usize, skew_ns: u64) -> Result<Vec<Job>, String> {
    let of = |part: usize| {
        let kind = match &job.kind {
            Kind::Traffic(plan) => Kind::Traffic(traffic(plan, part, parts, skew_ns)),
            Kind::Idle(plan) => Kind::Idle(idle(plan, part, parts)),
            Kind::Topics(_) => return Err(whole("datastreams are made by one")),
            Kind::Observers(_) => return Err(whole("observers share one socket")),
            Kind::Replay(_) => return Err(whole("reading back is one reader's")),
            Kind::Prepare(_) => return Err(whole("a target is prepared by one")),
            Kind::Reads(_) => return Err(whole("reading is one reader's")),
            Kind::Task { .. } => return Err(whole("what one client does is of one machine")),
        };
        let address = job.address;
        Ok(Job { address, kind })
    };
    (0..parts).map(of).collect()
}

/// Why a job stays in one piece.
fn whole(reason: &str) -> String {
    format!("agents carry publishing, delivery and idle connections; {reason}: run it without them")
}

/// Each agent publishes, by one connection at the least.
fn traffic(plan: &TrafficPlan, part: usize, parts: usize, skew_ns: u64) -> TrafficPlan {
    let share = Share {
        part,
        parts,
        skew_ns,
    };
    TrafficPlan {
        publishers: share_of(plan.publishers, part, parts).max(1),
        subscribers: share_of(plan.subscribers, part, parts),
        share: Some(share),
        ..plan.clone()
    }
}

/// Each holds its share behind those before it; the first alone probes.
fn idle(plan: &IdlePlan, part: usize, parts: usize) -> IdlePlan {
    let before = (0..part).map(|part| share_of(plan.connections, part, parts));
    IdlePlan {
        connections: share_of(plan.connections, part, parts),
        first: plan.first + before.sum::<usize>(),
        probe: plan.probe.clone().filter(|_| part == 0),
        ..plan.clone()
    }
}

/// The first get what is over.
fn share_of(count: usize, part: usize, parts: usize) -> usize {
    count / parts + usize::from(part < count % parts)
}

/// What all agents' outcomes are together.
pub fn join(outcomes: Vec<Event>) -> Result<Event, String> {
    outcomes
        .into_iter()
        .map(Ok)
        .reduce(|a, b| join_two(a?, b?))
        .unwrap_or_else(|| Err("no agent gave an outcome".into()))
}

fn join_two(a: Event, b: Event) -> Result<Event, String> {
    match (a, b) {
        (Event::Traffic(a), Event::Traffic(b)) => Ok(Event::Traffic(Box::new(traffics(*a, *b)))),
        (Event::Idle(a), Event::Idle(b)) => Ok(Event::Idle(IdleOutcome {
            connections: a.connections + b.connections,
            probe: a.probe.or(b.probe),
        })),
        (a, b) => Err(format!("unlike outcomes: {a:?}, {b:?}")),
    }
}

fn traffics(mut a: TrafficOutcome, b: TrafficOutcome) -> TrafficOutcome {
    a.course = courses(&a, &b);
    a.delivery.merge(&b.delivery);
    a.acknowledgement.merge(&b.acknowledgement);
    a.schedule_lag.merge(&b.schedule_lag);
    TrafficOutcome {
        offered_rate: a.offered_rate + b.offered_rate,
        seconds: a.seconds.max(b.seconds),
        sent: a.sent + b.sent,
        acknowledged: a.acknowledged + b.acknowledged,
        refused: a.refused + b.refused,
        first_refusal: a.first_refusal.take().or(b.first_refusal),
        expected: a.expected + b.expected,
        received: a.received + b.received,
        repeated: a.repeated.zip(b.repeated).map(|(a, b)| a + b),
        received_bytes: a.received_bytes + b.received_bytes,
        missed: a.missed.take().or(b.missed),
        ..a
    }
}

/// The mean of both where both have one; of who receives nothing the course is of answers.
fn courses(a: &TrafficOutcome, b: &TrafficOutcome) -> Vec<f64> {
    match (a.received > 0, b.received > 0) {
        (true, false) => a.course.clone(),
        (false, true) => b.course.clone(),
        _ if a.course.len() == PARTS && b.course.len() == PARTS => {
            let pairs = a.course.iter().zip(&b.course);
            pairs.map(|(a, b)| (a + b) / 2.0).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use weir_bench_load::load::job::ReplayPlan;
    use weir_bench_load::load::wire::{PublishWire, SubscribeWire};
    use weir_bench_model::body::Body;
    use weir_bench_model::latency::Latency;
    use weir_bench_model::pace::Pace;

    const PACE: Pace = Pace::Open {
        rate: 10.0,
        warm_up_ms: 0,
        measure_ms: 1,
    };

    fn job(pace: Pace) -> Job {
        let plan = TrafficPlan {
            publish: PublishWire::Http {
                head: String::new(),
            },
            publishers: 1,
            body: Body::Stamped,
            subscribe: None,
            subscribers: 5,
            subscribe_at: None,
            pace,
            share: None,
        };
        Job {
            address: ([127, 0, 0, 1], 1).into(),
            kind: Kind::Traffic(plan),
        }
    }

    #[test]
    fn all_connections_are_given_out_and_everyone_publishes() {
        let jobs = cut(&job(PACE), 3, 9).unwrap();
        let plans = jobs.iter().filter_map(|job| match &job.kind {
            Kind::Traffic(plan) => Some((plan.publishers, plan.subscribers, plan.share?.part)),
            _ => None,
        });
        assert_eq!(plans.collect::<Vec<_>>(), [(1, 2, 0), (1, 2, 1), (1, 1, 2)]);
    }

    #[test]
    fn idle_connections_are_numbered_through_and_one_process_probes() {
        let probe = match job(PACE).kind {
            Kind::Traffic(plan) => Some(Box::new(plan)),
            _ => None,
        };
        let plan = IdlePlan {
            subscribe: SubscribeWire::Stream {
                request: String::new(),
            },
            connections: 11,
            first: 0,
            certificate: None,
            settle_ms: 0,
            probe,
        };
        let address = ([127, 0, 0, 1], 1).into();
        let kind = Kind::Idle(plan);
        let jobs = cut(&Job { address, kind }, 3, 0).unwrap();
        let parts = jobs.iter().filter_map(|job| match &job.kind {
            Kind::Idle(plan) => Some((plan.first, plan.connections, plan.probe.is_some())),
            _ => None,
        });
        let parts: Vec<_> = parts.collect();
        assert_eq!(parts, [(0, 4, true), (4, 4, false), (8, 3, false)]);
    }

    #[test]
    fn what_one_client_does_is_not_cut_and_says_what_is() {
        let replay = ReplayPlan {
            publish: PublishWire::Http {
                head: String::new(),
            },
            body: Body::Stamped,
            messages: 1,
            cursor_request: None,
            replay_request: String::new(),
        };
        let address = ([127, 0, 0, 1], 1).into();
        let kind = Kind::Replay(replay);
        let refused = cut(&Job { address, kind }, 2, 0).unwrap_err();
        assert!(refused.contains("one reader's"), "{refused}");
        assert!(refused.contains("agents carry publishing"), "{refused}");
    }

    #[test]
    fn what_agents_counted_is_added_and_what_they_timed_is_merged() {
        let outcome = |received, nanoseconds| {
            let mut delivery = Latency::new();
            delivery.record(nanoseconds);
            Event::Traffic(Box::new(TrafficOutcome {
                received,
                expected: 2,
                delivery,
                course: vec![f64::from(u32::try_from(received).unwrap()); PARTS],
                ..TrafficOutcome::default()
            }))
        };
        let Event::Traffic(both) = join(vec![outcome(2, 1000), outcome(1, 3000)]).unwrap() else {
            panic!("traffic");
        };
        assert_eq!(
            (both.expected, both.received, both.delivery.count()),
            (4, 3, 2)
        );
        assert_eq!(both.course, [1.5; PARTS]);
        assert!(join(Vec::new()).is_err());
    }
}
