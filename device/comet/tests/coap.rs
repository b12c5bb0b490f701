//! CoAP with Observe: messages byte by byte, and an observer over links good and bad.
#![cfg(feature = "coap")]
#![allow(clippy::unwrap_used)]

mod support;

use support::{Board, HUMIDITY, Observer, Small, TEMPERATURE, datagram, message, payload, site};
use weir_comet::limits::PACKET_BYTES_MAX;
use weir_sansio::{Duration, Instant};
use weir_testkit::{BadLink, Pair};

const SECOND: Duration = Duration::from_secs(1);
/// GET /live/temperature, confirmable, 0x1234, token 7 8, Observe 0 (RFC 7641 section 2).
const REGISTER: &[u8] = b"\x42\x01\x12\x34\x07\x08\x60\x54live\x0btemperature";
/// The same without Observe.
const GET: &[u8] = b"\x42\x01\x12\x34\x07\x08\xb4live\x0btemperature";

fn server() -> Box<Small> {
    let mut server = Box::new(Small::new());
    server.start(site(), support::BOARD, 80, 7);
    server
}

/// What a message gets at once.
fn say(server: &mut Small, now: u32, text: &[u8]) -> Vec<u8> {
    let mut packet = datagram(text);
    match server.receive(now, &mut packet) {
        0 => Vec::new(),
        length => message(&packet[..length]),
    }
}

/// The next message of the server's own.
fn hear(server: &mut Small, now: u32) -> Vec<u8> {
    let mut packet = [0; PACKET_BYTES_MAX];
    match server.transmit(now, &mut packet) {
        0 => Vec::new(),
        length => message(&packet[..length]),
    }
}

/// Acknowledges (2) or resets (3) a message.
fn settle(server: &mut Small, now: u32, kind: u8, heard: &[u8]) {
    let settled = [0x40 | kind << 4, 0, heard[2], heard[3]];
    assert!(say(server, now, &settled).is_empty());
}

#[test]
fn a_get_is_acknowledged_answered_once_and_forgotten() {
    let mut server = server();
    server.publish(0, TEMPERATURE, b"21.5").unwrap();
    assert_eq!(say(&mut server, 0, GET), [0x60, 0, 0x12, 0x34]);
    let heard = hear(&mut server, 0);
    // 2.05 with the token, ETag 1, text/plain.
    assert_eq!((heard[0], heard[1]), (0x42, 0x45));
    assert_eq!(&heard[4..], b"\x07\x08\x44\x00\x00\x00\x01\x80\xff21.5");
    settle(&mut server, 0, 2, &heard);
    assert_eq!(server.connections(), 0);
    server.publish(1, TEMPERATURE, b"22").unwrap();
    assert!(hear(&mut server, 1).is_empty());
}

#[test]
fn an_observer_is_sent_the_newest_when_it_has_acknowledged() {
    let mut server = server();
    say(&mut server, 0, REGISTER);
    let first = hear(&mut server, 0);
    // Nothing was published yet.
    assert_eq!(&first[4..], b"\x07\x08\x44\x00\x00\x00\x00\x20\x60");
    server.publish(1, TEMPERATURE, b"1").unwrap();
    server.publish(2, TEMPERATURE, b"2").unwrap();
    assert!(hear(&mut server, 2).is_empty());
    settle(&mut server, 3, 2, &first);
    let second = hear(&mut server, 3);
    // Observe 2.
    assert_eq!(
        &second[4..],
        b"\x07\x08\x44\x00\x00\x00\x02\x21\x02\x60\xff2"
    );
    settle(&mut server, 4, 3, &second);
    assert_eq!(server.connections(), 0);
}

