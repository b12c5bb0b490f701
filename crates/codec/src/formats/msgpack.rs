//! `msgpack`: the message in MessagePack, with the member names of JSON.

use crate::buffered;
use crate::error::DecodeError;
use crate::format::{Carries, Format};
use crate::rows::{Rows, check_length};
use crate::syntax::msgpack::{Msgpack, MsgpackEmit};
use crate::vocabulary::message;
use alloc::vec::Vec;
use weir_model::{Batch, BatchBuilder, Limits};

pub(crate) const FORMAT: Format = Format {
    name: "msgpack",
    media: "application/msgpack",
    media_also: &["application/x-msgpack", "application/vnd.msgpack"],
    content_format: None,
    text: false,
    one_line: false,
    carries: Carries::ALL,
    encode,
    decode,
    reader: |limits| buffered::reader(decode, limits),
};

fn encode(batch: &Batch, out: &mut Vec<u8>) {
    message::write(batch, &mut MsgpackEmit::new(out));
}

fn decode(bytes: &[u8], out: &mut BatchBuilder, limits: &Limits) -> Result<(), DecodeError> {
    check_length(bytes, limits)?;
    message::read(
        &mut Msgpack::new(bytes, limits),
        &mut Rows::new(out, limits),
    )
}
