//! `weir exi`: any XML document to EXI and back.

mod arguments;
mod codec;
mod effect;
mod schema;

pub(crate) use arguments::Exi;

use crate::input;
use arguments::Direction;
use std::sync::Arc;
use weir_exi::options::SchemaId;
use weir_exi::xsd::built_in_types;
use weir_program::{Failure, print};

/// Encodes or decodes all of the input.
pub(crate) fn run(exi: &Exi) -> Result<(), Failure> {
    let (coding, encodes) = match &exi.direction {
        Direction::Encode(coding) => (coding, true),
        Direction::Decode(coding) => (coding, false),
    };
    coding.check(encodes)?;
    let options = coding.options()?;
    let schema = match (&coding.schema, &options.schema_id) {
        (Some(location), SchemaId::Id(id)) => Some(schema::load(location, id)?),
        (Some(_), _) => Some(Arc::new(built_in_types())),
        (None, _) => None,
    };
    effect::check_map(&options.datatype_representation_map, schema.as_deref())?;
    let input = input::read(coding.file.as_deref())?;
    let out = match exi.direction {
        Direction::Encode(_) => codec::encode(&input, coding, &options, schema.as_ref()),
        Direction::Decode(_) => codec::decode(&input, &options, schema.as_ref()),
    };
    print(out?)
}
