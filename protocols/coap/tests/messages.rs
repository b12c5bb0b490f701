//! The message layer and exchanges of the server, in bytes (RFC 7252).
#![allow(clippy::unwrap_used)]

use crate::server;

use server::{ACK, CON, NON, RST, Server, content, get, request};
use std::time::Duration;
use weir_coap::limits::{ACK_DELAY, Limits};
use weir_coap::session::Arrival;
use weir_coap::wire::{Code, Message, Number};

/// [RFC7252-5.2.1-2] [RFC7252-5.3.1-1] [RFC7252-4.2-8]
#[test]
fn an_answer_at_once_is_in_the_acknowledgement() {
    let mut server = Server::new();
    let back = server.ask(CON, 0x7d34, &get("/temperature"));
    assert_eq!(back.len(), 1);
    assert_eq!((back[0].kind, back[0].id), (ACK, 0x7d34));
    assert_eq!(back[0].message.code, Code::CONTENT);
    assert_eq!(back[0].message.token, get("/").token);
    assert_eq!(server.endpoint.kept(), [0; 4]);
}

/// [RFC7252-5.2.3-1] [RFC7252-4.3-4]
#[test]
fn a_request_that_is_not_confirmable_is_answered_alike() {
    let mut server = Server::new();
    let back = server.ask(NON, 0x7d34, &get("/temperature"));
    assert_eq!((back.len(), back[0].kind), (1, NON));
    assert_eq!(back[0].message.token, get("/").token);
    let again = server.ask(NON, 0x7d35, &get("/temperature"));
    assert_eq!(again[0].id, back[0].id.wrapping_add(1));
}

/// [RFC7252-5.2.2-1] [RFC7252-5.2.2-2] [RFC7252-5.2.2-4]
#[test]
fn an_answer_that_takes_longer_is_confirmable() {
    let mut server = Server::new();
    server.waits = true;
    assert!(server.ask(CON, 1, &get("/slow")).is_empty());
    let first = server.pass(ACK_DELAY);
    assert_eq!((first.len(), first[0].kind, first[0].id), (1, ACK, 1));
    assert_eq!(first[0].message, Message::new(Code::EMPTY));
    server.answer(&server.requests[0].clone());
    let second = server.collect();
    assert_eq!(
        (second[0].kind, second[0].message.code),
        (CON, Code::CONTENT)
    );
    assert_eq!(second[0].message.token, get("/").token);
    assert!(
        server
            .ask(ACK, second[0].id, &Message::new(Code::EMPTY))
            .is_empty()
    );
    assert!(server.pass(Duration::from_secs(100)).is_empty());
}

/// [RFC7252-5.2.3-1]
#[test]
fn a_late_answer_is_not_announced_without_confirmation() {
    let mut server = Server::new();
    server.waits = true;
    server.ask(NON, 1, &get("/slow"));
    assert!(server.pass(Duration::from_secs(2)).is_empty());
    server.answer(&server.requests[0].clone());
    assert_eq!(server.collect()[0].kind, NON);
}

/// [RFC7252-4.2-6] [RFC7252-4.2-7] [RFC7252-4.2-12]
#[test]
fn a_confirmable_message_is_repeated_and_given_up() {
    let mut server = Server::new();
    server.waits = true;
    server.ask(CON, 1, &get("/slow"));
    server.pass(ACK_DELAY);
    server.answer(&server.requests[0].clone());
    let sent = server.collect();
    let began = server.now;
    let mut times = Vec::new();
    for _ in 0..4 {
        let before = server.now;
        let again = loop {
            let again = server.pass(Duration::from_millis(100));
            if !again.is_empty() {
                break again;
            }
        };
        assert_eq!(again, sent);
        times.push(server.now.since(before).as_millis());
    }
    for (one, next) in times.iter().zip(&times[1..]) {
        assert!(next.abs_diff(one * 2) <= 200, "{times:?}");
    }
    assert!((2000..3200).contains(&times[0]), "{times:?}");
    assert!(server.pass(Duration::from_secs(200)).is_empty());
    assert!(server.now.since(began) > Duration::from_secs(200));
}

