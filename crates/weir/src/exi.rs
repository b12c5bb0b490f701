//! `weir exi`: any XML document to EXI and back.

mod arguments;
mod codec;
mod schema;

pub(crate) use arguments::Exi;

use crate::Failure;
use arguments::{Coding, Direction};
use std::io::{Read, Write, stdin, stdout};

/// Encodes or decodes all of the input.
pub(crate) fn run(exi: &Exi) -> Result<(), Failure> {
    let coding = match &exi.direction {
        Direction::Encode(coding) | Direction::Decode(coding) => coding,
    };
    let options = coding.options()?;
    let schema = coding.schema.as_deref().map(schema::load).transpose()?;
    let input = read(coding)?;
    let out = match exi.direction {
        Direction::Encode(_) => codec::encode(&input, coding, &options, schema.as_ref()),
        Direction::Decode(_) => codec::decode(&input, &options, schema.as_ref()),
    };
    stdout().lock().write_all(&out?).map_err(Failure::no)
}

fn read(coding: &Coding) -> Result<Vec<u8>, Failure> {
    let Some(file) = &coding.file else {
        let mut input = Vec::new();
        stdin()
            .lock()
            .read_to_end(&mut input)
            .map_err(Failure::no)?;
        return Ok(input);
    };
    std::fs::read(file).map_err(|error| Failure::no(format!("{}: {error}", file.display())))
}
