//! The client's half, in bytes (RFC 7252 sections 4 and 5, RFC 7641 section 3).
#![allow(clippy::unwrap_used)]

use std::time::Duration;
use weir_coap::limits::Limits;
use weir_coap::session::{Arrival, CallId, Endpoint, Event, Failure, Parameters};
use weir_coap::wire::{Code, Kind, Message, Number, Token, parse_datagram, write_datagram};
use weir_sansio::{Instant, Output};

struct Client {
    endpoint: Endpoint<u32>,
    now: Instant,
    events: Vec<Event<u32>>,
}

type Sent = (Kind, u16, Message);

impl Client {
    fn new() -> Self {
        Self {
            endpoint: Endpoint::new(Parameters::default(), Limits::default(), 9),
            now: Instant::START,
            events: Vec::new(),
        }
    }

    fn ask(&mut self, message: Message) -> (CallId, Sent) {
        let call = self.endpoint.request(self.now, 1, message, true).unwrap();
        (call, self.collect().pop().unwrap())
    }

    fn collect(&mut self) -> Vec<Sent> {
        let mut sent = Vec::new();
        loop {
            match self.endpoint.poll() {
                Output::Transmit(datagram) => {
                    let read = parse_datagram(&datagram.bytes).unwrap();
                    sent.push((read.kind, read.id, read.to_message()));
                }
                Output::Event(event) => self.events.push(event),
                Output::Timeout(_) => return sent,
            }
        }
    }

    fn hear(&mut self, peer: u32, kind: Kind, id: u16, message: &Message) -> Vec<Sent> {
        let mut bytes = Vec::new();
        write_datagram(kind, id, message, &mut bytes);
        self.endpoint
            .receive(self.now, peer, Arrival::default(), &bytes);
        self.collect()
    }

    fn pass(&mut self, time: Duration) -> Vec<Sent> {
        let until = self.now + time;
        let mut sent = Vec::new();
        loop {
            sent.extend(self.collect());
            let Output::Timeout(at) = self.endpoint.poll() else {
                continue;
            };
            if at > until {
                self.now = until;
                return sent;
            }
            self.now = self.now.max(at);
            self.endpoint.timeout(self.now);
        }
    }
}

fn answer(token: Token) -> Message {
    Message {
        token,
        ..Message::new(Code::CONTENT).with_payload("21.5")
    }
}

fn observe() -> Message {
    let mut message = Message::new(Code::GET);
    message.options.push_uint(Number::OBSERVE, 0);
    message
}

fn numbered(token: Token, number: u32) -> Message {
    let mut message = answer(token);
    message.options.push_uint(Number::OBSERVE, number);
    message
}

const ACK: Kind = Kind::Acknowledgement;
const CON: Kind = Kind::Confirmable;
const NON: Kind = Kind::NonConfirmable;

/// [RFC7252-4.2-1] [RFC7252-5.2.2-3] [RFC7252-5.3.2-1] [RFC7252-4.2-15] [RFC7252-4.5-4]
/// [RFC7252-5.2.1-3] [RFC7252-5.2.2-5]
#[test]
fn a_separate_answer_stops_the_request_from_being_sent_again() {
    let mut client = Client::new();
    let (call, (kind, _, request)) = client.ask(Message::new(Code::GET));
    assert_eq!(kind, CON);
    let back = client.hear(1, CON, 700, &answer(request.token));
    assert_eq!(back, [(ACK, 700, Message::new(Code::EMPTY))]);
    assert!(matches!(client.events[..], [Event::Response(id, 1, _)] if id == call));
    assert!(client.pass(Duration::from_secs(100)).is_empty());
    let again = client.hear(1, CON, 700, &answer(request.token));
    assert_eq!((again, client.events.len()), (back, 1));
}

/// [RFC7252-5.3.2-1] [RFC7252-4.3-3] [RFC7252-4.2-2] [RFC7252-5.3.2-4]
#[test]
fn an_answer_that_nobody_waits_for_is_rejected() {
    let mut client = Client::new();
    let (_, (_, _, request)) = client.ask(Message::new(Code::GET));
    let elsewhere = client.hear(2, CON, 1, &answer(request.token));
    assert_eq!(elsewhere, [(Kind::Reset, 1, Message::new(Code::EMPTY))]);
    let other = answer(Token::new(&[1]).unwrap());
    assert!(client.hear(1, NON, 2, &other).is_empty());
    assert!(client.events.is_empty());
}

