//! CoAP's bytes: no datagram or stream breaks a reader, and what is read is written back equal.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_coap::wire::{Framing, head_of, parse_body, parse_datagram, write_datagram, write_stream};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(read) = parse_datagram(bytes) {
        let message = read.to_message();
        let mut again = Vec::new();
        write_datagram(read.kind, read.id, &message, &mut again);
        let read = parse_datagram(&again).expect("what was written is read");
        assert_eq!(read.to_message(), message);
    }
    for framing in [Framing::Stream, Framing::Frames] {
        let Ok(Some(head)) = head_of(framing, bytes) else {
            continue;
        };
        if let Ok(message) = parse_body(head, bytes) {
            let mut again = Vec::new();
            write_stream(framing, &message, &mut again);
            let head = head_of(framing, &again).expect("a head").expect("whole");
            assert_eq!(parse_body(head, &again).expect("a message"), message);
        }
    }
});
