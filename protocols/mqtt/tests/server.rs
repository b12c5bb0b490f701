//! The server's half of a conversation: who may connect, and what a breach of the rules costs.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::house;

use house::{House, V5, V31, V311, connect, encode, list, publish, will};
use weir_mqtt::session::{Acceptance, ServerEvent, ServerLimits, State};
use weir_mqtt::wire::{Ack, Auth, Connect, Disconnect, Packet, Property, Publish, QoS, ReasonCode};
use weir_sansio::Instant;

fn connack_code(house: &mut House) -> ReasonCode {
    match house.said()[..] {
        [Packet::Connack(connack)] => connack.code,
        ref other => panic!("no CONNACK but {other:?}"),
    }
}

// [MQTT-3.1.0-1]
#[test]
fn the_first_packet_is_a_connect_or_the_connection_ends() {
    for packet in [
        Packet::Pingreq,
        Packet::Publish(publish(QoS::AtMostOnce, 0)),
    ] {
        let mut house = House::new(V5);
        house.give(packet);
        assert!(house.said().is_empty());
        assert_eq!(house.closed().code, ReasonCode::PROTOCOL_ERROR);
    }
}

// [MQTT-3.1.0-2]
#[test]
fn a_second_connect_ends_the_connection() {
    let mut house = House::open(V5);
    house.give(Packet::Connect(connect(V5)));
    assert_eq!(house.farewell(), ReasonCode::PROTOCOL_ERROR);
    assert!(house.closed().publish_will);
}

// [MQTT-3.1.4-1] [MQTT-3.1.2-2] [MQTT-3.2.2-7] [MQTT-4.13.2-1]
#[test]
fn a_connect_that_does_not_conform_is_answered_and_ends() {
    let mut house = House::new(V5);
    house.feed(b"\x10\x0d\x00\x04MQTT\x05\x03\x00\x00\x00\x00\x00");
    assert_eq!(connack_code(&mut house), ReasonCode::MALFORMED_PACKET);
    assert!(house.server.is_over());
    // What is not known is answered as all versions but 5.0 have it.
    for unknown in [
        &b"\x10\x0d\x00\x04MQTT\x07\x02\x00\x00\x00\x00\x00"[..],
        b"\x10\x0d\x00\x04MQTT\x85\x02\x00\x00\x00\x00\x00",
        b"\x10\x0d\x00\x04MQTT\x03\x02\x00\x00\x00\x00\x00",
        b"\x10\x0e\x00\x06MQIsdp\x04\x02\x00\x00\x00\x00",
    ] {
        let mut house = House::new(V311);
        house.feed(unknown);
        let code = connack_code(&mut house);
        assert_eq!(code, ReasonCode::UNSUPPORTED_PROTOCOL_VERSION);
    }
    // Who speaks something else entirely is told nothing.
    let mut house = House::new(V311);
    house.feed(b"\x10\x0c\x00\x04MQTX\x04\x02\x00\x00\x00\x00");
    assert!(house.said().is_empty() && house.server.is_over());
    let mut house = House::new(V311);
    house.feed(b"GET / HTTP/1.1\r\n\r\n");
    assert!(house.said().is_empty() && house.server.is_over());
}

// [MQTT-3.1.3-5] [MQTT-3.1.3-8] [MQTT311-3.1.3-8]
#[test]
fn a_client_identifier_is_any_text_up_to_a_limit() {
    let long = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".repeat(8);
    let mut house = House::new(V5);
    house.give(Packet::Connect(Connect {
        client_id: &long,
        ..connect(V5)
    }));
    assert_eq!(house.request().client_id, long);
    let long = "x".repeat(513);
    for version in [V5, V311] {
        let mut house = House::new(version);
        house.give(Packet::Connect(Connect {
            client_id: &long,
            ..connect(version)
        }));
        assert_eq!(
            connack_code(&mut house),
            ReasonCode::CLIENT_IDENTIFIER_NOT_VALID
        );
    }
    // 3.1.1: a session that is kept needs a name.
    let mut house = House::new(V311);
    let nameless = Connect {
        client_id: "",
        clean_start: false,
        ..connect(V311)
    };
    house.give(Packet::Connect(nameless));
    assert_eq!(
        connack_code(&mut house),
        ReasonCode::CLIENT_IDENTIFIER_NOT_VALID
    );
}