/// [RFC7252-5.3.1-2] [RFC7252-5.3.1-3]
#[test]
fn every_request_has_a_token_of_its_own() {
    let mut client = Client::new();
    let mut tokens = std::collections::BTreeSet::new();
    for _ in 0..200 {
        let call = client
            .endpoint
            .request(client.now, 1, Message::new(Code::GET), false);
        let (_, _, sent) = client.collect().pop().unwrap();
        assert!(sent.token.as_bytes().len() >= 4);
        tokens.insert(sent.token);
        client.endpoint.cancel(client.now, call.unwrap());
    }
    assert_eq!(tokens.len(), 200);
}

/// [RFC7252-5.4.1-4]
#[test]
fn an_answer_with_an_unknown_critical_option_fails() {
    let mut client = Client::new();
    let (call, (_, id, request)) = client.ask(Message::new(Code::GET));
    let mut bad = answer(request.token);
    bad.options.push(Number(9), b"x");
    client.hear(1, ACK, id, &bad);
    assert_eq!(client.events, [Event::Failed(call, Failure::Misbehaved)]);
}

/// [RFC7252-8.1-3] [RFC7252-8.2-5]
#[test]
fn a_group_is_asked_not_confirmably_and_all_are_told() {
    let mut client = Client::new();
    let call = client
        .endpoint
        .request_group(client.now, 99, Message::new(Code::GET));
    let (kind, _, request) = client.collect().pop().unwrap();
    assert_eq!(kind, NON);
    for peer in 1..4 {
        client.hear(peer, NON, peer as u16, &answer(request.token));
    }
    assert_eq!(client.events.len(), 3);
    assert!(matches!(client.events[2], Event::Response(id, 3, _) if Some(id) == call));
    client.pass(Duration::from_secs(300));
    assert_eq!(client.endpoint.kept(), [0; 4]);
}

/// [RFC7252-4.2-7] [RFC7252-4.7-2]
#[test]
fn a_request_that_nobody_answers_times_out() {
    let mut client = Client::new();
    let (call, sent) = client.ask(Message::new(Code::GET));
    let again = client.pass(Duration::from_secs(93));
    assert_eq!(again, vec![sent; 4]);
    assert_eq!(client.events, [Event::Failed(call, Failure::TimedOut)]);
}

/// [RFC7641-2-2] [RFC7641-3.5-1] [RFC7641-3.6-2]
#[test]
fn notifications_are_acknowledged_while_they_are_wanted() {
    let mut client = Client::new();
    let (call, (_, id, request)) = client.ask(observe());
    client.hear(1, ACK, id, &numbered(request.token, 5));
    let back = client.hear(1, CON, 800, &numbered(request.token, 6));
    assert_eq!(back[0].0, ACK);
    assert!(matches!(
        client.events[..],
        [Event::Notification(..), Event::Notification(..)]
    ));
    client.endpoint.cancel(client.now, call);
    let (_, _, bye) = client.collect().pop().unwrap();
    assert_eq!(
        (bye.token, bye.options.uint(Number::OBSERVE)),
        (request.token, Some(1))
    );
    for (kind, id) in [(CON, 801), (NON, 802)] {
        let back = client.hear(1, kind, id, &numbered(request.token, u32::from(id)));
        assert_eq!(back, [(Kind::Reset, id, Message::new(Code::EMPTY))]);
    }
    assert_eq!(client.events.len(), 2);
}

/// [RFC7641-3.3.1-1] [RFC7641-3.3.1-2] [RFC7252-5.4.4-2]
#[test]
fn an_observation_that_went_stale_is_registered_again() {
    let mut client = Client::new();
    let (_, (_, id, request)) = client.ask(observe());
    let mut first = numbered(request.token, 5);
    first.options.push_uint(Number::MAX_AGE, 30);
    client.hear(1, ACK, id, &first);
    assert!(client.pass(Duration::from_secs(34)).is_empty());
    let again = client.pass(Duration::from_secs(12));
    assert_eq!(
        (again[0].2.token, again[0].2.options.uint(Number::OBSERVE)),
        (request.token, Some(0))
    );
    client.hear(1, ACK, again[0].1, &numbered(request.token, 1 << 20));
    assert_eq!(client.events.len(), 2);
}

