//! What native clients are asked and what they answer: lines of JSON between two processes.

use std::net::SocketAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use weir_bench_model::latency::Latency;
use weir_bench_peers::Peer;

/// Where a broker is, and how long it may be silent.
#[derive(Clone, Copy, Debug)]
pub struct At {
    /// Its name among the targets.
    pub broker: &'static str,
    /// Its address.
    pub address: SocketAddr,
    /// After which nothing is expected any more.
    pub silence: Duration,
}

impl At {
    /// As a client speaks to it.
    pub(super) fn peer(&self) -> Peer {
        Peer {
            address: self.address,
            wait: self.silence,
            modem: false,
            certificate: None,
        }
    }
}

/// What native clients do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClientsPlan {
    /// The protocol, by its name.
    pub protocol: String,
    /// The broker, by its name among the targets.
    pub broker: String,
    /// Nodes in a message.
    pub nodes: usize,
    /// Whether the second client is native as well; otherwise it is somebody else's.
    pub both: bool,
    /// What is done.
    pub deed: Deed,
}

/// What is done.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum Deed {
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
pub struct Schedule {
    /// Nodes in a message.
    pub nodes: usize,
    /// How many.
    pub messages: usize,
    /// Nanoseconds between two.
    pub interval_ns: u64,
}

/// Nanoseconds until the first message leaves.
pub const START_NS: u64 = 10_000_000;

/// What native clients saw.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ClientsOutcome {
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

/// A message that was published; times by [`weir_bench_model::clock::now_ns`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sent {
    /// The time of its first observation, which tells it from the others.
    pub id: String,
    /// When it was due.
    pub due_ns: f64,
    /// When its data were at hand and its encoding began.
    pub begun_ns: f64,
}

/// A message that came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arrived {
    /// As of [`Sent`].
    pub id: String,
    /// When the application had its last byte.
    pub received_ns: f64,
    /// When the application had its observations.
    pub decoded_ns: f64,
}

/// A message that went to and fro.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PingPong {
    /// Times that it came back.
    pub passed: u64,
    /// Times that it did not.
    pub lost: u64,
    /// How long that took.
    pub seconds: f64,
    /// From one publishing to the next.
    pub rtt: Latency,
}
