//! `json`: the message in JSON; also one observation, an array of them, and the flat object.

use crate::buffered;
use crate::error::DecodeError;
use crate::format::{Carries, Format};
use crate::rows::{Rows, check_length, read_terminated_text};
use crate::syntax::json::Json;
use crate::syntax::json_text::JsonText;
use crate::vocabulary::message;
use alloc::string::String;
use alloc::vec::Vec;
use weir_model::{Batch, BatchBuilder, Flaw, FlawKind, Limits};

pub(crate) const FORMAT: Format = Format {
    name: "json",
    media: "application/json",
    media_also: &["text/json"],
    content_format: Some(50),
    text: true,
    one_line: true,
    line_by_line: true,
    carries: Carries::ALL,
    encode,
    decode,
    reader: |limits| buffered::reader(decode, limits),
};

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
