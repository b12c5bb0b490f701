//! Connections over byte streams and WebSockets (RFC 8323): two machines and a stream in pieces.
#![allow(clippy::unwrap_used)]

use std::time::Duration;
use weir_coap::limits::Limits;
use weir_coap::session::{Connection, ConnectionFault, Event, Incoming};
use weir_coap::wire::{Capabilities, Code, Framing, Message, Number, Token, write_stream};
use weir_sansio::{Instant, Output, Session};
use weir_testkit::{BadLink, Pair};

const NOW: Instant = Instant::START;

fn server(framing: Framing) -> Connection {
    Connection::new(framing, Limits::default(), 1)
}

fn bytes_of(message: &Message) -> Vec<u8> {
    let mut out = Vec::new();
    write_stream(Framing::Stream, message, &mut out);
    out
}

fn sent(connection: &mut Connection) -> (Vec<Message>, Vec<Event<()>>) {
    let (mut messages, mut events) = (Vec::new(), Vec::new());
    loop {
        match connection.poll_output() {
            Output::Transmit(bytes) => {
                let head = weir_coap::wire::head_of(Framing::Stream, &bytes)
                    .unwrap()
                    .unwrap();
                messages.push(weir_coap::wire::parse_body(head, &bytes).unwrap());
            }
            Output::Event(event) => events.push(event),
            Output::Timeout(_) => return (messages, events),
        }
    }
}

fn requests(events: &[Event<()>]) -> Vec<Incoming<()>> {
    let requests = events.iter().filter_map(|event| match event {
        Event::Request(incoming) => Some(incoming.clone()),
        _ => None,
    });
    requests.collect()
}

/// A connection whose peer takes messages of 70,000 bytes, and blocks.
fn greeted() -> Connection {
    let mut connection = server(Framing::Stream);
    let own = sent(&mut connection).0;
    assert_eq!(own[0].code, Code::CSM);
    let capabilities = Capabilities {
        message_bytes_max: 70_000,
        block_wise: true,
    };
    connection
        .handle_input(NOW, &bytes_of(&capabilities.to_message()))
        .unwrap();
    connection
}

fn get(token: u8) -> Message {
    let mut message = Message::new(Code::GET);
    message.token = Token::new(&[token]).unwrap();
    message
}

/// [RFC8323-5.3-1]
#[test]
fn what_comes_before_a_csm_is_refused() {
    let mut connection = server(Framing::Stream);
    let fault = connection
        .handle_input(NOW, &bytes_of(&get(1)))
        .unwrap_err();
    assert!(matches!(fault, ConnectionFault::PeerMisbehaved(_)));
    let (messages, events) = sent(&mut connection);
    assert_eq!(messages.last().unwrap().code, Code::ABORT);
    assert!(events.is_empty());
}

/// [RFC8323-3.3-1] [RFC8323-3.3-2]
#[test]
fn requests_are_answered_in_any_order_by_their_tokens() {
    let mut connection = greeted();
    let both = [
        bytes_of(&get(1)),
        bytes_of(&Message::new(Code::EMPTY)),
        bytes_of(&get(2)),
    ]
    .concat();
    for byte in both {
        connection.handle_input(NOW, &[byte]).unwrap();
    }
    let asked = requests(&sent(&mut connection).1);
    for incoming in asked.iter().rev() {
        let response = Message::new(Code::CONTENT).with_payload("x");
        connection.respond(NOW, incoming.exchange, response, false);
    }
    let tokens: Vec<_> = sent(&mut connection)
        .0
        .iter()
        .map(|message| message.token)
        .collect();
    assert_eq!(tokens, [get(2).token, get(1).token]);
    assert!(connection.is_idle());
}

/// [RFC8323-5.4.1-1]
#[test]
fn a_ping_comes_back_at_once_and_with_custody_when_all_is_done() {
    let mut connection = greeted();
    let ping = |custody: bool| {
        let mut ping = Message::new(Code::PING);
        ping.token = Token::new(&[custody as u8]).unwrap();
        if custody {
            ping.options.push(Number(2), &[]);
        }
        bytes_of(&ping)
    };
    let all = [bytes_of(&get(1)), ping(true), ping(false)].concat();
    connection.handle_input(NOW, &all).unwrap();
    let (messages, events) = sent(&mut connection);
    assert_eq!(
        (messages.len(), messages[0].token),
        (1, Token::new(&[0]).unwrap())
    );
    let asked = requests(&events);
    connection.respond(NOW, asked[0].exchange, Message::new(Code::CONTENT), false);
    let codes: Vec<_> = sent(&mut connection)
        .0
        .iter()
        .map(|message| message.code)
        .collect();
    assert_eq!(codes, [Code::CONTENT, Code::PONG]);
}