#[test]
fn a_registration_again_changes_the_record() {
    let mut server = server();
    for _ in 0..3 {
        say(&mut server, 0, REGISTER);
    }
    assert_eq!(server.listeners(), 1);
    let mut cancel = REGISTER.to_vec();
    cancel.splice(6..7, [0x61, 1]);
    say(&mut server, 1, &cancel);
    let answer = hear(&mut server, 1);
    settle(&mut server, 1, 2, &answer);
    assert_eq!((answer[1], server.connections()), (0x45, 0));
    // A tail of the token is another token.
    let mut other = REGISTER.to_vec();
    (other[0], other[4]) = (0x41, 8);
    other.remove(5);
    say(&mut server, 2, REGISTER);
    say(&mut server, 2, &other);
    assert_eq!(server.listeners(), 2);
}

#[test]
fn what_is_not_acknowledged_goes_again_and_then_ends() {
    let mut server = server();
    say(&mut server, 0, REGISTER);
    let first = hear(&mut server, 0);
    let (mut again, mut last) = (0, 0);
    for now in (0..200_000).step_by(100) {
        server.tick(now);
        let heard = hear(&mut server, now);
        if !heard.is_empty() {
            assert_eq!(heard, first);
            assert!(now - last >= 2_000 << again.min(3), "{again} at {now}");
            (again, last) = (again + 1, now);
        }
    }
    // RFC 7252 section 4.8: MAX_RETRANSMIT.
    assert_eq!((again, server.connections()), (4, 0));
}

#[test]
fn without_confirmation_each_is_sent_once() {
    let mut server = server();
    let mut register = REGISTER.to_vec();
    register[0] = 0x52;
    assert!(say(&mut server, 0, &register).is_empty());
    let mut confirmed = 0;
    for number in 1..=16u32 {
        server
            .publish(number, TEMPERATURE, number.to_string().as_bytes())
            .unwrap();
        let heard = hear(&mut server, number);
        assert_eq!(payload(&heard), number.to_string());
        if heard[0] >> 4 & 3 == 0 {
            confirmed += 1;
            settle(&mut server, number, 2, &heard);
        }
    }
    assert_eq!(confirmed, 2);
}

#[test]
fn each_observer_is_confirmed_in_its_turn() {
    let mut server = server();
    let mut register = REGISTER.to_vec();
    register[0] = 0x52;
    for token in 0..4 {
        register[4] = token;
        assert!(say(&mut server, 0, &register).is_empty());
    }
    let mut confirmed = [0; 4];
    for number in 1..=40u32 {
        let topic = [TEMPERATURE, HUMIDITY][number as usize % 2];
        server.publish(number, topic, b"1").unwrap();
        while let heard = hear(&mut server, number)
            && !heard.is_empty()
        {
            if heard[0] >> 4 & 3 == 0 {
                confirmed[usize::from(heard[4])] += 1;
                settle(&mut server, number, 2, &heard);
            }
        }
    }
    // Of 20 notifications and the answer to the registration.
    assert_eq!(confirmed, [2; 4]);
}

#[test]
fn an_observer_whose_value_left_the_ring_is_told_so() {
    let mut server = server();
    say(&mut server, 0, REGISTER);
    server.publish(0, TEMPERATURE, b"21.5").unwrap();
    let value = hear(&mut server, 0);
    // ETag, then the number that orders notifications (RFC 7641 section 3.4), and the format.
    assert_eq!(&value[6..], b"\x44\x00\x00\x00\x01\x21\x01\x60\xff21.5");
    for now in 1..=16 {
        server.publish(now, HUMIDITY, b"60").unwrap();
    }
    server.tick(6_000);
    let nothing = hear(&mut server, 6_000);
    // Who has the value and was not heard knows the message, and only acknowledges it.
    assert_eq!(value[2..4], nothing[2..4]);
    assert_eq!(&nothing[6..], b"\x44\x00\x00\x00\x11\x21\x11\x60");
    settle(&mut server, 6_000, 2, &nothing);
    server.publish(6_001, TEMPERATURE, b"22").unwrap();
    assert_eq!(payload(&hear(&mut server, 6_001)), "22");
}

