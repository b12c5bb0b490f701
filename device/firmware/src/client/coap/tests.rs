//! What the client says to a server of CoAP, byte by byte, and what it makes of its answers.

use super::*;

const PAYLOAD: Payload = Payload {
    length: 3,
    number: 1,
};

fn client(peer: &str, protocol: &str) -> Coap {
    let order = format!(
        "id=1 protocol={protocol} server=10.9.0.1:5683 payload=3 packets=1 warm-up=0 rest-ms=0 \
         wait-ms=1 target=live/echo peer={peer}"
    );
    let order = Order::read(order.as_bytes()).unwrap();
    let mut coap = Coap::new(order, protocol == "coap-con", Random::new(1));
    coap.id = 0x0100;
    coap
}

fn said(say: impl FnOnce(&mut Buffer)) -> Vec<u8> {
    let mut out = Buffer::new();
    say(&mut out);
    out.bytes().to_vec()
}

#[test]
fn a_put_is_answered_with_what_was_put() {
    let mut coap = client("echo", "coap-con");
    assert!(said(|out| coap.open(0, out)).is_empty());
    assert!(coap.progress().is_open);
    let request = said(|out| coap.say(0, PAYLOAD, out));
    assert_eq!(request, b"\x42\x03\x01\x01\x01\x01\xb4live\x04echo\xffcbb");
    let answer = said(|out| {
        coap.hear(b"\x62\x44\x01\x01\x01\x01\xffcbb", out).unwrap();
    });
    assert!(answer.is_empty());
    assert!(coap.progress().is_echoed && coap.progress().is_acknowledged);
}

#[test]
fn a_gateway_is_given_a_value_and_observed() {
    let mut coap = client("gateway", "coap-con");
    let request = said(|out| coap.open(0, out));
    assert_eq!(
        request,
        b"\x42\x02\x01\x01\x01\x01\xb4live\x04echo\x10\xffbbb"
    );
    let mut out = Buffer::new();
    coap.hear(b"\x62\x44\x01\x01\x01\x01", &mut out).unwrap();
    let observed = said(|out| coap.tick(0, out));
    assert_eq!(
        observed,
        b"\x42\x01\x01\x02\x01\x02\x60\x54live\x04echo\x60"
    );
    coap.hear(b"\x62\x45\x01\x02\x01\x02\x61\x05\xffbbb", &mut out)
        .unwrap();
    assert!(coap.progress().is_open);
    coap.say(0, PAYLOAD, &mut out);
    out.clear();
    // The notification comes before the response, is confirmable, and is acknowledged.
    coap.hear(b"\x42\x45\x77\x01\x01\x02\x61\x06\xffcbb", &mut out)
        .unwrap();
    assert_eq!(out.bytes(), [0x60, 0, 0x77, 0x01]);
    assert!(coap.progress().is_echoed && !coap.progress().is_acknowledged);
    coap.hear(b"\x62\x44\x01\x03\x01\x03", &mut out).unwrap();
    assert!(coap.progress().is_acknowledged);
}

#[test]
fn what_the_server_wants_to_see_again_is_shown() {
    let mut coap = client("gateway", "coap-con");
    let mut out = Buffer::new();
    coap.open(0, &mut out);
    coap.hear(b"\x62\x81\x01\x01\x01\x01\xd2\xefab", &mut out)
        .unwrap();
    let again = said(|out| coap.tick(0, out));
    assert!(again.windows(4).any(|it| it == b"\xd2\xe3ab"), "{again:x?}");
    let refused = coap.hear(b"\x62\x81\x01\x02\x01\x02\xd2\xefab", &mut out);
    assert_eq!(refused, Err(Fault::Refused));
}

#[test]
fn what_is_confirmable_is_sent_again_until_it_has_arrived() {
    let mut coap = client("echo", "coap-con");
    let request = said(|out| coap.say(0, PAYLOAD, out));
    let mut times = Vec::new();
    for second in 0..200 {
        let again = said(|out| coap.tick(second * 1_000_000, out));
        if !again.is_empty() {
            assert_eq!(again, request);
            times.push(second);
        }
    }
    assert_eq!(times.len(), 4, "{times:?}");
    assert!((2..=3).contains(&times[0]));
    coap.say(0, PAYLOAD, &mut Buffer::new());
    // Arrived, and to be answered later, by a message of its own.
    coap.hear(b"\x60\0\x01\x02", &mut Buffer::new()).unwrap();
    assert!(said(|out| coap.tick(1 << 40, out)).is_empty());
    let answer = said(|out| {
        coap.hear(b"\x42\x44\x88\x01\x01\x02\xffcbb", out).unwrap();
    });
    assert_eq!(answer, [0x60, 0, 0x88, 0x01]);
    assert!(coap.progress().is_echoed);
}

#[test]
fn what_is_not_confirmable_is_sent_once() {
    let mut coap = client("echo", "coap-non");
    let request = said(|out| coap.say(0, PAYLOAD, out));
    assert_eq!(request[0], 0x52);
    assert!(said(|out| coap.tick(1 << 40, out)).is_empty());
}

#[test]
fn what_is_no_message_is_ignored_and_a_reset_is_not() {
    let mut coap = client("echo", "coap-con");
    let mut out = Buffer::new();
    coap.say(0, PAYLOAD, &mut out);
    for bytes in [
        &b""[..],
        b"\x42",
        b"\x82\x44\x01\x01\x01\x01",
        b"\x49\x44\x01\x01\x01\x01",
        b"\x62\x44\x01\x01\x01\x01\xf0",
    ] {
        assert_eq!(coap.hear(bytes, &mut out), Ok(bytes.len()));
    }
    assert!(!coap.progress().is_acknowledged);
    assert_eq!(coap.hear(b"\x70\0\x01\x01", &mut out), Err(Fault::Refused));
}