// [MQTT-3.1.3-6] [MQTT-3.1.3-7] [MQTT-3.2.2-16]
#[test]
fn an_assigned_client_identifier_is_told() {
    let mut house = House::new(V5);
    house.give(Packet::Connect(Connect {
        client_id: "",
        ..connect(V5)
    }));
    assert_eq!(house.request().client_id, "");
    house.accept(&Acceptance {
        assigned_client_id: Some("weir-1"),
        ..Acceptance::default()
    });
    let [Packet::Connack(connack)] = house.said()[..] else {
        panic!("no CONNACK");
    };
    let assigned = Property::AssignedClientIdentifier("weir-1");
    assert!(
        connack
            .properties
            .iter()
            .any(|property| property == assigned)
    );
}

// [MQTT-3.1.4-5] [MQTT-3.1.4-6] [MQTT-3.2.0-1] [MQTT-3.2.2-2] [MQTT-3.2.2-3] [MQTT-3.2.0-2]
#[test]
fn connack_comes_first_and_says_whether_a_session_is_there() {
    for (session, present) in [(None, false), (Some(State::default()), true)] {
        let mut house = House::new(V5);
        let mut bytes = encode(V5, Packet::Connect(connect(V5)));
        bytes.extend(encode(V5, Packet::Pingreq));
        house.feed(&bytes);
        assert!(house.said().is_empty());
        house.accept(&Acceptance {
            session,
            ..Acceptance::default()
        });
        let said = house.said();
        let [Packet::Connack(connack), Packet::Pingresp] = said[..] else {
            panic!("{said:?}");
        };
        assert_eq!((connack.session_present, connack.code.0), (present, 0));
    }
    let mut house = House::new(V5);
    house.feed(&encode(V5, Packet::Connect(connect(V5))));
    house.feed(&encode(V5, Packet::Publish(publish(QoS::AtMostOnce, 0))));
    house.server.refuse(ReasonCode::NOT_AUTHORIZED, "no");
    house.feed(&encode(V5, Packet::Pingreq));
    assert_eq!(connack_code(&mut house), ReasonCode::NOT_AUTHORIZED);
    assert!(house.messages().is_empty());
}

#[test]
fn connack_tells_what_the_server_takes() {
    let mut house = House::new(V5);
    house.give(Packet::Connect(connect(V5)));
    house.accept(&Acceptance::default());
    let [Packet::Connack(connack)] = house.said()[..] else {
        panic!("no CONNACK");
    };
    let limits = ServerLimits::default();
    let expected = [
        Property::ReceiveMaximum(limits.receive_max),
        Property::MaximumPacketSize(limits.packet_bytes_max as u32),
        Property::TopicAliasMaximum(limits.topic_aliases_max),
    ];
    assert_eq!(connack.properties.iter().collect::<Vec<_>>(), expected);
}

// [MQTT-3.1.2-28]
#[test]
fn response_information_is_for_who_asks() {
    let asked = list(&[Property::RequestResponseInformation(true)]);
    let mut house = House::new(V5);
    let asks = Connect {
        properties: asked.as_properties(),
        ..connect(V5)
    };
    house.give(Packet::Connect(asks));
    assert!(house.request().wants_response_information);
    let mut house = House::new(V5);
    house.give(Packet::Connect(connect(V5)));
    assert!(!house.request().wants_response_information);
}

// [MQTT-4.12.0-1] [MQTT-4.12.0-6] [MQTT-4.12.0-7]
#[test]
fn extended_authentication_is_refused_by_its_name() {
    let method = list(&[Property::AuthenticationMethod("SCRAM-SHA-1")]);
    let mut house = House::new(V5);
    let with_method = Connect {
        properties: method.as_properties(),
        ..connect(V5)
    };
    house.give(Packet::Connect(with_method));
    assert_eq!(
        connack_code(&mut house),
        ReasonCode::BAD_AUTHENTICATION_METHOD
    );
    let mut house = House::open(V5);
    house.give(Packet::Auth(Auth {
        code: ReasonCode::RE_AUTHENTICATE,
        ..Auth::default()
    }));
    assert_eq!(house.farewell(), ReasonCode::PROTOCOL_ERROR);
}