/// [RFC7252-4.5-1]
#[test]
fn a_confirmable_duplicate_gets_the_same_answer() {
    let mut server = Server::new();
    let post = request(Code::POST, "/a").with_payload("x");
    let first = server.ask(CON, 9, &post);
    server.pass(Duration::from_secs(60));
    assert_eq!(server.ask(CON, 9, &post), first);
    assert_eq!(server.requests.len(), 1);
    server.pass(Duration::from_secs(190));
    server.ask(CON, 9, &post);
    assert_eq!(server.requests.len(), 2);
}

/// [RFC7252-4.5-2]
#[test]
fn a_duplicate_that_is_not_confirmable_is_passed_over() {
    let mut server = Server::new();
    let post = request(Code::POST, "/a").with_payload("x");
    assert_eq!(server.ask(NON, 9, &post).len(), 1);
    assert!(server.ask(NON, 9, &post).is_empty());
    assert_eq!(server.requests.len(), 1);
}

/// [RFC7252-4.5-1] [RFC7252-5.2.2-4]
#[test]
fn a_duplicate_of_a_request_under_way_is_acknowledged() {
    let mut server = Server::new();
    server.waits = true;
    server.ask(CON, 9, &get("/slow"));
    let back = server.ask(CON, 9, &get("/slow"));
    assert_eq!(
        (back.len(), back[0].kind, back[0].message.code),
        (1, ACK, Code::EMPTY)
    );
    assert_eq!(server.requests.len(), 1);
    assert_eq!(server.ask(CON, 9, &get("/slow")), back);
}

/// [RFC7252-4.3-1] [RFC7252-4.2-2] [RFC7252-4.2-9]
#[test]
fn a_ping_is_rejected_and_other_empty_messages_passed_over() {
    let mut server = Server::new();
    let back = server.send(&[0x40, 0, 0x12, 0x34]);
    assert_eq!((back[0].kind, back[0].id), (RST, 0x1234));
    assert_eq!(back[0].message, Message::new(Code::EMPTY));
    assert!(server.send(&[0x50, 0, 0x12, 0x35]).is_empty());
}

/// [RFC7252-4.2-2] [RFC7252-4.2-3] [RFC7252-4.3-2] [RFC7252-3-2]
#[test]
fn what_cannot_be_processed_is_rejected_if_confirmable() {
    for rejected in [
        &[0x40, 0x20, 0, 1][..],   // class 1
        &[0x40, 0xc0, 0, 1],       // class 6
        &[0x40, 0xe0, 0, 1],       // class 7
        &[0x40, 0x45, 0, 1],       // a response nobody asked for
        &[0x49, 0x01, 0, 1],       // token length 9
        &[0x42, 0x01, 0, 1, 1],    // token cut off
        &[0x40, 0x01, 0, 1, 0xff], // marker without payload
        &[0x40, 0x01, 0, 1, 0xf1], // option delta 15
        &[0x40, 0x01, 0, 1, 0x1f], // option length 15
        &[0x40, 0x01, 0, 1, 0xb5], // option cut off
        &[0x40, 0x00, 0, 1, 0x01], // empty with bytes
    ] {
        let mut server = Server::new();
        let back = server.send(rejected);
        assert_eq!(back.len(), 1, "{rejected:02x?}");
        assert_eq!((back[0].kind, back[0].id), (RST, 1), "{rejected:02x?}");
        for first in [0x10, 0x20, 0x30] {
            let mut other = rejected.to_vec();
            other[0] ^= first;
            assert!(server.send(&other).is_empty(), "{other:02x?}");
        }
        assert!(server.requests.is_empty());
        assert_eq!(server.endpoint.kept(), [0; 4]);
    }
}

/// [RFC7252-3-1] [RFC7252-4.2-4] [RFC7252-4.2-10] [RFC7252-4.2-11]
#[test]
fn stray_messages_and_other_versions_are_not_answered() {
    let mut server = Server::new();
    for ignored in [
        &[0x00, 1, 0, 1][..],
        &[0x80, 1, 0, 1],
        &[0xc0, 0, 0, 1],
        &[0x40, 1, 0],
        &[],
        &[0x60, 0, 0, 1],
        &[0x60, 0x02, 0, 1],
        &[0x60, 0xe0, 0, 1],
        &[0x60, 0x45, 0, 1],
        &[0x70, 0, 0, 1],
        &[0x70, 0x02, 0, 1],
    ] {
        assert!(server.send(ignored).is_empty(), "{ignored:02x?}");
    }
    assert!(server.requests.is_empty());
}

