//! Packets: every type there and back, every malformed one with its code and its byte.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::house;

use house::{V5, V31, V311, connect, decode, encode, publish, will};
use proptest::prelude::*;
use weir_mqtt::wire::{
    Ack, Connack, Connect, Disconnect, Fault, Framed, Packet, PacketType, Properties, Publish, QoS,
    ReasonCode, Suback, Version, frame, length_of_varint,
};

fn comes_back(version: Version, packet: Packet<'_>) {
    let bytes = encode(version, packet);
    assert_eq!(decode(version, &bytes), Ok(packet), "{bytes:02x?}");
}

fn fault(version: Version, bytes: &[u8]) -> (u8, usize) {
    let Fault { code, offset, .. } = decode(version, bytes).unwrap_err();
    (code.0, offset)
}

const MALFORMED: u8 = 0x81;
const PROTOCOL: u8 = 0x82;

#[test]
fn version_3_1_1_has_no_properties_and_no_codes() {
    comes_back(V311, Packet::Connect(connect(V311)));
    comes_back(V311, Packet::Publish(publish(QoS::ExactlyOnce, 9)));
    assert_eq!(
        encode(V311, Packet::Publish(publish(QoS::AtMostOnce, 0))),
        b"\x30\x09\x00\x03a/b21.5"
    );
    let ack = Ack::new(3, ReasonCode::NOT_AUTHORIZED);
    assert_eq!(encode(V311, Packet::Puback(ack)), [0x40, 2, 0, 3]);
    let codes = Suback {
        packet_id: 1,
        properties: Properties::NONE,
        codes: &[1, 0x8f],
    };
    assert_eq!(
        encode(V311, Packet::Suback(codes)),
        [0x90, 4, 0, 1, 1, 0x80]
    );
    assert_eq!(encode(V311, Packet::Unsuback(codes)), [0xb0, 2, 0, 1]);
    assert_eq!(
        encode(V311, Packet::Disconnect(Disconnect::default())),
        [0xe0, 0]
    );
    for (code, byte) in [(0x84, 1), (0x85, 2), (0x88, 3), (0x86, 4), (0x87, 5)] {
        let connack = Connack {
            session_present: false,
            code: ReasonCode(code),
            properties: Properties::NONE,
        };
        assert_eq!(encode(V311, Packet::Connack(connack)), [0x20, 2, 0, byte]);
    }
}

// [MQTT-2.2.2-1]
#[test]
fn no_properties_are_a_length_of_zero() {
    let bytes = encode(V5, Packet::Publish(publish(QoS::AtMostOnce, 0)));
    assert_eq!(bytes, b"\x30\x0a\x00\x03a/b\x0021.5");
    let connect = Connect {
        client_id: "",
        ..connect(V5)
    };
    let bytes = encode(V5, Packet::Connect(connect));
    assert_eq!(bytes, b"\x10\x0d\x00\x04MQTT\x05\x02\x00\x3c\x00\x00\x00");
}

// [MQTT-1.5.4-1] [MQTT-1.5.4-2] [MQTT-4.7.3-2]
#[test]
fn a_string_is_well_formed_and_has_no_null_character() {
    let topic = |bytes: &[u8]| {
        let mut packet = vec![0x30, bytes.len() as u8 + 3, 0, bytes.len() as u8];
        packet.extend(bytes);
        packet.push(0);
        packet
    };
    assert_eq!(fault(V5, &topic(b"ab\xff")), (MALFORMED, 6));
    // A surrogate, and one character in more bytes than needed.
    assert_eq!(fault(V5, &topic(b"\xed\xa0\x80")), (MALFORMED, 4));
    assert_eq!(fault(V5, &topic(b"\xc0\x80")), (MALFORMED, 4));
    assert_eq!(fault(V5, &topic(b"a\0b")), (MALFORMED, 5));
    assert!(decode(V5, &topic("č".as_bytes())).is_ok());
}

// [MQTT-1.5.4-3]
#[test]
fn a_byte_order_mark_is_part_of_the_string() {
    let bytes = b"\x30\x08\x00\x04\xef\xbb\xbfa\x00x";
    let Ok(Packet::Publish(publish)) = decode(V5, bytes) else {
        panic!("no PUBLISH");
    };
    assert_eq!(publish.topic, "\u{feff}a");
}

