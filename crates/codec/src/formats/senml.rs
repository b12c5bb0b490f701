//! `senml-json` and `senml-cbor`: packs of RFC 8428.

use crate::buffered;
use crate::error::DecodeError;
use crate::format::{Carries, Format};
use crate::rows::Rows;
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
    name: "senml-json",
    media: "application/senml+json",
    media_also: &[],
    content_format: Some(110),
    text: true,
    one_line: true,
    line_by_line: true,
    carries: CARRIES,
    encode: encode_json,
    decode: decode_json,
    reader: |limits| buffered::reader(decode_json, limits),
};

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
    name: "senml-cbor",
    media: "application/senml+cbor",
    media_also: &[],
    content_format: Some(112),
    text: false,
    one_line: false,
    line_by_line: false,
    carries: CARRIES,
    encode: encode_cbor,
    decode: decode_cbor,
    reader: |limits| buffered::reader(decode_cbor, limits),
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
