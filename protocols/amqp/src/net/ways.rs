//! What a client can do with a datastream by AMQP 1.0, for descriptions.

use weir_binding::{Credential, Operation, Way};

const AMQP: &[(&str, [&str; 2])] = &[("amqp", ["amqp", "amqps"]), ("amqps", ["amqps"; 2])];
const AMQP_WS: &[(&str, [&str; 2])] = &[
    ("amqp+ws", ["amqp10+ws", "amqp10+wss"]),
    ("amqp+wss", ["amqp10+wss"; 2]),
];

/// A receiver's link, whose messages come in one format, whatever they were published in. The W3C has no
/// binding template for AMQP yet, so the one term is our own.
const RECEIVE: Way = Way {
    schemes: AMQP,
    operations: &[Operation::Observe],
    target: "/$as/{format}/{path}",
    channel: "$as/{format}/{topic}",
    subprotocol: None,
    terms: &[("amqpv:address", r#""$as/{format}/{topic}""#)],
    vocabulary: ("amqpv", "https://weir.example/ns/amqp#"),
    credential: Credential::Login,
    lists_formats: false,
    media: None,
};

/// A sender's link; a message is accepted once it is on disk.
const SEND: Way = Way {
    operations: &[Operation::Publish],
    ..RECEIVE
};

pub(super) const WAYS: &[Way] = &[
    RECEIVE,
    SEND,
    Way {
        schemes: AMQP_WS,
        target: "/amqp",
        ..RECEIVE
    },
    Way {
        schemes: AMQP_WS,
        target: "/amqp",
        ..SEND
    },
];
