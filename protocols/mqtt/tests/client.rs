//! The client's half, against packets of a server and against the server's half.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::house;

use house::{House, V5, V311, encode, list, packets, publish, token};
use weir_mqtt::session::{
    Client, ClientEvent, ConnectOptions, Delivery, InFlight, Sent, ServerEvent, Stage,
};
use weir_mqtt::wire::{
    Ack, Connack, Packet, Properties, Property, PropertyList, Publish, QoS, ReasonCode, Suback,
    SubscriptionOptions, Version,
};
use weir_sansio::{Duration, Instant, Output, Session};

/// A client with what it said and told.
struct Guest {
    client: Client,
    now: Instant,
    said: Vec<Packet<'static>>,
    told: Vec<ClientEvent>,
}

impl Guest {
    fn new(options: ConnectOptions) -> Self {
        let now = Instant::START;
        let mut guest = Self {
            client: Client::new(now, options),
            now,
            said: Vec::new(),
            told: Vec::new(),
        };
        guest.pump();
        guest.said.clear();
        guest
    }

    fn open(connack: &[Property<'_>]) -> Self {
        let mut guest = Self::new(ConnectOptions::default());
        guest.accept(false, connack);
        guest
    }

    fn accept(&mut self, session_present: bool, properties: &[Property<'_>]) {
        let properties = list(properties);
        self.give(Packet::Connack(Connack {
            session_present,
            code: ReasonCode::SUCCESS,
            properties: properties.as_properties(),
        }));
    }

    fn give(&mut self, packet: Packet<'_>) {
        let bytes = encode(self.client.version(), packet);
        self.client.handle_input(self.now, &bytes).unwrap();
        self.pump();
    }

    fn pump(&mut self) {
        loop {
            match self.client.poll_output() {
                Output::Transmit(bytes) => self.said.extend(packets(self.client.version(), bytes)),
                Output::Event(event) => self.told.push(event),
                Output::Timeout(_) => return,
            }
        }
    }

    fn wait(&mut self, secs: u64) {
        self.now = self.now + Duration::from_secs(secs);
        self.client.handle_timeout(self.now);
        self.pump();
    }

    fn publish(&mut self, qos: QoS, cursor: u64, retain: bool) -> (Sent, Vec<u8>) {
        let mut properties = PropertyList::default();
        let delivery = Delivery {
            topic: "a/b",
            qos,
            retain,
            properties: &mut properties,
            payload_bytes: 1,
            token: token(cursor),
        };
        let mut bytes = Vec::new();
        let sent = self.client.publish(self.now, delivery, &mut bytes);
        if sent == Sent::Head {
            bytes.push(b'1');
        }
        (sent, bytes)
    }

    fn published(&mut self, qos: QoS, cursor: u64, retain: bool) -> Publish<'static> {
        let (sent, bytes) = self.publish(qos, cursor, retain);
        assert_eq!(sent, Sent::Head);
        match packets(self.client.version(), bytes)[..] {
            [Packet::Publish(publish)] => publish,
            ref other => panic!("no PUBLISH but {other:?}"),
        }
    }

    fn closed(&self) -> ReasonCode {
        match self.told.last() {
            Some(ClientEvent::Closed { code, .. }) => *code,
            other => panic!("not closed but {other:?}"),
        }
    }
}

// [MQTT-3.1.2-20] [MQTT-3.1.2-21] [MQTT-3.2.2-21]
#[test]
fn a_silent_client_pings_within_the_keep_alive_of_the_server() {
    let mut guest = Guest::open(&[Property::ServerKeepAlive(10)]);
    guest.wait(9);
    assert!(guest.said.is_empty());
    guest.wait(1);
    assert_eq!(guest.said, [Packet::Pingreq]);
    guest.give(Packet::Pingresp);
    guest.wait(10);
    assert_eq!(guest.said.len(), 2);
    // No answer comes.
    guest.wait(10);
    assert_eq!(guest.closed(), ReasonCode::KEEP_ALIVE_TIMEOUT);
}

// [MQTT-3.2.2-4] [MQTT-3.2.2-5]
#[test]
fn a_session_is_taken_up_only_where_both_sides_have_it() {
    let mut guest = Guest::new(ConnectOptions::default());
    guest.accept(true, &[]);
    assert_eq!(guest.closed(), ReasonCode::PROTOCOL_ERROR);
    let options = || ConnectOptions {
        clean_start: false,
        in_flight: vec![InFlight {
            packet_id: 4,
            stage: Stage::Pubcomp,
            token: token(1),
        }],
        ..ConnectOptions::default()
    };
    let mut guest = Guest::new(options());
    guest.accept(false, &[]);
    assert!(guest.said.is_empty() && guest.client.in_flight().is_empty());
    let mut guest = Guest::new(options());
    guest.accept(true, &[]);
    assert_eq!(
        guest.said,
        [Packet::Pubrel(Ack::new(4, ReasonCode::SUCCESS))]
    );
}

// [MQTT-3.2.2-11] [MQTT-3.2.2-14] [MQTT-3.2.2-15] [MQTT-3.2.2-18]
#[test]
fn a_client_sends_nothing_that_the_server_does_not_take() {
    let mut guest = Guest::open(&[
        Property::MaximumQoS(true),
        Property::RetainAvailable(false),
        Property::MaximumPacketSize(11),
    ]);
    let sent = guest.published(QoS::ExactlyOnce, 1, true);
    assert_eq!((sent.qos, sent.retain), (QoS::AtLeastOnce, false));
    assert_eq!(sent.properties, Properties::NONE);
    let mut guest = Guest::open(&[Property::MaximumPacketSize(8)]);
    assert_eq!(guest.publish(QoS::AtLeastOnce, 1, false).0, Sent::TooLarge);
}

// [MQTT-3.3.4-7] [MQTT-3.3.4-8]
#[test]
fn a_client_keeps_to_the_receive_maximum_of_the_server() {
    let mut guest = Guest::open(&[Property::ReceiveMaximum(1)]);
    assert_eq!(guest.published(QoS::AtLeastOnce, 1, false).packet_id, 1);
    assert_eq!(guest.publish(QoS::AtLeastOnce, 2, false).0, Sent::Full);
    guest.published(QoS::AtMostOnce, 3, false);
    let options = SubscriptionOptions::default();
    let none = PropertyList::default();
    let id = guest
        .client
        .subscribe(guest.now, &[("a", options)], &none)
        .unwrap();
    assert_ne!(id, 1);
    guest.give(Packet::Suback(Suback {
        packet_id: id,
        properties: Properties::NONE,
        codes: &[0],
    }));
    assert!(guest.told.contains(&ClientEvent::Answered(id, vec![0])));
    guest.give(Packet::Puback(Ack::new(1, ReasonCode::SUCCESS)));
    assert_eq!(guest.published(QoS::AtLeastOnce, 2, false).packet_id, 2);
}

// [MQTT-4.5.0-2] [MQTT-4.6.0-2] [MQTT-4.6.0-4]
#[test]
fn a_client_acknowledges_every_message_in_order() {
    for version in [V5, V311] {
        let mut guest = Guest::new(ConnectOptions {
            version,
            ..ConnectOptions::default()
        });
        guest.accept(false, &[]);
        guest.give(Packet::Publish(publish(QoS::AtLeastOnce, 1)));
        guest.give(Packet::Publish(publish(QoS::ExactlyOnce, 2)));
        guest.client.acknowledge(guest.now, 2, ReasonCode::SUCCESS);
        guest.client.acknowledge(guest.now, 1, ReasonCode::SUCCESS);
        guest.pump();
        let ok = |id| Ack::new(id, ReasonCode::SUCCESS);
        assert_eq!(guest.said, [Packet::Puback(ok(1)), Packet::Pubrec(ok(2))]);
        guest.give(Packet::Pubrel(ok(2)));
        assert_eq!(guest.said.last(), Some(&Packet::Pubcomp(ok(2))));
        // Releases leave in the order in which the PUBRECs came.
        for cursor in [1, 2] {
            guest.published(QoS::ExactlyOnce, cursor, false);
        }
        guest.give(Packet::Pubrec(ok(2)));
        guest.give(Packet::Pubrec(ok(1)));
        let released = [Packet::Pubrel(ok(2)), Packet::Pubrel(ok(1))];
        assert!(guest.said.ends_with(&released));
    }
}

// [MQTT-3.3.2-10]
#[test]
fn a_client_takes_every_alias_up_to_its_maximum() {
    let mut guest = Guest::open(&[]);
    let max = ConnectOptions::default().topic_aliases_max;
    for alias in 1..=max {
        let properties = list(&[Property::TopicAlias(alias)]);
        let properties = properties.as_properties();
        let set = publish(QoS::AtMostOnce, 0);
        guest.give(Packet::Publish(Publish { properties, ..set }));
        guest.give(Packet::Publish(Publish {
            properties,
            topic: "",
            ..set
        }));
    }
    let messages = guest.told.iter().filter_map(|event| match event {
        ClientEvent::Message(message) => Some(&*message.topic),
        _ => None,
    });
    assert_eq!(
        messages.collect::<Vec<_>>(),
        vec!["a/b"; 2 * usize::from(max)]
    );
    let properties = list(&[Property::TopicAlias(max + 1)]);
    let properties = properties.as_properties();
    let over = publish(QoS::AtMostOnce, 0);
    guest.give(Packet::Publish(Publish { properties, ..over }));
    assert_eq!(guest.closed(), ReasonCode::TOPIC_ALIAS_INVALID);
}

#[test]
fn what_only_a_client_sends_is_refused_from_a_server() {
    for packet in [Packet::Pingreq, Packet::Disconnect(Default::default())] {
        let mut guest = Guest::new(ConnectOptions::default());
        guest.give(packet);
        assert_eq!(guest.closed(), ReasonCode::PROTOCOL_ERROR);
    }
    let mut guest = Guest::open(&[]);
    guest.give(Packet::Pingreq);
    assert_eq!(guest.closed(), ReasonCode::PROTOCOL_ERROR);
    assert!(matches!(guest.said[..], [Packet::Disconnect(_)]));
}

/// Lets what one side says reach the other until both are silent.
fn talk(guest: &mut Guest, house: &mut House) {
    loop {
        guest.pump();
        let said: Vec<u8> = std::mem::take(&mut guest.said)
            .into_iter()
            .flat_map(|packet| encode(house.version, packet))
            .collect();
        house.feed(&said);
        let answered = house.said();
        if said.is_empty() && answered.is_empty() {
            return;
        }
        answered.into_iter().for_each(|packet| guest.give(packet));
    }
}

#[test]
fn the_two_halves_exchange_messages_of_every_quality() {
    for version in [Version::V5, Version::V311] {
        let options = ConnectOptions {
            version,
            ..ConnectOptions::default()
        };
        let mut guest = Guest::new(options);
        let mut house = House::open(version);
        guest.accept(false, &[]);
        for (qos, cursor) in [
            (QoS::AtMostOnce, 1),
            (QoS::AtLeastOnce, 2),
            (QoS::ExactlyOnce, 3),
        ] {
            let publish = guest.published(qos, cursor, false);
            house.give(Packet::Publish(publish));
            for message in house.messages() {
                house.acknowledge(message.packet_id);
            }
            talk(&mut guest, &mut house);
            for event in house.told() {
                if let ServerEvent::Released(id) = event {
                    house.server.complete(id);
                }
            }
            talk(&mut guest, &mut house);
            house.deliver("c/d", qos, cursor);
            talk(&mut guest, &mut house);
            let came = guest.told.iter().rev().find_map(|event| match event {
                ClientEvent::Message(message) => Some((message.qos, message.packet_id)),
                _ => None,
            });
            let (came, id) = came.unwrap();
            assert_eq!(came, qos);
            guest.client.acknowledge(guest.now, id, ReasonCode::SUCCESS);
            talk(&mut guest, &mut house);
        }
        let done = |cursor| ClientEvent::Acknowledged(token(cursor), ReasonCode::SUCCESS);
        assert!(guest.told.contains(&done(2)) && guest.told.contains(&done(3)));
        assert!(guest.client.in_flight().is_empty());
        assert!(house.server.state().in_flight.is_empty());
    }
}
