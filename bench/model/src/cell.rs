//! A cell: one setting of an experiment's factors, what is done in it, and who takes part.

use serde::{Deserialize, Serialize};

use crate::body::Body;
use crate::own::Own;
use crate::pace::Pace;

/// The link that is none: the machine as it is.
pub const LOCAL: &str = "local";

/// A way in which messages reach a subscriber.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheme {
    /// A request a second.
    Polling,
    /// A request per answer.
    LongPolling,
    /// One HTTP answer that never ends.
    Streaming,
    /// Server-sent events.
    Sse,
    /// The same without cursors.
    SseBare,
    /// WebSocket.
    WebSocket,
    /// The same without control frames.
    WebSocketBare,
    /// An MQTT subscription at quality of service 0, and publishers alike.
    Mqtt,
    /// The same at quality of service 1, in both directions.
    MqttQos1,
    /// A GET with Observe by CoAP datagrams.
    Observe,
}

/// One cell.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Factor and level, in the order of the experiment.
    pub factors: Vec<(&'static str, String)>,
    /// What is done.
    pub work: Work,
    /// Who takes part.
    pub contenders: Vec<Contender>,
    /// How often, interleaved.
    pub rounds: usize,
    /// What ours must reach.
    pub goals: Vec<Goal>,
}

/// A target and the scheme by which it takes part.
#[derive(Clone, Copy, Debug)]
pub struct Contender {
    /// The name of the target.
    pub target: &'static str,
    /// Its scheme, where there are subscribers.
    pub scheme: Option<Scheme>,
}

/// What is done in a cell.
#[derive(Clone, Copy, Debug)]
pub enum Work {
    /// Publishing that nobody receives.
    Ingest {
        /// The message.
        body: Body,
        /// Connections.
        connections: usize,
        /// When.
        pace: Pace,
    },
    /// Publishing to subscribers.
    FanOut {
        /// Connections that publish.
        publishers: usize,
        /// Connections that receive.
        subscribers: usize,
        /// When.
        pace: Pace,
    },
    /// Connections on which nothing happens.
    Idle {
        /// How many.
        connections: usize,
        /// When a publisher and a subscriber beside them say something; absent: they do not exist.
        probe: Option<Pace>,
    },
    /// Datastreams of which there is one observation each.
    Topics {
        /// How many.
        topics: usize,
        /// When there is more to hear of one of them; absent: never.
        probe: Option<Pace>,
    },
    /// Observers by CoAP to whom nothing happens.
    Observers {
        /// How many.
        observers: u32,
    },
    /// Reading back from a cursor.
    Replay {
        /// Messages.
        messages: usize,
        /// Each of them.
        body: Body,
    },
    /// A person's own message: published, and received where there are subscribers.
    Own {
        /// The message.
        own: Own,
        /// Connections that publish.
        publishers: usize,
        /// Connections that receive.
        subscribers: usize,
        /// When.
        pace: Pace,
    },
    /// What cannot be measured yet.
    Unmeasured {
        /// Why.
        reason: &'static str,
    },
}

/// A figure that ours must reach.
#[derive(Clone, Copy, Debug)]
pub struct Goal {
    /// The metric of our own row, and the quantity of it.
    pub metric: &'static str,
    /// Which of its figures.
    pub figure: Figure,
    /// What it must reach.
    pub bound: Bound,
}

/// A figure of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// The mean over rounds.
    Mean,
    /// The median of all samples.
    P50,
    /// The 99th percentile of all samples.
    P99,
}

/// What a figure must reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// So much.
    Least(f64),
    /// So much, or that share of 64 times the disk's fdatasyncs a second where that is less.
    LeastOrDisk(f64, f64),
    /// No more than so much.
    Most(f64),
    /// So many times another target's figure.
    LeastTimes(f64, &'static str),
    /// No more than so many times another target's figure.
    MostTimes(f64, &'static str),
}

impl Scheme {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Polling,
        Self::LongPolling,
        Self::Streaming,
        Self::Sse,
        Self::SseBare,
        Self::WebSocket,
        Self::WebSocketBare,
        Self::Mqtt,
        Self::MqttQos1,
        Self::Observe,
    ];

    /// Its name as a level of a factor.
    pub fn name(self) -> &'static str {
        match self {
            Self::Polling => "polling",
            Self::LongPolling => "long-polling",
            Self::Streaming => "streaming",
            Self::Sse => "sse",
            Self::SseBare => "sse-bare",
            Self::WebSocket => "websocket",
            Self::WebSocketBare => "websocket-bare",
            Self::Mqtt => "mqtt",
            Self::MqttQos1 => "mqtt-qos-1",
            Self::Observe => "observe",
        }
    }
}