/// [RFC7252-5.4.1-2] [RFC7252-5.4.1-3] [RFC7252-5.4.1-5]
#[test]
fn an_unknown_critical_option_is_told_to_who_asked_confirmably() {
    let mut server = Server::new();
    let mut bad = get("/a");
    bad.options.push(Number(9), b"x");
    let back = server.ask(CON, 1, &bad);
    assert_eq!(
        (back[0].kind, back[0].message.code),
        (ACK, Code::BAD_OPTION)
    );
    assert_eq!(&back[0].message.payload[..8], b"option 9");
    assert!(server.ask(NON, 2, &bad).is_empty());
    assert!(server.requests.is_empty());
}

/// [RFC7252-5.10.2-1] [RFC7252-5.8-1] [RFC7252-5.7.2-1] [RFC7252-5.10.2-2]
#[test]
fn proxying_and_unknown_methods_are_refused() {
    let mut server = Server::new();
    let mut proxied = get("/a");
    proxied
        .options
        .push(Number::PROXY_URI, b"coap://elsewhere/");
    assert_eq!(
        server.ask(CON, 1, &proxied)[0].message.code,
        Code::PROXYING_NOT_SUPPORTED
    );
    let unknown = request(Code::new(0, 30), "/a");
    assert_eq!(
        server.ask(CON, 2, &unknown)[0].message.code,
        Code::METHOD_NOT_ALLOWED
    );
}

/// [RFC8768-3-1]
#[test]
fn a_hop_limit_of_nothing_is_a_bad_request() {
    let mut server = Server::new();
    for (limit, code) in [
        (0, Code::BAD_REQUEST),
        (1, Code::CONTENT),
        (255, Code::CONTENT),
    ] {
        let mut hops = get("/a");
        hops.options.push(Number::HOP_LIMIT, &[limit]);
        let id = 100 + u16::from(limit);
        assert_eq!(server.ask(CON, id, &hops)[0].message.code, code);
    }
}

/// [RFC7967-2-1] [RFC7967-2.1-1]
#[test]
fn classes_of_answers_that_are_not_wanted_are_not_sent() {
    let mut server = Server::new();
    let ask = |path: &str, classes: u32| {
        let mut message = get(path);
        message.options.push_uint(Number::NO_RESPONSE, classes);
        message
    };
    assert!(server.ask(NON, 1, &ask("/a", 2)).is_empty());
    assert_eq!(server.ask(NON, 2, &ask("/none", 2)).len(), 1);
    assert!(server.ask(NON, 3, &ask("/none", 26)).is_empty());
    assert_eq!(server.ask(NON, 4, &ask("/a", 24)).len(), 1);
    let acknowledged = server.ask(CON, 5, &ask("/a", 2));
    assert_eq!(
        (acknowledged[0].kind, acknowledged[0].message.code),
        (ACK, Code::EMPTY)
    );
}

/// [RFC7252-8.1-1] [RFC7252-8.1-2] [RFC7252-8.2-1] [RFC7252-8.1-4] [RFC7252-8.2-2]
#[test]
fn a_group_is_answered_later_without_errors_and_not_confirmably() {
    let mut server = Server::new();
    server.arrival.multicast = true;
    assert!(server.ask(CON, 1, &get("/a")).is_empty());
    assert!(server.send(&[0x40, 0, 0, 2]).is_empty());
    assert!(server.send(&[0x49, 1, 0, 2]).is_empty());
    assert!(server.ask(NON, 3, &get("/none")).is_empty());
    assert!(server.ask(NON, 4, &get("/a")).is_empty());
    let back = server.pass(Duration::from_secs(5));
    assert_eq!((back.len(), back[0].kind), (1, NON));
    assert_eq!(back[0].message.code, Code::CONTENT);
}

/// [RFC7252-5.9.3.4-1]
#[test]
fn too_many_requests_at_once_are_told_when_to_try_again() {
    let limits = Limits {
        exchanges: 2,
        ..Limits::default()
    };
    let mut server = Server::with(limits);
    server.waits = true;
    assert!(server.ask(CON, 1, &get("/slow")).is_empty());
    assert!(server.ask(CON, 2, &get("/slow")).is_empty());
    let refused = &server.ask(CON, 3, &get("/slow"))[0].message;
    assert_eq!(refused.code, Code::SERVICE_UNAVAILABLE);
    assert_eq!(refused.options.uint(Number::MAX_AGE), Some(1));
    server.answer(&server.requests[0].clone());
    server.collect();
    assert!(server.ask(CON, 4, &get("/slow")).is_empty());
}

