//! `weir exi`: any XML document to EXI and back.

mod arguments;
mod codec;
mod schema;

pub(crate) use arguments::Exi;

use crate::Failure;
use crate::convert::read;
use arguments::Direction;
use std::io::{Write, stdout};

/// Encodes or decodes all of the input.
pub(crate) fn run(exi: &Exi) -> Result<(), Failure> {
    let coding = match &exi.direction {
        Direction::Encode(coding) | Direction::Decode(coding) => coding,
    };
    let options = coding.options()?;
    let schema = coding.schema.as_deref().map(schema::load).transpose()?;
    let input = read(coding.file.as_deref())?;
    let out = match exi.direction {
        Direction::Encode(_) => codec::encode(&input, coding, &options, schema.as_ref()),
        Direction::Decode(_) => codec::decode(&input, &options, schema.as_ref()),
    };
    stdout().lock().write_all(&out?).map_err(Failure::no)
}