// [MQTT-1.5.5-1]
#[test]
fn a_length_takes_the_fewest_bytes_and_at_most_four() {
    assert_eq!(fault(V5, &[0xc0, 0x80, 0]), (MALFORMED, 1));
    // The versions before do not forbid more, and old devices send them.
    for version in [V31, V311] {
        assert_eq!(decode(version, &[0xc0, 0x80, 0]), Ok(Packet::Pingreq));
        let padded = [b"\x10\x8d\x80\x00\x00\x04MQTT\x04\x02\x00\x00\x00\x01c"];
        assert!(decode(V5, padded[0]).is_ok());
    }
    assert_eq!(
        frame(&[0x30, 0x80, 0x80, 0x80, 0x80], 100).map_err(|f| f.offset),
        Err(4)
    );
    assert_eq!(frame(&[0x30, 0x80], 100), Ok(Framed::Incomplete(1)));
    assert_eq!(frame(&[0x30, 5, 1], 100), Ok(Framed::Incomplete(4)));
    assert_eq!(frame(&[], 100), Ok(Framed::Incomplete(2)));
    // The length of properties is one of these too.
    assert_eq!(fault(V5, b"\x30\x06\x00\x01a\x80\x00x"), (MALFORMED, 5));
    for (value, bytes) in [
        (0, 1),
        (127, 1),
        (128, 2),
        (16_383, 2),
        (16_384, 3),
        (2_097_152, 4),
    ] {
        assert_eq!(length_of_varint(value), bytes);
    }
}

// [MQTT-1.5.7-1]
#[test]
fn both_strings_of_a_pair_are_checked() {
    let with = |pair: &[u8]| {
        let mut bytes = vec![0x30, 4 + pair.len() as u8, 0, 1, b'a', pair.len() as u8];
        bytes.extend(pair);
        bytes
    };
    assert!(decode(V5, &with(b"\x26\x00\x01k\x00\x01v")).is_ok());
    assert_eq!(
        fault(V5, &with(b"\x26\x00\x01\xff\x00\x01v")),
        (MALFORMED, 9)
    );
    assert_eq!(
        fault(V5, &with(b"\x26\x00\x01k\x00\x01\x00")),
        (MALFORMED, 12)
    );
}

// [MQTT-2.1.3-1] [MQTT-3.6.1-1] [MQTT-3.8.1-1] [MQTT-3.10.1-1] [MQTT-3.14.1-1] [MQTT-3.15.1-1]
// [MQTT311-2.2.2-2]
#[test]
fn reserved_flags_of_the_first_byte_are_refused() {
    for packet in PacketType::ALL {
        if packet == PacketType::Publish {
            continue;
        }
        let right = match packet {
            PacketType::Pubrel | PacketType::Subscribe | PacketType::Unsubscribe => 2,
            _ => 0,
        };
        for flags in (0..16).filter(|flags| *flags != right) {
            let first = (packet as u8) << 4 | flags;
            assert_eq!(
                fault(V5, &[first, 2, 0, 1]),
                (MALFORMED, 0),
                "{packet:?} {flags}"
            );
        }
    }
    assert_eq!(fault(V5, &[0x00, 0]), (MALFORMED, 0));
    assert_eq!(fault(V311, &[0xf0, 0]), (MALFORMED, 0));
}

// [MQTT-3.3.1-4] [MQTT-3.3.1-2]
#[test]
fn a_publish_has_one_quality_and_no_dup_without_one() {
    assert_eq!(fault(V5, b"\x36\x06\x00\x01a\x00\x01\x00"), (MALFORMED, 0));
    assert_eq!(fault(V5, b"\x38\x04\x00\x01a\x00"), (MALFORMED, 0));
}

