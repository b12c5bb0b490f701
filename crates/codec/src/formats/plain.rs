//! `plain`: results alone, one a line: a number, a boolean, null, a string, an array or an object.

use crate::error::DecodeError;
use crate::format::{Carries, Format};
use crate::lexical;
use crate::lines::{LineReader, Lines};
use crate::rows::{Rows, read_terminated_text};
use alloc::boxed::Box;
use alloc::vec::Vec;
use weir_model::{Batch, BatchBuilder, Limits};

pub(crate) const FORMAT: Format = Format {
    name: "plain",
    media: "text/plain",
    media_also: &[],
    content_format: Some(0),
    text: true,
    one_line: false,
    line_by_line: true,
    carries: Carries::RESULT,
    encode,
    decode,
    reader: |limits| Box::new(LineReader::new(Plain, limits)),
};

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
    read_terminated_text(bytes, limits, |text| {
        let mut rows = Rows::new(out, limits);
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            if !line.trim_ascii().is_empty() {
                rows.begin(at)?;
                lexical::read(line, at, &mut rows, limits)?;
                rows.end(at)?;
            }
            at += line.len();
        }
        Ok(())
    })
}

struct Plain;

impl Lines for Plain {
    const QUOTES: bool = false;

    fn decode(
        &mut self,
        lines: &[u8],
        out: &mut BatchBuilder,
        limits: &Limits,
    ) -> Result<(), DecodeError> {
        decode(lines, out, limits)
    }

    fn finish(&self, _at: usize) -> Result<(), DecodeError> {
        Ok(())
    }
}
