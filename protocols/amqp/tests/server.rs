//! The server's half of a connection: literal bytes and frames in, frames and events out.
#![allow(clippy::unwrap_used)]

mod peer;

use bytes::Bytes;
use peer::{Peer, attach_receiver, attach_sender, secs};
use weir_amqp::limits::{MESSAGE_BYTES_MAX, PARTIAL_BYTES_MAX};
use weir_amqp::session::{Delivery, Login, Sent, ServerEvent, Token};
use weir_amqp::wire::{
    Attach, DeliveryState, Detach, Disposition, Flow, Performative, ReceiverSettles, Role, Sasl,
    SaslCode, SenderSettles, Symbol, Tag, TargetKind, Transfer,
};

// [AMQP-2.2-1]
#[test]
fn another_protocol_is_answered_with_the_header_that_is_taken() {
    for header in [
        &b"AMQP\x00\x00\x09\x01"[..],
        b"HTTP/1.1",
        b"AMQP\x02\x01\x00\x00",
    ] {
        let mut peer = Peer::new();
        peer.give(header);
        assert_eq!(peer.said(), b"AMQP\x03\x01\x00\x00");
        assert!(peer.server.is_over());
    }
}

// [AMQP-5.3.2-1] [AMQP-5.3.3-1]
#[test]
fn plain_credentials_are_asked_about_and_the_outcome_told() {
    let mut peer = Peer::new();
    peer.give(b"AMQP\x03\x01\x00\x00");
    let said = peer.said();
    assert_eq!(&said[..8], b"AMQP\x03\x01\x00\x00");
    let mechanisms = vec![Symbol::new("PLAIN"), Symbol::new("ANONYMOUS")];
    assert_eq!(peer::sasl(&said[8..]), vec![Sasl::Mechanisms(mechanisms)]);
    peer.init("PLAIN", b"\0user\0secret");
    let login = Login::Plain("user".into(), b"secret".to_vec());
    assert_eq!(peer.event(), Some(ServerEvent::Login(login)));
    peer.server.admit(Ok(()));
    assert_eq!(
        peer::sasl(&peer.said()),
        vec![Sasl::Outcome(SaslCode::OK, None)]
    );
    peer.give(b"AMQP\x00\x01\x00\x00");
    assert_eq!(peer.said(), b"AMQP\x00\x01\x00\x00");
}

// [AMQP-5.3.3-2]
#[test]
fn a_mechanism_that_is_none_is_an_outcome_and_the_end() {
    for (mechanism, response) in [
        ("SCRAM-SHA-1", &b"n,,"[..]),
        ("PLAIN", b"user"),
        ("PLAIN", b"other\0user\0secret"),
        ("EXTERNAL", b""),
    ] {
        let mut peer = Peer::new();
        peer.give(b"AMQP\x03\x01\x00\x00");
        peer.said();
        peer.init(mechanism, response);
        let said = peer::sasl(&peer.said());
        assert!(
            matches!(said[..], [Sasl::Outcome(SaslCode::AUTH, _)]),
            "{mechanism}"
        );
        assert!(peer.server.is_over());
    }
}

// [AMQP-2.4.3-1]
#[test]
fn a_close_is_answered_and_comes_after_an_open() {
    let mut peer = Peer::opened();
    peer.send(0, &Performative::Close(None));
    assert_eq!(peer.frames(), [(0, Performative::Close(None))]);
    let mut peer = Peer::new();
    peer.give(b"AMQP\x00\x01\x00\x00");
    peer.server.admit(Ok(()));
    peer.send(0, &Performative::Begin(Box::default()));
    let said = peer.said();
    let said = peer::frames_of(&said[8..]);
    assert!(matches!(
        said[..],
        [
            (0, Performative::Open(_)),
            (0, Performative::Close(Some(_)))
        ]
    ));
}

