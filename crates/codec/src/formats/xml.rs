//! `xml`: the papers' sensor message as elements.
#![cfg(feature = "xml")]

use crate::error::DecodeError;
use crate::format::{Element, Format};
use crate::infoset::xml::Xml;
use crate::infoset::xml_text::XmlText;
use crate::rows::{Rows, read_text};
use crate::vocabulary::message_xml;
use alloc::vec::Vec;
use weir_model::{Batch, BatchBuilder, Limits};

pub(crate) const FORMAT: Format = Format {
    media_also: &["text/xml"],
    content_format: Some(41),
    element: Element::Named("observations", "urn:weir:observations:0"),
    text: true,
    one_line: true,
    line_by_line: true,
    ..Format::new("xml", "application/xml", encode, decode)
};

fn encode(batch: &Batch, out: &mut Vec<u8>) {
    message_xml::write(batch, &mut XmlText::new(out));
}

fn decode(bytes: &[u8], out: &mut BatchBuilder, limits: &Limits) -> Result<(), DecodeError> {
    read_text(bytes, limits, |text| {
        message_xml::read(
            &mut Xml::new(text, limits),
            &mut Rows::new(out, limits),
            limits,
        )
    })
}
