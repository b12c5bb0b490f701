//! A message of `block` inside other formats: base64 for XML and JSON, CBOR, Protocol Buffers, SWE.
//!
//! What it deliberately does not do: it opens no chunk. `docs/reference/block.md`, "Inside other
//! formats", says who defines what.

use super::bytes::{Input, put_varint};
use crate::error::DecodeError;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// What stands for a sextet that is none.
const NO_SEXTET: u8 = 64;

static SEXTETS: [u8; 256] = sextets();

const fn sextets() -> [u8; 256] {
    let mut sextets = [NO_SEXTET; 256];
    let mut index = 0;
    while index < 64 {
        sextets[ALPHABET[index] as usize] = index as u8;
        index += 1;
    }
    sextets
}

/// Appends base64 with padding (RFC 4648 section 4).
pub fn to_base64(block: &[u8], out: &mut Vec<u8>) {
    out.reserve(block.len().div_ceil(3) * 4);
    for group in block.chunks(3) {
        let mut word = [0; 4];
        word[1..=group.len()].copy_from_slice(group);
        let bits = u32::from_be_bytes(word);
        let mut four = [b'='; 4];
        for (index, place) in four.iter_mut().enumerate().take(group.len() + 1) {
            *place = ALPHABET[(bits >> (18 - 6 * index) & 63) as usize];
        }
        out.extend_from_slice(&four);
    }
}

/// Appends what base64 stands for; white space between its characters is passed over, as in XML.
pub fn from_base64(text: &[u8], out: &mut Vec<u8>) -> Result<(), DecodeError> {
    let (mut bits, mut have, mut padding) = (0_u32, 0, 0);
    for (at, &byte) in text.iter().enumerate() {
        let sextet = SEXTETS[usize::from(byte)];
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => continue,
            b'=' => padding += 1,
            _ if sextet == NO_SEXTET || padding > 0 => {
                return Err(DecodeError::expected(at, "base64"));
            }
            _ => {}
        }
        bits = bits << 6 | u32::from(sextet & 63);
        have += 1;
        if have == 4 && padding <= 2 {
            out.extend_from_slice(&bits.to_be_bytes()[1..4 - padding]);
            (bits, have) = (0, 0);
        }
    }
    match have {
        0 => Ok(()),
        _ => Err(DecodeError::truncated(text.len())),
    }
}

/// Appends a CBOR byte string (RFC 8949 section 3.1, major type 2).
pub fn to_cbor(block: &[u8], out: &mut Vec<u8>) {
    let len = block.len() as u64;
    match len {
        0..24 => out.push(0x40 | len as u8),
        24..0x100 => out.extend_from_slice(&[0x58, len as u8]),
        0x100..0x1_0000 => {
            out.push(0x59);
            out.extend_from_slice(&(len as u16).to_be_bytes());
        }
        0x1_0000..0x1_0000_0000 => {
            out.push(0x5A);
            out.extend_from_slice(&(len as u32).to_be_bytes());
        }
        _ => {
            out.push(0x5B);
            out.extend_from_slice(&len.to_be_bytes());
        }
    }
    out.extend_from_slice(block);
}

/// What a CBOR byte string of definite length holds, and nothing behind it.
pub fn from_cbor(item: &[u8]) -> Result<&[u8], DecodeError> {
    let mut input = Input::new(item, 0);
    let first = input.byte()?;
    let width = match first {
        0x40..0x58 => 0,
        0x58..0x5C => 1 << (first - 0x58),
        _ => return Err(DecodeError::expected(0, "a byte string of definite length")),
    };
    let wide = input.take(width)?.iter();
    let len = match width {
        0 => u64::from(first - 0x40),
        _ => wide.fold(0, |len, &byte| len << 8 | u64::from(byte)),
    };
    whole(input, len)
}

/// Tag of field 1, wire type 2, of the message `Block` in `weir.proto`.
const PROTOBUF_TAG: u8 = 1 << 3 | 2;

/// Appends the message `Block` of `weir.proto`.
pub fn to_protobuf(block: &[u8], out: &mut Vec<u8>) {
    out.push(PROTOBUF_TAG);
    put_varint(out, block.len() as u64);
    out.extend_from_slice(block);
}

/// What the message `Block` of `weir.proto` holds.
pub fn from_protobuf(message: &[u8]) -> Result<&[u8], DecodeError> {
    let mut input = Input::new(message, 0);
    if input.byte()? != PROTOBUF_TAG {
        return Err(DecodeError::expected(0, "field 1, of bytes"));
    }
    let len = input.varint()?;
    whole(input, len)
}