// [MQTT-3.1.2-22] [MQTT-3.2.2-22]
#[test]
fn a_client_that_is_silent_beyond_its_keep_alive_is_gone() {
    let mut house = House::open(V5);
    house.wait(89_999);
    assert!(!house.server.is_over());
    house.give(Packet::Pingreq);
    house.said();
    house.wait(89_999);
    assert!(!house.server.is_over());
    house.wait(1);
    assert_eq!(house.farewell(), ReasonCode::KEEP_ALIVE_TIMEOUT);
    assert!(house.closed().publish_will);
    // 0 turns it off.
    let house = House::open_with(
        Connect {
            keep_alive: 0,
            ..connect(V5)
        },
        State::default(),
        false,
    );
    assert_eq!(house.server.deadline(), Instant::NEVER);
}

#[test]
fn a_packet_that_never_becomes_whole_is_not_waited_for() {
    let mut house = House::new(V5);
    house.feed(&[0x10]);
    house.wait(10_000);
    assert!(house.said().is_empty() && house.server.is_over());
    let mut house = House::open_with(
        Connect {
            keep_alive: 0,
            ..connect(V5)
        },
        State::default(),
        false,
    );
    house.feed(&[0x30, 100, 0]);
    house.wait(60_000);
    assert_eq!(house.farewell(), ReasonCode::KEEP_ALIVE_TIMEOUT);
}

// [MQTT-3.12.4-1]
#[test]
fn a_ping_is_answered() {
    let mut house = House::open(V311);
    house.give(Packet::Pingreq);
    assert_eq!(house.said(), [Packet::Pingresp]);
}

// [MQTT-3.14.4-3] [MQTT-3.1.2-8] [MQTT-3.1.2-10]
#[test]
fn only_a_normal_disconnect_takes_the_will_back() {
    for (code, will) in [(0x00, false), (0x04, true), (0x80, true)] {
        let mut house = House::open(V5);
        house.give(Packet::Disconnect(Disconnect {
            code: ReasonCode(code),
            ..Disconnect::default()
        }));
        let closed = house.closed();
        assert_eq!((closed.publish_will, closed.code.0), (will, code));
        assert!(house.said().is_empty());
    }
    let mut house = House::open(V311);
    house.give(Packet::Disconnect(Disconnect::default()));
    assert!(!house.closed().publish_will);
}

// [MQTT-3.14.2-2]
#[test]
fn a_disconnect_may_change_an_expiry_but_not_from_nothing() {
    let with = |secs| list(&[Property::SessionExpiryInterval(secs)]);
    let expiry = with(100);
    let mut house = House::open_with(
        Connect {
            properties: expiry.as_properties(),
            ..connect(V5)
        },
        State::default(),
        false,
    );
    let changed = with(7);
    let leave = Disconnect {
        properties: changed.as_properties(),
        ..Disconnect::default()
    };
    house.give(Packet::Disconnect(leave));
    assert_eq!(house.closed().session_expiry_secs, 7);
    let mut house = House::open(V5);
    house.give(Packet::Disconnect(leave));
    let said = house.said();
    let Some(Packet::Disconnect(answer)) = said.last() else {
        panic!("{said:?}");
    };
    assert_eq!(answer.code, ReasonCode::PROTOCOL_ERROR);
    let expiry = |p| matches!(p, Property::SessionExpiryInterval(_));
    assert!(!answer.properties.iter().any(expiry));
}

// [MQTT-3.1.2-23] [MQTT-4.1.0-2]
#[test]
fn a_session_lives_on_as_long_as_the_connect_says() {
    for (version, clean_start, expected) in
        [(V5, true, 0), (V311, true, 0), (V311, false, u32::MAX)]
    {
        let mut house = House::new(version);
        house.give(Packet::Connect(Connect {
            clean_start,
            ..connect(version)
        }));
        assert_eq!(house.request().session_expiry_secs, expected);
    }
}

