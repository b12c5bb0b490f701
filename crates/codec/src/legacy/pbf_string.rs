//! `pbf-string`: the message of `protobuf` as text, two adjacent bytes in one code point.
//!
//! Paper 000 (section VI-A) sends Protocol Buffers through channels that carry text alone, and packs
//! two bytes into each code point, past the surrogates, which are none. It leaves open how; so this
//! is what is written, and whoever reads it needs no more:
//!
//! - Bytes `h` and `l` are the code point `h * 256 + l`, unless that is a surrogate (U+D800 to
//!   U+DFFF), what some reader takes for the end of a line (U+000A to U+000D, U+001C to U+001E,
//!   U+0085, U+2028, U+2029) or a byte order mark (U+FEFF): then it is that plus 10000 hexadecimal,
//!   in plane 1. Neither survives in lines, in event streams and at the beginning of a text.
//! - The last byte `b` of an odd number of them is the code point U+20000 plus `b`, in plane 2.
//! - No bytes are the empty text.
//!
//! So a reader takes each code point's low 16 bits for two bytes, or, in plane 2, its low 8 bits for
//! one, which must be the last. Line ends behind the text and a byte order mark before it are
//! passed over. The paper counts characters, the wire carries UTF-8: [`text_size`] gives both.
//!
//! The decision worth arguing: an escaped pair is still one code point, so that a message of `n` bytes
//! always has half as many characters, rounded up, as in the paper; in UTF-16 an escaped one takes two
//! units.

use crate::error::DecodeError;
use crate::format::Format;
use crate::formats::protobuf;
use crate::rows::utf8;
use crate::unescaped::Unescaped;
use alloc::vec::Vec;
use weir_model::{Batch, BatchBuilder, Limits};

pub(crate) const FORMAT: Format = Format {
    text: true,
    one_line: true,
    line_by_line: true,
    ..Format::new(
        "pbf-string",
        "text/plain;profile=pbf-string",
        encode,
        decode,
    )
};

/// What an escaped pair of bytes is moved by.
const ESCAPED: u32 = 0x1_0000;
/// What the last byte of an odd number is moved by.
const SINGLE: u32 = 0x2_0000;

/// How long a text is, counted in the ways that differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextSize {
    /// Code points; what paper 000 calls characters (table 5).
    pub characters: usize,
    /// Units of UTF-16, the `length` of a string in JavaScript and Java.
    pub utf16_units: usize,
    /// Bytes of UTF-8, which is what travels.
    pub utf8_bytes: usize,
}

/// Counts a text.
pub fn text_size(text: &str) -> TextSize {
    let add = |size: TextSize, character: char| TextSize {
        characters: size.characters + 1,
        utf16_units: size.utf16_units + character.len_utf16(),
        utf8_bytes: size.utf8_bytes + character.len_utf8(),
    };
    text.chars().fold(TextSize::default(), add)
}

/// The bytes are written behind what is there, then their text, which takes their place.
fn encode(batch: &Batch, out: &mut Vec<u8>) {
    let start = out.len();
    (protobuf::FORMAT.encode)(batch, out);
    let end = out.len();
    for at in (start..end).step_by(2) {
        let code = match out.get(at + 1).filter(|_| at + 1 < end) {
            Some(&low) => code_of(out[at], low),
            None => SINGLE + u32::from(out[at]),
        };
        let character = char::from_u32(code).unwrap_or_default();
        out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    }
    out.copy_within(end.., start);
    out.truncate(out.len() - (end - start));
}

fn code_of(high: u8, low: u8) -> u32 {
    match u32::from(high) << 8 | u32::from(low) {
        code @ (0xD800..=0xDFFF | 0xFEFF) => code + ESCAPED,
        code @ (0x0A..=0x0D | 0x1C..=0x1E | 0x85 | 0x2028 | 0x2029) => code + ESCAPED,
        code => code,
    }
}

/// Reads field after field, so that no more than one observation is unpacked at once.
fn decode(bytes: &[u8], out: &mut BatchBuilder, limits: &Limits) -> Result<(), DecodeError> {
    let text = utf8(bytes, limits)?;
    let mut packed = Packed::new(text);
    let mut limits = *limits;
    let mut field = Unescaped::<1024>::default();
    loop {
        let before = packed.count;
        field.clear();
        if !packed.field(&mut field, &limits)? {
            return Ok(());
        }
        let count = out.len();
        (protobuf::FORMAT.decode)(field.as_bytes(), out, &limits).map_err(|error| DecodeError {
            at: offset_of(text, before + error.at),
            ..error
        })?;
        limits.observations = limits.observations.saturating_sub(out.len() - count);
    }
}

/// Where in the text the byte with this index stands.
fn offset_of(text: &str, index: usize) -> usize {
    let mut packed = Packed::new(text);
    while packed.count < index && matches!(packed.next(), Ok(Some(_))) {}
    packed.at
}

/// Bytes unpacked one after the other.
struct Packed<'a> {
    text: &'a str,
    /// Offset of the code point that holds the next byte.
    at: usize,
    /// The second byte of the code point, once the first is given.
    low: Option<u8>,
    /// Bytes given.
    count: usize,
}

impl<'a> Packed<'a> {
    fn new(text: &'a str) -> Self {
        let at = if text.starts_with('\u{FEFF}') { 3 } else { 0 };
        Self {
            text: text.trim_end_matches(['\r', '\n']),
            at,
            low: None,
            count: 0,
        }
    }

