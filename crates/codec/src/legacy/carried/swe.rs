//! A `swe:DataArray` of SWE Common 2.0 (OGC 08-094r1): binary encoding, one compressed block in base64.
//!
//! What it deliberately does not do: it reads no description but the first quantity's, since a block
//! says itself what is in it.

use crate::base64::{from_base64, place, to_base64};
use crate::error::DecodeError;
use crate::infoset::xml::Xml;
use crate::infoset::xml_chars::is_text;
use crate::infoset::{Event, Name, Pull};
use crate::rows::utf8;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use weir_model::Limits;

/// Namespace of SWE Common 2.0.
const SWE: &str = "http://www.opengis.net/swe/2.0";
/// What the member's `compression` must be.
const COMPRESSION: &str = "application/vnd.weir.block";

/// Appends a `swe:DataArray` (OGC 08-094r1) of a time and a quantity, whose values are this block:
/// binary encoding in base64, one compressed block.
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
    let in_xml = |character: char| {
        if is_text(character.encode_utf8(&mut [0; 4])) {
            character
        } else {
            char::REPLACEMENT_CHARACTER
        }
    };
    let text: String = text.chars().map(in_xml).collect();
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('"', "&quot;")
}

/// What a `swe:DataArray` holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swe {
    /// The message of `block`.
    pub block: Vec<u8>,
    /// How many observations it is said to have.
    pub count: Option<u64>,
    /// URI of what the first quantity is; empty where it has none.
    pub property: String,
    /// UCUM code of its unit; empty where it has none.
    pub unit: String,
    /// The base64 text and where it begins, for places of errors.
    text: Vec<u8>,
    begin: usize,
}

impl Swe {
    /// The place in the document of a byte of the block, exact where the text is in one piece.
    pub fn place(&self, at: usize) -> usize {
        self.begin + place(&self.text, at)
    }
}

/// Reads a `swe:DataArray` whose values are a block; white space and the order of attributes do not
/// count.
pub fn from_swe(document: &[u8], limits: &Limits) -> Result<Swe, DecodeError> {
    let text = utf8(document, limits)?;
    let mut pull = Xml::new(text, limits);
    let mut found = Swe::default();
    let mut said = Said::default();
    let mut within = Within::Document;
    loop {
        let event = match pull.next()? {
            Event::Start(name) => Met::Start(Within::of(name, within)),
            Event::Attribute(name) => Met::Attribute(Of::named(name.local)),
            Event::Content => Met::Content,
            Event::End => Met::End,
            Event::Done => break,
        };
        match event {
            Met::Start(element) => within = element,
            Met::End => within = Within::Other,
            Met::Attribute(of) => said.attribute(within, of, &pull, &mut found)?,
            Met::Content => content(within, &pull, &mut found)?,
        }
        match within {
            Within::Wrong => return Err(DecodeError::expected(pull.at(), "a swe:DataArray")),
            Within::Values => pull.long(),
            _ => {}
        }
    }
    if !(said.base64 && said.compressed) {
        let what = "a swe:BinaryEncoding in base64, of a block that is compressed as weir's";
        return Err(DecodeError::expected(document.len(), what));
    }
    let decoded = from_base64(&found.text, &mut found.block);
    decoded.map_err(|error| DecodeError {
        at: found.begin + error.at,
        ..error
    })?;
    Ok(found)
}

/// An event without what it borrows.
enum Met {
    Start(Within),
    Attribute(Of),
    Content,
    End,
}

/// The element begun last, of those that count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Document,
    /// The root is another.
    Wrong,
    Count,
    CountValue,
    Quantity,
    Unit,
    Encoding,
    Block,
    Values,
    Other,
}

impl Within {
    fn of(name: Name<'_>, before: Self) -> Self {
        let is_ours = name.uri == SWE;
        match (name.local, before) {
            ("DataArray", Self::Document) if is_ours => Self::Other,
            (_, Self::Document) => Self::Wrong,
            ("Count", _) if is_ours => Self::Count,
            ("value", Self::Count) if is_ours => Self::CountValue,
            ("Quantity", _) if is_ours => Self::Quantity,
            ("uom", Self::Quantity) if is_ours => Self::Unit,
            ("BinaryEncoding", _) if is_ours => Self::Encoding,
            ("Block", _) if is_ours => Self::Block,
            ("values", _) if is_ours => Self::Values,
            _ => Self::Other,
        }
    }
}

/// An attribute that counts.
enum Of {
    Definition,
    Code,
    ByteEncoding,
    Compression,
    Other,
}

