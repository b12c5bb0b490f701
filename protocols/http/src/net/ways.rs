//! What a client can do with a datastream by HTTP and WebSocket, for descriptions.

use weir_binding::{Credential, Operation, Way};

const HTTP: &[(&str, [&str; 2])] = &[("http", ["http", "https"]), ("https", ["https"; 2])];
const WEB_SOCKET: &[(&str, [&str; 2])] = &[("http", ["ws", "wss"]), ("https", ["wss"; 2])];
/// Vocabulary of HTTP in RDF (W3C Note, 2 May 2017), which the Thing Description takes.
const HTV: (&str, &str) = ("htv", "http://www.w3.org/2011/http#");

const GET: &[(&str, &str)] = &[("htv:methodName", r#""GET""#)];
const POST: &[(&str, &str)] = &[("htv:methodName", r#""POST""#)];
const SSE: &[(&str, &str)] = &[
    ("htv:methodName", r#""GET""#),
    (
        "htv:headers",
        r#"[{"htv:fieldName":"Accept","htv:fieldValue":"text/event-stream"}]"#,
    ),
];

/// One that all others are made of: polling.
const POLLING: Way = Way {
    schemes: HTTP,
    operations: &[Operation::Read],
    target: "/live/{path}?as={format}",
    channel: "/live/{path}",
    subprotocol: None,
    terms: GET,
    vocabulary: HTV,
    credential: Credential::Field,
    lists_formats: true,
    media: None,
};

const fn observing(target: &'static str, subprotocol: &'static str) -> Way {
    Way {
        operations: &[Operation::Observe],
        target,
        subprotocol: Some(subprotocol),
        lists_formats: false,
        ..POLLING
    }
}

/// In the order in which a client that takes the first it knows is served best.
pub(super) const WAYS: &[Way] = &[
    POLLING,
    Way {
        terms: SSE,
        ..observing("/live/{path}?as={format}", "sse")
    },
    Way {
        schemes: WEB_SOCKET,
        operations: &[Operation::Observe, Operation::Publish],
        ..observing("/live/{path}", "weir.{format}")
    },
    observing("/live/{path}?wait=30&as={format}", "longpoll"),
    observing("/live/{path}?stream&as={format}", "stream"),
    Way {
        operations: &[Operation::Publish],
        target: "/live/{path}",
        terms: POST,
        ..POLLING
    },
];
