//! What a caller is asked and what it answers: lines of JSON between two processes.

use serde::{Deserialize, Serialize};

use super::coding::Coding;
use weir_bench_model::latency::Latency;
use weir_bench_peers::Traffic;
use weir_bench_peers::coap::CoapOver;

/// Messages that a service is sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CallPlan {
    /// How the service is spoken to.
    pub speech: Speech,
    /// How a message is encoded.
    pub coding: Coding,
    /// Whether an answer carries the message back.
    pub echoes: bool,
    /// The certificate of a server that speaks TLS, in DER; absent: in the clear.
    pub certificate: Option<Vec<u8>>,
    /// Where the service is: a path without a slash before it.
    pub path: String,
    /// Bytes of a message.
    pub payload_bytes: usize,
    /// Calls under way at once.
    pub depth: usize,
    /// Messages before counting starts.
    pub warm_up: u32,
    /// Messages that count.
    pub messages: u32,
    /// Milliseconds after which a call counts as lost, or its connection as dead.
    pub wait_ms: u64,
}

/// How a service is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Speech {
    /// POST by HTTP/1.1, pipelined.
    Http1,
    /// A probe before each call, both by HTTP/1.1.
    Dpws,
    /// POST by HTTP/2, a stream a call.
    Http2,
    /// CoAP.
    Coap {
        /// By what it is carried.
        over: CoapOver,
        /// PUT in place of POST, where the server sends back that alone.
        put: bool,
    },
}

/// What a caller measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CallOutcome {
    /// From the message as values to its bytes.
    pub serialization: Latency,
    /// From its bytes to those of the answer.
    pub rtt: Latency,
    /// From bytes back to values: of what the server sent back, or else of what was sent to it.
    pub deserialization: Latency,
    /// Calls without an answer.
    pub lost: u64,
    /// Answers that carried the message back.
    pub echoed: u64,
    /// What the calls that count took, both ways.
    pub traffic: Traffic,
    /// Seconds from the first call that counts to the end of the last.
    pub seconds: f64,
    /// What opening the connection took.
    pub opening_ns: u64,
}
