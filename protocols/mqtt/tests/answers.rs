//! Answers to SUBSCRIBE and UNSUBSCRIBE, and reasons in answers.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::house;

use house::{House, V5, V311, connect, encode, list, publish, subscribe, unsubscribe};
use weir_mqtt::session::{ServerEvent, State};
use weir_mqtt::wire::{Connect, Packet, Property, QoS, ReasonCode, SubscriptionOptions};

// [MQTT-3.8.4-1] [MQTT-3.8.4-2] [MQTT-3.8.4-5] [MQTT-3.8.4-6] [MQTT-3.9.3-1] [MQTT-2.2.1-6]
#[test]
fn a_subscribe_is_answered_with_a_code_for_each_filter() {
    for version in [V5, V311] {
        let mut house = House::open(version);
        let options = SubscriptionOptions {
            qos: QoS::AtLeastOnce,
            ..SubscriptionOptions::default()
        };
        house.feed(&subscribe(
            version,
            9,
            &[("a", options), ("b/#", SubscriptionOptions::default())],
        ));
        let [ServerEvent::Subscribe(request)] = &house.told()[..] else {
            panic!("no SUBSCRIBE");
        };
        assert_eq!(request.filters[0], ("a".into(), options));
        assert_eq!((&*request.filters[1].0, request.packet_id), ("b/#", 9));
        house.server.suback(9, &[1, 0]);
        let [Packet::Suback(suback)] = house.said()[..] else {
            panic!("no SUBACK");
        };
        assert_eq!((suback.packet_id, suback.codes), (9, &[1, 0][..]));
    }
}

// [MQTT-3.10.4-4] [MQTT-3.10.4-5] [MQTT-3.10.4-6] [MQTT-3.11.3-1]
#[test]
fn an_unsubscribe_is_answered_with_a_code_for_each_filter() {
    let mut house = House::open(V5);
    house.feed(&unsubscribe(V5, 9, &["a", "b"]));
    assert_eq!(
        house.told(),
        [ServerEvent::Unsubscribe(9, vec!["a".into(), "b".into()])]
    );
    house.server.unsuback(9, &[0, 0x11]);
    let [Packet::Unsuback(unsuback)] = house.said()[..] else {
        panic!("no UNSUBACK");
    };
    assert_eq!((unsuback.packet_id, unsuback.codes), (9, &[0, 0x11][..]));
}

// [MQTT-3.1.2-29]
#[test]
fn reasons_are_for_who_wants_them() {
    for (wanted, expected) in [(true, Some("no")), (false, None)] {
        let properties = list(&[Property::RequestProblemInformation(wanted)]);
        let of = Connect {
            properties: properties.as_properties(),
            ..connect(V5)
        };
        let mut house = House::open_with(of, State::default(), false);
        house.give(Packet::Publish(publish(QoS::AtLeastOnce, 1)));
        house
            .server
            .acknowledge(1, ReasonCode::NOT_AUTHORIZED, Some("no"));
        let [Packet::Puback(ack)] = house.said()[..] else {
            panic!("no PUBACK");
        };
        assert_eq!(ack.properties.reason_string(), expected);
    }
}

// [MQTT-3.4.2-2] [MQTT-3.5.2-2] [MQTT-3.14.2-3] [MQTT-3.2.2-19]
#[test]
fn a_reason_that_makes_a_packet_too_large_is_left_out() {
    let properties = list(&[Property::MaximumPacketSize(20)]);
    let of = Connect {
        properties: properties.as_properties(),
        ..connect(V5)
    };
    let reason = "a reason that is longer than the client takes";
    let mut house = House::open_with(of, State::default(), false);
    house.give(Packet::Publish(publish(QoS::AtLeastOnce, 1)));
    house.give(Packet::Publish(publish(QoS::ExactlyOnce, 2)));
    house
        .server
        .acknowledge(1, ReasonCode::NOT_AUTHORIZED, Some(reason));
    house
        .server
        .acknowledge(2, ReasonCode::NOT_AUTHORIZED, Some(reason));
    house.feed(&[0x36, 6, 0, 1, b'a', 0, 1, 0]);
    let said = house.said();
    assert_eq!(said.len(), 3);
    assert!(
        said.iter().all(|packet| encode(V5, *packet).len() <= 20),
        "{said:?}"
    );
    let mut house = House::new(V5);
    house.give(Packet::Connect(of));
    house.server.refuse(ReasonCode::NOT_AUTHORIZED, reason);
    assert!(
        house
            .said()
            .iter()
            .all(|packet| encode(V5, *packet).len() <= 20)
    );
}
