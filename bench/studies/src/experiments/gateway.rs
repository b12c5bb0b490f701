//! The gateway's own experiment: durable ingest, fan-out, latency, idle memory, replay.
//!
//! The goals are the project's; the null servers say what the machine could do, nchan and
//! Mosquitto what others do on it.

pub(super) mod figures;
mod idle;

use weir_bench_lab::experiment::Experiment;
use weir_bench_lab::run::run_cells;
use weir_bench_model::body::Body;
use weir_bench_model::cell::{Bound, Cell, Contender, Figure, Goal, Scheme, Work};
use weir_bench_model::effort::Effort;
use weir_bench_model::pace::Pace;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "gateway",
    source: "ours",
    about: "durable ingest, fan-out per delivery scheme, latency, idle connections, replay",
    cells: |effort| cells(effort).iter().map(Cell::name).collect(),
    run: |order| run_cells(cells(order.effort), order),
    page: weir_bench_report::markdown,
    figures: figures::of,
    claims: |_| Vec::new(),
};

const SCHEMES: [Scheme; 4] = [
    Scheme::Sse,
    Scheme::WebSocket,
    Scheme::Streaming,
    Scheme::LongPolling,
];

/// The latency that a rate must keep, milliseconds. One message to 10,000 sockets takes the null
/// server longer than 50 ms, so there it is a second.
fn p99_ms_max(subscribers: usize) -> f64 {
    if subscribers < 10_000 { 50.0 } else { 1000.0 }
}

/// Durations and rounds of an effort.
struct Scale {
    effort: Effort,
    rounds: usize,
    rounds_latency: usize,
    warm_up_ms: u64,
    trial_ms: u64,
    measure_ms: u64,
}

impl Scale {
    fn of(effort: Effort) -> Self {
        match effort {
            Effort::Quick => Self {
                effort,
                rounds: 1,
                rounds_latency: 2,
                warm_up_ms: 150,
                trial_ms: 200,
                measure_ms: 600,
            },
            Effort::Full => Self {
                effort,
                rounds: 3,
                rounds_latency: 5,
                warm_up_ms: 1000,
                trial_ms: 600,
                measure_ms: 3000,
            },
        }
    }

    fn window(&self, outstanding: usize) -> Pace {
        let (warm_up_ms, measure_ms) = (self.warm_up_ms, self.measure_ms);
        Pace::Window {
            outstanding,
            warm_up_ms,
            measure_ms,
        }
    }

    fn open(&self, rate: f64) -> Pace {
        Pace::Open {
            rate,
            warm_up_ms: self.warm_up_ms,
            measure_ms: self.measure_ms,
        }
    }

    fn search(&self, subscribers: usize) -> Pace {
        Pace::Search {
            start_rate: (60_000.0 / subscribers as f64).clamp(5.0, 4000.0),
            trial_ms: self.trial_ms,
            measure_ms: self.measure_ms,
            p99_ms_max: p99_ms_max(subscribers),
        }
    }
}

/// Its cells.
pub fn cells(effort: Effort) -> Vec<Cell> {
    let scale = Scale::of(effort);
    let mut cells = ingest(&scale);
    cells.extend(latency(&scale));
    cells.extend(fan_out(&scale));
    cells.extend(idle::cells(&scale));
    cells.push(replay(&scale));
    cells
}

fn ingest(scale: &Scale) -> Vec<Cell> {
    let single = |factor: &str, pace, goals| {
        ingest_cell(
            scale,
            "single",
            factor,
            Work::Ingest {
                body: Body::Stamped,
                connections: 64,
                pace,
            },
            goals,
        )
    };
    let batch = |name: &str, body| {
        let work = Work::Ingest {
            body,
            connections: 8,
            pace: scale.window(4),
        };
        let goals = vec![goal("observations", Figure::Mean, Bound::Least(300_000.0))];
        ingest_cell(scale, name, "window-4", work, goals)
    };
    let rate = vec![goal(
        "observations",
        Figure::Mean,
        Bound::LeastOrDisk(15_000.0, 0.8),
    )];
    let mut cells = vec![
        single("window-16", scale.window(16), rate.clone()),
        single("open-15000", scale.open(15_000.0), Vec::new()),
        batch("json-100", Body::JsonBatch(100)),
        batch("cbor-100", Body::CborBatch(100)),
    ];
    if scale.effort == Effort::Full {
        cells.push(single("window-1", scale.window(1), rate));
        cells.push(batch("json-1000", Body::JsonBatch(1000)));
        cells.push(batch("cbor-1000", Body::CborBatch(1000)));
    }
    cells
}

fn ingest_cell(scale: &Scale, message: &str, load: &str, work: Work, goals: Vec<Goal>) -> Cell {
    let Work::Ingest { connections, .. } = work else {
        unreachable!("ingest cells ingest")
    };
    Cell {
        factors: vec![
            ("test", "ingest".into()),
            ("message", message.into()),
            ("connections", connections.to_string()),
            ("load", load.into()),
        ],
        work,
        contenders: vec![plain("weir"), plain("null_coalescing")],
        rounds: scale.rounds,
        goals,
    }
}

