//! `weir convert --round-trip`: a message to every encoding and back.

use super::message;
use crate::Failure;
use crate::arguments::Convert;
use weir_codec::{FORMATS, Format, round_trip, sample};

/// Nodes of the sample: paper 000's largest message.
const SAMPLE_NODES: usize = 5;

/// Prints a line for each format: its size, and what came back; fails where something else did.
pub(super) fn run(from: &Format, convert: &Convert) -> Result<(), Failure> {
    let batch = match &convert.file {
        Some(_) => message(from, convert)?,
        None => sample::message(SAMPLE_NODES, 0),
    };
    println!("{:12} {:>9}  came back", "format", "bytes");
    let mut wrong = Vec::new();
    for format in FORMATS {
        let (bytes, said) = match round_trip(format, &batch) {
            Ok(trip) if trip.equal => (trip.bytes.to_string(), equal(format)),
            Ok(trip) => (trip.bytes.to_string(), "CHANGED".into()),
            Err(error) => (String::new(), format!("UNREADABLE: {error}")),
        };
        if !said.starts_with("equal") {
            wrong.push(format.name);
        }
        println!("{:12} {bytes:>9}  {said}", format.name);
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(Failure::no(format!("not equal: {}", wrong.join(", ")))),
    }
}

fn equal(format: &Format) -> String {
    let left_out: Vec<_> = format.carries.left_out().collect();
    match left_out.is_empty() {
        true => "equal".into(),
        false => format!("equal but for {}", left_out.join(", ")),
    }
}
