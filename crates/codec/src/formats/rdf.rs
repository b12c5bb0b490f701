//! `turtle`, `ntriples` and `jsonld`: observations of SOSA as graphs.
#![cfg(any(feature = "jsonld", feature = "turtle", feature = "ntriples"))]

use crate::error::DecodeError;
use crate::format::Format;
use crate::rdf::graph::Graph;
use crate::rows::{Rows, read_text};
use crate::vocabulary::sosa;
use alloc::vec::Vec;
use weir_model::{Batch, BatchBuilder, Limits};

#[cfg(feature = "jsonld")]
pub(crate) const JSON_LD: Format = Format {
    text: true,
    one_line: true,
    line_by_line: true,
    ..Format::new(
        "jsonld",
        "application/ld+json",
        encode_jsonld,
        decode_jsonld,
    )
};

#[cfg(feature = "turtle")]
pub(crate) const TURTLE: Format = Format {
    media_also: &["application/x-turtle"],
    text: true,
    ..Format::new("turtle", "text/turtle", encode_turtle, decode_turtle)
};

#[cfg(feature = "ntriples")]
pub(crate) const N_TRIPLES: Format = Format {
    text: true,
    ..Format::new(
        "ntriples",
        "application/n-triples",
        encode_ntriples,
        decode_ntriples,
    )
};

type Parse = fn(&str, &mut Graph, &Limits) -> Result<(), DecodeError>;

fn decode(
    parse: Parse,
    bytes: &[u8],
    out: &mut BatchBuilder,
    limits: &Limits,
) -> Result<(), DecodeError> {
    read_text(bytes, limits, |text| {
        let mut graph = Graph::new(text.len(), limits);
        parse(text, &mut graph, limits)?;
        sosa::read(graph, &mut Rows::new(out, limits), limits)
    })
}

#[cfg(feature = "jsonld")]
fn encode_jsonld(batch: &Batch, out: &mut Vec<u8>) {
    let mut text = crate::rdf::jsonld_text::JsonLdText::new(out);
    sosa::write(batch, &mut text);
    text.finish();
}

#[cfg(feature = "jsonld")]
fn decode_jsonld(bytes: &[u8], out: &mut BatchBuilder, limits: &Limits) -> Result<(), DecodeError> {
    decode(crate::rdf::jsonld_read::read, bytes, out, limits)
}

#[cfg(feature = "turtle")]
fn encode_turtle(batch: &Batch, out: &mut Vec<u8>) {
    sosa::write(batch, &mut crate::rdf::turtle_text::TurtleText::new(out));
}

#[cfg(feature = "turtle")]
fn decode_turtle(bytes: &[u8], out: &mut BatchBuilder, limits: &Limits) -> Result<(), DecodeError> {
    decode(crate::rdf::turtle_read::read_turtle, bytes, out, limits)
}

#[cfg(feature = "ntriples")]
fn encode_ntriples(batch: &Batch, out: &mut Vec<u8>) {
    sosa::write(
        batch,
        &mut crate::rdf::ntriples_text::NTriplesText::new(out),
    );
}

#[cfg(feature = "ntriples")]
fn decode_ntriples(
    bytes: &[u8],
    out: &mut BatchBuilder,
    limits: &Limits,
) -> Result<(), DecodeError> {
    decode(crate::rdf::turtle_read::read_ntriples, bytes, out, limits)
}
