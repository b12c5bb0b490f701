//! `bson`: the message in BSON, with the member names of JSON.

use crate::buffered;
use crate::error::DecodeError;
use crate::format::{Carries, Format};
use crate::rows::{Rows, check_length};
use crate::syntax::bson::{Bson, BsonEmit};
use crate::vocabulary::message;
use alloc::vec::Vec;
use weir_model::{Batch, BatchBuilder, Limits};

pub(crate) const FORMAT: Format = Format {
    name: "bson",
    media: "application/bson",
    media_also: &["application/x-bson"],
    content_format: None,
    text: false,
    one_line: false,
    carries: Carries::ALL,
    encode,
    decode,
    reader: |limits| buffered::reader(decode, limits),
};

fn encode(batch: &Batch, out: &mut Vec<u8>) {
    message::write(batch, &mut BsonEmit::new(out));
}

fn decode(bytes: &[u8], out: &mut BatchBuilder, limits: &Limits) -> Result<(), DecodeError> {
    check_length(bytes, limits)?;
    message::read(&mut Bson::new(bytes, limits), &mut Rows::new(out, limits))
}