// [MQTT-3.1.2-7] [MQTT-3.1.2-14] [MQTT-3.1.2-15] [MQTT-3.1.3-10]
#[test]
fn a_will_comes_with_all_that_it_says() {
    let properties = list(&[
        Property::WillDelayInterval(30),
        Property::UserProperty("b", "1"),
        Property::UserProperty("a", "2"),
    ]);
    let of_client = weir_mqtt::wire::LastWill {
        properties: properties.as_properties(),
        retain: true,
        ..will("w/t")
    };
    let mut house = House::new(V5);
    house.give(Packet::Connect(Connect {
        will: Some(of_client),
        ..connect(V5)
    }));
    let will = house.request().will.unwrap();
    assert_eq!(will.delay_secs, 30);
    assert_eq!((&*will.message.topic, will.message.retain), ("w/t", true));
    assert_eq!(will.message.qos, QoS::AtLeastOnce);
    let user = will.message.properties.unwrap().user;
    assert_eq!(user, [("b".into(), "1".into()), ("a".into(), "2".into())]);
    let mut house = House::new(V5);
    let bad = weir_mqtt::wire::LastWill {
        topic: "a/+",
        ..of_client
    };
    house.give(Packet::Connect(Connect {
        will: Some(bad),
        ..connect(V5)
    }));
    assert_eq!(connack_code(&mut house), ReasonCode::TOPIC_NAME_INVALID);
}

#[test]
fn packets_of_a_server_are_refused_from_a_client() {
    for bytes in [
        &[0x20, 3, 0, 0, 0][..],
        &[0x90, 4, 0, 1, 0, 0],
        &[0xb0, 4, 0, 1, 0, 0],
        &[0xd0, 0],
    ] {
        let mut house = House::open(V5);
        house.feed(bytes);
        assert_eq!(house.farewell(), ReasonCode::PROTOCOL_ERROR, "{bytes:02x?}");
    }
}

// [MQTT-4.13.1-1] [MQTT-3.14.0-1] [MQTT-3.14.4-1] [MQTT-3.14.4-2]
#[test]
fn after_a_malformed_packet_nothing_more_is_read_or_said() {
    let mut house = House::open(V5);
    let mut bytes = vec![0x36, 6, 0, 1, b'a', 0, 1, 0];
    bytes.extend(encode(V5, Packet::Pingreq));
    house.feed(&bytes);
    house.feed(&encode(V5, Packet::Pingreq));
    let said = house.said();
    assert!(matches!(said[..], [Packet::Disconnect(_)]), "{said:?}");
    let fault = house.closed().fault.unwrap();
    assert_eq!(
        (fault.code, fault.offset),
        (ReasonCode::MALFORMED_PACKET, 0)
    );
    let mut house = House::open(V311);
    house.feed(&bytes);
    assert!(house.said().is_empty() && house.server.is_over());
}

#[test]
fn a_packet_over_the_maximum_ends_the_connection_before_it_came() {
    let limits = ServerLimits {
        packet_bytes_max: 1000,
        ..ServerLimits::default()
    };
    let mut house = House::with(V5, limits);
    house.give(Packet::Connect(connect(V5)));
    house.accept(&Acceptance::default());
    house.said();
    house.feed(&[0x30, 0xe8, 0x07]);
    assert_eq!(house.farewell(), ReasonCode::PACKET_TOO_LARGE);
}

// [MQTT-3.3.4-6]
#[test]
fn a_client_gives_no_subscription_identifier() {
    let id = list(&[Property::SubscriptionIdentifier(1)]);
    let mut house = House::open(V5);
    let with_id = Publish {
        properties: id.as_properties(),
        ..publish(QoS::AtMostOnce, 0)
    };
    house.give(Packet::Publish(with_id));
    assert_eq!(house.farewell(), ReasonCode::PROTOCOL_ERROR);
}

