//! JSON written (RFC 8259).
//!
//! Each value is followed by a comma, and the end of a map or array turns the last one into its
//! bracket: so the writer has no state, and a known label is one copy.

use crate::number::{TimeWriter, write_f64};
use crate::syntax::{Emit, Label};
use alloc::string::ToString;
use alloc::vec::Vec;
use weir_model::Time;

/// Writes one JSON text.
pub(crate) struct JsonText<'o> {
    out: &'o mut Vec<u8>,
    times: TimeWriter,
}

impl<'o> JsonText<'o> {
    pub(crate) fn new(out: &'o mut Vec<u8>) -> Self {
        let times = TimeWriter::default();
        Self { out, times }
    }

    /// Ends the text, dropping the comma after it.
    pub(crate) fn finish(self) {
        self.out.pop();
    }

    fn close(&mut self, bracket: u8) {
        if self.out.last() == Some(&b',') {
            self.out.pop();
        }
        self.out.extend_from_slice(&[bracket, b',']);
    }
}

impl Emit for JsonText<'_> {
    const COUNTS: bool = false;

    fn map(&mut self, _members: usize) {
        self.out.push(b'{');
    }

    fn end_map(&mut self) {
        self.close(b'}');
    }

    fn array(&mut self, _items: usize) {
        self.out.push(b'[');
    }

    fn end_array(&mut self) {
        self.close(b']');
    }

    fn label(&mut self, label: &'static Label) {
        self.out.extend_from_slice(label.json.as_bytes());
    }

    fn key(&mut self, name: &str) {
        write_string(name, self.out);
        self.out.push(b':');
    }

    fn null(&mut self) {
        self.out.extend_from_slice(b"null,");
    }

    fn bool(&mut self, truth: bool) {
        self.out
            .extend_from_slice(if truth { b"true," } else { b"false," });
    }

    fn number(&mut self, number: f64) {
        write_f64(number, self.out);
        self.out.push(b',');
    }

    fn whole(&mut self, number: i128) {
        self.out.extend_from_slice(number.to_string().as_bytes());
        self.out.push(b',');
    }

    fn text(&mut self, text: &str) {
        write_string(text, self.out);
        self.out.push(b',');
    }

    fn time(&mut self, time: Time) {
        self.out.push(b'"');
        self.times.write(time, self.out);
        self.out.extend_from_slice(b"\",");
    }

    fn seconds(&mut self, time: Time) {
        crate::number::write_seconds(time, self.out);
        self.out.push(b',');
    }

    fn json(&mut self, json: &str) {
        self.out.extend_from_slice(json.as_bytes());
        self.out.push(b',');
    }
}

/// Appends a JSON string with its quotes.
pub(crate) fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut done = 0;
    loop {
        let plain = plain_prefix(&bytes[done..]);
        out.extend_from_slice(&bytes[done..done + plain]);
        done += plain;
        let Some(&byte) = bytes.get(done) else { break };
        write_escape(byte, out);
        done += 1;
    }
    out.push(b'"');
}

fn write_escape(byte: u8, out: &mut Vec<u8>) {
    let short = match byte {
        b'"' => b'"',
        b'\\' => b'\\',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => {
            out.extend_from_slice(b"\\u00");
            let digit = |nibble: u8| b"0123456789abcdef"[nibble as usize & 15];
            return out.extend_from_slice(&[digit(byte >> 4), digit(byte)]);
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// Number of bytes before the first that a JSON string must escape: a quote, a backslash or a
/// control character. Eight bytes at a time.
pub(crate) fn plain_prefix(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let special = special_bytes(u64::from_le_bytes(*word));
        if special != 0 {
            return index * 8 + special.trailing_zeros() as usize / 8;
        }
    }
    let special = |&byte: &u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    words.len() * 8 + rest.iter().position(special).unwrap_or(rest.len())
}

/// The lowest set bit lies in the first byte that is special; the bytes above it are not exact.
fn special_bytes(word: u64) -> u64 {
    let below = word.wrapping_sub(ONES * 0x20);
    let quote = word ^ (ONES * u64::from(b'"'));
    let backslash = word ^ (ONES * u64::from(b'\\'));
    let zero = |word: u64| word.wrapping_sub(ONES) & !word;
    ((below & !word) | zero(quote) | zero(backslash)) & HIGHS
}
