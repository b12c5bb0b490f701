//! What the device is asked and what it answers: lines of JSON between two processes.

use serde::{Deserialize, Serialize};

pub use crate::coap::CoapOver;
use crate::sockets::Traffic;
use weir_bench_model::latency::Latency;

/// Packets that go to a server and come back.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EchoPlan {
    /// How to speak to the server.
    pub conversation: Conversation,
    /// Bytes of payload, one way.
    pub payload_bytes: usize,
    /// Packets before counting starts.
    pub warm_up: u32,
    /// Packets that count.
    pub packets: u32,
    /// Milliseconds between an echo and the next packet.
    pub rest_ms: u64,
    /// Whether the bench counts what crosses a link, and is waited for.
    pub is_on_link: bool,
    /// Whether a modem stands between the device and its link.
    pub modem: bool,
    /// The certificate of a server that is spoken to by TLS.
    pub certificate: Option<Vec<u8>>,
    /// Milliseconds after which a packet counts as lost, or its stream as dead.
    pub wait_ms: u64,
}

/// How a device speaks to a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Conversation {
    /// A datagram that comes back.
    Datagrams,
    /// Bytes that come back on a stream.
    Stream,
    /// CoAP.
    Coap {
        /// By what it is carried.
        over: CoapOver,
        /// The resource, without a slash before it.
        path: String,
        /// The Content-Format, where the server must be told.
        format: Option<u32>,
        /// How the echo comes about.
        way: CoapWay,
    },
    /// HTTP/1.1.
    Http {
        /// The request's target.
        target: String,
        /// A request that gives the resource its representation first.
        prepare: Option<Method>,
        /// The method that is answered by as many bytes.
        ask: Method,
    },
    /// HTTP/2 in TLS: a POST first, then GETs that are answered by as many bytes.
    Http2 {
        /// The requests' target.
        target: String,
    },
    /// Text messages of a WebSocket.
    WebSocket {
        /// The request's target.
        target: String,
        /// The subprotocol, where the server wants one.
        subprotocol: Option<String>,
        /// Whether the server says that it has kept a message.
        commits: bool,
    },
    /// MQTT 3.1.1, publishing to a topic that is subscribed to.
    Mqtt {
        /// The quality of service of both.
        qos: u8,
        /// The topic.
        topic: String,
    },
}

/// How an echo comes about with CoAP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CoapWay {
    /// The response carries as many bytes as the request.
    Answer {
        /// A request that gives the resource its representation first.
        prepare: Option<Method>,
        /// The method that is answered so.
        ask: Method,
    },
    /// The device observes the resource that it changes (RFC 7641).
    Observation {
        /// The method that changes it.
        change: Method,
    },
}

/// A method of CoAP and of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Method {
    /// GET, here with a payload, which has no meaning there and is what its answer is compared to.
    Get,
    /// POST.
    Post,
    /// PUT.
    Put,
}

impl Method {
    /// Its name in HTTP.
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
        }
    }
}

/// What a device measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EchoOutcome {
    /// From a packet's creation to its echo in the application's hands.
    pub rtt: Latency,
    /// The same until everything that the protocol promises is acknowledged.
    pub settled: Latency,
    /// Packets without an echo.
    pub lost: u64,
    /// What the packets that count took, echoes included.
    pub traffic: Traffic,
    /// What it took to open the conversation.
    pub opening: Traffic,
    /// How long that took, nanoseconds.
    pub opening_ns: u64,
}
