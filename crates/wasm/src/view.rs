//! Where the columns lie in the module's memory.

use crate::columns::Columns;
use crate::document::Tape;
use crate::names::Names;

/// Thirty-two-bit words; addresses are offsets in the module's memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Number of observations.
    pub rows: u32,
    /// `f64` a row: milliseconds since the epoch; NaN where the message has no time.
    pub times: u32,
    /// `u32` a row: index into the names.
    pub streams: u32,
    /// `u8` a row: see [`Kind`](crate::Kind).
    pub kinds: u32,
    /// `f64` a row: the number; 0 or 1 for a boolean; NaN for the rest.
    pub numbers: u32,
    /// Two `f64` a row, latitude and longitude in degrees or NaN; 0 where no row has a place.
    pub places: u32,
    /// Two `u32` a row, start and length in the texts; 0 where no row is a text.
    pub text_spans: u32,
    /// UTF-8 of the rows' texts.
    pub texts: u32,
    /// Number of names: datastreams met so far.
    pub names: u32,
    /// Eight `u32` a name: start and length of topic, sensor, property and unit; a start of
    /// `0xFFFF_FFFF` stands for none.
    pub name_spans: u32,
    /// UTF-8 of the names.
    pub name_texts: u32,
    /// Counts how often the names were begun anew, because there were too many.
    pub generation: u32,
    /// UTF-8 or bytes of the reply.
    pub reply: u32,
    /// Length of the reply.
    pub reply_length: u32,
    /// `u32` a word of the document read last: see [`Step`](crate::Step).
    pub tape: u32,
    /// Number of these words.
    pub tape_length: u32,
    /// UTF-8 of the document's texts.
    pub document_text: u32,
    /// Their length in bytes.
    pub document_text_length: u32,
    /// 1 where an observation carries more than the columns have: the message in JSON has that.
    pub extras: u32,
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "an address has 32 bits where this module runs"
)]
fn address<T>(column: &[T]) -> u32 {
    if column.is_empty() {
        0
    } else {
        column.as_ptr() as usize as u32
    }
}

impl View {
    pub(crate) fn of(columns: &Columns, names: &Names, document: &Tape, reply: &[u8]) -> Self {
        Self {
            rows: columns.times.len() as u32,
            times: address(&columns.times),
            streams: address(&columns.streams),
            kinds: address(&columns.kinds),
            numbers: address(&columns.numbers),
            places: address(&columns.places),
            text_spans: address(&columns.text_spans),
            texts: address(columns.texts.as_bytes()),
            names: names.len() as u32,
            name_spans: address(names.spans()),
            name_texts: address(names.texts().as_bytes()),
            generation: names.generation(),
            reply: address(reply),
            reply_length: reply.len() as u32,
            tape: address(document.words()),
            tape_length: document.words().len() as u32,
            document_text: address(document.text().as_bytes()),
            document_text_length: document.text().len() as u32,
            extras: columns.extras.into(),
        }
    }
}
