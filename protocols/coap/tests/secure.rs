//! Two ends that share keys, and who has none, between them.
#![cfg(feature = "secure")]
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use weir_coap::secure::{Context, Contexts, Guard, Material, Numbers, OSCORE, Opened, Remote};
use weir_coap::wire::{Code, Kind, Message, Number, Token, parse_datagram, write_datagram};

const DEVICE: u16 = 1;
const GATEWAY: u16 = 2;

fn guard(own: &[u8], peer: &[u8], secret: u8, numbers: u64) -> Guard<u16> {
    let material = Material {
        secret: vec![secret; 16],
        salt: Vec::new(),
        own: own.to_vec(),
        peer: peer.to_vec(),
        id_context: None,
    };
    let context = Context::derive(&material).unwrap();
    let row = Arc::new(Numbers::from(numbers));
    row.reserve(numbers + 100);
    Guard::new(Arc::new(Contexts::new(vec![(context, [7; 8])], row)))
}

fn device() -> Guard<u16> {
    guard(b"d", b"", 1, 0)
}

fn gateway() -> Guard<u16> {
    guard(b"", b"d", 1, 1000)
}

fn keyed(address: u16) -> Remote<u16> {
    Remote {
        address,
        context: Some(weir_coap::secure::ContextId(0)),
    }
}

fn datagram(kind: Kind, id: u16, message: &Message) -> Vec<u8> {
    let mut out = Vec::new();
    write_datagram(kind, id, message, &mut out);
    out
}

fn request(code: Code, id: u16) -> (Vec<u8>, Message) {
    let mut message = Message::new(code).with_payload(&b"21.5"[..]);
    message.token = Token::new(&id.to_be_bytes()).unwrap();
    message.options.push(Number::URI_PATH, b"live");
    (datagram(Kind::Confirmable, id, &message), message)
}

/// Asks the gateway until it believes that this is no replay.
fn introduce(device: &mut Guard<u16>, gateway: &mut Guard<u16>) {
    let (bytes, mut message) = request(Code::GET, 900);
    let sent = device.close(keyed(GATEWAY), &bytes).unwrap();
    let Opened::Answer(challenge) = gateway.open(DEVICE, &sent) else {
        panic!("not challenged");
    };
    let Opened::Taken(_, challenge) = device.open(GATEWAY, &challenge) else {
        panic!("the challenge is not readable");
    };
    let challenge = parse_datagram(&challenge).unwrap().to_message();
    assert_eq!(challenge.code, Code::UNAUTHORIZED);
    let echo = challenge.options.first(Number::ECHO).unwrap();
    message.options.push(Number::ECHO, echo);
    let again = datagram(Kind::Confirmable, 901, &message);
    let again = device.close(keyed(GATEWAY), &again).unwrap();
    assert!(matches!(gateway.open(DEVICE, &again), Opened::Taken(..)));
}

/// [RFC8613-7.5-1] [RFC8613-7.5-2] [RFC8613-8.1-1] [RFC8613-8.2-2] [RFC8613-8.2-4] [RFC8613-8.2-5]
#[test]
fn a_request_and_its_answer_are_read_by_both_and_by_nobody_else() {
    let (mut device, mut gateway) = (device(), gateway());
    introduce(&mut device, &mut gateway);
    let (bytes, message) = request(Code::POST, 5);
    let sent = device.close(keyed(GATEWAY), &bytes).unwrap();
    assert!(
        !sent
            .windows(4)
            .any(|window| window == b"21.5" || window == b"live")
    );
    let Opened::Taken(remote, inner) = gateway.open(DEVICE, &sent) else {
        panic!("not opened");
    };
    assert_eq!((remote, &inner), (keyed(DEVICE), &bytes));
    let mut answer = Message::new(Code::CHANGED).with_payload(&b"done"[..]);
    answer.token = message.token;
    let answer = datagram(Kind::Acknowledgement, 5, &answer);
    let closed = gateway.close(keyed(DEVICE), &answer).unwrap();
    assert!(!closed.windows(4).any(|window| window == b"done"));
    let Opened::Taken(_, opened) = device.open(GATEWAY, &closed) else {
        panic!("not opened");
    };
    assert_eq!(opened, answer);
    let mut stranger = guard(b"d", b"", 2, 0);
    let strange = stranger.close(keyed(GATEWAY), &bytes).unwrap();
    assert_eq!(refusal(gateway.open(DEVICE, &strange)), "4.00");
    let mut unknown = guard(b"x", b"", 1, 0);
    let unknown = unknown.close(keyed(GATEWAY), &bytes).unwrap();
    assert_eq!(refusal(gateway.open(DEVICE, &unknown)), "4.01");
}

fn untouched(opened: Opened<u16>) -> Remote<u16> {
    let Opened::Untouched(remote) = opened else {
        panic!("touched: {opened:?}");
    };
    remote
}

fn refusal(opened: Opened<u16>) -> String {
    let Opened::Answer(answer) = opened else {
        panic!("not refused: {opened:?}");
    };
    let answer = parse_datagram(&answer).unwrap().to_message();
    assert_eq!(answer.options.uint(Number::MAX_AGE), Some(0));
    answer.code.to_string()
}