// [AMQP-2.7.1-1] [AMQP-2.7.2-1] [AMQP-2.4.1-1]
#[test]
fn open_and_begin_are_answered_also_when_they_come_at_once() {
    let mut peer = Peer::new();
    peer.open_all_at_once();
    let said = peer.frames();
    assert!(matches!(&said[0].1, Performative::Open(open) if open.channel_max == 63));
    let Performative::Begin(begin) = &said[1].1 else {
        panic!("{said:?}");
    };
    assert_eq!(begin.remote_channel, Some(0));
}

// [AMQP-2.7.1-2] [AMQP-2.7.2-2] [AMQP-2.8.16-1]
#[test]
fn what_breaks_the_rules_of_a_connection_closes_it() {
    let begin = || Performative::Begin(Box::default());
    let cases: [(&str, u16, Performative); 4] = [
        ("amqp:connection:framing-error", 64, begin()),
        ("amqp:not-allowed", 0, begin()),
        ("amqp:not-allowed", 5, Performative::End(None)),
        ("amqp:not-allowed", 0, Performative::Open(Box::default())),
    ];
    for (condition, channel, performative) in cases {
        let mut peer = Peer::opened();
        peer.send(channel, &performative);
        let said = peer.frames();
        let Some((_, Performative::Close(Some(error)))) = said.last() else {
            panic!("{condition}: {said:?}");
        };
        assert_eq!(error.condition.as_str(), condition);
        assert!(peer.server.is_over());
    }
}

// [AMQP-2.3.1-1] [AMQP-2.3.1-2]
#[test]
fn frames_that_are_none_or_too_large_close_the_connection() {
    for bytes in [
        &[0, 0, 0, 4, 2, 0, 0, 0][..],
        &[0, 2, 0, 0, 2, 0, 0, 0],
        &[0, 0, 0, 9, 9, 0, 0, 0, 0],
    ] {
        let mut peer = Peer::opened();
        peer.give(bytes);
        let said = peer.frames();
        let Some((_, Performative::Close(Some(error)))) = said.last() else {
            panic!("{said:?}");
        };
        assert_eq!(error.condition.as_str(), "amqp:connection:framing-error");
    }
}

// [AMQP-2.4.5-1] [AMQP-2.4.5-2]
#[test]
fn a_client_that_is_silent_is_gone_and_others_hear_something() {
    let mut peer = Peer::opened();
    peer.frames();
    // The client told 3 s, and has just heard something.
    peer.pass(secs(1));
    assert!(peer.said().is_empty());
    peer.pass(secs(1));
    assert_eq!(peer.said(), [0, 0, 0, 8, 2, 0, 0, 0]);
    for _ in 0..130 {
        peer.pass(secs(1));
    }
    let said = peer.frames();
    let Some((_, Performative::Close(Some(error)))) = said.last() else {
        panic!("{said:?}");
    };
    assert_eq!(error.condition.as_str(), "amqp:resource-limit-exceeded");
}

// [AMQP-2.7.3-1] [AMQP-2.6.7-1] [AMQP-2.6.12-1]
#[test]
fn a_senders_message_is_accepted_when_the_driver_says_so() {
    let mut peer = Peer::opened();
    let id = peer.attach(attach_sender("a", 0));
    let said = peer.frames();
    assert!(
        matches!(&said[..], [.., (0, Performative::Attach(_)), (0, Performative::Flow(flow))]
        if flow.link_credit == Some(1000) && flow.handle == Some(0))
    );
    for number in 0..3 {
        peer.transfer(number, false, b"payload");
        let Some(ServerEvent::Delivery(received)) = peer.event() else {
            panic!("no delivery");
        };
        assert_eq!(
            (received.link, received.delivery_id, received.settled),
            (id, number, false)
        );
        assert_eq!(received.payload, &b"payload"[..]);
    }
    for number in [0, 1, 2] {
        peer.server.settle(id, number, DeliveryState::Accepted);
    }
    // Deliveries that follow one another are told of as one.
    let expected = Disposition {
        role: Role::Receiver,
        first: 0,
        last: Some(2),
        settled: true,
        state: Some(DeliveryState::Accepted),
        batchable: false,
    };
    assert_eq!(peer.frames(), [(0, Performative::Disposition(expected))]);
}

