//! WebSocket against the literal bytes of RFC 6455 and RFC 7692.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use weir_carrier::websocket::{
    Close, CloseCode, Deflate, Failure, Header, Message, Offer, Opcode, Reader, Role,
    deflate_message, write_close, write_frame, write_masked,
};

fn read(role: Role, bytes: &[u8]) -> Result<Vec<Message>, Failure> {
    let mut messages = Vec::new();
    Reader::new(role, true, 100_000).read(bytes, &mut messages)?;
    Ok(messages)
}

fn code(role: Role, bytes: &[u8]) -> u16 {
    read(role, bytes).unwrap_err().code.0
}

#[test]
fn the_examples_of_rfc_6455_section_5_7_are_read() {
    let hello = [Message::Text("Hello".into())];
    let unmasked = [0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f];
    assert_eq!(read(Role::Client, &unmasked).unwrap(), hello);
    let masked = [
        0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58,
    ];
    assert_eq!(read(Role::Server, &masked).unwrap(), hello);
    let fragmented = [0x01, 0x03, 0x48, 0x65, 0x6c, 0x80, 0x02, 0x6c, 0x6f];
    assert_eq!(read(Role::Client, &fragmented).unwrap(), hello);
    let ping = [0x89, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f];
    assert_eq!(
        read(Role::Client, &ping).unwrap(),
        [Message::Ping("Hello".into())]
    );
    let pong = [
        0x8a, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58,
    ];
    assert_eq!(
        read(Role::Server, &pong).unwrap(),
        [Message::Pong("Hello".into())]
    );
    for (head, length) in [
        (&[0x82, 0x7e, 1, 0][..], 256),
        (&[0x82, 0x7f, 0, 0, 0, 0, 0, 1, 0, 0], 65_536),
    ] {
        let bytes = [head, &vec![7; length]].concat();
        assert_eq!(
            read(Role::Client, &bytes).unwrap(),
            [Message::Binary(vec![7; length].into())]
        );
    }
}

#[test]
fn the_examples_of_rfc_6455_section_5_7_are_written() {
    let mut out = Vec::new();
    write_frame(Opcode::TEXT, b"Hello", &mut out);
    assert_eq!(out, [0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f]);
    out.clear();
    write_masked(Opcode::TEXT, b"Hello", [0x37, 0xfa, 0x21, 0x3d], &mut out);
    assert_eq!(
        out,
        [
            0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58
        ]
    );
    out.clear();
    write_frame(Opcode::BINARY, &[0; 256], &mut out);
    assert_eq!(out[..4], [0x82, 0x7e, 1, 0]);
    out.clear();
    write_frame(Opcode::BINARY, &[0; 65_536], &mut out);
    assert_eq!(out[..10], [0x82, 0x7f, 0, 0, 0, 0, 0, 1, 0, 0]);
}

#[test]
fn the_examples_of_rfc_7692_section_7_2_3_are_inflated() {
    let hello = [Message::Text("Hello".into())];
    let one_block = [0xc1, 0x07, 0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];
    assert_eq!(read(Role::Client, &one_block).unwrap(), hello);
    let fragmented = [
        0x41, 0x03, 0xf2, 0x48, 0xcd, 0x80, 0x04, 0xc9, 0xc9, 0x07, 0x00,
    ];
    assert_eq!(read(Role::Client, &fragmented).unwrap(), hello);
    let stored = [
        0xc1, 0x0b, 0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x00,
    ];
    assert_eq!(read(Role::Client, &stored).unwrap(), hello);
    let final_block = [0xc1, 0x08, 0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00];
    assert_eq!(read(Role::Client, &final_block).unwrap(), hello);
}

#[test]
fn a_control_frame_may_stand_between_fragments() {
    let bytes = [0x01, 1, b'a', 0x89, 1, b'p', 0x80, 1, b'b'];
    let expected = [Message::Ping("p".into()), Message::Text("ab".into())];
    assert_eq!(read(Role::Client, &bytes).unwrap(), expected);
}

