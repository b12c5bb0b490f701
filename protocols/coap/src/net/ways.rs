//! What a client can do with a datastream by CoAP, for descriptions.

use weir_binding::{Credential, Operation, Way};

const SCHEMES: &[(&str, [&str; 2])] = &[
    ("coap", ["coap", "coaps"]),
    ("coap+tcp", ["coap+tcp", "coaps+tcp"]),
    ("coaps+tcp", ["coaps+tcp"; 2]),
    // RFC 8323 sections 8.3 and 8.4.
    ("coap+ws", ["coap+ws", "coaps+ws"]),
    ("coap+wss", ["coaps+ws"; 2]),
];

const GET: Way = Way {
    schemes: SCHEMES,
    operations: &[Operation::Read],
    target: "/live/{path}?as={format}",
    channel: "/live/{path}",
    subprotocol: None,
    terms: &[("cov:method", r#""GET""#)],
    // W3C WoT Binding Templates, CoAP.
    vocabulary: ("cov", "https://www.w3.org/2019/wot/coap#"),
    credential: Credential::Query("access_token"),
    lists_formats: false,
    media: None,
};

pub(super) const WAYS: &[Way] = &[
    GET,
    Way {
        operations: &[Operation::Observe],
        subprotocol: Some("cov:observe"),
        ..GET
    },
    Way {
        operations: &[Operation::Publish],
        terms: &[("cov:method", r#""POST""#)],
        ..GET
    },
];
