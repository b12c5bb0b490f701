//! AMQP's client halves, 1.0 and 0.9.1: no bytes of a broker in any pieces break one, what it says is frames; and
//! methods, properties and frames of 0.9.1 by themselves.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_amqp::client::{ClientEvent, Machine, Options, Outgoing, Settle, v10, v091};
use weir_amqp::v091::wire::{
    FrameKind, Header, Method, PROTOCOL_HEADER, Properties, frame as frame_of_091, write_frame,
};
use weir_amqp::wire::{Framed, ProtocolHeader, frame};
use weir_fuzz::pieces;
use weir_sansio::{Duration, Instant, Output};

const FRAME_BYTES_MAX: u32 = 1 << 20;
/// Messages that are published in answer to what comes.
const PUBLISHED_MAX: u64 = 20;

// The first byte says which; a piece begins with the seconds that pass before it.
fuzz_target!(|input: &[u8]| {
    let Some((&choice, rest)) = input.split_first() else {
        return;
    };
    let now = Instant::START;
    let asked = options(choice);
    match choice & 3 {
        0 => run(
            v10::Client::new(now, asked, "weir".into()),
            rest,
            frames_of_10,
        ),
        1 => run(v091::Client::new(now, asked), rest, frames_of_091),
        2 => header(rest),
        _ => drop(Method::read(rest)),
    }
});

fn options(choice: u8) -> Options {
    let has = |bit: u8| choice & 1 << bit != 0;
    Options {
        login: has(2).then(|| ("user".into(), "secret".into())),
        queue: has(3).then(|| "queue".into()),
        filters: if has(4) {
            vec!["a/#".into(), "b".into()]
        } else {
            Vec::new()
        },
        ended: if has(5) { vec!["c".into()] } else { Vec::new() },
        publishes: has(6),
        confirmed: has(7),
        ..Options::default()
    }
}

fn run(mut client: impl Machine, input: &[u8], frames: fn(&[u8])) {
    let mut now = Instant::START;
    let mut said = Vec::new();
    let mut token = 0;
    for piece in pieces(input) {
        let (&secs, bytes) = piece.split_first().unwrap_or((&0, &[]));
        now = now + Duration::from_secs(u64::from(secs));
        client.handle_timeout(now);
        let Ok(()) = client.handle_input(now, bytes);
        loop {
            match client.poll_output() {
                Output::Timeout(_) => break,
                Output::Transmit(bytes) => said.extend_from_slice(&bytes),
                Output::Event(ClientEvent::Message(message)) => {
                    client.settle(message.tag, Settle::Accept);
                }
                Output::Event(ClientEvent::Poison { tag, .. }) => {
                    client.settle(tag, Settle::Reject);
                }
                Output::Event(ClientEvent::Closed(_)) => return frames(&said),
                Output::Event(_) if token < PUBLISHED_MAX => {
                    token += 1;
                    publish(&mut client, now, token, &mut said);
                }
                Output::Event(_) => {}
            }
        }
        let _due = client.deadline();
    }
    frames(&said);
}

fn publish(client: &mut impl Machine, now: Instant, token: u64, said: &mut Vec<u8>) {
    let headers = [("weir-via".to_owned(), "here".to_owned())];
    let message = Outgoing {
        topic: "a/b",
        content_type: Some("application/json"),
        headers: &headers,
        payload: &[7; 5000],
        token,
    };
    client.publish(now, &message, said);
}

fn frames_of_10(mut bytes: &[u8]) {
    while !bytes.is_empty() {
        if bytes
            .first_chunk::<8>()
            .and_then(ProtocolHeader::read)
            .is_some()
        {
            bytes = &bytes[8..];
            continue;
        }
        let Ok(Framed::Whole(header)) = frame(bytes, usize::MAX) else {
            panic!("no frame");
        };
        bytes = &bytes[header.end..];
    }
}

fn frames_of_091(bytes: &[u8]) {
    let mut bytes = bytes.strip_prefix(&PROTOCOL_HEADER).unwrap_or(bytes);
    while !bytes.is_empty() {
        let Ok(Some((_, length))) = frame_of_091(bytes, u32::MAX) else {
            panic!("no frame");
        };
        bytes = &bytes[length..];
    }
}

/// Properties that are read are written and read as the same, in a frame.
fn header(bytes: &[u8]) {
    let Ok(read) = Header::read(bytes) else {
        return;
    };
    // What is no UTF-8 is read as it can be, which may be longer than a short string is.
    if format!("{read:?}").contains(char::REPLACEMENT_CHARACTER) {
        return;
    }
    let mut out = Vec::new();
    write_frame(FrameKind::HEADER, 1, &mut out, |out| {
        Header::write(read.body_bytes, &read.properties, out);
    });
    let Ok(Some((frame, length))) = frame_of_091(&out, FRAME_BYTES_MAX) else {
        panic!("no frame");
    };
    assert_eq!((length, frame.kind), (out.len(), FrameKind::HEADER));
    let again = Header::read(frame.payload).expect("what was written is read");
    assert_eq!(again, read);
    assert!(read.properties != Properties::default() || read.properties.headers.is_empty());
}