#[test]
fn what_breaks_the_protocol_is_refused_with_its_code() {
    let unmasked = [0x81, 1, b'a'];
    assert_eq!(code(Role::Server, &unmasked), 1002);
    let masked = [0x81, 0x81, 0, 0, 0, 0, b'a'];
    assert_eq!(code(Role::Client, &masked), 1002);
    let protocol: &[&[u8]] = &[
        &[0xb1, 0],                      // reserved bits 2 and 3
        &[0xc9, 0],                      // reserved bit 1 on a control frame
        &[0x83, 0],                      // an opcode of no kind
        &[0x8b, 0],                      // a control opcode of no kind
        &[0x09, 0],                      // a fragmented ping
        &[0x89, 0x7e, 0, 126],           // a long ping
        &[0x80, 1, b'a'],                // a continuation of nothing
        &[0x01, 1, b'a', 0x81, 1, b'b'], // a message inside another
        &[0x81, 0x7e, 0, 1, b'a'],       // a length not in its shortest form
        &[0x81, 0x7f, 0, 0, 0, 0, 0, 0, 1, 0],
        &[0x82, 0x7f, 0x80, 0, 0, 0, 0, 0, 0, 0],
        &[0x88, 1, 3],          // half a close code
        &[0x88, 2, 0x03, 0xed], // 1005, which stands in no frame
        &[0x88, 2, 0x03, 0xe7], // 999
        &[0xc1, 1, 0xff],       // not deflated
    ];
    for bytes in protocol {
        assert_eq!(code(Role::Client, bytes), 1002, "{bytes:02x?}");
    }
    assert_eq!(code(Role::Client, &[0x81, 1, 0xff]), 1007);
    assert_eq!(code(Role::Client, &[0x88, 3, 0x03, 0xe8, 0xff]), 1007);
    assert_eq!(
        code(Role::Client, &[0x82, 0x7f, 0, 0, 0, 0, 1, 0, 0, 0]),
        1009
    );
}

/// A binary frame that says its payload is deflated.
fn deflated_frame(payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let header = Header {
        fin: true,
        rsv1: true,
        opcode: Opcode::BINARY,
        mask: None,
        length: payload.len() as u64,
    };
    header.write(&mut bytes);
    bytes.extend_from_slice(payload);
    bytes
}

#[test]
fn a_deflate_bomb_is_stopped_at_the_limit() {
    let mut payload = Vec::new();
    deflate_message(&mut Deflate::default(), &vec![0; 200_000], &mut payload);
    let bytes = deflated_frame(&payload);
    assert!(bytes.len() < 2000);
    assert_eq!(code(Role::Client, &bytes), 1009);
}

/// A length of 258 whose distance is cut off in its first bit: the tail's zeros say the others.
#[test]
fn what_only_the_tail_completes_counts_against_the_limit() {
    // A block of fixed codes (RFC 1951 section 3.2.6): literal 0, length 3 at distance 1, length 258.
    let block = [0, 1, 0];
    let literal = [0, 0, 1, 1, 0, 0, 0, 0];
    let three_again = [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0];
    let as_long_as_can_be = [1, 1, 0, 0, 0, 1, 0, 1];
    let bits = [&block[..], &literal, &three_again, &as_long_as_can_be].concat();
    let bytes = deflated_frame(&packed(&bits));
    let read = |bytes_max| {
        let mut messages = Vec::new();
        let done = Reader::new(Role::Client, true, bytes_max).read(&bytes, &mut messages);
        done.map(|()| messages)
    };
    assert_eq!(read(262).unwrap(), [Message::Binary(vec![0; 262].into())]);
    assert_eq!(read(261).unwrap_err().code, CloseCode::TOO_BIG);
}

