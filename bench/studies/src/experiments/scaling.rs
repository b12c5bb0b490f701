//! What the gateway costs as there is more of everything: connections, datastreams, subscribers, messages.
//!
//! One machine measures as far as it goes; a curve through what it measured says what more would cost. Memory is
//! read while connections and datastreams rest; then one publisher and one subscriber beside them say what they cost
//! those that do something. What it deliberately does not do: set others beside ours, which `gateway` and
//! `mqtt-broker` do.

mod curves;
mod fit;
mod further;
mod list;
mod page;

use weir_bench_lab::experiment::Experiment;
use weir_bench_lab::run::run_cells;
use weir_bench_model::body::Body;
use weir_bench_model::cell::{Cell, Contender, Scheme, Work};
use weir_bench_model::effort::Effort;
use weir_bench_model::pace::Pace;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "scaling",
    source: "ours",
    about: "memory, processors and latency over connections, datastreams, subscribers and rates",
    cells: |effort| cells(effort).iter().map(Cell::name).collect(),
    run: |order| run_cells(cells(order.effort), order),
    page: page::of,
    figures: curves::figures,
    claims: |_| Vec::new(),
};

/// The gateway is one process: where one may open 20,000 files the last two are refused, which the page says.
const CONNECTIONS: [usize; 10] = [
    100, 1000, 2500, 5000, 7500, 10_000, 15_000, 19_000, 50_000, 100_000,
];
/// The last takes several load processes.
const CONNECTIONS_QUICK: [usize; 3] = [100, 2500, 10_000];
const TOPICS: [usize; 6] = [1000, 10_000, 30_000, 100_000, 300_000, 1_000_000];
const OBSERVERS: [u32; 5] = [100, 1000, 10_000, 30_000, 100_000];
const SUBSCRIBERS: [usize; 6] = [1, 10, 100, 1000, 3000, 10_000];
const RATES: [u32; 6] = [100, 500, 2000, 5000, 10_000, 15_000];
/// Messages a second to all subscribers.
const RATE_TO_ALL: u32 = 10;
/// Messages a second of a probe: enough for a 99th percentile, and next to nothing.
const RATE_OF_PROBE: u32 = 50;
/// Milliseconds between heartbeats on a connection that rests (`docs/reference/http.md`).
const HEARTBEAT_MS: u64 = 15_000;

/// How much of each list a run takes, and for how long.
struct Scale {
    levels: usize,
    rounds: usize,
    warm_up_ms: u64,
    measure_ms: u64,
    /// Warm-up and measuring beside connections that rest. The first heartbeat of one comes in its second beat, and in
    /// a beat each has one.
    rest_ms: (u64, u64),
}

impl Scale {
    fn of(effort: Effort) -> Self {
        match effort {
            Effort::Quick => Self {
                levels: 3,
                rounds: 1,
                warm_up_ms: 200,
                measure_ms: 1000,
                rest_ms: (200, 1000),
            },
            Effort::Full => Self {
                levels: usize::MAX,
                rounds: 3,
                warm_up_ms: 1000,
                measure_ms: 5000,
                rest_ms: (HEARTBEAT_MS, HEARTBEAT_MS),
            },
        }
    }

    fn open(&self, rate: u32) -> Pace {
        Pace::Open {
            rate: f64::from(rate),
            warm_up_ms: self.warm_up_ms,
            measure_ms: self.measure_ms,
        }
    }

    /// Of a probe beside connections that rest.
    fn beside(&self) -> Pace {
        let (warm_up_ms, measure_ms) = self.rest_ms;
        Pace::Open {
            rate: f64::from(RATE_OF_PROBE),
            warm_up_ms,
            measure_ms,
        }
    }
}

fn cells(effort: Effort) -> Vec<Cell> {
    let scale = Scale::of(effort);
    let taken = scale.levels;
    let mut cells = Vec::new();
    let connections: &[usize] = match effort {
        Effort::Quick => &CONNECTIONS_QUICK,
        Effort::Full => &CONNECTIONS,
    };
    for scheme in [Scheme::Sse, Scheme::WebSocket, Scheme::Mqtt] {
        let counts = connections.iter();
        cells.extend(counts.map(|connections| idle(&scale, scheme, *connections)));
    }
    let counts = TOPICS.into_iter().take(taken);
    cells.extend(counts.map(|count| topics(&scale, count)));
    cells.extend(OBSERVERS.into_iter().take(taken).map(observers));
    for scheme in [Scheme::Sse, Scheme::WebSocket, Scheme::Mqtt] {
        let counts = SUBSCRIBERS.into_iter().take(taken);
        cells.extend(counts.map(|subscribers| to_all(&scale, scheme, subscribers)));
    }
    let rates = RATES.into_iter().take(taken);
    cells.extend(rates.map(|rate| ingest(&scale, rate)));
    cells
}