impl Of {
    fn named(name: &str) -> Self {
        match name {
            "definition" => Self::Definition,
            "code" => Self::Code,
            "byteEncoding" => Self::ByteEncoding,
            "compression" => Self::Compression,
            _ => Self::Other,
        }
    }
}

/// What must be said for the values to be a block.
#[derive(Default)]
struct Said {
    base64: bool,
    compressed: bool,
}

impl Said {
    fn attribute(
        &mut self,
        within: Within,
        of: Of,
        pull: &Xml<'_>,
        found: &mut Swe,
    ) -> Result<(), DecodeError> {
        match (within, of) {
            (Within::Quantity, Of::Definition) if found.property.is_empty() => {
                found.property = pull.text().into();
            }
            (Within::Unit, Of::Code) if found.unit.is_empty() => found.unit = pull.text().into(),
            (Within::Encoding, Of::ByteEncoding) => match pull.text() {
                "base64" => self.base64 = true,
                _ => return Err(DecodeError::expected(pull.at(), "byteEncoding base64")),
            },
            (Within::Block, Of::Compression) => match pull.text() {
                COMPRESSION => self.compressed = true,
                _ => {
                    let what = "compression application/vnd.weir.block";
                    return Err(DecodeError::expected(pull.at(), what));
                }
            },
            _ => {}
        }
        Ok(())
    }
}

fn content(within: Within, pull: &Xml<'_>, found: &mut Swe) -> Result<(), DecodeError> {
    match within {
        Within::CountValue => {
            let count = pull.text().trim().parse();
            let count = count.map_err(|_| DecodeError::expected(pull.at(), "a count"))?;
            found.count = Some(count);
        }
        Within::Values => {
            if found.text.is_empty() {
                found.begin = pull.at();
            }
            found.text.extend_from_slice(pull.text().as_bytes());
        }
        _ => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use alloc::string::ToString;

    fn written() -> String {
        let mut out = Vec::new();
        to_swe(b"foo", 1, "urn:x?a&b\u{1}", "Cel", &mut out);
        String::from_utf8(out).unwrap()
    }

    fn fault(document: &str) -> String {
        let read = from_swe(document.as_bytes(), &Limits::default());
        read.unwrap_err().to_string()
    }

    #[test]
    fn a_data_array_has_the_block_in_base64_and_gives_it_back() {
        let text = written();
        assert!(text.contains("<swe:values>Zm9v</swe:values>"));
        assert!(text.contains("definition=\"urn:x?a&amp;b\u{FFFD}\""));
        let found = from_swe(text.as_bytes(), &Limits::default()).unwrap();
        assert_eq!((&found.block[..], found.count), (&b"foo"[..], Some(1)));
        assert_eq!(found.property, "urn:x?a&b\u{FFFD}");
        assert_eq!(found.unit, "Cel");
        assert_eq!(found.place(1), text.find("Zm9v").unwrap() + 1);
    }

    #[test]
    fn white_space_and_prefixes_do_not_count() {
        let text = written()
            .replace("swe:", "s:")
            .replace("xmlns:swe", "xmlns:s");
        let text = text
            .replace("Zm9v", "\n  Zm<!-- -->9v\n")
            .replace("><", ">\n<");
        let found = from_swe(text.as_bytes(), &Limits::default()).unwrap();
        assert_eq!((&found.block[..], found.count), (&b"foo"[..], Some(1)));
    }

    #[test]
    fn what_is_no_such_array_is_refused_with_its_place() {
        let text = written();
        assert_eq!(fault("<a/>"), "expected a swe:DataArray at byte 0");
        let raw = text.replace("\"base64\"", "\"raw\"");
        assert!(fault(&raw).starts_with("expected byteEncoding base64 at byte "));
        let other = text.replace("vnd.weir.block", "gzip");
        assert!(fault(&other).starts_with("expected compression application/vnd.weir.block"));
        let bare = text
            .replace("<swe:member>", "")
            .replace("</swe:member>", "");
        let bare = bare.replace(
            "<swe:Block ref=\"observation\" compression",
            "<x compression",
        );
        assert!(fault(&bare).starts_with("expected a swe:BinaryEncoding in base64"));
        let damaged = text.replace("Zm9v", "Zm*v");
        let at = damaged.find('*').unwrap();
        assert_eq!(fault(&damaged), format!("expected base64 at byte {at}"));
        assert!(
            from_swe(
                text.as_bytes(),
                &Limits {
                    message_bytes: 99,
                    ..Limits::default()
                }
            )
            .is_err()
        );
    }
}
