//! HTTP/1.1's server half: no bytes break it, and what they ask is the same however they are cut. A server
//! that read a request elsewhere in other pieces could be made to take one client's bytes for another's.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_http::session::{Event, Session};
use weir_sansio::{Instant, Output, Session as _};

const BODY_BYTES_MAX: usize = 1024;

// Lengths of the first pieces, then the bytes.
fuzz_target!(|input: ([u8; 4], &[u8])| {
    let (lengths, bytes) = input;
    let whole = asked([bytes].into_iter());
    assert_eq!(asked(pieces(lengths, bytes)), whole);
});

fn pieces(lengths: [u8; 4], mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut pieces = Vec::new();
    for length in lengths {
        let (piece, rest) = bytes.split_at(bytes.len().min(length.into()));
        pieces.push(piece);
        bytes = rest;
    }
    pieces.into_iter().chain([bytes])
}

fn asked<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<Event> {
    let mut session = Session::new(Instant::START, BODY_BYTES_MAX);
    let mut events = Vec::new();
    for piece in pieces {
        let Ok(()) = session.handle_input(Instant::START, piece);
        loop {
            match session.poll_output() {
                Output::Timeout(_) => break,
                // Whether a client waits for `100 Continue` is in the pieces.
                Output::Transmit(_) => {}
                Output::Event(event) => events.push(event),
            }
        }
    }
    for event in &events {
        if let Event::Request(request) = event {
            assert!(request.body.len() <= BODY_BYTES_MAX);
        }
    }
    events
}
