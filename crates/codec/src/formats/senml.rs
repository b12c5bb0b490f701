//! `senml-json` and `senml-cbor`: packs of RFC 8428.
#![cfg(any(feature = "senml-json", feature = "senml-cbor"))]

use crate::error::DecodeError;
use crate::format::{Carries, Confidence, Format};
use crate::rows::{Rows, begins_with};
use crate::vocabulary::senml;
use alloc::vec::Vec;
use weir_model::{Batch, BatchBuilder, Limits};

const CARRIES: Carries = Carries {
    sensor: false,
    property: false,
    place: false,
    null: false,
    json: false,
    extra: false,
    ..Carries::ALL
};

#[cfg(feature = "senml-json")]
pub(crate) const JSON: Format = Format {
    content_format: Some(110),
    sniff: Some(sniff),
    text: true,
    one_line: true,
    line_by_line: true,
    carries: CARRIES,
    ..Format::new(
        "senml-json",
        "application/senml+json",
        encode_json,
        decode_json,
    )
};

/// A pack is an array.
#[cfg(feature = "senml-json")]
fn sniff(payload: &[u8]) -> Confidence {
    Confidence::Certain.if_so(begins_with(payload, b"["))
}

#[cfg(feature = "senml-json")]
fn encode_json(batch: &Batch, out: &mut Vec<u8>) {
    let mut json = crate::syntax::json_text::JsonText::new(out);
    senml::write(batch, &mut json);
    json.finish();
}

#[cfg(feature = "senml-json")]
fn decode_json(bytes: &[u8], out: &mut BatchBuilder, limits: &Limits) -> Result<(), DecodeError> {
    crate::rows::read_terminated_text(bytes, limits, |text| {
        let mut json = crate::syntax::json::Json::new(text, limits);
        senml::read(&mut json, &mut Rows::new(out, limits))
    })
}

#[cfg(feature = "senml-cbor")]
pub(crate) const CBOR: Format = Format {
    content_format: Some(112),
    carries: CARRIES,
    ..Format::new(
        "senml-cbor",
        "application/senml+cbor",
        encode_cbor,
        decode_cbor,
    )
};

#[cfg(feature = "senml-cbor")]
fn encode_cbor(batch: &Batch, out: &mut Vec<u8>) {
    senml::write(batch, &mut crate::syntax::cbor::CborEmit::with_numbers(out));
}

#[cfg(feature = "senml-cbor")]
fn decode_cbor(bytes: &[u8], out: &mut BatchBuilder, limits: &Limits) -> Result<(), DecodeError> {
    crate::rows::check_length(bytes, limits)?;
    let mut cbor = crate::syntax::cbor::Cbor::new(bytes, limits);
    senml::read(&mut cbor, &mut Rows::new(out, limits))
}