/// [RFC7252-4.7-1]
#[test]
fn one_confirmable_message_at_a_time_is_on_its_way_to_a_peer() {
    let mut server = Server::new();
    server.waits = true;
    for id in 0..3 {
        let mut message = get("/slow");
        message.token = weir_coap::wire::Token::new(&[id]).unwrap();
        server.ask(CON, u16::from(id), &message);
    }
    server.pass(ACK_DELAY);
    for request in server.requests.clone() {
        server.answer(&request);
    }
    for _ in 0..3 {
        let sent = server.collect();
        assert_eq!((sent.len(), sent[0].kind), (1, CON));
        let acknowledgement = [0x60, 0, (sent[0].id >> 8) as u8, sent[0].id as u8];
        server
            .endpoint
            .receive(server.now, 1, Arrival::default(), &acknowledgement);
    }
    assert!(server.collect().is_empty());
}

/// [RFC7252-4.7-4] [RFC7252-11.3-1] [RFC7252-11.3-2] [RFC9175-2.6-1]
#[test]
fn a_large_answer_to_an_unproven_address_waits_for_an_echo() {
    let mut server = Server::new();
    server.arrival.untrusted = true;
    let asked = server.ask(CON, 1, &get("/large"));
    assert_eq!(asked[0].message.code, Code::UNAUTHORIZED);
    let value = asked[0]
        .message
        .options
        .first(Number::ECHO)
        .unwrap()
        .to_vec();
    let small = server.ask(CON, 2, &get("/a"));
    assert_eq!(small[0].message.code, Code::CONTENT);
    let mut proven = get("/large");
    proven.options.push(Number::ECHO, &value);
    assert_eq!(server.ask(CON, 3, &proven)[0].message.payload.len(), 1024);
    assert_eq!(
        server.ask(CON, 4, &get("/large"))[0].message.code,
        Code::CONTENT
    );
    let mut forged = Vec::new();
    weir_coap::wire::write_datagram(CON, 5, &proven, &mut forged);
    assert_eq!(
        server.send_from(2, &forged)[0].message.code,
        Code::UNAUTHORIZED
    );
}

/// [RFC7641-7-2]
#[test]
fn a_flood_from_forged_addresses_stays_within_the_limits() {
    let limits = Limits {
        peers: 100,
        seen: 100,
        seen_bytes: 10_000,
        exchanges: 10,
        observations: 50,
        ..Limits::default()
    };
    let mut server = Server::with(limits);
    for peer in 0..5000 {
        let mut bytes = Vec::new();
        let message = match peer % 3 {
            0 => server::observe("/a"),
            1 => get("/large"),
            _ => request(Code::PUT, "/a"),
        };
        let kind = if peer % 2 == 0 { CON } else { NON };
        weir_coap::wire::write_datagram(kind, peer as u16, &message, &mut bytes);
        server.send_from(peer, &bytes);
    }
    let [peers, observations, exchanges, calls] = server.endpoint.kept();
    assert!(peers <= 100 && observations <= 50 && exchanges == 0 && calls == 0);
    for id in server.endpoint.observations() {
        server.endpoint.end_observation(server.now, id);
    }
    server.pass(Duration::from_secs(600));
    assert_eq!(server.endpoint.kept(), [0; 4]);
    assert_eq!(content("x").payload.len(), 1);
}

fn empty(kind: u8, id: u16) -> [u8; 4] {
    [0x40 | kind << 4, 0, (id >> 8) as u8, id as u8]
}

/// A confirmable answer that is on its way, and the server that sent it.
fn separate() -> (Server, u16) {
    let mut server = Server::new();
    server.waits = true;
    server.ask(CON, 1, &get("/slow"));
    server.pass(ACK_DELAY);
    server.answer(&server.requests[0].clone());
    let id = server.collect()[0].id;
    (server, id)
}

/// [RFC7252-4.2-8] [RFC7252-4.2-14]
#[test]
fn a_request_that_comes_late_again_is_acknowledged_again() {
    let (mut server, id) = separate();
    assert!(server.send(&empty(2, id)).is_empty());
    let again = server.ask(CON, 1, &get("/slow"));
    assert_eq!((again.len(), again[0].kind, again[0].id), (1, ACK, 1));
    assert_eq!(again[0].message, Message::new(Code::EMPTY));
    assert_eq!(server.requests.len(), 1);
}

