//! How a target is spoken to, as data: the bytes to send and how to know the answer.
//!
//! Deliberately not a client library: no negotiation, no redirects, no retries.

use serde::{Deserialize, Serialize};

/// How one message is published.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum PublishWire {
    /// A request per message, pipelined; `head` ends before `Content-Length`, which is added.
    Http {
        /// Request line and header fields, each line ended by CR LF.
        head: String,
    },
    /// MQTT 3.1.1; at quality of service 0 nothing is acknowledged.
    Mqtt {
        /// The topic.
        topic: String,
        /// The quality of service, 0 or 1.
        qos: u8,
    },
}

/// How one subscription is opened and read.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum SubscribeWire {
    /// One HTTP request whose answer never ends: streaming, SSE, WebSocket.
    Stream {
        /// The whole request.
        request: String,
    },
    /// A request every so many milliseconds, whatever the answer.
    Poll {
        /// The request, whole.
        request: String,
        /// Milliseconds from one to the next.
        interval_ms: u64,
    },
    /// A request per answer. `{name}` in `again` is that header field of the answer before.
    LongPoll {
        /// The first request, whole.
        request: String,
        /// Every further one.
        again: String,
    },
    /// MQTT 3.1.1; at quality of service 1 every message is acknowledged.
    Mqtt {
        /// The filter.
        filter: String,
        /// The quality of service, 0 or 1.
        qos: u8,
    },
    /// CoAP by datagrams: a GET with Observe.
    Observe {
        /// The resource's path, without a slash before it.
        path: String,
    },
}

impl SubscribeWire {
    /// Whether a socket of datagrams takes the place of a connection.
    pub fn is_observed(&self) -> bool {
        matches!(self, Self::Observe { .. })
    }
}

impl PublishWire {
    /// The same at another quality of service, where there is such a thing.
    pub fn at_quality(self, qos: u8) -> Self {
        match self {
            Self::Mqtt { topic, .. } => Self::Mqtt { topic, qos },
            http => http,
        }
    }
}