// [AMQP-2.8.3-1] [AMQP-2.6.12-2]
#[test]
fn a_sender_that_settles_last_is_remembered_until_it_does() {
    let mut peer = Peer::opened();
    let mut attach = attach_sender("a", 0);
    attach.rcv_settle_mode = ReceiverSettles::Second;
    let id = peer.attach(attach);
    peer.frames();
    peer.transfer(0, false, b"payload");
    assert!(matches!(peer.event(), Some(ServerEvent::Delivery(of)) if of.second));
    peer.server.settle(id, 0, DeliveryState::Accepted);
    let said = peer.frames();
    assert!(matches!(&said[..], [(0, Performative::Disposition(of))] if !of.settled));
    let settled = Disposition {
        role: Role::Sender,
        first: 0,
        last: None,
        settled: true,
        state: Some(DeliveryState::Accepted),
        batchable: false,
    };
    peer.send(0, &Performative::Disposition(settled));
    let tag = Tag::new(&[0]).unwrap();
    assert_eq!(peer.event(), Some(ServerEvent::Forgotten(id, tag)));
}

// [AMQP-2.6.14-1] [AMQP-2.7.5-1]
#[test]
fn an_aborted_delivery_is_nothing_and_others_are_whole() {
    let mut peer = Peer::opened();
    peer.attach(attach_sender("a", 0));
    peer.transfer(0, true, b"one ");
    peer.more(true, false, b"two ");
    peer.more(false, false, b"three");
    assert!(
        matches!(peer.event(), Some(ServerEvent::Delivery(of)) if of.payload == "one two three")
    );
    peer.transfer(1, true, b"one ");
    peer.more(false, true, b"");
    assert_eq!(peer.event(), None);
    peer.transfer(2, false, b"whole");
    assert!(matches!(peer.event(), Some(ServerEvent::Delivery(of)) if of.payload == "whole"));
}

#[test]
fn messages_in_parts_have_a_limit_that_costs_one_link() {
    let mut peer = Peer::opened();
    let part = [b'x'; 32 << 10];
    let parts = MESSAGE_BYTES_MAX / part.len();
    let links = (PARTIAL_BYTES_MAX / MESSAGE_BYTES_MAX) as u32;
    for handle in 0..=links {
        peer.attach(attach_sender(&format!("link {handle}"), handle));
    }
    for handle in 0..links {
        peer.transfer_on(handle, handle, true, &part);
        (1..parts).for_each(|_| peer.more_on(handle, true, false, &part));
    }
    assert_eq!(peer.event(), None);
    peer.frames();
    peer.transfer_on(links, links, true, b"1");
    let said = peer.frames();
    assert!(
        matches!(&said[..], [(0, Performative::Detach(Detach { handle, error: Some(error), .. }))]
        if *handle == links && error.condition.as_str() == "amqp:resource-limit-exceeded"),
        "{said:?}"
    );
    assert!(matches!(peer.event(), Some(ServerEvent::Detached(of, _)) if of.handle == links));
    peer.more_on(0, false, false, b"");
    assert!(matches!(peer.event(), Some(ServerEvent::Delivery(of)) if of.link.handle == 0));
}

