//! What a client can do with a datastream by MQTT, for descriptions.

use weir_binding::{Credential, Operation, Way};

const MQTT: &[(&str, [&str; 2])] = &[("mqtt", ["mqtt", "mqtts"]), ("mqtts", ["mqtts"; 2])];
const MQTT_WS: &[(&str, [&str; 2])] = &[
    ("mqtt+ws", ["mqtt+ws", "mqtt+wss"]),
    ("mqtt+wss", ["mqtt+wss"; 2]),
];

/// A subscription to messages in one format, whatever they were published in.
const SUBSCRIBE: Way = Way {
    schemes: MQTT,
    operations: &[Operation::Observe],
    target: "/$as/{format}/{path}",
    channel: "$as/{format}/{topic}",
    subprotocol: None,
    terms: &[
        ("mqv:controlPacket", r#""subscribe""#),
        ("mqv:filter", r#""$as/{format}/{topic}""#),
    ],
    // W3C WoT Binding Templates, MQTT.
    vocabulary: ("mqv", "http://www.w3.org/2018/wot/mqtt#"),
    credential: Credential::Login,
    lists_formats: false,
    media: None,
};

/// A publication in a format that its topic says, which MQTT 3.1.1 can too, acknowledged once it is on disk.
const PUBLISH: Way = Way {
    operations: &[Operation::Publish],
    terms: &[
        ("mqv:controlPacket", r#""publish""#),
        ("mqv:topic", r#""$as/{format}/{topic}""#),
        ("mqv:qos", r#""1""#),
    ],
    ..SUBSCRIBE
};

pub(super) const WAYS: &[Way] = &[
    SUBSCRIBE,
    PUBLISH,
    Way {
        schemes: MQTT_WS,
        target: "/mqtt",
        ..SUBSCRIBE
    },
    Way {
        schemes: MQTT_WS,
        target: "/mqtt",
        ..PUBLISH
    },
];
