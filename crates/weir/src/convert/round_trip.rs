//! `weir convert --round-trip`: a message to every encoding and back.

use super::message_of;
use crate::arguments::Convert;
use crate::input;
use std::fmt::Write;
use std::io::{IsTerminal, stdin};
use weir_codec::{FORMATS, Format, RoundTrip, round_trip, sample};
use weir_model::Batch;
use weir_program::{Failure, print};

/// Nodes of the sample: paper 000's largest message.
const SAMPLE_NODES: usize = 5;

/// Prints a line for each format: its size, and what came back; fails where something else did.
pub(super) fn run(from: &Format, convert: &Convert) -> Result<(), Failure> {
    let batch = message(from, convert)?;
    let mut table = format!("{:12} {:>9}  came back\n", "format", "bytes");
    let mut wrong = Vec::new();
    for format in FORMATS {
        let (bytes, said) = match round_trip(format, &batch) {
            Ok(trip) if trip.equal => (trip.bytes.to_string(), equal(&trip)),
            Ok(trip) => (trip.bytes.to_string(), "CHANGED".into()),
            Err(error) => (String::new(), format!("UNREADABLE: {error}")),
        };
        if !said.starts_with("equal") {
            wrong.push(format.name);
        }
        // A string takes whatever is written to it.
        let _always = writeln!(table, "{:12} {bytes:>9}  {said}", format.name);
    }
    print(table)?;
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(Failure::no(format!("not equal: {}", wrong.join(", ")))),
    }
}

/// The message given, or the sample where none is: at a terminal, or where standard input is empty.
fn message(from: &Format, convert: &Convert) -> Result<Batch, Failure> {
    let sample = || sample::message(SAMPLE_NODES, 0);
    let unnamed = convert.file.is_none();
    if unnamed && stdin().is_terminal() {
        return Ok(sample());
    }
    match input::read(convert.file.as_deref())? {
        input if unnamed && input.is_empty() => Ok(sample()),
        input => message_of(&input, from, convert),
    }
}

/// What this message had and the format does not carry is told.
fn equal(trip: &RoundTrip) -> String {
    match trip.lost.is_empty() {
        true => "equal".into(),
        false => format!("equal but for {}", trip.lost.join(", ")),
    }
}