/// [RFC7959-2.2-3]
#[test]
fn the_reserved_block_size_is_a_bad_request() {
    let mut server = Client::new();
    for option in [Number::BLOCK1, Number::BLOCK2] {
        let mut request = Message::new(Code::PUT);
        request.options.push_uint(option, 7);
        let back = server.hear(1, CON, option.0, &request);
        assert_eq!((back[0].0, back[0].2.code), (ACK, Code::BAD_REQUEST));
    }
    assert!(server.events.is_empty());
}

/// [RFC7252-5.2.1-3] [RFC7252-5.2.3-2]
#[test]
fn an_answer_may_be_confirmable_or_not_whatever_the_request_was() {
    let mut client = Client::new();
    let (call, (_, id, request)) = client.ask(Message::new(Code::GET));
    client.hear(1, ACK, id, &Message::new(Code::EMPTY));
    client.hear(1, NON, 7, &answer(request.token));
    assert!(matches!(client.events[..], [Event::Response(id, ..)] if id == call));
    let asked = Message::new(Code::GET);
    let call = client.endpoint.request(client.now, 1, asked, false);
    let (kind, _, request) = client.collect().pop().unwrap();
    assert_eq!(kind, NON);
    let back = client.hear(1, CON, 8, &answer(request.token));
    assert_eq!(back, [(ACK, 8, Message::new(Code::EMPTY))]);
    assert!(matches!(client.events[1], Event::Response(id, ..) if Some(id) == call));
}

/// [RFC7252-5.3.2-3]
#[test]
fn an_answer_within_an_acknowledgement_is_of_its_message() {
    let mut client = Client::new();
    let (call, (_, id, request)) = client.ask(Message::new(Code::GET));
    client.hear(1, ACK, id.wrapping_add(1), &answer(request.token));
    client.hear(2, ACK, id, &answer(request.token));
    assert!(client.events.is_empty());
    assert_eq!(client.pass(Duration::from_secs(4)).len(), 1);
    client.hear(1, ACK, id, &answer(request.token));
    assert!(matches!(client.events[..], [Event::Response(id, ..)] if id == call));
}

/// [RFC7252-4.8.1-1]
#[test]
fn one_request_at_a_time_is_on_its_way_to_a_server() {
    for confirmable in [true, false] {
        let mut client = Client::new();
        for _ in 0..3 {
            let message = Message::new(Code::GET);
            let call = client.endpoint.request(client.now, 1, message, confirmable);
            assert!(call.is_some());
        }
        for _ in 0..3 {
            let sent = client.collect();
            assert_eq!(sent.len(), 1);
            let (kind, id, request) = &sent[0];
            let back = if *kind == CON { ACK } else { NON };
            let mut bytes = Vec::new();
            write_datagram(back, *id, &answer(request.token), &mut bytes);
            client
                .endpoint
                .receive(client.now, 1, Arrival::default(), &bytes);
        }
        assert!(client.collect().is_empty());
        assert_eq!(client.events.len(), 3);
    }
}

/// [RFC7252-4.7-2] [RFC7252-4.7-3]
#[test]
fn a_server_that_does_not_answer_gets_a_byte_a_second() {
    let mut client = Client::new();
    let mut sizes = Vec::new();
    for _ in 0..20 {
        let message = Message::new(Code::PUT).with_payload(vec![7; 30]);
        client.endpoint.request(client.now, 1, message, false);
    }
    let mut waited = 0;
    while waited < 240 {
        for (kind, _, message) in client.pass(Duration::from_secs(1)) {
            assert_eq!(kind, NON);
            sizes.push(message.payload.len() + 9);
        }
        waited += 1;
    }
    let bytes: usize = sizes.iter().sum();
    assert!(sizes.len() > 3, "{sizes:?}");
    assert!(bytes <= 240 + sizes[0], "{bytes} bytes in four minutes");
}

/// [RFC7252-5.2-1]
#[test]
fn a_code_that_is_not_known_counts_as_its_class() {
    let mut client = Client::new();
    let (call, (_, id, request)) = client.ask(Message::new(Code::GET));
    let unknown = Message {
        code: Code::new(4, 30),
        ..answer(request.token)
    };
    client.hear(1, ACK, id, &unknown);
    assert!(!unknown.code.is_success() && Code::new(2, 30).is_success());
    assert!(matches!(client.events[..], [Event::Response(id, ..)] if id == call));
}
