//! What native clients are asked and what they answer: lines of JSON between two processes.

use std::net::SocketAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::latency::Latency;

/// Where a broker is, and how long it may be silent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At {
    /// Its name among the targets.
    pub(crate) broker: &'static str,
    /// Its address.
    pub(crate) address: SocketAddr,
    /// After which nothing is expected any more.
    pub(crate) silence: Duration,
}

/// What native clients do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ClientsPlan {
    /// The protocol, by its name.
    pub(crate) protocol: String,
    /// The broker, by its name among the targets.
    pub(crate) broker: String,
    /// Nodes in a message.
    pub(crate) nodes: usize,
    /// Whether the second client is native as well; otherwise it is somebody else's.
    pub(crate) both: bool,
    /// What is done.
    pub(crate) deed: Deed,
}

/// What is done.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum Deed {
    /// Messages one way, on an absolute schedule.
    Transfer {
        /// How many.
        messages: usize,
        /// Nanoseconds between two.
        interval_ns: u64,
    },
    /// One message to and fro.
    PingPong {
        /// Milliseconds before it counts.
        warm_up_ms: u64,
        /// Milliseconds that count.
        measure_ms: u64,
    },
    /// The second client's part of [`Deed::Transfer`], in a process of its own.
    Listen {
        /// How many messages will come.
        messages: usize,
    },
    /// The second client's part of [`Deed::PingPong`], in a process of its own, until that is killed.
    SendBack,
}

/// When messages leave, and of how many nodes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    /// Nodes in a message.
    pub(crate) nodes: usize,
    /// How many.
    pub(crate) messages: usize,
    /// Nanoseconds between two.
    pub(crate) interval_ns: u64,
}

/// Nanoseconds until the first message leaves.
pub(crate) const START_NS: u64 = 10_000_000;

/// What native clients saw.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum ClientsOutcome {
    /// Of [`Deed::Transfer`].
    Transfer {
        /// Messages that were published.
        sent: Vec<Sent>,
        /// Messages that came, where the second client is native.
        arrived: Vec<Arrived>,
    },
    /// Of [`Deed::PingPong`].
    PingPong(PingPong),
}

/// A message that was published; times by [`crate::clock::now_ns`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sent {
    /// The time of its first observation, which tells it from the others.
    pub(crate) id: String,
    /// When it was due.
    pub(crate) due_ns: f64,
    /// When its data were at hand and its encoding began.
    pub(crate) begun_ns: f64,
}

/// A message that came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Arrived {
    /// As of [`Sent`].
    pub(crate) id: String,
    /// When the application had its last byte.
    pub(crate) received_ns: f64,
    /// When the application had its observations.
    pub(crate) decoded_ns: f64,
}

/// A message that went to and fro.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PingPong {
    /// Times that it came back.
    pub(crate) passed: u64,
    /// Times that it did not.
    pub(crate) lost: u64,
    /// How long that took.
    pub(crate) seconds: f64,
    /// From one publishing to the next.
    pub(crate) rtt: Latency,
}
