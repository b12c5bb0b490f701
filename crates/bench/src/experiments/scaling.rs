//! What the gateway costs as there is more of everything: connections, datastreams, subscribers, messages.
//!
//! One machine measures as far as it goes; a line through what it measured says what more would cost. What
//! it deliberately does not do: set others beside ours, which `gateway` and `mqtt-broker` do.

mod curves;
mod page;

use super::{Effort, Experiment, run_cells};
use crate::cell::{Cell, Contender, Scheme, Work};
use crate::load::job::Pace;
use crate::load::message::Body;

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

/// Where a process may open 20,000 files, this leaves room for its others.
const CONNECTIONS: [usize; 5] = [100, 1000, 5000, 10_000, 15_000];
const TOPICS: [usize; 4] = [1000, 10_000, 100_000, 1_000_000];
const OBSERVERS: [u32; 4] = [100, 1000, 10_000, 100_000];
const SUBSCRIBERS: [usize; 6] = [1, 10, 100, 1000, 3000, 10_000];
const RATES: [u32; 6] = [100, 500, 2000, 5000, 10_000, 15_000];
/// Messages a second to all subscribers.
const RATE_TO_ALL: u32 = 10;

/// How much of each list a run takes, and for how long.
struct Scale {
    levels: usize,
    rounds: usize,
    warm_up_ms: u64,
    measure_ms: u64,
}

impl Scale {
    fn of(effort: Effort) -> Self {
        match effort {
            Effort::Quick => Self {
                levels: 3,
                rounds: 1,
                warm_up_ms: 300,
                measure_ms: 1500,
            },
            Effort::Full => Self {
                levels: usize::MAX,
                rounds: 3,
                warm_up_ms: 1000,
                measure_ms: 5000,
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
}

fn cells(effort: Effort) -> Vec<Cell> {
    let scale = Scale::of(effort);
    let taken = scale.levels;
    let mut cells = Vec::new();
    for scheme in [Scheme::Sse, Scheme::WebSocket, Scheme::Mqtt] {
        let counts = CONNECTIONS.into_iter().take(taken);
        cells.extend(counts.map(|connections| idle(scheme, connections)));
    }
    cells.extend(TOPICS.into_iter().take(taken).map(topics));
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

fn idle(scheme: Scheme, connections: usize) -> Cell {
    let factors = vec![
        ("test", "idle".into()),
        ("delivery", scheme.name().into()),
        ("connections", connections.to_string()),
    ];
    cell(factors, Work::Idle { connections }, Some(scheme))
}

fn topics(topics: usize) -> Cell {
    let factors = vec![("test", "topics".into()), ("topics", topics.to_string())];
    cell(factors, Work::Topics { topics }, None)
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
    use crate::figure::slice::level;

    #[test]
    fn every_curve_has_cells_enough_for_a_line_even_in_a_quick_run() {
        for effort in [Effort::Quick, Effort::Full] {
            let names: Vec<String> = cells(effort).iter().map(Cell::name).collect();
            for curve in &curves::CURVES {
                let of_test = names
                    .iter()
                    .filter(|name| level(name, "test") == Some(curve.test));
                let over = of_test.filter(|name| level(name, curve.over).is_some());
                assert!(over.count() >= 3, "{} {effort:?}", curve.title);
            }
        }
    }
}