// [MQTT-2.2.1-2] [MQTT-2.2.1-3] [MQTT311-2.3.1-1]
#[test]
fn a_packet_identifier_is_there_with_quality_and_never_zero() {
    let Ok(Packet::Publish(plain)) = decode(V311, b"\x30\x05\x00\x01a\x00\x01") else {
        panic!("no PUBLISH");
    };
    assert_eq!((plain.packet_id, plain.payload), (0, &b"\x00\x01"[..]));
    assert_eq!(fault(V311, b"\x32\x05\x00\x01a\x00\x00"), (PROTOCOL, 5));
    for first in [0x40, 0x50, 0x62, 0x70] {
        assert_eq!(fault(V5, &[first, 2, 0, 0]), (PROTOCOL, 2));
    }
    assert_eq!(fault(V311, b"\x82\x06\x00\x00\x00\x01a\x00"), (PROTOCOL, 2));
    assert_eq!(fault(V311, b"\xa2\x05\x00\x00\x00\x01a"), (PROTOCOL, 2));
}

// [MQTT-3.3.2-1] [MQTT-3.3.2-2] [MQTT-4.7.0-1] [MQTT-4.7.3-1]
#[test]
fn a_topic_name_is_there_and_has_no_wildcard() {
    assert_eq!(fault(V5, b"\x30\x06\x00\x03a/#\x00"), (0x90, 6));
    assert_eq!(fault(V5, b"\x30\x06\x00\x03+/a\x00"), (0x90, 4));
    assert_eq!(fault(V5, b"\x30\x03\x00\x00\x00"), (PROTOCOL, 4));
    assert_eq!(fault(V5, b"\x30\x01\x00"), (MALFORMED, 3));
    // An alias may stand for it.
    assert!(decode(V5, b"\x30\x06\x00\x00\x03\x23\x00\x01").is_ok());
}

// [MQTT-3.3.2-13] [MQTT-3.3.2-14] [MQTT-3.3.2-19]
#[test]
fn a_response_topic_is_a_topic_name_and_a_content_type_a_string() {
    assert_eq!(
        fault(V5, b"\x30\x0a\x00\x01a\x06\x08\x00\x03a/#").0,
        PROTOCOL
    );
    assert_eq!(
        fault(V5, b"\x30\x08\x00\x01a\x04\x08\x00\x01\xff").0,
        MALFORMED
    );
    assert_eq!(
        fault(V5, b"\x30\x08\x00\x01a\x04\x03\x00\x01\xff").0,
        MALFORMED
    );
}

#[test]
fn a_property_stands_where_it_may_once_and_is_possible() {
    let with = |properties: &[u8]| {
        let mut bytes = vec![0x30, 4 + properties.len() as u8, 0, 1, b'a'];
        bytes.push(properties.len() as u8);
        bytes.extend(properties);
        bytes
    };
    let cases: &[(&[u8], u8, usize)] = &[
        (b"\x7f\x00", MALFORMED, 6),
        (b"\x11\x00\x00\x00\x01", MALFORMED, 6),
        (b"\x02\x00\x00\x00\x01\x02\x00\x00\x00\x01", PROTOCOL, 11),
        (b"\x01\x02", PROTOCOL, 7),
        (b"\x0b\x00", PROTOCOL, 7),
        (b"\x02\x00\x00", MALFORMED, 9),
        (b"\x0b\x80\x80\x80\x80\x01", MALFORMED, 7),
    ];
    for (properties, code, offset) in cases {
        assert_eq!(
            fault(V5, &with(properties)),
            (*code, *offset),
            "{properties:02x?}"
        );
    }
    // A length that leads out of the packet.
    assert_eq!(fault(V5, b"\x30\x05\x00\x01a\x09\x01"), (MALFORMED, 7));
    // Zero is no receive maximum and no maximum packet size; data needs a method.
    let connect = |properties: &[u8]| {
        let mut bytes = b"\x10\x00\x00\x04MQTT\x05\x02\x00\x3c".to_vec();
        bytes.push(properties.len() as u8);
        bytes.extend(properties);
        bytes.extend([0, 0]);
        bytes[1] = bytes.len() as u8 - 2;
        bytes
    };
    assert_eq!(fault(V5, &connect(b"\x21\x00\x00")), (PROTOCOL, 14));
    assert_eq!(fault(V5, &connect(b"\x27\x00\x00\x00\x00")), (PROTOCOL, 14));
    assert_eq!(fault(V5, &connect(b"\x17\x02")), (PROTOCOL, 14));
    assert_eq!(fault(V5, &connect(b"\x16\x00\x01x")), (PROTOCOL, 17));
}

