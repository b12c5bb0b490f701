//! `json`: the message in JSON; also one observation, an array of them, and the flat object.

use crate::buffered;
use crate::error::DecodeError;
use crate::format::{Carries, Format};
use crate::rows::{Rows, utf8};
use crate::syntax::json::Json;
use crate::syntax::json_text::JsonText;
use crate::vocabulary::message;
use alloc::vec::Vec;
use weir_model::{Batch, BatchBuilder, Limits};

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

fn encode(batch: &Batch, out: &mut Vec<u8>) {
    let mut json = JsonText::new(out);
    message::write(batch, &mut json);
    json.finish();
}

fn decode(bytes: &[u8], out: &mut BatchBuilder, limits: &Limits) -> Result<(), DecodeError> {
    let text = utf8(bytes, limits)?;
    message::read(&mut Json::new(text, limits), &mut Rows::new(out, limits))
}
