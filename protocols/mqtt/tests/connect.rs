//! CONNECT: what it must and must not hold.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::house;

use house::{V5, V31, V311, connect, decode, encode, will};
use weir_mqtt::wire::{Connect, Fault, Packet, Version};

fn fault(version: Version, bytes: &[u8]) -> (u8, usize) {
    let Fault { code, offset, .. } = decode(version, bytes).unwrap_err();
    (code.0, offset)
}

const MALFORMED: u8 = 0x81;

// [MQTT-3.1.2-1] [MQTT-3.1.2-2]
#[test]
fn another_protocol_or_version_is_named_as_such() {
    assert_eq!(
        fault(V5, b"\x10\x0c\x00\x04MQTX\x05\x02\x00\x00\x00\x00"),
        (0x84, 2)
    );
    assert_eq!(
        fault(V5, b"\x10\x0c\x00\x04MQTT\x06\x02\x00\x00\x00\x00"),
        (0x84, 8)
    );
    assert_eq!(
        fault(V5, b"\x10\x0e\x00\x06MQIsdp\x04\x02\x00\x00\x00\x00"),
        (0x84, 10)
    );
    // A bridge of 5.0 says so by its subscriptions.
    let bridge_of_5 = b"\x10\x0d\x00\x04MQTT\x85\x02\x00\x00\x00\x00\x00";
    assert_eq!(fault(V5, bridge_of_5), (0x84, 8));
}

// MQTT 3.1, section 3.1; bit 7 as Mosquitto's bridges set it.
#[test]
fn mqtt_3_1_is_known_by_its_name_and_a_bridge_by_a_bit() {
    for (bytes, version, bridge) in [
        (
            &b"\x10\x0f\x00\x06MQIsdp\x03\x02\x00\x00\x00\x01c"[..],
            V31,
            false,
        ),
        (
            b"\x10\x0f\x00\x06MQIsdp\x83\x02\x00\x00\x00\x01c",
            V31,
            true,
        ),
        (b"\x10\x0d\x00\x04MQTT\x84\x02\x00\x00\x00\x01c", V311, true),
        (
            b"\x10\x0d\x00\x04MQTT\x04\x02\x00\x00\x00\x01c",
            V311,
            false,
        ),
    ] {
        let Ok(Packet::Connect(connect)) = decode(V5, bytes) else {
            panic!("{bytes:02x?}");
        };
        assert_eq!((connect.version, connect.bridge), (version, bridge));
        let length = usize::from(bytes[1]) + 2;
        assert_eq!(
            encode(
                version,
                Packet::Connect(Connect {
                    keep_alive: 0,
                    ..connect
                })
            ),
            bytes[..length]
        );
    }
}

// [MQTT-3.1.2-3] [MQTT-3.1.2-11] [MQTT-3.1.2-12] [MQTT-3.1.2-13] [MQTT311-3.1.2-22]
#[test]
fn connect_flags_that_contradict_each_other_are_refused() {
    for flags in [0x01, 0x08, 0x10, 0x20, 0x1c, 0x3c] {
        let bytes = [
            &b"\x10\x0d\x00\x04MQTT\x05"[..],
            &[flags],
            b"\x00\x00\x00\x00\x00",
        ]
        .concat();
        assert_eq!(fault(V5, &bytes), (MALFORMED, 9), "{flags:02x}");
    }
    // 3.1.1 has no password without a user name.
    let bytes = b"\x10\x0f\x00\x04MQTT\x04\x42\x00\x00\x00\x00\x00\x01p";
    assert_eq!(fault(V311, bytes), (MALFORMED, 9));
    let bytes = b"\x10\x10\x00\x04MQTT\x05\x42\x00\x00\x00\x00\x00\x00\x01p";
    assert!(decode(V5, bytes).is_ok());
}

// [MQTT-3.1.2-9] [MQTT-3.1.2-16] [MQTT-3.1.2-17] [MQTT-3.1.2-18] [MQTT-3.1.2-19] [MQTT-3.1.3-1]
// [MQTT-3.1.3-3]
#[test]
fn the_payload_of_connect_has_what_the_flags_say_in_order() {
    let whole = Connect {
        client_id: "id",
        will: Some(will("w/t")),
        user_name: Some("user"),
        password: Some(b"pass"),
        ..connect(V5)
    };
    let bytes = encode(V5, Packet::Connect(whole));
    let payload = b"\x00\x02id\x00\x00\x03w/t\x00\x04gone\x00\x04user\x00\x04pass";
    assert!(bytes.ends_with(payload));
    assert_eq!(decode(V5, &bytes), Ok(Packet::Connect(whole)));
    // Each field that is promised and missing, and each that is there and not promised.
    for cut in [4, 6, 10, 15, 21, bytes.len() - 1 - 12] {
        let mut short = bytes[..bytes.len() - cut].to_vec();
        short[1] -= cut as u8;
        assert_eq!(fault(V5, &short).0, MALFORMED);
    }
    for flag in [0x80, 0x40, 0x04] {
        let mut changed = bytes.clone();
        changed[9] &= !flag;
        if flag == 0x04 {
            changed[9] &= !0x38;
        }
        assert_eq!(fault(V5, &changed).0, MALFORMED, "{flag:02x}");
    }
    assert_eq!(
        fault(V5, b"\x10\x0b\x00\x04MQTT\x05\x02\x00\x3c\x00"),
        (MALFORMED, 13)
    );
}

// [MQTT-3.1.3-4] [MQTT-3.1.3-11] [MQTT-3.1.3-12]
#[test]
fn client_identifier_will_topic_and_user_name_are_utf_8() {
    let whole = Connect {
        client_id: "id",
        will: Some(will("w/t")),
        user_name: Some("user"),
        ..connect(V5)
    };
    let bytes = encode(V5, Packet::Connect(whole));
    for text in ["id", "w/t", "user"] {
        let at = bytes
            .windows(text.len())
            .position(|w| w == text.as_bytes())
            .unwrap();
        let mut bad = bytes.clone();
        bad[at] = 0xfe;
        assert_eq!(fault(V5, &bad), (MALFORMED, at));
    }
}
