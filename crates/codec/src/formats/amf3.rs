//! `amf3`: the message in AMF 3, with the member names of JSON.
//!
//! One AMF 3 value, as it stands in the body of a message of BlazeDS; not the envelope around it.

use crate::buffered;
use crate::error::DecodeError;
use crate::format::{Carries, Format};
use crate::rows::{Rows, check_length};
use crate::syntax::amf3::{Amf3, Amf3Emit};
use crate::vocabulary::message;
use alloc::vec::Vec;
use weir_model::{Batch, BatchBuilder, Limits};

pub(crate) const FORMAT: Format = Format {
    name: "amf3",
    media: "application/x-amf",
    media_also: &["application/amf"],
    content_format: None,
    text: false,
    one_line: false,
    carries: Carries::ALL,
    encode,
    decode,
    reader: |limits| buffered::reader(decode, limits),
};

fn encode(batch: &Batch, out: &mut Vec<u8>) {
    message::write(batch, &mut Amf3Emit::new(out));
}

fn decode(bytes: &[u8], out: &mut BatchBuilder, limits: &Limits) -> Result<(), DecodeError> {
    check_length(bytes, limits)?;
    message::read(&mut Amf3::new(bytes, limits), &mut Rows::new(out, limits))
}
