//! `plain`: results alone, one a line: a number, a boolean, null, a string, an array or an object.
#![cfg(feature = "plain")]

use crate::error::DecodeError;
use crate::format::{Carries, Confidence, Format};
use crate::lexical;
use crate::limits::SNIFFED_PLAIN_BYTES_MAX;
use crate::lines::{self, LineReader, Lines};
use crate::rows::{Rows, without_end, without_mark};
use alloc::boxed::Box;
use alloc::vec::Vec;
use weir_model::{Batch, BatchBuilder, Limits};

pub(crate) const FORMAT: Format = Format {
    content_format: Some(0),
    vague: true,
    sniff: Some(sniff),
    text: true,
    line_by_line: true,
    carries: Carries::RESULT,
    reader: Some(|limits| Box::new(LineReader::new(Plain, limits))),
    ..Format::new("plain", "text/plain", encode, decode)
};

/// One short line of printable text.
fn sniff(payload: &[u8]) -> Confidence {
    let line = without_end(without_mark(payload).0).trim_ascii();
    let is_printable = |text: &str| !text.chars().any(char::is_control);
    let is_short = line.len() <= SNIFFED_PLAIN_BYTES_MAX;
    Confidence::Possible.if_so(is_short && core::str::from_utf8(line).is_ok_and(is_printable))
}

/// Line feeds stand between the lines, not after the last.
fn encode(batch: &Batch, out: &mut Vec<u8>) {
    for row in 0..batch.len() {
        if row > 0 {
            out.push(b'\n');
        }
        lexical::write(batch.value(row), out);
    }
}

fn decode(bytes: &[u8], out: &mut BatchBuilder, limits: &Limits) -> Result<(), DecodeError> {
    lines::decode(Plain, bytes, out, limits)
}

struct Plain;

impl Lines for Plain {
    const QUOTES: bool = false;

    fn decode(
        &mut self,
        lines: &str,
        out: &mut BatchBuilder,
        limits: &Limits,
    ) -> Result<(), DecodeError> {
        let mut rows = Rows::new(out, limits);
        let mut at = 0;
        let end = without_end(lines.as_bytes()).len();
        for line in lines[..end].split_inclusive('\n') {
            if !line.trim_ascii().is_empty() {
                rows.begin(at)?;
                lexical::read(line, at, &mut rows, limits)?;
                rows.end(at)?;
            }
            at += line.len();
        }
        Ok(())
    }
}
