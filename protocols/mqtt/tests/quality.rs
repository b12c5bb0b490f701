//! QoS 1 and 2 both ways: identifiers, quotas, order, and what is sent again.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::house;

use house::{House, V5, V311, connect, decode, encode, list, publish, token};
use weir_mqtt::session::{Delivery, InFlight, Sent, ServerEvent, ServerLimits, Stage, State};
use weir_mqtt::wire::{
    Ack, Connect, Packet, Property, PropertyList, Publish, QoS, ReasonCode, Version,
};

fn ok(id: u16) -> Ack<'static> {
    Ack::new(id, ReasonCode::SUCCESS)
}

fn sent_publishes(house: &mut House) -> Vec<Publish<'static>> {
    let said = house.said().into_iter();
    said.map(|packet| match packet {
        Packet::Publish(publish) => publish,
        other => panic!("no PUBLISH but {other:?}"),
    })
    .collect()
}

fn with_properties(properties: &[Property<'_>]) -> House {
    let properties = list(properties);
    let of = Connect {
        properties: properties.as_properties(),
        ..connect(V5)
    };
    House::open_with(of, State::default(), false)
}

// [MQTT-3.3.4-1] [MQTT-4.3.2-4] [MQTT-2.2.1-5]
#[test]
fn qos_1_is_acknowledged_once_the_driver_says_so() {
    for version in [V5, V311] {
        let mut house = House::open(version);
        house.give(Packet::Publish(publish(QoS::AtMostOnce, 0)));
        house.give(Packet::Publish(publish(QoS::AtLeastOnce, 300)));
        assert_eq!(house.messages().len(), 2);
        assert!(house.said().is_empty());
        house.acknowledge(300);
        assert_eq!(house.said(), [Packet::Puback(ok(300))]);
    }
}

// [MQTT-4.3.2-5]
#[test]
fn an_acknowledged_identifier_stands_for_a_new_message() {
    let mut house = House::open(V5);
    for dup in [false, true] {
        house.give(Packet::Publish(Publish {
            dup,
            ..publish(QoS::AtLeastOnce, 1)
        }));
        assert_eq!(house.messages().len(), 1);
        house.acknowledge(1);
        assert_eq!(house.said(), [Packet::Puback(ok(1))]);
    }
}

// [MQTT-4.3.3-8] [MQTT-4.3.3-10] [MQTT-4.3.3-11] [MQTT-4.3.3-12]
#[test]
fn qos_2_is_taken_once_however_often_it_is_sent() {
    for version in [V5, V311] {
        let mut house = House::open(version);
        let message = Packet::Publish(publish(QoS::ExactlyOnce, 5));
        let again = Packet::Publish(Publish {
            dup: true,
            ..publish(QoS::ExactlyOnce, 5)
        });
        house.give(message);
        house.give(again);
        assert_eq!(house.messages().len(), 1);
        assert!(house.said().is_empty());
        house.acknowledge(5);
        house.give(again);
        assert_eq!(house.said(), [Packet::Pubrec(ok(5)), Packet::Pubrec(ok(5))]);
        assert!(house.messages().is_empty());
        house.give(Packet::Pubrel(ok(5)));
        assert_eq!(house.told(), [ServerEvent::Released(5)]);
        assert!(house.said().is_empty());
        house.server.complete(5);
        assert_eq!(house.said(), [Packet::Pubcomp(ok(5))]);
        house.give(message);
        assert_eq!(house.messages().len(), 1);
    }
}

// [MQTT-4.3.3-9]
#[test]
fn a_qos_2_message_refused_leaves_its_identifier_free() {
    let mut house = House::open(V5);
    for _ in 0..2 {
        house.give(Packet::Publish(publish(QoS::ExactlyOnce, 5)));
        assert_eq!(house.messages().len(), 1);
        house
            .server
            .acknowledge(5, ReasonCode::QUOTA_EXCEEDED, None);
        let refused = Ack::new(5, ReasonCode::QUOTA_EXCEEDED);
        assert_eq!(house.said(), [Packet::Pubrec(refused)]);
    }
    house.give(Packet::Pubrel(ok(5)));
    let unknown = Ack::new(5, ReasonCode::PACKET_IDENTIFIER_NOT_FOUND);
    assert_eq!(house.said(), [Packet::Pubcomp(unknown)]);
}

// [MQTT-4.4.0-1]
#[test]
fn a_qos_2_message_from_before_the_break_is_not_taken_again() {
    let mut house = House::open(V5);
    house.give(Packet::Publish(publish(QoS::ExactlyOnce, 5)));
    house.acknowledge(5);
    let state = house.server.state();
    assert_eq!(state.received, [5]);
    let mut house = House::open_with(connect(V5), state, true);
    house.give(Packet::Publish(Publish {
        dup: true,
        ..publish(QoS::ExactlyOnce, 5)
    }));
    // Whether it was taken the driver knows: it is told, and acknowledges.
    assert!(house.messages().is_empty());
    assert!(house.said().is_empty());
    house.acknowledge(5);
    assert_eq!(house.said(), [Packet::Pubrec(ok(5))]);
    house.give(Packet::Pubrel(ok(5)));
    house.server.complete(5);
    assert_eq!(house.said(), [Packet::Pubcomp(ok(5))]);
    // Whether it says that it was sent before or not [MQTT-4.3.3-10].
    let state = State {
        received: vec![5],
        ..State::default()
    };
    let mut house = House::open_with(connect(V5), state, true);
    house.give(Packet::Publish(publish(QoS::ExactlyOnce, 5)));
    let told = house.told();
    assert!(
        matches!(told[..], [ServerEvent::PublishAgain(_)]),
        "{told:?}"
    );
}

// [MQTT-4.6.0-2] [MQTT-4.6.0-3]
#[test]
fn acknowledgments_leave_in_the_order_of_the_messages() {
    let mut house = House::open(V5);
    house.give(Packet::Publish(publish(QoS::AtLeastOnce, 1)));
    house.give(Packet::Publish(publish(QoS::ExactlyOnce, 2)));
    house.give(Packet::Publish(publish(QoS::AtLeastOnce, 3)));
    house.acknowledge(3);
    house.acknowledge(2);
    assert!(house.said().is_empty());
    house.acknowledge(1);
    let expected = [
        Packet::Puback(ok(1)),
        Packet::Pubrec(ok(2)),
        Packet::Puback(ok(3)),
    ];
    assert_eq!(house.said(), expected);
}

// [MQTT-3.3.4-7]
#[test]
fn more_under_way_than_the_receive_maximum_ends_it() {
    let limits = ServerLimits {
        receive_max: 2,
        ..ServerLimits::default()
    };
    let open = || {
        let mut house = House::with(V5, limits);
        house.give(Packet::Connect(connect(V5)));
        house.accept(&Default::default());
        house.said();
        house.told();
        house
    };
    let mut house = open();
    house.give(Packet::Publish(publish(QoS::AtLeastOnce, 1)));
    house.give(Packet::Publish(publish(QoS::ExactlyOnce, 2)));
    house.acknowledge(1);
    house.acknowledge(2);
    // A QoS 2 message counts until it is released; sending it again does not count twice.
    house.give(Packet::Publish(publish(QoS::ExactlyOnce, 2)));
    house.give(Packet::Publish(publish(QoS::AtLeastOnce, 3)));
    assert!(!house.server.is_over());
    house.said();
    house.give(Packet::Publish(publish(QoS::AtLeastOnce, 4)));
    assert_eq!(house.farewell(), ReasonCode::RECEIVE_MAXIMUM_EXCEEDED);
    let mut house = open();
    for id in 1..100 {
        house.give(Packet::Publish(publish(QoS::ExactlyOnce, id)));
        house.acknowledge(id);
        house.give(Packet::Pubrel(ok(id)));
        house.server.complete(id);
    }
    assert!(!house.server.is_over());
}

// [MQTT-2.2.1-4] [MQTT-4.3.1-1] [MQTT-4.3.2-1] [MQTT-4.3.2-2] [MQTT-4.3.3-1] [MQTT-4.3.3-2]
// [MQTT-3.3.1-3]
#[test]
fn messages_leave_with_identifiers_of_their_own() {
    let mut house = House::open(V5);
    assert_eq!(house.deliver("a", QoS::AtMostOnce, 1), Sent::Head);
    assert_eq!(house.deliver("a", QoS::AtLeastOnce, 2), Sent::Head);
    assert_eq!(house.deliver("a", QoS::ExactlyOnce, 3), Sent::Head);
    let sent = sent_publishes(&mut house);
    let ids: Vec<u16> = sent.iter().map(|publish| publish.packet_id).collect();
    assert_eq!(ids, [0, 1, 2]);
    assert!(sent.iter().all(|publish| !publish.dup));
    // An identifier under way is passed over when they begin anew.
    house.give(Packet::Pubrec(ok(2)));
    for cursor in 10..65_545 {
        assert_eq!(house.deliver("a", QoS::AtLeastOnce, cursor), Sent::Head);
        let id = house.server.state().in_flight.last().unwrap().packet_id;
        assert!(id > 2 || cursor > 65_500, "{cursor}");
        house.give(Packet::Puback(ok(id)));
    }
    assert_eq!(house.server.state().in_flight.len(), 2);
}

// [MQTT-4.3.2-3] [MQTT-4.3.3-3] [MQTT-4.3.3-4] [MQTT-4.3.3-5]
#[test]
fn a_message_is_under_way_until_its_last_acknowledgment() {
    for version in [V5, V311] {
        let mut house = House::open(version);
        house.deliver("a", QoS::AtLeastOnce, 7);
        house.deliver("a", QoS::ExactlyOnce, 8);
        house.said();
        house.give(Packet::Puback(ok(1)));
        assert_eq!(house.told(), [ServerEvent::Delivered(token(7))]);
        house.give(Packet::Pubrec(ok(2)));
        assert_eq!(house.told(), [ServerEvent::Received(token(8))]);
        assert_eq!(house.said(), [Packet::Pubrel(ok(2))]);
        assert_eq!(house.server.state().in_flight[0].stage, Stage::Pubcomp);
        house.give(Packet::Pubcomp(ok(2)));
        assert_eq!(house.told(), [ServerEvent::Delivered(token(8))]);
        assert!(house.server.state().in_flight.is_empty());
    }
}

// [MQTT-4.4.0-2] [MQTT-4.8.2-6]
#[test]
fn a_message_that_the_client_refuses_is_done() {
    let mut house = House::open(V5);
    house.deliver("a", QoS::AtLeastOnce, 7);
    house.deliver("a", QoS::ExactlyOnce, 8);
    house.said();
    house.give(Packet::Puback(Ack::new(1, ReasonCode::UNSPECIFIED_ERROR)));
    house.give(Packet::Pubrec(Ack::new(2, ReasonCode::QUOTA_EXCEEDED)));
    let done = [
        ServerEvent::Delivered(token(7)),
        ServerEvent::Delivered(token(8)),
    ];
    assert_eq!(house.told(), done);
    assert!(house.said().is_empty());
    assert!(house.server.state().in_flight.is_empty());
}

// [MQTT-3.3.4-9] [MQTT-4.9.0-1] [MQTT-4.9.0-2] [MQTT-3.3.4-10] [MQTT-4.9.0-3]
#[test]
fn no_more_is_under_way_than_the_client_takes() {
    let mut house = with_properties(&[Property::ReceiveMaximum(2)]);
    assert_eq!(house.deliver("a", QoS::AtLeastOnce, 1), Sent::Head);
    assert_eq!(house.deliver("a", QoS::ExactlyOnce, 2), Sent::Head);
    assert_eq!(house.deliver("a", QoS::AtLeastOnce, 3), Sent::Full);
    assert_eq!(house.deliver("a", QoS::AtMostOnce, 4), Sent::Head);
    house.give(Packet::Pingreq);
    assert!(house.said().contains(&Packet::Pingresp));
    // QoS 2 counts until PUBCOMP.
    house.give(Packet::Pubrec(ok(2)));
    assert_eq!(house.deliver("a", QoS::AtLeastOnce, 3), Sent::Full);
    house.give(Packet::Pubcomp(ok(2)));
    assert_eq!(house.deliver("a", QoS::AtLeastOnce, 3), Sent::Head);
}

// [MQTT-4.4.0-1] [MQTT-3.3.1-1] [MQTT-4.3.3-6] [MQTT-4.6.0-1]
#[test]
fn what_was_under_way_is_sent_again_under_its_identifier() {
    let flight = |packet_id, stage, cursor| InFlight {
        packet_id,
        stage,
        token: token(cursor),
    };
    let state = State {
        received: vec![],
        in_flight: vec![
            flight(4, Stage::Puback, 40),
            flight(9, Stage::Pubcomp, 50),
            flight(2, Stage::Pubrec, 60),
        ],
        last_id: 2,
    };
    let mut house = House::open_with(connect(V5), state, true);
    // What was released is only released again.
    assert_eq!(house.said(), [Packet::Pubrel(ok(9))]);
    assert!(house.server.is_unacknowledged(&token(40)));
    assert!(!house.server.is_unacknowledged(&token(50)));
    house.deliver("a", QoS::AtLeastOnce, 40);
    house.deliver("b", QoS::ExactlyOnce, 60);
    house.deliver("c", QoS::AtLeastOnce, 70);
    let sent = sent_publishes(&mut house);
    let heads: Vec<(u16, bool)> = sent.iter().map(|of| (of.packet_id, of.dup)).collect();
    assert_eq!(heads, [(4, true), (2, true), (3, false)]);
    assert!(!house.server.has_unacknowledged());
    house.give(Packet::Pubcomp(ok(9)));
    house.give(Packet::Puback(ok(4)));
    let done = [
        ServerEvent::Delivered(token(50)),
        ServerEvent::Delivered(token(40)),
    ];
    assert_eq!(house.told(), done);
}

// [MQTT-3.3.1-1] [MQTT-4.3.3-1]
#[test]
fn what_may_have_been_sent_before_says_so() {
    let state = State {
        last_id: 7,
        ..State::default()
    };
    let mut house = House::open_with(connect(V5), state, true);
    for cursor in [1, 2] {
        let mut properties = PropertyList::default();
        let delivery = Delivery {
            topic: "a",
            qos: QoS::ExactlyOnce,
            retain: false,
            properties: &mut properties,
            payload_bytes: 0,
            token: token(cursor),
        };
        let mut out = Vec::new();
        match cursor {
            1 => house.server.deliver_perhaps_again(delivery, &mut out),
            _ => house.server.deliver(delivery, &mut out),
        };
        let Ok(Packet::Publish(sent)) = decode(V5, &out) else {
            panic!("{out:?}");
        };
        assert_eq!((sent.packet_id, sent.dup), (7 + cursor as u16, cursor == 1));
    }
    assert_eq!(house.server.state().last_id, 9);
}

#[test]
fn what_cannot_be_found_any_more_is_not_sent_again() {
    let in_flight = vec![InFlight {
        packet_id: 4,
        stage: Stage::Puback,
        token: token(40),
    }];
    let state = State {
        in_flight,
        ..State::default()
    };
    let mut house = House::open_with(connect(V5), state, true);
    house.server.abandon(|lost| lost.cursor == 40);
    assert!(house.server.state().in_flight.is_empty());
}

// [MQTT-3.1.2-24] [MQTT-3.1.2-25]
#[test]
fn a_message_larger_than_the_client_takes_counts_as_sent() {
    let mut house = with_properties(&[Property::MaximumPacketSize(30)]);
    let mut none = PropertyList::default();
    let sent = house.deliver_with("a", QoS::AtLeastOnce, 1, &mut none, &[0; 30]);
    assert_eq!(sent, Sent::TooLarge);
    assert!(house.server.state().in_flight.is_empty());
    assert_eq!(
        house.deliver_with("a", QoS::AtLeastOnce, 2, &mut none, &[0; 22]),
        Sent::Head
    );
    let bytes = encode(V5, house.said()[0]);
    assert_eq!(bytes.len(), 30);
}

// [MQTT-3.1.2-26] [MQTT-3.1.2-27] [MQTT-3.3.2-11]
#[test]
fn topics_get_aliases_as_far_as_the_client_takes_them() {
    let topics = |house: &mut House| -> Vec<(String, Option<u16>)> {
        let sent = sent_publishes(house);
        sent.iter()
            .map(|of| (of.topic.into(), of.properties.topic_alias()))
            .collect()
    };
    let mut house = with_properties(&[Property::TopicAliasMaximum(1)]);
    for topic in ["heating/1", "heating/1", "heating/2", "heating/2"] {
        house.deliver(topic, QoS::AtMostOnce, 1);
    }
    let expected = [
        ("heating/1".into(), Some(1)),
        (String::new(), Some(1)),
        ("heating/2".into(), None),
        ("heating/2".into(), None),
    ];
    assert_eq!(topics(&mut house), expected);
    let mut house = House::open(V5);
    house.deliver("heating/1", QoS::AtMostOnce, 1);
    assert_eq!(topics(&mut house), [("heating/1".into(), None)]);
}

#[test]
fn an_acknowledgment_of_another_quality_ends_the_connection() {
    for wrong in [Packet::Pubrec(ok(1)), Packet::Pubcomp(ok(1))] {
        let mut house = House::open(V5);
        house.deliver("a", QoS::AtLeastOnce, 1);
        house.said();
        house.give(wrong);
        assert_eq!(house.farewell(), ReasonCode::PROTOCOL_ERROR);
    }
    let mut house = House::open(V5);
    house.give(Packet::Puback(ok(7)));
    house.give(Packet::Pubcomp(ok(7)));
    house.give(Packet::Pubrec(ok(7)));
    let unknown = Ack::new(7, ReasonCode::PACKET_IDENTIFIER_NOT_FOUND);
    assert_eq!(house.said(), [Packet::Pubrel(unknown)]);
    assert!(!house.server.is_over());
}

#[test]
fn a_client_that_floods_identifiers_is_only_read_slower() {
    let mut house = House::open(Version::V311);
    for id in 1..2000 {
        house.give(Packet::Publish(publish(QoS::AtLeastOnce, id)));
    }
    assert_eq!(house.server.unacknowledged(), 1999);
    assert!(!house.server.is_over());
}