// [MQTT-3.2.2-1] [MQTT-3.2.2-6] [MQTT-3.2.2-8]
#[test]
fn a_connack_has_its_flags_and_its_codes() {
    assert_eq!(fault(V5, &[0x20, 3, 2, 0, 0]), (MALFORMED, 2));
    assert_eq!(fault(V5, &[0x20, 3, 0, 0x8f, 0]), (PROTOCOL, 3));
    assert_eq!(fault(V5, &[0x20, 3, 1, 0x87, 0]), (PROTOCOL, 2));
    assert_eq!(fault(V311, &[0x20, 2, 0, 6]), (PROTOCOL, 3));
}

// [MQTT-3.4.2-1] [MQTT-3.5.2-1] [MQTT-3.6.2-1] [MQTT-3.7.2-1] [MQTT-3.14.2-1] [MQTT-3.15.2-1]
// [MQTT-3.9.3-2] [MQTT-3.11.3-2] [MQTT311-3.9.3-2]
#[test]
fn a_reason_code_is_one_of_its_packet() {
    for (first, code) in [(0x40, 0x92), (0x50, 0x01), (0x62, 0x87), (0x70, 0x10)] {
        assert_eq!(
            fault(V5, &[first, 3, 0, 1, code]),
            (PROTOCOL, 4),
            "{first:02x}"
        );
    }
    assert_eq!(fault(V5, &[0xe0, 1, 0x01]), (PROTOCOL, 2));
    assert_eq!(fault(V5, &[0xf0, 1, 0x80]), (PROTOCOL, 2));
    assert_eq!(fault(V5, &[0x90, 4, 0, 1, 0, 3]), (PROTOCOL, 5));
    assert_eq!(fault(V5, &[0xb0, 4, 0, 1, 0, 1]), (PROTOCOL, 5));
    assert_eq!(fault(V311, &[0x90, 3, 0, 1, 0x81]), (PROTOCOL, 4));
}

// [MQTT-3.8.3-1] [MQTT-3.8.3-2] [MQTT-3.10.3-1] [MQTT-3.10.3-2]
#[test]
fn a_list_of_filters_has_one_at_least_and_each_is_utf_8() {
    assert_eq!(fault(V5, &[0x82, 3, 0, 1, 0]), (PROTOCOL, 5));
    assert_eq!(fault(V311, &[0x82, 2, 0, 1]), (PROTOCOL, 4));
    assert_eq!(fault(V5, &[0xa2, 3, 0, 1, 0]), (PROTOCOL, 5));
    assert_eq!(
        fault(V5, b"\x82\x07\x00\x01\x00\x00\x01\xff\x00"),
        (MALFORMED, 7)
    );
    assert_eq!(
        fault(V5, b"\xa2\x06\x00\x01\x00\x00\x01\xff"),
        (MALFORMED, 7)
    );
    assert_eq!(fault(V5, b"\x82\x06\x00\x01\x00\x00\x01a"), (MALFORMED, 8));
}

// [MQTT-3.8.3-5] [MQTT311-3.8.3-4] [MQTT-3.8.3-4]
#[test]
fn subscription_options_that_may_not_be_are_refused() {
    let of = |version: Version, filter: &str, options: u8| {
        let mut bytes = vec![0x82, 0, 0, 1];
        if version == V5 {
            bytes.push(0);
        }
        bytes.extend([0, filter.len() as u8]);
        bytes.extend(filter.as_bytes());
        bytes.push(options);
        bytes[1] = bytes.len() as u8 - 2;
        decode(version, &bytes).err().map(|fault| fault.code.0)
    };
    assert_eq!(of(V5, "a", 0x40), Some(MALFORMED));
    assert_eq!(of(V5, "a", 0x80), Some(MALFORMED));
    assert_eq!(of(V311, "a", 0x04), Some(MALFORMED));
    assert_eq!(of(V5, "a", 0x03), Some(PROTOCOL));
    assert_eq!(of(V5, "a", 0x30), Some(PROTOCOL));
    assert_eq!(of(V5, "$share/g/a", 0x04), Some(PROTOCOL));
    assert_eq!(of(V5, "a", 0x2e), None);
}