fn latency(scale: &Scale) -> Vec<Cell> {
    let mut cells = Vec::new();
    let schemes: &[Scheme] = if scale.effort == Effort::Quick {
        &SCHEMES[..2]
    } else {
        &SCHEMES
    };
    for &scheme in schemes {
        let p50 = vec![goal("publish_to_receive", Figure::P50, Bound::Most(80.0))];
        cells.push(latency_cell(scale, scheme, 1, 1000.0, p50));
        let p99 = vec![goal(
            "publish_to_receive",
            Figure::P99,
            Bound::MostTimes(3.0, "null"),
        )];
        cells.push(latency_cell(scale, scheme, 1000, 100.0, p99));
    }
    let reason = "delivery does not wait for the disk; \
        the live cells' acknowledgement is the time until there";
    cells.push(unmeasured(
        &[
            ("test", "latency"),
            ("visibility", "committed"),
            ("subscribers", "1"),
        ],
        reason,
    ));
    cells
}

fn latency_cell(
    scale: &Scale,
    scheme: Scheme,
    subscribers: usize,
    rate: f64,
    goals: Vec<Goal>,
) -> Cell {
    Cell {
        factors: vec![
            ("test", "latency".into()),
            ("delivery", scheme.name().into()),
            ("subscribers", subscribers.to_string()),
            ("rate", rate.to_string()),
        ],
        work: Work::FanOut {
            publishers: 4,
            subscribers,
            pace: scale.open(rate),
        },
        contenders: contenders(scheme),
        rounds: if is_goal(scheme) {
            scale.rounds_latency
        } else {
            2
        },
        goals: if is_goal(scheme) { goals } else { Vec::new() },
    }
}

fn fan_out(scale: &Scale) -> Vec<Cell> {
    let (schemes, counts): (&[Scheme], &[usize]) = match scale.effort {
        Effort::Quick => (&SCHEMES[..2], &[1000]),
        Effort::Full => (&SCHEMES, &[1, 10, 100, 1000, 10_000]),
    };
    let mut cells = Vec::new();
    for &scheme in schemes {
        for &subscribers in counts {
            cells.push(fan_out_cell(scale, scheme, subscribers, &[]));
        }
    }
    if scale.effort == Effort::Full {
        for scheme in [Scheme::SseBare, Scheme::WebSocketBare] {
            cells.push(fan_out_cell(scale, scheme, 1000, &["nchan", "mosquitto"]));
        }
    }
    cells
}

fn fan_out_cell(scale: &Scale, scheme: Scheme, subscribers: usize, without: &[&str]) -> Cell {
    let pace = scale.search(subscribers);
    let mut contenders = contenders(scheme);
    contenders.retain(|contender| !without.contains(&contender.target));
    let goals = match (scheme, subscribers) {
        (Scheme::Sse | Scheme::WebSocket, 1000) => vec![
            goal("deliveries", Figure::Mean, Bound::Least(1_000_000.0)),
            goal(
                "deliveries",
                Figure::Mean,
                Bound::LeastTimes(0.5, "null_coalescing"),
            ),
            goal("deliveries", Figure::Mean, Bound::LeastTimes(1.0, "nchan")),
        ],
        _ => Vec::new(),
    };
    Cell {
        factors: vec![
            ("test", "fan-out".into()),
            ("delivery", scheme.name().into()),
            ("subscribers", subscribers.to_string()),
            ("p99", format!("{}ms", p99_ms_max(subscribers))),
        ],
        work: Work::FanOut {
            publishers: 16,
            subscribers,
            pace,
        },
        contenders,
        rounds: if subscribers == 1000 { scale.rounds } else { 1 },
        goals,
    }
}

fn replay(scale: &Scale) -> Cell {
    let messages = if scale.effort == Effort::Quick {
        300
    } else {
        1500
    };
    Cell {
        factors: vec![
            ("test", "replay".into()),
            ("message", "json-1000".into()),
            ("messages", messages.to_string()),
        ],
        work: Work::Replay {
            messages,
            body: Body::JsonBatch(1000),
        },
        contenders: vec![plain("weir"), plain("null_coalescing")],
        rounds: scale.rounds,
        goals: vec![goal(
            "observations",
            Figure::Mean,
            Bound::Least(1_000_000.0),
        )],
    }
}

fn unmeasured(factors: &[(&'static str, &str)], reason: &'static str) -> Cell {
    Cell {
        factors: factors
            .iter()
            .map(|&(factor, level)| (factor, level.into()))
            .collect(),
        work: Work::Unmeasured { reason },
        contenders: vec![plain("weir")],
        rounds: 1,
        goals: Vec::new(),
    }
}

/// Ours, both ceilings, and whoever has the scheme; Mosquitto is set beside SSE, by MQTT.
fn contenders(scheme: Scheme) -> Vec<Contender> {
    let by = |target| Contender {
        target,
        scheme: Some(scheme),
    };
    let mut all = vec![by("weir"), by("null"), by("null_coalescing")];
    if scheme != Scheme::Streaming {
        all.push(by("nchan"));
    }
    if scheme == Scheme::Sse {
        all.push(Contender {
            target: "mosquitto",
            scheme: Some(Scheme::Mqtt),
        });
    }
    all
}

/// The schemes whose figures are goals; they get more rounds.
fn is_goal(scheme: Scheme) -> bool {
    matches!(scheme, Scheme::Sse | Scheme::WebSocket)
}

fn plain(target: &'static str) -> Contender {
    Contender {
        target,
        scheme: None,
    }
}

fn goal(metric: &'static str, figure: Figure, bound: Bound) -> Goal {
    Goal {
        metric,
        figure,
        bound,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_bench_lab::targets::list;

    #[test]
    fn every_contender_of_a_cell_is_a_target() {
        for effort in [Effort::Quick, Effort::Full] {
            let cells = cells(effort);
            for contender in cells.iter().flat_map(|cell| &cell.contenders) {
                assert!(
                    list::named(contender.target).is_some(),
                    "{}",
                    contender.target
                );
            }
        }
    }
}
