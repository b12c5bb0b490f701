//! `json`: the message in JSON; also one observation, an array of them, and the flat object.
#![cfg(feature = "json")]

use crate::error::DecodeError;
use crate::format::{Confidence, Element, Format};
use crate::rows::{Rows, begins_with, check_length, read_terminated_text};
use crate::syntax::json::Json;
use crate::syntax::json_text::JsonText;
use crate::vocabulary::message;
use alloc::string::String;
use alloc::vec::Vec;
use weir_model::{Batch, BatchBuilder, Extra, Flaw, FlawKind, Limits, Value};

pub(crate) const FORMAT: Format = Format {
    media_also: &["text/json"],
    content_format: Some(50),
    sniff: Some(sniff),
    // XEP-0335.
    element: Element::Text("json", "urn:xmpp:json:0"),
    is_bare: Some(is_bare),
    text: true,
    one_line: true,
    line_by_line: true,
    ..Format::new("json", "application/json", encode, decode)
};

fn sniff(payload: &[u8]) -> Confidence {
    Confidence::Certain.if_so(begins_with(payload, b"{["))
}

fn is_bare(message: &[u8]) -> bool {
    !message
        .windows(14)
        .any(|window| window == b"\"observations\"")
}

/// What old devices write where JSON is UTF-8: a byte a character (ISO 8859-1).
#[cold]
fn decode_latin_1(
    bytes: &[u8],
    out: &mut BatchBuilder,
    limits: &Limits,
) -> Result<(), DecodeError> {
    check_length(bytes, limits)?;
    let text: String = bytes.iter().map(|&byte| char::from(byte)).collect();
    read_terminated_text(text.as_bytes(), limits, |text| {
        message::read(&mut Json::new(text, limits), &mut Rows::new(out, limits))
    })?;
    let what = "the text is not UTF-8: it is read as ISO 8859-1";
    out.note_flaw(Flaw::new(FlawKind::Text, what));
    Ok(())
}

/// A result and what its observation carries beside it, as `json` has them: an object of `value`, `end`, `parameters`
/// and so on.
pub fn result_members(value: Value<'_>, extra: &Extra<'_>) -> String {
    let mut out = Vec::new();
    let mut json = JsonText::new(&mut out);
    message::write_result(value, extra, &mut json);
    json.finish();
    String::from_utf8(out).unwrap_or_default()
}

fn encode(batch: &Batch, out: &mut Vec<u8>) {
    let mut json = JsonText::new(out);
    message::write(batch, &mut json);
    json.finish();
}

fn decode(bytes: &[u8], out: &mut BatchBuilder, limits: &Limits) -> Result<(), DecodeError> {
    if out.is_forgiving() && core::str::from_utf8(bytes).is_err() {
        return decode_latin_1(bytes, out, limits);
    }
    read_terminated_text(bytes, limits, |text| {
        message::read(&mut Json::new(text, limits), &mut Rows::new(out, limits))
    })
}
