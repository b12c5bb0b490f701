//! What the orchestrator asks of the load process and what it answers: lines of JSON.

use std::net::SocketAddr;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::prepare::Post;
use super::wire::{PublishWire, SubscribeWire};
use weir_bench_model::body::Body;
use weir_bench_model::latency::Latency;
use weir_bench_model::pace::{Pace, Trial};

/// One task for one load process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// Where the target listens.
    pub address: SocketAddr,
    /// What to do there.
    pub kind: Kind,
}

/// The kinds of load.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Kind {
    /// Publishers, and perhaps subscribers.
    Traffic(TrafficPlan),
    /// Connections on which nothing happens.
    Idle(IdlePlan),
    /// Datastreams that are known, and nothing more.
    Topics(TopicsPlan),
    /// Observers by CoAP, and nothing to tell them.
    Observers(ObserversPlan),
    /// Reading back what was published before.
    Replay(ReplayPlan),
    /// What a target is to know before it is measured.
    Prepare(Vec<Post>),
    /// One client that reads the same again and again.
    Reads(ReadsPlan),
    /// What clients beyond the load's own do; see [`Task`].
    Task {
        /// Its name.
        name: String,
        /// What it is told.
        plan: Value,
    },
}

/// What a load process does by clients that are not its own: it is told a plan, and gives an outcome.
pub trait Task: Serialize + DeserializeOwned {
    /// Its name in a job.
    const NAME: &'static str;
    /// What it gives.
    type Outcome: Serialize + DeserializeOwned;

    /// Does it.
    fn run(&self, address: SocketAddr) -> Result<Self::Outcome, String>;
}

/// A task by its name, and how a load process does it.
pub type Runner = (&'static str, fn(SocketAddr, &Value) -> Event);

/// How a load process does a task.
pub const fn runner<T: Task>() -> Runner {
    (T::NAME, |address, plan| {
        let task = T::deserialize(plan).map_err(|e| format!("the job: {e}"));
        match task.and_then(|task| task.run(address)) {
            Ok(outcome) => Event::Task(serde_json::to_value(outcome).unwrap_or_default()),
            Err(reason) => Event::Failed { reason },
        }
    })
}

impl Job {
    /// A task at an address.
    pub fn of<T: Task>(address: SocketAddr, task: &T) -> Self {
        let plan = serde_json::to_value(task).unwrap_or_default();
        let name = T::NAME.into();
        let kind = Kind::Task { name, plan };
        Self { address, kind }
    }
}

/// Publishers that offer a rate and subscribers that receive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TrafficPlan {
    /// How to publish.
    pub publish: PublishWire,
    /// Connections that publish, in turn.
    pub publishers: usize,
    /// What is published.
    pub body: Body,
    /// How to subscribe; absent: nobody does.
    pub subscribe: Option<SubscribeWire>,
    /// Connections that subscribe.
    pub subscribers: usize,
    /// Where they do, if not where messages are published.
    #[serde(default)]
    pub subscribe_at: Option<SocketAddr>,
    /// When messages are sent.
    pub pace: Pace,
    /// Its part of a load that other machines share; absent: there are none.
    pub share: Option<Share>,
}

/// One machine's part of a load.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Share {
    /// Which, from 0: message k is its own if k modulo the parts is this.
    pub part: usize,
    /// How many there are.
    pub parts: usize,
    /// Nanoseconds that a message may seem to arrive before it was due, for clocks that differ.
    pub skew_ns: u64,
}

/// Nanoseconds from the moment that all parts of a load count from to its first message.
pub const SHARED_START_NS: u64 = 1_000_000_000;

/// Connections on which nothing happens.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct IdlePlan {
    /// How to subscribe.
    pub subscribe: SubscribeWire,
    /// How many.
    pub connections: usize,
    /// How many others hold before these: those of other processes of one job.
    #[serde(default)]
    pub first: usize,
    /// The certificate of a server that speaks TLS, in DER; absent: plain TCP.
    pub certificate: Option<Vec<u8>>,
    /// Milliseconds to let both sides settle before memory is read.
    pub settle_ms: u64,
    /// Traffic beside them once memory has been read; absent: none.
    #[serde(default)]
    pub probe: Option<Box<TrafficPlan>>,
}

/// One observation of each of many datastreams.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TopicsPlan {
    /// How to publish.
    pub publish: PublishWire,
    /// How many there are.
    pub topics: usize,
    /// Of how many a message tells.
    pub batch: usize,
    /// Milliseconds to let the target settle before memory is read.
    pub settle_ms: u64,
    /// Traffic in one of them once memory has been read; absent: none.
    #[serde(default)]
    pub probe: Option<Box<TrafficPlan>>,
}

/// Observers of one resource by CoAP.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ObserversPlan {
    /// The resource's path, without a slash before it.
    pub path: String,
    /// How many, each at an address of its own.
    pub observers: u32,
    /// Milliseconds to let the target settle before memory is read.
    pub settle_ms: u64,
}

/// Publishing a backlog, then reading it from a cursor on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReplayPlan {
    /// How to publish the backlog.
    pub publish: PublishWire,
    /// One message of it.
    pub body: Body,
    /// Messages in it.
    pub messages: usize,
    /// A request whose stream carries a control line `"cursor":"..."` after a message; absent: the
    /// cursor is `0`, the beginning of what this process publishes.
    pub cursor_request: Option<String>,
    /// The request that replays; `{cursor}` is replaced.
    pub replay_request: String,
}

