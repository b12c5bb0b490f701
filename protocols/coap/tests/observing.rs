//! Observation, both halves (RFC 7641).
#![allow(clippy::unwrap_used)]

use crate::server;

use server::{ACK, Back, CON, NON, RST, Server, content, get, observe};
use std::time::Duration;
use weir_coap::limits::{Limits, NOTIFICATION_BURST, UNCONFIRMED_MAX};
use weir_coap::wire::{Code, Kind, Message, Number, Token};

fn number(back: &Back) -> Option<u32> {
    back.message.options.uint(Number::OBSERVE)
}

fn acknowledge(server: &mut Server, back: &Back) -> Vec<Back> {
    server.ask(ACK, back.id, &Message::new(Code::EMPTY))
}

fn notify(server: &mut Server, text: &'static str) -> Vec<Back> {
    let id = *server.observations.last().unwrap();
    server.endpoint.notify(server.now, id, content(text));
    server.collect()
}

fn observed(kind: Kind) -> Server {
    let mut server = Server::new();
    let back = server.ask(kind, 1, &observe("/a"));
    assert!(number(&back[0]).is_some());
    server
}

/// [RFC7641-2-1] [RFC7641-4.1-1] [RFC7641-4.2-2] [RFC7641-3.2-2]
#[test]
fn a_registration_is_answered_and_told_what_follows() {
    let mut server = observed(CON);
    let told = notify(&mut server, "22.0");
    assert_eq!((told.len(), told[0].kind), (1, CON));
    assert_eq!(told[0].message.token, get("/").token);
    assert_eq!(&told[0].message.payload[..], b"22.0");
    let before = number(&told[0]).unwrap();
    acknowledge(&mut server, &told[0]);
    let next = notify(&mut server, "22.5");
    assert!(number(&next[0]).unwrap() > before);
}

/// [RFC7641-4.1-3]
#[test]
fn what_cannot_be_observed_is_answered_without_the_option() {
    let mut server = Server::new();
    let back = server.ask(CON, 1, &observe("/none"));
    assert_eq!(
        (back[0].message.code, number(&back[0])),
        (Code::NOT_FOUND, None)
    );
    assert_eq!(server.endpoint.kept()[1], 0);
    let mut odd = get("/a");
    odd.options.push_uint(Number::OBSERVE, 7);
    assert_eq!(number(&server.ask(CON, 2, &odd)[0]), None);
}

/// [RFC7641-4.1-2]
#[test]
fn registering_again_does_not_double_what_is_told() {
    let mut server = observed(CON);
    server.ask(CON, 2, &observe("/a"));
    assert_eq!((server.endpoint.kept()[1], server.ended.len()), (1, 1));
    assert_eq!(notify(&mut server, "22.0").len(), 1);
}

/// [RFC7641-4.5.2-1] [RFC7641-4.5-4]
#[test]
fn while_one_notification_is_on_its_way_only_the_newest_waits() {
    let mut server = observed(CON);
    let first = notify(&mut server, "1");
    assert!(notify(&mut server, "2").is_empty());
    assert!(notify(&mut server, "3").is_empty());
    let next = acknowledge(&mut server, &first[0]);
    assert_eq!((next.len(), &next[0].message.payload[..]), (1, &b"3"[..]));
    assert!(acknowledge(&mut server, &next[0]).is_empty());
}

/// [RFC7641-4.5.2-2] [RFC7641-4.5.2-3]
#[test]
fn instead_of_an_old_notification_the_newest_is_sent_again() {
    let mut server = observed(CON);
    let first = notify(&mut server, "1");
    notify(&mut server, "2");
    let again = server.pass(Duration::from_secs(3));
    assert_eq!((again.len(), &again[0].message.payload[..]), (1, &b"2"[..]));
    assert_ne!(again[0].id, first[0].id);
    assert!(number(&again[0]) > number(&first[0]));
}

/// [RFC7641-4.5-3]
#[test]
fn who_does_not_acknowledge_is_told_no_more() {
    let mut server = observed(CON);
    notify(&mut server, "1");
    assert_eq!(server.pass(Duration::from_secs(100)).len(), 4);
    assert_eq!((server.ended.len(), server.endpoint.kept()[1]), (1, 0));
    assert!(notify(&mut server, "2").is_empty());
}