impl Scheme {
    /// MQTT's quality of service, where it is MQTT's.
    pub fn quality(self) -> Option<u8> {
        match self {
            Self::Mqtt => Some(0),
            Self::MqttQos1 => Some(1),
            _ => None,
        }
    }
}

impl Work {
    /// Whether the plan, not the target, sets the rate.
    pub fn has_fixed_rate(&self) -> bool {
        let (Self::Ingest { pace, .. } | Self::FanOut { pace, .. } | Self::Own { pace, .. }) = self
        else {
            return false;
        };
        matches!(pace, Pace::Open { .. })
    }

    /// Whether what is measured is how much a target's memory grows. One that has grown in a round before keeps what it
    /// had for the next, which then seems to take nothing: so each round has a target of its own.
    pub fn is_growth(&self) -> bool {
        matches!(
            self,
            Self::Idle { .. } | Self::Topics { .. } | Self::Observers { .. }
        )
    }
}

/// Seconds that a target takes to start and to end.
const START_SECONDS: f64 = 1.0;
/// Seconds between the last connection's opening and what is measured, and what drains behind it.
const AROUND_SECONDS: f64 = 1.5;
/// Connections, datastreams and observers that are made in a second, on a machine of two processors.
const MADE_A_SECOND: f64 = 10_000.0;
impl Work {
    /// About how long one contender takes for it once, seconds; what nobody measures takes none.
    fn seconds(&self) -> f64 {
        let (made, pace) = match self {
            Self::Ingest {
                connections, pace, ..
            } => (*connections, Some(pace)),
            Self::FanOut {
                subscribers, pace, ..
            }
            | Self::Own {
                subscribers, pace, ..
            } => (*subscribers, Some(pace)),
            Self::Idle { connections, probe } => (*connections, probe.as_ref()),
            Self::Topics { topics, probe } => (*topics, probe.as_ref()),
            Self::Observers { observers } => (*observers as usize, None),
            Self::Replay { messages, .. } => (*messages, None),
            Self::Unmeasured { .. } => return 0.0,
        };
        AROUND_SECONDS + made as f64 / MADE_A_SECOND + pace.map_or(0.0, Pace::seconds)
    }
}

impl Cell {
    /// About how long it takes, seconds: a guess before it begins, for whoever waits.
    pub fn seconds(&self) -> f64 {
        let starts = if self.work.is_growth() {
            self.rounds
        } else {
            1
        };
        let each = starts as f64 * START_SECONDS + self.rounds as f64 * self.work.seconds();
        self.contenders.len() as f64 * each
    }

    /// The link that it is on.
    pub fn link(&self) -> &str {
        let link = self.factors.iter().find(|(factor, _)| *factor == "link");
        link.map_or(LOCAL, |(_, link)| link)
    }

    /// Its name in results: `factor=level;factor=level`.
    pub fn name(&self) -> String {
        let pairs: Vec<String> = self
            .factors
            .iter()
            .map(|(f, level)| format!("{f}={level}"))
            .collect();
        pairs.join(";")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(work: Work) -> Cell {
        let contender = Contender {
            target: "weir",
            scheme: None,
        };
        Cell {
            factors: Vec::new(),
            work,
            contenders: vec![contender; 2],
            rounds: 3,
            goals: Vec::new(),
        }
    }

    #[test]
    fn the_time_of_a_cell_is_that_of_all_its_rounds_and_contenders() {
        let pace = |measure_ms| Pace::Open {
            rate: 1.0,
            warm_up_ms: 0,
            measure_ms,
        };
        let seconds = |measure_ms| {
            let probe = Some(pace(measure_ms));
            let work = Work::Idle {
                connections: 100,
                probe,
            };
            of(work).seconds()
        };
        assert!((seconds(3000) - seconds(2000) - 6.0).abs() < 1e-9);
        assert!(seconds(0) > 6.0 * AROUND_SECONDS);
    }
}