// [MQTT-3.3.2-7] [MQTT-3.3.2-8] [MQTT-3.3.2-9] [MQTT-3.3.2-12] [MQTT-3.2.2-17]
#[test]
fn an_alias_stands_for_its_topic_within_the_maximum() {
    let max = ServerLimits::default().topic_aliases_max;
    let send = |house: &mut House, topic: &'static str, alias| {
        let properties = list(&[Property::TopicAlias(alias)]);
        let properties = properties.as_properties();
        let message = Publish {
            topic,
            properties,
            ..publish(QoS::AtMostOnce, 0)
        };
        house.give(Packet::Publish(message));
    };
    let mut house = House::open(V5);
    send(&mut house, "a", max);
    send(&mut house, "b", 1);
    send(&mut house, "", max);
    send(&mut house, "c", max);
    send(&mut house, "", max);
    let topics: Vec<String> = house
        .messages()
        .into_iter()
        .map(|message| message.topic)
        .collect();
    assert_eq!(topics, ["a", "b", "a", "c", "c"]);
    for (topic, alias) in [("a", 0), ("a", max + 1), ("", 1)] {
        let mut house = House::open(V5);
        send(&mut house, topic, alias);
        assert_eq!(house.farewell(), ReasonCode::TOPIC_ALIAS_INVALID);
    }
}

// [MQTT-4.7.3-3]
#[test]
fn a_topic_name_that_is_not_taken_costs_its_message() {
    let topic = "a/".repeat(2000);
    let of = |qos, packet_id| Publish {
        topic: &topic,
        ..publish(qos, packet_id)
    };
    let mut house = House::open(V5);
    house.give(Packet::Publish(of(QoS::AtLeastOnce, 1)));
    house.give(Packet::Publish(of(QoS::ExactlyOnce, 2)));
    let code = ReasonCode::TOPIC_NAME_INVALID;
    assert_eq!(
        house.said(),
        [
            Packet::Puback(Ack::new(1, code)),
            Packet::Pubrec(Ack::new(2, code))
        ]
    );
    house.give(Packet::Publish(of(QoS::AtMostOnce, 0)));
    assert_eq!(house.farewell(), code);
    let mut house = House::open(V311);
    house.give(Packet::Publish(of(QoS::AtLeastOnce, 1)));
    assert!(house.said().is_empty() && house.server.is_over());
}

#[test]
fn bytes_in_any_pieces_are_the_same_packets() {
    let mut bytes = encode(V5, Packet::Connect(connect(V5)));
    bytes.extend(encode(V5, Packet::Publish(publish(QoS::AtLeastOnce, 1))));
    bytes.extend(encode(V5, Packet::Publish(publish(QoS::ExactlyOnce, 2))));
    bytes.extend(encode(V5, Packet::Pingreq));
    for size in 1..bytes.len() {
        let mut house = House::new(V5);
        for piece in bytes.chunks(size) {
            house.feed(piece);
            house.accept(&Acceptance::default());
        }
        assert_eq!(house.messages().len(), 2, "pieces of {size}");
        assert!(matches!(
            house.said()[..],
            [Packet::Connack(_), Packet::Pingresp]
        ));
    }
}

// MQTT 3.1, section 3.1 and 3.2.
#[test]
fn a_client_of_3_1_needs_an_identifier() {
    let mut house = House::new(V31);
    house.give(Packet::Connect(Connect {
        client_id: "",
        ..connect(V31)
    }));
    assert_eq!(
        connack_code(&mut house),
        ReasonCode::CLIENT_IDENTIFIER_NOT_VALID
    );
    let mut house = House::new(V31);
    house.give(Packet::Connect(connect(V31)));
    let acceptance = Acceptance {
        session: Some(State::default()),
        ..Acceptance::default()
    };
    house.accept(&acceptance);
    assert!(matches!(house.said()[..], [Packet::Connack(of)] if !of.session_present));
    house.feed(b"\x32\x06\x00\x01a\x00\x07x");
    assert!(!house.server.is_over());
}

#[test]
fn a_bridge_gets_nothing_back_that_it_brought() {
    for (version, bridge) in [(V31, true), (V311, true), (V311, false)] {
        let mut house = House::new(version);
        house.give(Packet::Connect(Connect {
            bridge,
            ..connect(version)
        }));
        house.accept(&Acceptance::default());
        house.said();
        house.feed(b"\x82\x06\x00\x01\x00\x01#\x01");
        let options = house.events.iter().find_map(|event| match event {
            ServerEvent::Subscribe(request) => Some(request.filters[0].1),
            _ => None,
        });
        let options = options.unwrap();
        assert_eq!(
            (options.no_local, options.retain_as_published),
            (bridge, bridge)
        );
    }
}
