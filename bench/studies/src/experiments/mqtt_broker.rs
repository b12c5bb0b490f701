//! The gateway as an MQTT broker beside Mosquitto: latency, fan-out, idle memory, durable publishing.
//!
//! Mosquitto keeps nothing on disk; the gateway keeps everything, and acknowledges quality of service 1
//! when it is there. So the cells of quality 1 compare a promise with none.

mod figures;

use weir_bench_lab::experiment::Experiment;
use weir_bench_lab::run::run_cells;
use weir_bench_model::body::Body;
use weir_bench_model::cell::{Bound, Cell, Contender, Figure, Goal, Scheme, Work};
use weir_bench_model::effort::Effort;
use weir_bench_model::pace::Pace;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "mqtt-broker",
    source: "ours",
    about: "MQTT 3.1.1 beside Mosquitto: latency, fan-out, idle connections, durable publishing",
    cells: |effort| cells(effort).iter().map(Cell::name).collect(),
    run: |order| run_cells(cells(order.effort), order),
    page: |run, folder| weir_bench_report::titled(TITLE, HOW, run, folder),
    figures: figures::of,
    claims: |_| Vec::new(),
};

const TITLE: &str = "MQTT beside Mosquitto";

const HOW: &str = "
MQTT is 3.1.1. Only the `window` cell is a closed loop. Fan-out is the highest rate at which p99 stays under 50 ms and
nothing is lost, found by a search and confirmed by a longer step. Mosquitto writes nothing to disk; the gateway logs
every message, and acknowledges one of quality 1 when it is there: at quality 1 a promise stands beside none. `ceiling`
says that the load itself was late by over 10 % of the median. Memory a connection is the growth of the server's
proportional resident memory; kernel figures count both ends of each connection. Why something falls short, and what
was tried, is told in [concepts/latency-profile.md](../concepts/latency-profile.md).
";

/// How long and how often; rounds are short and many, since brokers take turns in them.
struct Scale {
    rounds: usize,
    warm_up_ms: u64,
    measure_ms: u64,
}

impl Scale {
    fn of(effort: Effort) -> Self {
        match effort {
            Effort::Quick => Self {
                rounds: 2,
                warm_up_ms: 300,
                measure_ms: 1500,
            },
            Effort::Full => Self {
                rounds: 7,
                warm_up_ms: 500,
                measure_ms: 4000,
            },
        }
    }
}

fn cells(effort: Effort) -> Vec<Cell> {
    let scale = Scale::of(effort);
    let mut cells = Vec::new();
    for scheme in [Scheme::Mqtt, Scheme::MqttQos1] {
        for rate in [1000.0, 5000.0] {
            cells.push(latency(&scale, scheme, rate));
        }
    }
    cells.push(fan_out(&scale));
    cells.push(durable(&scale));
    cells.push(idle(&scale));
    cells
}

fn latency(scale: &Scale, scheme: Scheme, rate: f64) -> Cell {
    let no_worse = |figure| Goal {
        metric: "publish_to_receive",
        figure,
        bound: Bound::MostTimes(1.0, "mosquitto"),
    };
    let pace = Pace::Open {
        rate,
        warm_up_ms: scale.warm_up_ms,
        measure_ms: scale.measure_ms,
    };
    Cell {
        factors: vec![
            ("test", "latency".into()),
            ("delivery", scheme.name().into()),
            ("rate", rate.to_string()),
        ],
        work: Work::FanOut {
            publishers: 1,
            subscribers: 1,
            pace,
        },
        contenders: both(scheme),
        rounds: scale.rounds,
        goals: vec![no_worse(Figure::P50), no_worse(Figure::P99)],
    }
}

fn fan_out(scale: &Scale) -> Cell {
    let subscribers = 1000;
    let pace = Pace::Search {
        start_rate: 60.0,
        trial_ms: scale.measure_ms / 4,
        measure_ms: scale.measure_ms,
        p99_ms_max: 50.0,
    };
    let goal = Goal {
        metric: "deliveries",
        figure: Figure::Mean,
        bound: Bound::LeastTimes(2.0, "mosquitto"),
    };
    Cell {
        factors: vec![
            ("test", "fan-out".into()),
            ("delivery", Scheme::Mqtt.name().into()),
            ("subscribers", subscribers.to_string()),
            ("p99", "50ms".into()),
        ],
        work: Work::FanOut {
            publishers: 4,
            subscribers,
            pace,
        },
        contenders: both(Scheme::Mqtt),
        rounds: scale.rounds.min(3),
        goals: vec![goal],
    }
}

fn durable(scale: &Scale) -> Cell {
    let connections = 100;
    let pace = Pace::Window {
        outstanding: 20,
        warm_up_ms: scale.warm_up_ms,
        measure_ms: scale.measure_ms,
    };
    let goal = Goal {
        metric: "messages",
        figure: Figure::Mean,
        bound: Bound::Least(20_000.0),
    };
    Cell {
        factors: vec![
            ("test", "publish".into()),
            ("delivery", Scheme::MqttQos1.name().into()),
            ("connections", connections.to_string()),
            ("load", "window-20".into()),
        ],
        work: Work::Ingest {
            body: Body::Stamped,
            connections,
            pace,
        },
        contenders: both(Scheme::MqttQos1),
        rounds: scale.rounds.min(3),
        goals: vec![goal],
    }
}

fn idle(scale: &Scale) -> Cell {
    let connections = 10_000;
    let goal = Goal {
        metric: "server_memory_per_connection",
        figure: Figure::Mean,
        bound: Bound::Most(2000.0),
    };
    Cell {
        factors: vec![
            ("test", "idle".into()),
            ("delivery", Scheme::Mqtt.name().into()),
            ("connections", connections.to_string()),
        ],
        work: Work::Idle {
            connections,
            probe: None,
        },
        contenders: both(Scheme::Mqtt),
        rounds: scale.rounds.min(3),
        goals: vec![goal],
    }
}

fn both(scheme: Scheme) -> Vec<Contender> {
    let by = |target| Contender {
        target,
        scheme: Some(scheme),
    };
    vec![by("weir_mqtt"), by("mosquitto")]
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_bench_lab::targets::list;

    #[test]
    fn every_cell_has_two_contenders_that_speak_its_scheme() {
        for cell in cells(Effort::Full) {
            assert_eq!(cell.contenders.len(), 2);
            for contender in cell.contenders {
                let target = list::named(contender.target);
                let wire = target.zip(contender.scheme);
                let wire = wire.and_then(|(target, scheme)| (target.subscribe)(scheme, "a"));
                assert!(wire.is_some(), "{}", contender.target);
            }
        }
    }
}