/// [RFC8323-5.6-1]
#[test]
fn what_breaks_a_rule_ends_the_connection_with_the_reason() {
    let mut huge = vec![0xf0];
    huge.extend_from_slice(&[0xff, 0xff, 0xff, 0xff, 1]);
    for bad in [&[0x09, 1][..], &[0x10, 1, 0xff], &[0x10, 1, 0xf1], &huge] {
        let mut connection = greeted();
        let fault = connection.handle_input(NOW, bad).unwrap_err();
        assert!(
            matches!(fault, ConnectionFault::PeerMisbehaved(_)),
            "{bad:02x?}"
        );
        let abort = sent(&mut connection).0.pop().unwrap();
        assert_eq!(abort.code, Code::ABORT);
        assert!(!abort.payload.is_empty());
    }
}

/// [RFC8323-5.1-1]
#[test]
fn an_unknown_critical_option_ends_a_csm_and_not_a_request() {
    let mut connection = greeted();
    let mut bad = get(1);
    bad.options.push(Number(9), b"x");
    connection.handle_input(NOW, &bytes_of(&bad)).unwrap();
    assert_eq!(sent(&mut connection).0[0].code, Code::BAD_OPTION);
    let mut csm = Message::new(Code::CSM);
    csm.options.push(Number(1), &[]);
    assert!(connection.handle_input(NOW, &bytes_of(&csm)).is_err());
    let abort = sent(&mut connection).0.pop().unwrap();
    assert_eq!(abort.options.uint(Number(2)), Some(1));
}

#[test]
fn an_observation_is_told_what_follows_until_it_is_ended() {
    let mut connection = greeted();
    let mut observe = get(1);
    observe.options.push_uint(Number::OBSERVE, 0);
    connection.handle_input(NOW, &bytes_of(&observe)).unwrap();
    let asked = requests(&sent(&mut connection).1);
    let id = connection.respond(NOW, asked[0].exchange, Message::new(Code::CONTENT), true);
    connection.notify(NOW, id.unwrap(), Message::new(Code::CONTENT));
    let told = sent(&mut connection).0;
    assert!(
        told.iter()
            .all(|message| message.options.uint(Number::OBSERVE).is_some())
    );
    assert_eq!((told.len(), told[1].token), (2, get(1).token));
    observe.options.set_uint(Number::OBSERVE, 1);
    connection.handle_input(NOW, &bytes_of(&observe)).unwrap();
    assert_eq!(sent(&mut connection).1[0], Event::Ended(id.unwrap()));
}

/// [RFC8323-5.3.1-1] [RFC8323-6-1]
#[test]
fn a_body_larger_than_the_peer_takes_goes_in_blocks_of_many() {
    let mut connection = greeted();
    let mut ask = get(1);
    ask.options.push_uint(Number::BLOCK2, 7);
    let body: Vec<u8> = (0..200_000u32).map(|byte| byte as u8).collect();
    connection.handle_input(NOW, &bytes_of(&ask)).unwrap();
    let asked = requests(&sent(&mut connection).1);
    let response = Message::new(Code::CONTENT).with_payload(body.clone());
    connection.respond(NOW, asked[0].exchange, response, false);
    let mut whole = Vec::new();
    loop {
        let block = sent(&mut connection).0.pop().unwrap();
        whole.extend_from_slice(&block.payload);
        let value = block.options.uint(Number::BLOCK2).unwrap();
        assert_eq!(value & 7, 7);
        if value & 8 == 0 {
            break;
        }
        assert_eq!(block.payload.len(), 68 << 10);
        ask.options
            .set_uint(Number::BLOCK2, ((whole.len() as u32 / 1024) << 4) | 7);
        connection.handle_input(NOW, &bytes_of(&ask)).unwrap();
    }
    assert_eq!(whole, body);
}