/// [RFC7252-4.4-3] [RFC7252-5.2.2-6]
#[test]
fn an_answer_is_repeated_until_its_own_peer_acknowledges() {
    let reset = |id| empty(3, id).to_vec();
    let with_code = |id| {
        let mut bytes = Vec::new();
        weir_coap::wire::write_datagram(ACK, id, &content("x"), &mut bytes);
        bytes
    };
    for acknowledge in [&reset as &dyn Fn(u16) -> Vec<u8>, &with_code] {
        let (mut server, id) = separate();
        server.send_from(2, &empty(2, id));
        server.send(&empty(2, id.wrapping_add(1)));
        assert_eq!(server.pass(Duration::from_secs(4)).len(), 1);
        server.send(&acknowledge(id));
        assert!(server.pass(Duration::from_secs(200)).is_empty());
    }
}

/// [RFC7252-4.5-3] [RFC7641-4.1-4]
#[test]
fn what_changes_nothing_is_read_again_as_often_as_it_comes() {
    let mut server = Server::new();
    let first = server.ask(CON, 9, &get("/a"));
    let again = server.ask(CON, 9, &get("/a"));
    assert_eq!((&again, server.requests.len()), (&first, 2));
    assert_eq!(server.endpoint.kept(), [0; 4]);
    let mut observe = server::observe("/a");
    observe.token = weir_coap::wire::Token::new(&[7]).unwrap();
    let registered = server.ask(CON, 10, &observe);
    assert_eq!(server.ask(CON, 10, &observe), registered);
    assert_eq!(server.requests.len(), 3);
}

/// [RFC7252-8.2-4] [RFC6690-4-2]
#[test]
fn a_group_is_not_told_of_nothing() {
    let mut server = Server::new();
    server.arrival.multicast = true;
    server.ask(NON, 1, &request(Code::PUT, "/a"));
    assert!(server.pass(Duration::from_secs(6)).is_empty());
}

/// [RFC7252-3-5] [RFC7252-4.6-1]
#[test]
fn what_is_sent_needs_one_packet() {
    let mut server = Server::new();
    let back = server.ask(CON, 1, &get("/large"));
    let mut bytes = Vec::new();
    weir_coap::wire::write_datagram(ACK, 1, &back[0].message, &mut bytes);
    assert_eq!(back[0].message.payload.len(), 1024);
    assert!(bytes.len() <= 1152);
    assert_eq!(bytes[0] >> 6, 1);
}

/// [RFC7252-4.2-13]
#[test]
fn what_is_sent_again_stays_within_its_time() {
    let (mut server, _) = separate();
    let began = server.now;
    for _ in 0..4 {
        while server.pass(Duration::from_millis(100)).is_empty() {}
    }
    let span = server.now.since(began);
    assert!(span <= Duration::from_millis(45_100), "{span:?}");
    assert!(server.pass(Duration::from_secs(200)).is_empty());
}

/// [RFC7641-2-3]
#[test]
fn observe_means_nothing_to_what_is_no_get() {
    let mut server = Server::new();
    let mut put = request(Code::PUT, "/a");
    put.options.push_uint(Number::OBSERVE, 0);
    let back = server.ask(CON, 1, &put);
    assert_eq!(back[0].message.code, Code::CHANGED);
    assert_eq!(back[0].message.options.uint(Number::OBSERVE), None);
    assert!(server.observations.is_empty());
}

/// [RFC7252-4.5-1]
#[test]
fn duplicates_are_known_while_many_others_come() {
    let mut server = Server::new();
    let post = request(Code::POST, "/a").with_payload("x");
    let datagram = |peer: u32| {
        let mut bytes = Vec::new();
        weir_coap::wire::write_datagram(CON, peer as u16, &post, &mut bytes);
        bytes
    };
    let first: Vec<_> = (0..10_000)
        .map(|peer| server.send_from(peer, &datagram(peer)))
        .collect();
    for (peer, answered) in (0..).zip(&first) {
        assert_eq!(&server.send_from(peer, &datagram(peer)), answered);
    }
    assert_eq!(server.requests.len(), 10_000);
    assert_eq!(server.endpoint.kept(), [0; 4]);
}