/// [RFC7641-4.2-1]
#[test]
fn who_rejects_a_notification_is_told_no_more() {
    for kind in [CON, NON] {
        let mut server = observed(kind);
        let told = notify(&mut server, "1");
        assert_eq!(told[0].kind, kind);
        server.ask(RST, told[0].id, &Message::new(Code::EMPTY));
        assert_eq!((server.ended.len(), server.endpoint.kept()[1]), (1, 0));
        assert!(notify(&mut server, "2").is_empty());
    }
}

/// [RFC7641-3.6-1]
#[test]
fn who_says_so_is_told_no_more() {
    let mut server = observed(CON);
    let mut bye = get("/a");
    bye.options.push_uint(Number::OBSERVE, 1);
    let back = server.ask(CON, 2, &bye);
    assert_eq!(
        (back[0].message.code, number(&back[0])),
        (Code::CONTENT, None)
    );
    assert!(notify(&mut server, "2").is_empty());
}

#[test]
fn a_request_by_another_token_changes_nothing() {
    let mut server = observed(CON);
    let mut other = get("/a");
    other.token = Token::new(&[9]).unwrap();
    server.ask(CON, 2, &other);
    assert_eq!(notify(&mut server, "2").len(), 1);
}

/// [RFC7641-4.2-3] [RFC7641-4.2-4]
#[test]
fn an_error_is_the_last_that_is_told_and_has_no_number() {
    let mut server = observed(CON);
    let id = server.observations[0];
    server
        .endpoint
        .notify(server.now, id, Message::new(Code::NOT_FOUND));
    let last = server.collect();
    assert_eq!((last[0].kind, last[0].message.code), (CON, Code::NOT_FOUND));
    assert_eq!((number(&last[0]), server.ended.len()), (None, 1));
    acknowledge(&mut server, &last[0]);
    assert!(notify(&mut server, "2").is_empty());
}

/// [RFC7641-4.5-1]
#[test]
fn notifications_are_confirmable_every_now_and_then() {
    let mut server = observed(NON);
    for _ in 0..UNCONFIRMED_MAX {
        assert_eq!(notify(&mut server, "1")[0].kind, NON);
    }
    let check = notify(&mut server, "2");
    assert_eq!(check[0].kind, CON);
    acknowledge(&mut server, &check[0]);
    assert_eq!(notify(&mut server, "3")[0].kind, NON);
}

/// [RFC7641-4.5.1-1] [RFC7641-4.5.1-2]
#[test]
fn unacknowledged_notifications_are_spaced_and_conflated() {
    let mut server = observed(NON);
    let mut sent = 0;
    for _ in 0..200 {
        for back in notify(&mut server, "1") {
            sent += 1;
            if back.kind == CON {
                server.now = server.now + Duration::from_millis(50);
                acknowledge(&mut server, &back);
            }
        }
    }
    assert!(sent <= 2 * NOTIFICATION_BURST + 10, "{sent}");
    assert_eq!(server.pass(Duration::from_secs(1)).len(), 1);
}

/// [RFC7959-2.6-1]
#[test]
fn a_large_notification_is_fetched_in_blocks() {
    let mut server = Server::new();
    server.ask(CON, 1, &observe("/large"));
    let id = server.observations[0];
    let body = Message::new(Code::CONTENT).with_payload(server::large());
    server.endpoint.notify(server.now, id, body);
    let told = server.collect();
    assert_eq!(told[0].message.options.uint(Number::BLOCK2), Some(0x0e));
    let mut rest = get("/large");
    rest.options.push_uint(Number::BLOCK2, 0x26);
    let last = server.ask(CON, 2, &rest);
    assert_eq!(last[0].message.payload[..], server::large()[2048..]);
    assert_eq!(number(&last[0]), None);
    assert_eq!(server.requests.len(), 1);
}

/// [RFC7641-7-1]
#[test]
fn observations_of_one_peer_and_altogether_are_bounded() {
    let limits = Limits {
        observations_a_peer: 5,
        observations: 8,
        ..Limits::default()
    };
    let mut server = Server::with(limits);
    let mut registered = 0;
    for peer in 0..4 {
        for token in 0..10 {
            let mut message = observe("/a");
            message.token = Token::new(&[token]).unwrap();
            let mut bytes = Vec::new();
            weir_coap::wire::write_datagram(CON, u16::from(token), &message, &mut bytes);
            let back = server.send_from(peer, &bytes);
            registered += usize::from(number(&back[0]).is_some());
        }
    }
    assert_eq!((registered, server.endpoint.kept()[1]), (8, 8));
}
