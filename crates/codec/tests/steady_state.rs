//! In steady state neither encoding nor decoding allocates.
#![allow(clippy::unwrap_used)]

mod counting;

use counting::allocations;
use weir_codec::{FORMATS, Format, sample};
use weir_model::{Batch, BatchBuilder, Limits};

#[test]
fn encoding_into_a_warm_buffer_allocates_nothing() {
    let batch = sample::message(5, 0);
    for format in FORMATS {
        let mut out = Vec::new();
        (format.encode)(&batch, &mut out);
        out.clear();
        let count = allocations(|| (format.encode)(&batch, &mut out));
        assert_eq!(count, 0, "{}", format.name);
    }
}

#[test]
fn decoding_into_a_warm_builder_allocates_nothing() {
    let batch = sample::message(5, 0);
    for format in FORMATS.iter().filter(|format| !gathers(format)) {
        let mut bytes = Vec::new();
        (format.encode)(&batch, &mut bytes);
        let mut builder = BatchBuilder::new();
        let mut round = || {
            builder.clear();
            (format.decode)(&bytes, &mut builder, &Limits::default()).unwrap();
        };
        round();
        assert_eq!(allocations(round), 0, "{}", format.name);
    }
}

/// Formats whose messages say things in any order, or once and then by number: what was said must be
/// kept until it is needed.
fn gathers(format: &Format) -> bool {
    matches!(format.name, "jsonld" | "turtle" | "ntriples")
}

/// Allocations for messages of 10 and of 100 nodes.
fn grown(work: impl Fn(&Batch) -> usize) -> (usize, usize) {
    (
        work(&sample::message(10, 0)),
        work(&sample::message(100, 0)),
    )
}

#[test]
fn what_must_be_gathered_allocates_nothing_for_one_more() {
    for format in FORMATS.iter().filter(|format| gathers(format)) {
        let decoding = |batch: &Batch| {
            let mut bytes = Vec::new();
            (format.encode)(batch, &mut bytes);
            let mut builder = BatchBuilder::new();
            let mut round = || {
                builder.clear();
                (format.decode)(&bytes, &mut builder, &Limits::default()).unwrap();
            };
            round();
            allocations(round)
        };
        // Tables that double: 630 more observations cost each table a few times more.
        let (few, many) = grown(decoding);
        assert!(many < few + 300, "{}: {few}, {many}", format.name);
    }
}

#[test]
fn short_escaped_strings_allocate_nothing() {
    let text = br#"{"observations":[{"topic":"a","value":"a\tb","unit":"\u00b0C"}]}"#;
    let json = weir_codec::by_name("json").unwrap();
    let mut builder = BatchBuilder::new();
    let mut round = || {
        builder.clear();
        (json.decode)(text, &mut builder, &Limits::default()).unwrap();
    };
    round();
    assert_eq!(allocations(round), 0);
}