/// The gateway by the protocol of a scheme.
fn ours(scheme: Option<Scheme>) -> Vec<Contender> {
    let target = match scheme.and_then(Scheme::quality) {
        Some(_) => "weir_mqtt",
        None => "weir",
    };
    vec![Contender { target, scheme }]
}

fn cell(factors: Vec<(&'static str, String)>, work: Work, scheme: Option<Scheme>) -> Cell {
    Cell {
        factors,
        work,
        contenders: ours(scheme),
        rounds: 1,
        goals: Vec::new(),
    }
}

fn idle(scale: &Scale, scheme: Scheme, connections: usize) -> Cell {
    let factors = vec![
        ("test", "idle".into()),
        ("delivery", scheme.name().into()),
        ("connections", connections.to_string()),
    ];
    let probe = Some(scale.beside());
    cell(factors, Work::Idle { connections, probe }, Some(scheme))
}

fn topics(scale: &Scale, topics: usize) -> Cell {
    let factors = vec![("test", "topics".into()), ("topics", topics.to_string())];
    let probe = Some(scale.open(RATE_OF_PROBE));
    cell(factors, Work::Topics { topics, probe }, None)
}

fn observers(observers: u32) -> Cell {
    let factors = vec![
        ("test", "observers".into()),
        ("observers", observers.to_string()),
    ];
    let by_coap = Contender {
        target: "weir_coap",
        scheme: None,
    };
    Cell {
        contenders: vec![by_coap],
        ..cell(factors, Work::Observers { observers }, None)
    }
}

fn to_all(scale: &Scale, scheme: Scheme, subscribers: usize) -> Cell {
    let factors = vec![
        ("test", "subscribers".into()),
        ("delivery", scheme.name().into()),
        ("subscribers", subscribers.to_string()),
        ("rate", RATE_TO_ALL.to_string()),
    ];
    let work = Work::FanOut {
        publishers: 1,
        subscribers,
        pace: scale.open(RATE_TO_ALL),
    };
    Cell {
        rounds: scale.rounds,
        ..cell(factors, work, Some(scheme))
    }
}

fn ingest(scale: &Scale, rate: u32) -> Cell {
    let factors = vec![("test", "rate".into()), ("rate", rate.to_string())];
    let work = Work::Ingest {
        body: Body::Stamped,
        connections: 64,
        pace: scale.open(rate),
    };
    Cell {
        rounds: scale.rounds,
        ..cell(factors, work, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_bench_model::figure::slice::level;

    #[test]
    fn every_curve_has_cells_enough_for_a_line_even_in_a_quick_run() {
        for effort in [Effort::Quick, Effort::Full] {
            let names: Vec<String> = cells(effort).iter().map(Cell::name).collect();
            for curve in &list::CURVES {
                let of_test = names
                    .iter()
                    .filter(|name| level(name, "test") == Some(curve.test));
                let over = of_test.filter(|name| level(name, curve.over).is_some());
                assert!(over.count() >= 3, "{} {effort:?}", curve.title);
            }
        }
    }

    #[test]
    fn memory_processors_and_latency_each_have_a_curve_over_all_that_grows() {
        let tests = ["idle", "topics", "subscribers", "rate", "observers"];
        for test in tests {
            let of_test = list::CURVES.iter().filter(|curve| curve.test == test);
            let kinds: std::collections::BTreeSet<_> = of_test.map(|curve| curve.kind).collect();
            use curves::Kind::{Cpu, Latency, Memory};
            let missing = [Memory, Cpu, Latency].map(|kind| kinds.contains(&kind));
            assert_eq!(missing, [true; 3], "{test}");
        }
    }

    #[test]
    fn a_quick_run_needs_no_more_than_its_two_minutes() {
        let seconds: f64 = cells(Effort::Quick).iter().map(Cell::seconds).sum();
        assert!(
            seconds < weir_bench_model::limits::QUICK_SECONDS_MAX as f64,
            "{seconds}"
        );
    }

    #[test]
    fn connections_that_rest_are_watched_for_a_heartbeat_of_each() {
        let Pace::Open { measure_ms, .. } = Scale::of(Effort::Full).beside() else {
            panic!("a rate");
        };
        assert_eq!(measure_ms % HEARTBEAT_MS, 0);
    }
}