    /// The next byte; `None` at the end.
    fn next(&mut self) -> Result<Option<u8>, DecodeError> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let Some(character) = rest.chars().next() else {
            return Ok(None);
        };
        let after = self.at + character.len_utf8();
        self.count += 1;
        if let Some(low) = self.low.take() {
            self.at = after;
            return Ok(Some(low));
        }
        let code = u32::from(character);
        let [_, plane, high, low] = code.to_be_bytes();
        match (plane, code) {
            (0, 0x0A | 0x0D) => Err(DecodeError::expected(self.at, "no line end: it is escaped")),
            (0 | 1, _) => {
                self.low = Some(low);
                Ok(Some(high))
            }
            (2, SINGLE..=0x2_00FF) if after == self.text.len() => {
                self.at = after;
                Ok(Some(low))
            }
            (2, SINGLE..=0x2_00FF) => {
                let what = "a single byte at the end alone";
                Err(DecodeError::expected(self.at, what))
            }
            _ => Err(DecodeError::expected(
                self.at,
                "a code point that stands for bytes",
            )),
        }
    }

    fn byte(&mut self, field: &mut Unescaped<1024>) -> Result<u8, DecodeError> {
        let byte = self.next()?;
        let byte = byte.ok_or_else(|| DecodeError::truncated(self.at))?;
        field.push(&[byte]);
        Ok(byte)
    }

    fn varint(&mut self, field: &mut Unescaped<1024>) -> Result<u64, DecodeError> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte(field)?;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                break;
            }
        }
        Ok(number)
    }

    /// Unpacks one field with its tag, which `protobuf` judges; `false` at the end.
    fn field(&mut self, field: &mut Unescaped<1024>, limits: &Limits) -> Result<bool, DecodeError> {
        if self.low.is_none() && self.at >= self.text.len() {
            return Ok(false);
        }
        let at = self.at;
        let bytes = match self.varint(field)? & 7 {
            0 => self.varint(field).map(|_| 0)?,
            1 => 8,
            2 => self.varint(field)?,
            5 => 4,
            _ => 0,
        };
        if bytes > limits.message_bytes as u64 {
            return Err(DecodeError::over(
                at,
                "bytes of a message",
                limits.message_bytes,
            ));
        }
        for _ in 0..bytes {
            self.byte(field)?;
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::sample;
    use alloc::string::String;
    use alloc::vec;

    fn packed(batch: &Batch) -> String {
        let mut out = vec![b'>'];
        encode(batch, &mut out);
        String::from_utf8(out).unwrap().split_off(1)
    }

    fn unpacked(text: &str) -> Result<Vec<u8>, DecodeError> {
        let mut packed = Packed::new(text);
        let mut bytes = Vec::new();
        while let Some(byte) = packed.next()? {
            bytes.push(byte);
        }
        Ok(bytes)
    }

    #[test]
    fn each_pair_of_bytes_is_one_code_point() {
        for high in 0..=255 {
            for low in 0..=255 {
                let character = char::from_u32(code_of(high, low)).unwrap();
                assert!(!"\r\n\u{b}\u{c}\u{1e}\u{85}\u{2028}\u{FEFF}".contains(character));
                let text = String::from(character);
                assert_eq!(unpacked(&text), Ok(vec![high, low]));
                assert_eq!(text_size(&text).characters, 1);
            }
        }
    }

    #[test]
    fn no_byte_and_an_odd_one_have_their_texts() {
        assert_eq!(packed(&Batch::default()), "");
        assert_eq!(unpacked(""), Ok(vec![]));
        assert_eq!(unpacked("\u{FEFF}\n"), Ok(vec![]));
        assert_eq!(
            unpacked("\u{0A41}\u{2000D}\r\n"),
            Ok(vec![0x0A, 0x41, 0x0D])
        );
        let error = unpacked("\u{0A41}\u{20041}a").unwrap_err();
        assert_eq!(
            error,
            DecodeError::expected(3, "a single byte at the end alone")
        );
        assert_eq!(unpacked("ab\nc").unwrap_err().at, 2);
        assert_eq!(unpacked("a\u{30000}").unwrap_err().at, 1);
    }

    #[test]
    fn a_message_has_half_as_many_characters_as_protobuf_has_bytes() {
        for nodes in 0..6 {
            for second in 0..4 {
                let batch = sample::message(nodes, second);
                let mut bytes = Vec::new();
                (protobuf::FORMAT.encode)(&batch, &mut bytes);
                let text = packed(&batch);
                let size = text_size(&text);
                assert_eq!(size.characters, bytes.len().div_ceil(2));
                assert_eq!(size.utf8_bytes, text.len());
                assert_eq!(size.utf16_units, text.encode_utf16().count());
                assert_eq!(unpacked(&text), Ok(bytes));
            }
        }
    }

    #[test]
    fn an_error_of_protobuf_has_its_place_in_the_text() {
        // An observation of two bytes, a boolean and its varint, which does not end.
        let text: String = ['\u{0A02}', '\u{3080}'].iter().collect();
        let mut builder = BatchBuilder::new();
        let error = decode(text.as_bytes(), &mut builder, &Limits::default()).unwrap_err();
        assert_eq!(error, DecodeError::truncated(6));
    }
}
