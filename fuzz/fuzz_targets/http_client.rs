//! HTTP/1.1's client half and the endless bodies that it reads: no bytes of a server break them, and what they say is
//! the same however they are cut.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_http::wire::answers::{Answers, Part};
use weir_http::wire::events::{Cut, Cutter, Event, Piece};

const BODY_BYTES_MAX: usize = 1024;

// The first byte says which of them reads, and how long the pieces are.
fuzz_target!(|input: &[u8]| {
    let Some((&choice, bytes)) = input.split_first() else {
        return;
    };
    let length = usize::from(choice >> 3) + 1;
    let (one, cut) = ([bytes].into_iter(), bytes.chunks(length));
    match choice & 7 {
        kind @ 0..=3 => assert_eq!(heard(kind, cut), heard(kind, one), "in pieces of {length}"),
        _ => assert_eq!(answered(cut), answered(one), "in pieces of {length}"),
    }
});

fn heard<'a>(kind: u8, pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<Piece>, bool) {
    let cut = match kind {
        0 => Cut::Events(Event::default()),
        1 => Cut::Lines,
        2 => Cut::Paragraphs(Vec::new()),
        _ => Cut::Lengths,
    };
    let mut cutter = Cutter::new(cut, BODY_BYTES_MAX);
    let mut heard = Vec::new();
    for piece in pieces {
        if cutter.read(piece, &mut heard).is_err() {
            return (heard, true);
        }
    }
    (heard, false)
}

/// Bodies joined, since a piece of one is what came, and of a refused answer without what came of its body; whether it
/// was refused; whether the end is one.
fn answered<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<Part>, bool, bool) {
    let mut answers = Answers::new(BODY_BYTES_MAX);
    let mut parts = Vec::new();
    for piece in pieces {
        if answers.read(piece, &mut parts).is_err() {
            let mut parts = joined(parts);
            parts.pop_if(|last| matches!(last, Part::Body(_)));
            return (parts, true, false);
        }
    }
    let is_whole = answers.finish(&mut parts);
    (joined(parts), false, is_whole)
}

fn joined(parts: Vec<Part>) -> Vec<Part> {
    let mut joined: Vec<Part> = Vec::new();
    for part in parts {
        match (joined.last_mut(), part) {
            (Some(Part::Body(before)), Part::Body(more)) => before.extend_from_slice(&more),
            (_, part) => joined.push(part),
        }
    }
    joined
}
