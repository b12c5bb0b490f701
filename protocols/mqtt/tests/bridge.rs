//! What a bridge needs of the client's half, with literal bytes.
#![allow(clippy::unwrap_used, reason = "tests")]

use weir_mqtt::session::{Client, ClientEvent, ConnectOptions, Delivery, Stage, Token};
use weir_mqtt::wire::{PropertyList, QoS, ReasonCode, Version};
use weir_sansio::{Instant, Output, Session};

const NOW: Instant = Instant::START;

fn client(version: Version, bridge: bool) -> (Client, Vec<u8>) {
    let options = ConnectOptions {
        version,
        bridge,
        clean_start: false,
        ..ConnectOptions::default()
    };
    let mut client = Client::new(NOW, options);
    let (said, _) = talk(&mut client, &[]);
    (client, said)
}

/// What it sends and tells when these bytes come.
fn talk(client: &mut Client, bytes: &[u8]) -> (Vec<u8>, Vec<ClientEvent>) {
    client.handle_input(NOW, bytes).unwrap();
    let (mut said, mut told) = (Vec::new(), Vec::new());
    loop {
        match client.poll_output() {
            Output::Transmit(bytes) => said.extend(bytes),
            Output::Event(event) => told.push(event),
            Output::Timeout(_) => return (said, told),
        }
    }
}

#[test]
fn a_bridge_says_so_by_a_bit_of_the_level_in_3_1_1_only() {
    let level = |version, bridge| client(version, bridge).1[8];
    assert_eq!(level(Version::V311, true), 0x84);
    assert_eq!(level(Version::V311, false), 4);
    assert_eq!(level(Version::V5, true), 5);
}

// 3.1.1 section 3.2.2.3: return code 1.
#[test]
fn a_server_of_3_1_1_may_refuse_but_not_accept_a_client_of_5() {
    let (mut client, _) = client(Version::V5, false);
    let (said, told) = talk(&mut client, &[0x20, 2, 0, 1]);
    let code = ReasonCode::UNSUPPORTED_PROTOCOL_VERSION;
    assert_eq!(told, [ClientEvent::Closed { code, reason: None }]);
    assert!(said.is_empty());
    let (mut client, _) = self::client(Version::V5, false);
    let (_, told) = talk(&mut client, &[0x20, 2, 0, 0]);
    let code = ReasonCode::MALFORMED_PACKET;
    assert!(matches!(&told[..], [ClientEvent::Closed { code: of, .. }] if *of == code));
}

fn open() -> Client {
    let (mut client, _) = client(Version::V5, false);
    let (_, told) = talk(&mut client, &[0x20, 3, 0, 0, 0]);
    assert!(matches!(told[..], [ClientEvent::Connected(_)]));
    client
}

#[test]
fn that_a_message_moved_on_is_told_with_the_packet_that_says_so() {
    let mut client = open();
    let token = Token {
        cursor: 7,
        ..Token::default()
    };
    let mut properties = PropertyList::default();
    let delivery = Delivery {
        topic: "a",
        qos: QoS::ExactlyOnce,
        retain: false,
        properties: &mut properties,
        payload_bytes: 0,
        token,
    };
    client.publish(NOW, delivery, &mut Vec::new());
    let (said, told) = talk(&mut client, &[0x50, 2, 0, 1]);
    assert_eq!(said, [0x62, 2, 0, 1]);
    assert_eq!(told, [ClientEvent::Received(token)]);
    assert_eq!(client.in_flight()[0].stage, Stage::Pubcomp);
    // The server's own message of QoS 2: PUBLISH, then PUBREL.
    let (_, told) = talk(&mut client, &[0x34, 6, 0, 1, b'b', 0, 9, 0]);
    assert!(matches!(told[..], [ClientEvent::Message(_)]));
    client.acknowledge(NOW, 9, ReasonCode::SUCCESS);
    let (said, told) = talk(&mut client, &[0x62, 2, 0, 9]);
    assert_eq!(said, [0x50, 2, 0, 9, 0x70, 2, 0, 9]);
    assert_eq!(told, [ClientEvent::Released(9)]);
}
