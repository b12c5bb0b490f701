//! Memory that the catalog takes: names, descriptions and last values of all datastreams together, and the most that
//! they may.
//!
//! Each is bounded by itself, but there may be a million of them. A message that would make them more than there
//! may be is refused before it is logged; what the log has is taken, and what makes them no more is taken always,
//! so that who sends numbers goes on where somebody else has filled it with texts. What it deliberately does not
//! do: count to the byte.

use crate::limits::ENTRY_BYTES;
use weir_model::{Datastream, Description, Extra, Value};

/// Bytes of texts, where they are.
pub(crate) fn of_texts<const N: usize>(texts: [Option<&str>; N]) -> usize {
    texts.into_iter().flatten().map(str::len).sum()
}

/// What is said of a datastream.
pub(crate) fn of_datastream(said: &Datastream) -> usize {
    let texts = [&said.name, &said.sensor, &said.property, &said.unit];
    let had = said.descriptions.iter().map(|own| {
        let says = own.says();
        size_of::<Description>() + of_texts([says.sensor, says.property, says.unit])
    });
    of_texts(texts.map(Option::as_deref)) + of_texts([said.about.as_deref()]) + had.sum::<usize>()
}

/// A datastream of which nothing is known yet.
pub(crate) fn of_topic(topic: &str) -> usize {
    ENTRY_BYTES + topic.len()
}

/// A result with what goes with it.
pub(crate) fn of_value(value: &Value<'_>, extra: &Extra<'_>) -> usize {
    let result = match value {
        Value::Text(text) | Value::Json(text) => text.len(),
        Value::Number(_) | Value::Bool(_) | Value::Null => 0,
    };
    result + of_texts([extra.quality, extra.feature, extra.parameters])
}