/// [RFC8613-5.2-2] [RFC8613-7.4-1] [RFC8613-7.4-2] [RFC8613-8.2-3]
#[test]
fn what_is_replayed_is_not_done_again() {
    let (mut device, mut gateway) = (device(), gateway());
    introduce(&mut device, &mut gateway);
    let (bytes, message) = request(Code::POST, 5);
    let sent = device.close(keyed(GATEWAY), &bytes).unwrap();
    // Sent again it is the same message.
    assert_eq!(device.close(keyed(GATEWAY), &bytes), Some(sent.clone()));
    assert!(matches!(gateway.open(DEVICE, &sent), Opened::Taken(..)));
    assert!(matches!(gateway.open(DEVICE, &sent), Opened::Dropped));
    let mut answer = Message::new(Code::CHANGED);
    answer.token = message.token;
    let answer = datagram(Kind::Acknowledgement, 5, &answer);
    let closed = gateway.close(keyed(DEVICE), &answer).unwrap();
    let Opened::Answer(again) = gateway.open(DEVICE, &sent) else {
        panic!("not answered again");
    };
    assert_eq!(again, closed);
    let other = gateway.close(keyed(DEVICE), &answer).unwrap();
    assert_ne!(other, closed, "no nonce is used twice");
    // From another address, or as another message, it is a replay.
    assert_eq!(refusal(gateway.open(9, &sent)), "4.01");
    let mut renumbered = sent.clone();
    renumbered[3] ^= 1;
    assert_eq!(refusal(gateway.open(DEVICE, &renumbered)), "4.01");
}

/// [RFC8613-7.5-1]
#[test]
fn after_a_restart_what_was_recorded_before_is_not_believed() {
    let (mut device, mut gateway) = (device(), gateway());
    introduce(&mut device, &mut gateway);
    let (bytes, _) = request(Code::POST, 5);
    let recorded = device.close(keyed(GATEWAY), &bytes).unwrap();
    assert!(matches!(gateway.open(DEVICE, &recorded), Opened::Taken(..)));
    let mut restarted = self::gateway();
    assert!(matches!(
        restarted.open(DEVICE, &recorded),
        Opened::Answer(_)
    ));
    let challenges = (0..3).map(|_| format!("{:?}", restarted.open(DEVICE, &recorded)));
    let different: std::collections::BTreeSet<_> = challenges.collect();
    assert_eq!(different.len(), 3, "no nonce is used twice");
    introduce(&mut device, &mut restarted);
    assert_eq!(refusal(restarted.open(DEVICE, &recorded)), "4.01");
}

/// [RFC8613-8.3-1] [RFC8613-7.4.1-1]
#[test]
fn notifications_are_numbered_and_a_device_may_move() {
    let (mut device, mut gateway) = (device(), gateway());
    introduce(&mut device, &mut gateway);
    let (_, mut message) = request(Code::GET, 6);
    message.options.push_uint(Number::OBSERVE, 0);
    let bytes = datagram(Kind::Confirmable, 6, &message);
    let sent = device.close(keyed(GATEWAY), &bytes).unwrap();
    assert_eq!(parse_datagram(&sent).unwrap().code, Code::FETCH);
    // The device's address was translated to another.
    assert!(matches!(gateway.open(77, &sent), Opened::Taken(..)));
    let mut told = Message::new(Code::CONTENT).with_payload(&b"1"[..]);
    told.token = message.token;
    told.options.push_uint(Number::OBSERVE, 9);
    let mut orders = Vec::new();
    let mut closed = Vec::new();
    for id in 0..3u16 {
        let bytes = datagram(Kind::NonConfirmable, id, &told);
        closed = gateway.close(keyed(77), &bytes).unwrap();
        let Opened::Taken(_, opened) = device.open(GATEWAY, &closed) else {
            panic!("not opened");
        };
        let opened = parse_datagram(&opened).unwrap().to_message();
        orders.push(opened.options.uint(Number::OBSERVE).unwrap());
    }
    assert!(orders.is_sorted_by(|a, b| a < b), "{orders:?}");
    assert!(matches!(device.open(GATEWAY, &closed), Opened::Dropped));
}

/// [RFC8613-8.4-2]
#[test]
fn an_answer_in_the_clear_is_believed_only_as_a_refusal() {
    let mut device = device();
    let (bytes, message) = request(Code::GET, 5);
    device.close(keyed(GATEWAY), &bytes).unwrap();
    let mut forged = Message::new(Code::CONTENT).with_payload(&b"99"[..]);
    forged.token = message.token;
    let forged = datagram(Kind::Acknowledgement, 5, &forged);
    assert!(matches!(device.open(GATEWAY, &forged), Opened::Dropped));
    let mut refused = Message::new(Code::UNAUTHORIZED);
    refused.token = message.token;
    let refused = datagram(Kind::Acknowledgement, 5, &refused);
    assert_eq!(untouched(device.open(GATEWAY, &refused)), keyed(GATEWAY));
}

/// [RFC8613-7.2.1-1]
#[test]
fn without_numbers_nothing_leaves() {
    let mut device = guard(b"d", b"", 1, weir_coap::secure::SEQUENCE_MAX);
    let (bytes, _) = request(Code::GET, 5);
    assert!(device.close(keyed(GATEWAY), &bytes).is_some());
    let (bytes, _) = request(Code::GET, 6);
    assert!(device.close(keyed(GATEWAY), &bytes).is_none());
}

/// [RFC8613-8.2-1]
#[test]
fn who_talks_in_the_clear_is_not_touched() {
    let mut gateway = gateway();
    let (bytes, _) = request(Code::GET, 5);
    let remote = untouched(gateway.open(DEVICE, &bytes));
    assert_eq!(remote, Remote::plain(DEVICE));
    let mut message = Message::new(Code::GET);
    message.options.push(OSCORE, &[0xff, 1]);
    let broken = datagram(Kind::Confirmable, 6, &message);
    assert_eq!(refusal(gateway.open(DEVICE, &broken)), "4.02");
    let broken = datagram(Kind::NonConfirmable, 6, &message);
    assert!(matches!(gateway.open(DEVICE, &broken), Opened::Dropped));
}