/// Bits from the lowest of each byte on, the last byte filled with zeros.
fn packed(bits: &[u8]) -> Vec<u8> {
    let byte = |bits: &[u8]| (0..).zip(bits).fold(0, |byte, (at, bit)| byte | bit << at);
    bits.chunks(8).map(byte).collect()
}

#[test]
fn deflated_pieces_share_nothing() {
    let mut deflate = Deflate::default();
    let (mut first, mut second) = (Vec::new(), Vec::new());
    deflate.piece(b"observation observation", &mut first);
    deflate.piece(b"observation observation", &mut second);
    assert_eq!(first, second);
}

#[test]
fn a_close_carries_code_and_a_reason_cut_at_a_character() {
    let mut out = Vec::new();
    write_close(
        &Close::new(CloseCode::TOO_BIG, "é".repeat(100)),
        None,
        &mut out,
    );
    let [Message::Close(Some(close))] = &read(Role::Client, &out).unwrap()[..] else {
        panic!("{out:?}");
    };
    assert_eq!(
        (close.code, close.reason.as_str()),
        (CloseCode::TOO_BIG, "é".repeat(61).as_str())
    );
    assert_eq!(
        read(Role::Client, &[0x88, 0]).unwrap(),
        [Message::Close(None)]
    );
}

#[test]
fn an_offer_that_limits_the_servers_window_is_passed_over() {
    assert!(Offer::find("permessage-deflate; client_max_window_bits").is_some());
    assert!(Offer::find("permessage-deflate; server_max_window_bits=10").is_none());
    let second = "permessage-deflate; server_max_window_bits=10, permessage-deflate";
    assert!(Offer::find(second).is_some());
    assert!(Offer::find("x-webkit-deflate-frame").is_none());
    let takes =
        |parameters: &str| Offer::find(&format!("permessage-deflate{parameters}")).is_some();
    for good in [
        "; client_max_window_bits=15",
        "; client_max_window_bits=\"8\"",
        "; server_no_context_takeover; client_no_context_takeover; client_max_window_bits",
    ] {
        assert!(takes(good), "{good}");
    }
    for bad in [
        "; client_max_window_bits; client_max_window_bits",
        "; server_no_context_takeover; server_no_context_takeover",
        "; client_max_window_bits=7",
        "; client_max_window_bits=08",
        "; client_no_context_takeover=1",
        "; client_no_context_takeover=10",
        "; speed=9",
        "; ",
    ] {
        assert!(!takes(bad), "{bad}");
    }
}

proptest! {
    #[test]
    fn messages_do_not_depend_on_where_the_bytes_are_split(
        payloads in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..300), 1..6),
        cuts in proptest::collection::vec(1usize..200, 1..40),
        key in any::<[u8; 4]>(),
    ) {
        let mut bytes = Vec::new();
        for payload in &payloads {
            write_masked(Opcode::BINARY, payload, key, &mut bytes);
        }
        let mut reader = Reader::new(Role::Server, false, 1000);
        let mut messages = Vec::new();
        let mut rest = bytes.as_slice();
        for cut in cuts {
            let (piece, after) = rest.split_at(cut.min(rest.len()));
            reader.read(piece, &mut messages).unwrap();
            rest = after;
        }
        reader.read(rest, &mut messages).unwrap();
        let expected = payloads.into_iter().map(|payload| Message::Binary(payload.into()));
        let expected: Vec<_> = expected.collect();
        prop_assert_eq!(messages, expected);
        prop_assert!(reader.is_idle());
    }

    #[test]
    fn what_is_deflated_comes_back(message in proptest::collection::vec(0u8..4, 0..5000)) {
        let mut payload = Vec::new();
        deflate_message(&mut Deflate::default(), &message, &mut payload);
        let bytes = deflated_frame(&payload);
        prop_assert_eq!(read(Role::Client, &bytes).unwrap(), [Message::Binary(message.into())]);
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _any = read(Role::Client, &bytes);
        let _any = read(Role::Server, &bytes);
    }
}