// [AMQP-2.8.18-1] [AMQP-2.8.18-2] [AMQP-2.6.3-1]
#[test]
fn what_breaks_the_rules_of_a_link_detaches_it_and_no_other() {
    let mut peer = Peer::opened();
    peer.attach(attach_sender("a", 0));
    peer.attach(attach_sender("b", 1));
    peer.frames();
    peer.send_with(
        0,
        &Performative::Transfer(Transfer::default()),
        b"no identifier",
    );
    let said = peer.frames();
    assert!(
        matches!(&said[..], [(0, Performative::Detach(Detach { error: Some(error), .. }))]
        if error.condition.as_str() == "amqp:invalid-field")
    );
    // What still comes on it is passed over; the other link goes on.
    peer.transfer(1, false, b"passed over");
    assert!(matches!(peer.event(), Some(ServerEvent::Detached(..))));
    assert_eq!(peer.event(), None);
    peer.transfer_on(1, 2, false, b"taken");
    assert!(matches!(peer.event(), Some(ServerEvent::Delivery(of)) if of.payload == "taken"));
}

// [AMQP-2.8.17-1] [AMQP-2.8.17-2]
#[test]
fn what_breaks_the_rules_of_a_session_ends_it_alone() {
    let flow = Flow {
        handle: Some(7),
        ..Flow::default()
    };
    let transfer = Transfer {
        handle: 7,
        ..Transfer::default()
    };
    let cases = [
        ("amqp:session:unattached-handle", Performative::Flow(flow)),
        (
            "amqp:session:unattached-handle",
            Performative::Transfer(transfer),
        ),
        (
            "amqp:session:handle-in-use",
            Performative::Attach(Box::new(attach_sender("b", 0))),
        ),
    ];
    for (condition, performative) in cases {
        let mut peer = Peer::opened();
        peer.attach(attach_sender("a", 0));
        peer.frames();
        peer.send(0, &performative);
        let said = peer.frames();
        assert!(
            matches!(&said[..], [(0, Performative::End(Some(error)))]
            if error.condition.as_str() == condition),
            "{condition}: {said:?}"
        );
        // It is begun anew once the client agrees.
        peer.send(0, &Performative::End(None));
        peer.send(0, &Performative::Begin(Box::default()));
        assert!(matches!(peer.frames()[..], [(0, Performative::Begin(_))]));
    }
}

// [AMQP-2.6.7-2] [AMQP-2.7.6-1]
#[test]
fn messages_go_out_with_credit_and_outcomes_come_back() {
    let mut peer = Peer::opened();
    let id = peer.attach(attach_receiver("a", 0));
    peer.frames();
    let (token, mut out) = (Token { cursor: 9, part: 0 }, Vec::new());
    let delivery = || Delivery {
        token,
        head: b"head ",
        payload: Bytes::from_static(b"payload"),
    };
    assert_eq!(peer.server.deliver(id, delivery(), &mut out), Sent::Full);
    peer.flow(id, 1, false);
    assert_eq!(peer.server.deliver(id, delivery(), &mut out), Sent::Yes);
    assert_eq!(peer.server.deliver(id, delivery(), &mut out), Sent::Full);
    let said = peer::frames_of(&out);
    assert!(matches!(&said[..], [(0, Performative::Transfer(of))]
        if of.settled.is_none() && of.delivery_tag == Some(token.tag())));
    assert!(out.ends_with(b"head payload"));
    peer.dispose(0, true, Some(DeliveryState::Accepted));
    let settled = ServerEvent::Settled(id, token, Some(DeliveryState::Accepted));
    assert_eq!(peer.event(), Some(settled));
}

// [AMQP-2.8.3-2]
#[test]
fn a_receiver_that_settles_last_is_settled_for_first() {
    let mut peer = Peer::opened();
    let id = peer.attach(attach_receiver("a", 0));
    peer.flow(id, 5, false);
    peer.frames();
    let token = Token { cursor: 9, part: 3 };
    let delivery = Delivery {
        token,
        head: b"",
        payload: Bytes::from_static(b"x"),
    };
    peer.server.deliver(id, delivery, &mut Vec::new());
    peer.dispose(0, false, Some(DeliveryState::Accepted));
    let said = peer.frames();
    assert!(matches!(&said[..], [(0, Performative::Disposition(of))]
            if of.settled && of.role == Role::Sender));
    assert_eq!(Token::of(token.tag().as_bytes()), Some(token));
}