/// All that is left, which must be `len` bytes.
fn whole(mut input: Input<'_>, len: u64) -> Result<&[u8], DecodeError> {
    let Ok(len) = usize::try_from(len) else {
        return input.expected("a length that fits in memory");
    };
    let block = input.take(len)?;
    match input.is_at_end() {
        true => Ok(block),
        false => input.expected("the end behind the block"),
    }
}

/// Appends a `swe:DataArray` (OGC 08-094r1) of a time and a quantity, whose values are this block of
/// one series: binary encoding in base64, one compressed block.
///
/// `property` is the URI of what is observed and `unit` its UCUM code; both are escaped.
pub fn to_swe(block: &[u8], count: usize, property: &str, unit: &str, out: &mut Vec<u8>) {
    let [property, unit] = [property, unit].map(escaped);
    let head = format!(
        concat!(
            r#"<swe:DataArray xmlns:swe="http://www.opengis.net/swe/2.0" "#,
            r#"xmlns:xlink="http://www.w3.org/1999/xlink">"#,
            "<swe:elementCount><swe:Count><swe:value>{}</swe:value></swe:Count>",
            "</swe:elementCount>",
            r#"<swe:elementType name="observation"><swe:DataRecord><swe:field name="time">"#,
            r#"<swe:Time definition="http://www.opengis.net/def/property/OGC/0/PhenomenonTime">"#,
            r#"<swe:uom xlink:href="http://www.opengis.net/def/uom/ISO-8601/0/Gregorian"/>"#,
            r#"</swe:Time></swe:field><swe:field name="result"><swe:Quantity definition="{}">"#,
            r#"<swe:uom code="{}"/></swe:Quantity></swe:field></swe:DataRecord>"#,
            "</swe:elementType>",
            "<swe:encoding>",
            r#"<swe:BinaryEncoding byteOrder="littleEndian" byteEncoding="base64">"#,
            r#"<swe:member><swe:Block ref="observation" "#,
            r#"compression="application/vnd.weir.block"/>"#,
            r#"</swe:member></swe:BinaryEncoding></swe:encoding><swe:values>"#,
        ),
        count, property, unit
    );
    out.extend_from_slice(head.as_bytes());
    to_base64(block, out);
    out.extend_from_slice(b"</swe:values></swe:DataArray>");
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_vectors_of_rfc_4648_section_10() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ] {
            let mut out = Vec::new();
            to_base64(bytes.as_bytes(), &mut out);
            assert_eq!(out, text.as_bytes());
            let mut back = Vec::new();
            from_base64(&out, &mut back).unwrap();
            assert_eq!(back, bytes.as_bytes());
        }
        let mut out = Vec::new();
        from_base64(b" Zm 9v\nYmFy ", &mut out).unwrap();
        assert_eq!(out, b"foobar");
        for (text, at) in [("Zm9", 3), ("Z*==", 1), ("Zg==Zg==", 4), ("Z===", 4)] {
            assert_eq!(from_base64(text.as_bytes(), &mut out).unwrap_err().at, at);
        }
    }

    #[test]
    fn byte_strings_and_messages_hold_the_block_whole() {
        for len in [0, 1, 23, 24, 255, 256, 65_535, 65_536] {
            let block = alloc::vec![7; len];
            let (mut cbor, mut protobuf) = (Vec::new(), Vec::new());
            to_cbor(&block, &mut cbor);
            to_protobuf(&block, &mut protobuf);
            assert_eq!(from_cbor(&cbor).unwrap(), block);
            assert_eq!(from_protobuf(&protobuf).unwrap(), block);
            assert!(from_cbor(&cbor[..cbor.len() - 1]).is_err());
            assert!(from_protobuf(&protobuf[..protobuf.len() - 1]).is_err());
            cbor.push(0);
            protobuf.push(0);
            assert!(from_cbor(&cbor).is_err() && from_protobuf(&protobuf).is_err());
        }
        assert_eq!(from_cbor(b"\x63abc").unwrap_err().at, 0);
    }

    #[test]
    fn a_data_array_of_swe_has_the_block_in_base64() {
        let mut out = Vec::new();
        to_swe(b"foo", 1, "urn:x?a&b", "Cel", &mut out);
        let text = core::str::from_utf8(&out).unwrap();
        assert!(text.contains("<swe:values>Zm9v</swe:values>"));
        assert!(text.contains(r#"definition="urn:x?a&amp;b""#));
    }
}
