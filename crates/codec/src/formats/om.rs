//! `om` and `om1`: O&M 2.0 and 1.0 in XML. Each reads the other's, since their elements tell.
#![cfg(any(feature = "om", feature = "om1"))]

use crate::error::DecodeError;
use crate::format::{Carries, Element, Format};
use crate::infoset::xml::Xml;
use crate::infoset::xml_text::XmlText;
use crate::rows::{Rows, read_text};
use crate::vocabulary::om;
use alloc::vec::Vec;
use weir_model::{Batch, BatchBuilder, Limits};

#[cfg(feature = "om")]
pub(crate) const OM: Format = Format {
    media_also: &["application/om+xml"],
    element: Element::Roots(&["FeatureCollection", "OM_Observation"]),
    text: true,
    one_line: true,
    line_by_line: true,
    ..Format::new("om", "application/om+xml;version=2.0", encode, decode)
};

#[cfg(feature = "om1")]
pub(crate) const OM1: Format = Format {
    media_also: &["text/xml;subtype=\"om/1.0.0\""],
    element: Element::Roots(&["ObservationCollection"]),
    text: true,
    one_line: true,
    line_by_line: true,
    carries: Carries {
        order: false,
        ..Carries::ALL
    },
    ..Format::new(
        "om1",
        "application/om+xml;version=1.0.0",
        encode_blocks,
        decode,
    )
};

/// Appends the observations of a batch in O&M 2.0 to a document that declares `om`, `gml` (3.2), `xlink`,
/// `xsi` and `xs`; each has an identifier, `urn:weir:observation:` with its topic, its time and its place among
/// those of one time.
#[cfg(feature = "om")]
pub fn write_observations(batch: &Batch, placement: &om::Placement<'_>, out: &mut Vec<u8>) {
    om::write::write_within(batch, placement, out);
}

/// Appends the observations of a batch in O&M 1.0, in one block for each datastream, to a document that
/// declares `om` (1.0), `gml` (3.1), `swe` (1.0.1), `sa` and `xlink`.
#[cfg(feature = "om1")]
pub fn write_blocks(batch: &Batch, placement: &om::Placement<'_>, out: &mut Vec<u8>) {
    om::write_block::write_within(batch, placement, out);
}

/// Appends those observations of a batch that are of a model, in O&M 1.0, each by itself, to a document that
/// declares what [`write_blocks`] needs, `xsi` and `xs`.
#[cfg(feature = "om1")]
pub fn write_of_model(
    batch: &Batch,
    model: om::write_model::Model,
    placement: &om::Placement<'_>,
    out: &mut Vec<u8>,
) {
    om::write_model::write_within(batch, model, placement, out);
}

fn encode(batch: &Batch, out: &mut Vec<u8>) {
    om::write::write(batch, &mut XmlText::with_prefixes(om::write::PREFIXES, out));
}

fn encode_blocks(batch: &Batch, out: &mut Vec<u8>) {
    om::write_block::write(
        batch,
        &mut XmlText::with_prefixes(om::write_block::PREFIXES, out),
    );
}

fn decode(bytes: &[u8], out: &mut BatchBuilder, limits: &Limits) -> Result<(), DecodeError> {
    read_text(bytes, limits, |text| {
        om::read::read(
            &mut Xml::new(text, limits),
            &mut Rows::new(out, limits),
            limits,
        )
    })
}
