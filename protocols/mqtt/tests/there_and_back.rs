//! Every type of packet with everything that it may carry, there and back.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::house;

use house::{V5, connect, decode, encode, list, publish, will};
use weir_mqtt::wire::{
    Ack, Auth, Connack, Connect, Disconnect, Filters, Packet, Properties, Property, Publish, QoS,
    ReasonCode, RetainHandling, Suback, Subscribe, SubscriptionOptions, Unsubscribe,
};

fn come_back(packets: &[Packet<'_>]) {
    for packet in packets {
        let bytes = encode(V5, *packet);
        assert_eq!(decode(V5, &bytes), Ok(*packet), "{bytes:02x?}");
    }
}

#[test]
fn a_connect_with_all_that_it_may_carry_comes_back() {
    let properties = list(&[
        Property::SessionExpiryInterval(u32::MAX),
        Property::ReceiveMaximum(7),
        Property::MaximumPacketSize(1000),
        Property::TopicAliasMaximum(3),
        Property::RequestResponseInformation(true),
        Property::RequestProblemInformation(false),
        Property::AuthenticationMethod("m"),
        Property::AuthenticationData(b"d"),
        Property::UserProperty("k", "v"),
        Property::UserProperty("k", "w"),
    ]);
    let of_will = list(&[
        Property::WillDelayInterval(5),
        Property::ContentType("text/plain"),
    ]);
    come_back(&[Packet::Connect(Connect {
        properties: properties.as_properties(),
        will: Some(weir_mqtt::wire::LastWill {
            properties: of_will.as_properties(),
            retain: true,
            qos: QoS::ExactlyOnce,
            ..will("w")
        }),
        user_name: Some("u"),
        password: Some(b"p"),
        ..connect(V5)
    })]);
}

#[test]
fn a_connack_with_all_that_it_may_carry_comes_back() {
    let properties = list(&[
        Property::AssignedClientIdentifier("id"),
        Property::ServerKeepAlive(4),
        Property::ResponseInformation("ri"),
        Property::ServerReference("sr"),
        Property::MaximumQoS(true),
        Property::RetainAvailable(false),
        Property::WildcardSubscriptionAvailable(true),
        Property::SubscriptionIdentifierAvailable(true),
        Property::SharedSubscriptionAvailable(false),
    ]);
    come_back(&[Packet::Connack(Connack {
        session_present: true,
        code: ReasonCode::SUCCESS,
        properties: properties.as_properties(),
    })]);
}

#[test]
fn a_publish_with_all_that_it_may_carry_comes_back() {
    let properties = list(&[
        Property::PayloadFormatIndicator(true),
        Property::MessageExpiryInterval(9),
        Property::TopicAlias(2),
        Property::ResponseTopic("r"),
        Property::CorrelationData(&[0, 1]),
        Property::SubscriptionIdentifier(268_435_455),
        Property::SubscriptionIdentifier(1),
        Property::ContentType("c"),
    ]);
    come_back(&[Packet::Publish(Publish {
        properties: properties.as_properties(),
        dup: true,
        retain: true,
        ..publish(QoS::AtLeastOnce, 1)
    })]);
}

#[test]
fn requests_and_answers_with_all_that_they_may_carry_come_back() {
    let text = list(&[
        Property::ReasonString("why"),
        Property::UserProperty("a", "b"),
    ]);
    let ack = Ack {
        packet_id: 77,
        code: ReasonCode(0),
        properties: text.as_properties(),
    };
    let all = SubscriptionOptions {
        qos: QoS::ExactlyOnce,
        no_local: true,
        retain_as_published: true,
        retain_handling: RetainHandling::Never,
    };
    let filters = Filters::write(&[("a/#", SubscriptionOptions::default()), ("b", all)]);
    let names = Filters::write_names(&["a/#", "b"]);
    let suback = |codes| Suback {
        packet_id: 5,
        properties: text.as_properties(),
        codes,
    };
    come_back(&[
        Packet::Puback(ack),
        Packet::Pubrec(ack),
        Packet::Pubrel(ack),
        Packet::Pubcomp(ack),
        Packet::Subscribe(Subscribe {
            packet_id: 1,
            properties: list(&[Property::SubscriptionIdentifier(1)]).as_properties(),
            filters: Filters::of_bytes(&filters, true).unwrap(),
        }),
        Packet::Suback(suback(&[0, 1, 2, 0x87])),
        Packet::Unsubscribe(Unsubscribe {
            packet_id: 1,
            properties: Properties::NONE,
            filters: Filters::of_bytes(&names, false).unwrap(),
        }),
        Packet::Unsuback(suback(&[0, 0x11])),
        Packet::Pingreq,
        Packet::Pingresp,
        Packet::Disconnect(Disconnect {
            code: ReasonCode::SESSION_TAKEN_OVER,
            properties: text.as_properties(),
        }),
        Packet::Auth(Auth {
            code: ReasonCode::CONTINUE_AUTHENTICATION,
            properties: list(&[Property::AuthenticationMethod("m")]).as_properties(),
        }),
    ]);
}
