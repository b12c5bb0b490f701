//! What a NATS server says: no bytes break the reader of its lines; and what is published to it is read by it, which
//! differs from what a server says by its verb and the number of a subscription.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::io::{BufReader, ErrorKind};
use wire::{Op, publish, read};

#[path = "../../stores/jetstream/src/limits.rs"]
#[allow(dead_code, reason = "the store's, of which the lines have two")]
mod limits;
#[path = "../../stores/jetstream/src/wire.rs"]
mod wire;

/// Lines that one input may have.
const OPS_MAX: usize = 100;

// The first byte says how much of it is there at once.
fuzz_target!(|input: &[u8]| {
    let Some((&choice, bytes)) = input.split_first() else {
        return;
    };
    let mut from = BufReader::with_capacity(usize::from(choice).max(1), bytes);
    for _ in 0..OPS_MAX {
        match read(&mut from) {
            Ok(Op::Message(message)) => again(&message),
            Ok(_) => {}
            Err(error) => {
                let kinds = [ErrorKind::InvalidData, ErrorKind::UnexpectedEof];
                return assert!(kinds.contains(&error.kind()), "{error}");
            }
        }
    }
});

/// As a server would say it.
fn again(message: &wire::Message) {
    let (subject, reply) = (message.subject.as_str(), message.reply.as_str());
    let mut out = Vec::new();
    publish(&mut out, (subject, reply), &[], &message.payload);
    let said = String::from_utf8_lossy(&out[..out.len().min(4)]).into_owned();
    assert_eq!(said, "PUB ");
    let delivered = [
        format!("MSG {subject} 7 ").as_bytes(),
        &out[5 + subject.len()..],
    ]
    .concat();
    let Ok(Op::Message(read)) = read(&mut delivered.as_slice()) else {
        panic!("what was written is no message");
    };
    assert_eq!(
        (read.sid, &read.subject, &read.reply),
        (7, &message.subject, &message.reply)
    );
    assert_eq!(read.payload, message.payload);
}
