//! What an offering takes: observations of the types that were announced when its sensor was inserted (OGC 12-006
//! section 10.4). One whose sensor nobody announced takes all.
//!
//! The decision worth arguing: a result is held against a type, not the type that the request names: so what is
//! stored is what was announced, whatever binding it came by.

use crate::ask::Ask;
use crate::exception::Exception;
use crate::records::{Set, types_of};
use weir_model::{Batch, Value};

/// Refuses what is of no type that its sensor was announced with.
// [SOS2-10.4-3]
pub(crate) fn check(ask: &Ask, batch: &Batch) -> Result<(), Exception> {
    let streams = 0..batch.stream_count();
    let procedure = |index| batch.stream(index).sensor.unwrap_or_default();
    let types = streams.map(|index| {
        let sensor = ask.record(Set::Sensors, procedure(index))?;
        Ok(sensor.map(|body| types_of(&body)).unwrap_or_default())
    });
    let types = types.collect::<Result<Vec<_>, Exception>>()?;
    for row in 0..batch.len() {
        let index = batch.stream_of(row);
        let types = &types[index];
        let is_taken = types.iter().any(|class| fits(class, &batch.value(row)));
        if !types.is_empty() && !is_taken {
            let only = types.join(", ");
            let sentence = format!("`{}` observes {only} only", procedure(index));
            return Err(Exception::invalid("observationType", sentence));
        }
    }
    Ok(())
}

/// Whether a result can be of a type.
fn fits(class: &str, value: &Value<'_>) -> bool {
    let name = class.rsplit('/').next().unwrap_or_default();
    match (name, value) {
        // Nothing was observed, which any type may say.
        (_, Value::Null) => true,
        ("OM_Measurement", value) => value.is_numeric(),
        ("OM_CountObservation", value) => {
            let number = value.number().filter(|_| value.is_numeric());
            number.is_some_and(|number| number % 1.0 == 0.0)
        }
        ("OM_TruthObservation", value) => matches!(value, Value::Bool(_)),
        ("OM_TextObservation" | "OM_CategoryObservation" | "OM_ReferenceObservation", value) => {
            matches!(value, Value::Text(_))
        }
        _ => true,
    }
}