// [AMQP-2.5.6-1] [AMQP-2.3.1-3]
#[test]
fn a_large_message_is_cut_and_waits_for_the_window() {
    let mut peer = Peer::opened();
    let id = peer.attach(attach_receiver("a", 0));
    peer.flow_window(id, 10, 2);
    peer.frames();
    let mut out = Vec::new();
    let payload: Vec<u8> = (0..4000u32).map(|at| at as u8).collect();
    let delivery = Delivery {
        token: Token::default(),
        head: b"head",
        payload: payload.clone().into(),
    };
    assert_eq!(peer.server.deliver(id, delivery, &mut out), Sent::Yes);
    assert_eq!(peer::frames_of(&out).len(), 2);
    assert!(!peer.server.may_send(id));
    peer.flow_window(id, 10, 100);
    out.extend_from_slice(&peer.said());
    let transfers = peer::payloads_of(&out);
    assert!(
        transfers
            .iter()
            .all(|(of, bytes)| bytes.len() < 1024 && of.handle == 0)
    );
    let more: Vec<bool> = transfers.iter().map(|(of, _)| of.more).collect();
    assert!(more[..more.len() - 1].iter().all(|more| *more) && !more[more.len() - 1]);
    let whole: Vec<u8> = transfers.into_iter().flat_map(|(_, bytes)| bytes).collect();
    assert_eq!(whole, [b"head", &payload[..]].concat());
    assert!(peer.server.may_send(id));
}

// [AMQP-2.6.7-3]
#[test]
fn credit_that_is_drained_is_given_back() {
    let mut peer = Peer::opened();
    let id = peer.attach(attach_receiver("a", 0));
    peer.frames();
    peer.flow(id, 10, true);
    peer.server.idle_link(id);
    let said = peer.frames();
    assert!(matches!(&said[..], [(0, Performative::Flow(flow))]
        if flow.link_credit == Some(0) && flow.delivery_count == Some(10) && flow.drain));
}

// [AMQP-4.5.1-1] [AMQP-2.6.1-1]
#[test]
fn a_coordinator_is_refused_and_a_link_of_one_name_is_one_link() {
    let mut peer = Peer::opened();
    let mut attach = attach_sender("a", 0);
    attach.target = Some(TargetKind::Coordinator);
    peer.send(0, &Performative::Attach(Box::new(attach)));
    let said = peer.frames();
    assert!(matches!(&said[..], [.., (0, Performative::Detach(of))]
        if of.error.as_ref().unwrap().condition.as_str() == "amqp:not-implemented"));
    let first = peer.attach(attach_sender("b", 1));
    peer.frames();
    peer.attach(attach_sender("b", 2));
    let said = peer.frames();
    assert!(matches!(&said[0].1, Performative::Detach(of)
        if of.handle == first.handle
                && of.error.as_ref().unwrap().condition.as_str() == "amqp:link:stolen"));
}

#[test]
fn a_message_sent_settled_is_not_remembered() {
    let mut peer = Peer::opened();
    let mut attach: Attach = attach_receiver("a", 0);
    attach.snd_settle_mode = SenderSettles::Settled;
    let id = peer.attach(attach);
    peer.flow(id, 2, false);
    peer.frames();
    let mut out = Vec::new();
    let delivery = Delivery {
        token: Token::default(),
        head: b"",
        payload: Bytes::from_static(b"x"),
    };
    peer.server.deliver(id, delivery, &mut out);
    assert!(
        matches!(&peer::frames_of(&out)[..], [(0, Performative::Transfer(of))]
            if of.settled == Some(true))
    );
    peer.dispose(0, true, Some(DeliveryState::Accepted));
    assert_eq!(peer.event(), None);
}