#[test]
fn two_connections_exchange_large_bodies_in_pieces() {
    let body: Vec<u8> = (0..300_000u32).map(|byte| (byte * 3) as u8).collect();
    let mut client = Connection::new(Framing::Stream, Limits::default(), 5);
    let call = client.request(Message::new(Code::POST).with_payload(body.clone()));
    let link = BadLink::split(5000, 9);
    let mut pair = Pair::new(client, server(Framing::Stream), &link);
    pair.run(NOW + Duration::from_secs(10));
    let asked = requests(&pair.b.events);
    assert_eq!(asked[0].message.payload[..], body[..]);
    let now = pair.now();
    let response = Message::new(Code::CHANGED).with_payload(body.clone());
    pair.b
        .machine
        .respond(now, asked[0].exchange, response, false);
    pair.run(now + Duration::from_secs(10));
    let Some(Event::Response(id, (), response)) = pair.a.events.last() else {
        panic!("{:?}", pair.a.failure);
    };
    assert_eq!((Some(*id), &response.payload[..]), (call, &body[..]));
}

/// A connection of a client, and the request by which it observes.
fn observing() -> (Connection, Message) {
    let mut client = greeted();
    sent(&mut client);
    let mut observe = Message::new(Code::GET);
    observe.options.push_uint(Number::OBSERVE, 0);
    client.request(observe).unwrap();
    let request = sent(&mut client).0.pop().unwrap();
    (client, request)
}

fn block2(number: u32, more: bool, token: Token, payload: Vec<u8>) -> Message {
    let mut message = Message::new(Code::CONTENT).with_payload(payload);
    message.token = token;
    let value = number << 4 | u32::from(more) << 3 | 6;
    message.options.push_uint(Number::BLOCK2, value);
    message
}

/// [RFC7959-2.6-1] [RFC8323-7-1]
#[test]
fn the_rest_of_a_notification_is_fetched_of_the_newest() {
    let (mut client, request) = observing();
    let mut hear = |message: &Message| {
        client.handle_input(NOW, &bytes_of(message)).unwrap();
        sent(&mut client)
    };
    let first = |number: u32| {
        let mut message = block2(0, true, request.token, vec![number as u8; 1024]);
        message.options.push_uint(Number::OBSERVE, number);
        message
    };
    let (old, events) = hear(&first(1));
    assert_eq!((old.len(), events.len()), (1, 0));
    let (asked, _) = hear(&first(2));
    let rest = &asked[0];
    assert_ne!(rest.token, request.token);
    assert_eq!(rest.options.uint(Number::OBSERVE), None);
    assert_eq!(rest.options.uint(Number::BLOCK2), Some(0x16));
    let (_, stale) = hear(&block2(1, false, old[0].token, vec![9; 5]));
    assert!(stale.is_empty());
    let (_, events) = hear(&block2(1, false, rest.token, vec![2; 5]));
    let [Event::Notification(_, whole)] = &events[..] else {
        panic!("{events:?}");
    };
    assert_eq!(whole.payload[..], [2; 1029]);
    let (_, events) = hear(&block2(1, false, rest.token, vec![2; 5]));
    assert!(events.is_empty());
}

/// [RFC7959-2.6-1]
#[test]
fn an_error_instead_of_the_rest_waits_for_the_next() {
    let (mut client, request) = observing();
    let mut first = block2(0, true, request.token, vec![1; 1024]);
    first.options.push_uint(Number::OBSERVE, 1);
    client.handle_input(NOW, &bytes_of(&first)).unwrap();
    let rest = sent(&mut client).0.pop().unwrap();
    let mut error = Message::new(Code::NOT_FOUND);
    error.token = rest.token;
    client.handle_input(NOW, &bytes_of(&error)).unwrap();
    assert!(sent(&mut client).1.is_empty());
    let mut next = Message::new(Code::CONTENT).with_payload("x");
    next.token = request.token;
    next.options.push_uint(Number::OBSERVE, 2);
    client.handle_input(NOW, &bytes_of(&next)).unwrap();
    assert!(matches!(sent(&mut client).1[..], [Event::Notification(..)]));
}

/// [RFC8323-5.5-1]
#[test]
fn after_a_release_nothing_more_is_asked() {
    for by_peer in [true, false] {
        let mut connection = greeted();
        match by_peer {
            true => {
                let release = bytes_of(&Message::new(Code::RELEASE));
                connection.handle_input(NOW, &release).unwrap();
            }
            false => connection.release(),
        }
        assert!(connection.is_released());
        assert_eq!(connection.request(Message::new(Code::GET)), None);
    }
}
