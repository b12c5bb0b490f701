//! `weir exi`: any XML document to EXI and back.

mod arguments;
mod codec;
mod schema;

pub(crate) use arguments::Exi;

use crate::Failure;
use crate::{input, output};
use arguments::Direction;

/// Encodes or decodes all of the input.
pub(crate) fn run(exi: &Exi) -> Result<(), Failure> {
    let coding = match &exi.direction {
        Direction::Encode(coding) | Direction::Decode(coding) => coding,
    };
    let options = coding.options()?;
    let schema = coding.schema.as_deref().map(schema::load).transpose()?;
    let input = input::read(coding.file.as_deref())?;
    let out = match exi.direction {
        Direction::Encode(_) => codec::encode(&input, coding, &options, schema.as_ref()),
        Direction::Decode(_) => codec::decode(&input, &options, schema.as_ref()),
    };
    output::print(out?)
}