#[test]
fn a_packet_over_the_limit_is_refused_by_its_length_alone() {
    let fault = frame(&[0x30, 0xff, 0xff, 0xff, 0x7f], 1 << 20).unwrap_err();
    assert_eq!(
        (fault.code, fault.offset),
        (ReasonCode::PACKET_TOO_LARGE, 1)
    );
}

#[test]
fn bytes_behind_the_last_field_are_refused() {
    for bytes in [
        &b"\xc0\x01\x00"[..],
        b"\x40\x03\x00\x01\x00",
        b"\xe0\x01\x00",
        b"\x20\x03\x00\x00\x00",
    ] {
        assert_eq!(fault(V311, bytes).0, MALFORMED, "{bytes:02x?}");
    }
    assert_eq!(fault(V5, b"\x40\x05\x00\x01\x00\x00\x00"), (MALFORMED, 6));
}

#[test]
fn a_packet_cut_anywhere_inside_is_never_read() {
    let whole = Connect {
        will: Some(will("w/t")),
        user_name: Some("user"),
        ..connect(V5)
    };
    let bytes = encode(V5, Packet::Connect(whole));
    for length in 0..bytes.len() {
        assert!(matches!(
            frame(&bytes[..length], 1000),
            Ok(Framed::Incomplete(_))
        ));
        if let Some(body) = length.checked_sub(2) {
            let mut short = bytes[..length].to_vec();
            short[1] = body as u8;
            assert!(decode(V5, &short).is_err(), "{length}");
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_are_a_packet_or_a_fault_within_them(
        mut bytes in proptest::collection::vec(any::<u8>(), 2..200),
        v5 in any::<bool>(),
    ) {
        let version = if v5 { V5 } else { V311 };
        bytes[1] = (bytes.len() - 2).min(127) as u8;
        match decode(version, &bytes) {
            Ok(packet) => {
                let again = encode(version, packet);
                prop_assert_eq!(decode(version, &again), Ok(packet));
            }
            Err(fault) => prop_assert!(fault.offset <= bytes.len()),
        }
    }

    #[test]
    fn a_publish_head_and_its_payload_are_the_packet(
        topic in "[a-z/]{1,300}", payload in proptest::collection::vec(any::<u8>(), 0..20_000),
        qos in 0u8..3,
    ) {
        let qos = QoS::of_bits(qos).unwrap();
        let packet_id = if qos == QoS::AtMostOnce { 0 } else { 7 };
        let (topic, payload) = (&*topic, &*payload);
        let publish = Publish { topic, payload, packet_id, qos, ..Publish::default() };
        for version in [V5, V311] {
            let mut head = Vec::new();
            publish.encode_head(version, payload.len(), &mut head);
            head.extend(payload);
            prop_assert_eq!(head.len(), publish.packet_length(version, payload.len()));
            prop_assert_eq!(&head, &encode(version, Packet::Publish(publish)));
        }
    }
}

// MQTT 3.1, sections 3.6, 3.8 and 3.10: what is sent again says so. [MQTT-3.6.1-1] [MQTT-3.8.1-1] [MQTT-3.10.1-1]
#[test]
fn only_3_1_says_of_other_packets_that_they_come_again() {
    for bytes in [
        &b"\x6a\x02\x00\x01"[..],
        b"\x8a\x06\x00\x01\x00\x01a\x00",
        b"\xaa\x05\x00\x01\x00\x01a",
    ] {
        assert!(decode(V31, bytes).is_ok(), "{bytes:02x?}");
        assert_eq!(fault(V311, bytes), (MALFORMED, 0));
    }
    assert_eq!(fault(V31, b"\x48\x02\x00\x01"), (MALFORMED, 0));
}

// [MQTT-4.7.3-1]
#[test]
fn a_filter_has_a_character_at_least() {
    for (version, bytes) in [
        (V311, &b"\x82\x05\x00\x01\x00\x00\x00"[..]),
        (V31, b"\x82\x05\x00\x01\x00\x00\x00"),
        (V5, b"\x82\x06\x00\x01\x00\x00\x00\x00"),
        (V311, b"\x82\x09\x00\x01\x00\x01a\x00\x00\x00\x00"),
        (V311, b"\xa2\x04\x00\x01\x00\x00"),
    ] {
        assert_eq!(fault(version, bytes).0, 0x8f, "{bytes:02x?}");
    }
}