/// Sections of RFC 7252 beside what they demand.
#[test]
fn what_is_wrong_gets_the_code_that_the_standard_names() {
    let mut server = server();
    let cases: [(&[u8], &[u8]); 12] = [
        // 5.8.2: POST is not allowed here.
        (
            b"\x41\x02\x00\x01\x09\xb4live\x0btemperature",
            b"\x61\x85\x00\x01\x09",
        ),
        // 5.9.2.4: no such resource; a page is none.
        (b"\x41\x01\x00\x01\x09\xb4live", b"\x61\x84\x00\x01\x09"),
        (b"\x41\x01\x00\x01\x09", b"\x61\x84\x00\x01\x09"),
        // 5.4.1: a critical option that is unknown, 9.
        (
            b"\x41\x01\x00\x01\x09\x90\x24live\x0btemperature",
            b"\x61\x82\x00\x01\x09",
        ),
        // The same without confirmation is ignored.
        (b"\x51\x01\x00\x01\x09\x90\x24live\x0btemperature", b""),
        // 5.7.2: no proxy; Proxy-Scheme is 39.
        (b"\x41\x01\x00\x01\x09\xd4\x1acoap", b"\x61\xa5\x00\x01\x09"),
        // 5.10.4: application/json is not what there is.
        (
            b"\x41\x01\x00\x01\x09\xb4live\x0btemperature\x61\x32",
            b"\x61\x86\x00\x01\x09",
        ),
        // 4.3: a ping.
        (b"\x40\x00\x00\x01", b"\x70\x00\x00\x01"),
        // 4.2: an empty message that is not empty; a token of 9 bytes; a marker and nothing.
        (b"\x40\x00\x00\x01\x01", b"\x70\x00\x00\x01"),
        (b"\x49\x01\x00\x01123456789", b"\x70\x00\x00\x01"),
        (b"\x41\x01\x00\x01\x09\xff", b"\x70\x00\x00\x01"),
        // 3: another version.
        (b"\x80\x01\x00\x01", b""),
    ];
    for (said, expected) in cases {
        assert_eq!(say(&mut server, 0, said), expected, "{said:x?}");
    }
    assert_eq!(server.connections(), 0);
    for cut in 0..REGISTER.len() {
        say(&mut server, 0, &REGISTER[..cut]);
    }
    assert_eq!(server.connections(), 0);
}

#[test]
fn where_all_records_are_taken_the_service_is_unavailable() {
    let mut server = server();
    for number in 0..=255 {
        let mut request = REGISTER.to_vec();
        request[5] = number;
        assert_eq!(say(&mut server, 0, &request)[0], 0x60);
    }
    let mut request = REGISTER.to_vec();
    request[4] = 9;
    assert_eq!(say(&mut server, 0, &request), b"\x62\xa3\x12\x34\x09\x08");
}

#[test]
fn an_observer_comes_to_the_newest_over_any_link() {
    for seed in 0..20 {
        let links = [seed, seed + 1_000].map(|end| match seed {
            0 => BadLink::good(),
            _ => BadLink::unruly(10, end),
        });
        let board = Board::new().publishing(SECOND * 5, SECOND * 10, 12);
        let mut pair = Pair::new(board, Observer::new(REGISTER), &links[0]);
        pair.b.inbound = links[1].clone();
        pair.run(Instant::START + SECOND * 300);
        let heard = &pair.b.machine.heard;
        assert!(heard.contains(&"value 12".to_owned()), "{seed}: {heard:?}");
        assert!(seed > 0 || heard.len() == 13, "{heard:?}");
        assert_eq!(pair.a.machine.server.listeners(), 1, "{seed}");
    }
}

#[test]
fn an_observer_that_is_gone_does_not_keep_its_record() {
    let board = Board::new().publishing(SECOND * 5, SECOND * 10, 30);
    let mut observer = Observer::new(REGISTER);
    observer.dies = Instant::START + SECOND * 60;
    let mut pair = Pair::new(board, observer, &BadLink::good());
    pair.run(Instant::START + SECOND * 300);
    assert_eq!(pair.a.machine.server.connections(), 0);
}
