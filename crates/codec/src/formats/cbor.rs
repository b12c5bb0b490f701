//! `cbor`: the message in CBOR, with the member names of JSON.

use crate::buffered;
use crate::error::DecodeError;
use crate::format::{Carries, Format};
use crate::rows::{Rows, check_length};
use crate::syntax::cbor::{Cbor, CborEmit};
use crate::vocabulary::message;
use alloc::vec::Vec;
use weir_model::{Batch, BatchBuilder, Limits};

pub(crate) const FORMAT: Format = Format {
    name: "cbor",
    media: "application/cbor",
    media_also: &[],
    content_format: Some(60),
    text: false,
    one_line: false,
    carries: Carries::ALL,
    encode,
    decode,
    reader: |limits| buffered::reader(decode, limits),
};

fn encode(batch: &Batch, out: &mut Vec<u8>) {
    message::write(batch, &mut CborEmit::new(out));
}

fn decode(bytes: &[u8], out: &mut BatchBuilder, limits: &Limits) -> Result<(), DecodeError> {
    check_length(bytes, limits)?;
    message::read(&mut Cbor::new(bytes, limits), &mut Rows::new(out, limits))
}