/// Asking the same again and again, each time when the answer before is whole.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReadsPlan {
    /// The request, whole.
    pub request: String,
    /// What stands in an answer once an observation.
    pub marker: String,
    /// Observations in an answer; one with another number is an error.
    pub expected: u64,
    /// Milliseconds before counting starts; one answer comes before at the least.
    pub warm_up_ms: u64,
    /// Milliseconds that count; a few answers count at the least.
    pub measure_ms: u64,
}

/// What a load process says, one a line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Event {
    /// All connections are open; it waits for a line: of a shared load the moment to count from.
    Ready,
    /// What counts begins now.
    Begin,
    /// What counts has ended.
    End,
    /// Nothing of it is under way any more on a link; it waits for one byte.
    Quiet,
    /// The outcome of [`Kind::Traffic`].
    Traffic(Box<TrafficOutcome>),
    /// The outcome of [`Kind::Idle`].
    Idle(IdleOutcome),
    /// The outcome of [`Kind::Topics`].
    Topics(TopicsOutcome),
    /// The outcome of [`Kind::Observers`].
    Observers(ObserversOutcome),
    /// The outcome of [`Kind::Replay`].
    Replay(ReplayOutcome),
    /// The outcome of [`Kind::Prepare`]: it knows.
    Prepared,
    /// The outcome of [`Kind::Reads`].
    Reads(ReadsOutcome),
    /// The outcome of [`Kind::Task`].
    Task(Value),
    /// Why there is none.
    Failed {
        /// In words.
        reason: String,
    },
}

impl Event {
    /// The outcome, where it is one of such tasks.
    pub fn of_task<T: Task>(&self) -> Option<T::Outcome> {
        match self {
            Self::Task(outcome) => T::Outcome::deserialize(outcome).ok(),
            _ => None,
        }
    }

    /// Whether it is the outcome, or why there is none.
    pub fn is_last(&self) -> bool {
        !matches!(self, Self::Ready | Self::Begin | Self::End | Self::Quiet)
    }
}

/// What one measured step of traffic gave.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TrafficOutcome {
    /// Messages a second that were offered (open loop) or acknowledged (window).
    pub offered_rate: f64,
    /// Seconds from the first message due to the last that arrived (or was answered).
    pub seconds: f64,
    /// Messages sent.
    pub sent: u64,
    /// Of these, answered with success.
    pub acknowledged: u64,
    /// Of these, answered otherwise.
    pub refused: u64,
    /// The first such answer.
    pub first_refusal: Option<String>,
    /// Deliveries owed: messages times subscribers.
    pub expected: u64,
    /// Deliveries made.
    pub received: u64,
    /// Answers to subscribers that poll which said what they had heard; of others nothing.
    pub repeated: Option<u64>,
    /// Bytes that arrived at subscribers, framing included.
    pub received_bytes: u64,
    /// From due to received, over all subscribers.
    pub delivery: Latency,
    /// From due (open loop) or sent (window) to acknowledged.
    pub acknowledgement: Latency,
    /// Geometric mean of the deliveries (or answers, where nobody subscribes) due in each tenth of the
    /// time measured, microseconds; empty where a tenth has none.
    pub course: Vec<f64>,
    /// From due to handed to the kernel: how late the load itself was.
    pub schedule_lag: Latency,
    /// Of a search that found no rate within the limit: what was reached at the least.
    pub missed: Option<String>,
    /// The trials of a search, in their order.
    pub trials: Vec<Trial>,
}

/// What idle connections gave; memory is read by the orchestrator.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct IdleOutcome {
    /// Connections that were open.
    pub connections: usize,
    /// What the traffic beside them gave.
    #[serde(default)]
    pub probe: Option<Box<TrafficOutcome>>,
}

/// What datastreams gave; memory is read by the orchestrator.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TopicsOutcome {
    /// Datastreams that were made.
    pub topics: usize,
    /// From the first message to the last answer.
    pub seconds: f64,
    /// What the traffic in one of them gave.
    #[serde(default)]
    pub probe: Option<Box<TrafficOutcome>>,
}

/// What observers gave; memory is read by the orchestrator.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ObserversOutcome {
    /// Observers that were registered.
    pub observers: u32,
    /// From the first request to the last answer.
    pub seconds: f64,
    /// Observers that one change reached.
    pub notified: u32,
    /// From the change's request to each observer's notification.
    pub notification: Latency,
    /// From the change's request to the last notification.
    pub notify_seconds: f64,
}

/// What a replay gave.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ReplayOutcome {
    /// Observations in the backlog.
    pub expected: u64,
    /// Observations that came.
    pub received: u64,
    /// Bytes that came.
    pub received_bytes: u64,
    /// From the request to the last observation.
    pub seconds: f64,
}

/// What reading gave.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReadsOutcome {
    /// From each request to the last byte of its answer, microseconds.
    pub times_us: Vec<f64>,
    /// From the first of these requests to the last byte of the last answer.
    pub seconds: f64,
    /// Bytes of an answer's body, without the framing of its transfer.
    pub answer_bytes: u64,
}
