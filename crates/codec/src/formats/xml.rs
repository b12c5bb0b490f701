//! `xml`: the papers' sensor message as elements.

use crate::buffered;
use crate::error::DecodeError;
use crate::format::{Carries, Format};
use crate::infoset::xml::Xml;
use crate::infoset::xml_text::XmlText;
use crate::rows::{Rows, read_text};
use crate::vocabulary::message_xml;
use alloc::vec::Vec;
use weir_model::{Batch, BatchBuilder, Limits};

pub(crate) const FORMAT: Format = Format {
    name: "xml",
    media: "application/xml",
    media_also: &["text/xml"],
    content_format: Some(41),
    text: true,
    one_line: true,
    line_by_line: true,
    carries: Carries::ALL,
    encode,
    decode,
    reader: |limits| buffered::reader(decode, limits),
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
