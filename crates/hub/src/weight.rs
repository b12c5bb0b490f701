//! Memory that the catalog takes: names, descriptions and last values of all datastreams together, and the most that
//! they may.
//!
//! Each is bounded by itself, but there may be a million of them. A message that would make them more than there
//! may be is refused before it is logged; what the log has is taken, and what makes them no more is taken always,
//! so that who sends numbers goes on where somebody else has filled it with texts. What it deliberately does not
//! do: count to the byte.

use crate::catalog::{Catalog, Entry};
use crate::exchange::Fault;
use crate::hub::Hub;
use crate::limits::{ENTRY_BYTES, NAME_BYTES_MAX};
use crate::publish::heard;
use weir_model::batch::StreamView;
use weir_model::{Batch, Datastream, Description, Extra, Value};

/// Names of a datastream that a message says: sensor, property and unit, beside its topic.
const NAMES: usize = 4;

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

/// All of a datastream.
pub(crate) fn of_entry(entry: &Entry) -> usize {
    of_topic(&entry.topic)
        + of_datastream(&entry.datastream)
        + entry.last_weight()
        + entry.problem_weight()
}

/// A result with what goes with it.
fn of_value(value: &Value<'_>, extra: &Extra<'_>) -> usize {
    let result = match value {
        Value::Text(text) | Value::Json(text) => text.len(),
        Value::Number(_) | Value::Bool(_) | Value::Null => 0,
    };
    result + of_texts([extra.quality, extra.feature, extra.parameters])
}

impl Hub {
    /// Bytes that the catalog takes, and the most that they may be.
    pub fn catalog_bytes(&self) -> (usize, usize) {
        let core = self.core();
        (core.catalog.weight(), core.catalog.weight_max)
    }

    /// Bounds the memory of the catalog, and that of the entities beside it; else there is no bound of the catalog
    /// but those of each datastream.
    pub fn limit_catalog(&self, most: usize) {
        let mut core = self.core();
        core.catalog.weight_max = most;
        core.entities.limit(most);
    }
}

/// Refuses to make the catalog so many bytes larger than there may be.
pub(crate) fn check(catalog: &Catalog, more: usize) -> Result<(), Fault> {
    match more == 0 || catalog.may_weigh(more) {
        true => Ok(()),
        false => Err(Fault::Crowded {
            what: "bytes of names, descriptions and last values",
            limit: catalog.weight_max,
        }),
    }
}

/// Refuses what would be said of a datastream, where that is too much.
pub(crate) fn check_described(
    catalog: &Catalog,
    topic: &str,
    said: &Datastream,
) -> Result<(), Fault> {
    let known = catalog.find(topic).map(|id| catalog.entry(id));
    let more = match known {
        Some(entry) => of_datastream(said).saturating_sub(of_datastream(&entry.datastream)),
        None => of_topic(topic) + of_datastream(said),
    };
    check(catalog, more)
}

/// Refuses a message whose names and values would be too much.
pub(crate) fn check_batch(catalog: &Catalog, batch: &Batch) -> Result<(), Fault> {
    // Most messages are far from any bound, and are not looked through.
    let each = ENTRY_BYTES + NAMES * NAME_BYTES_MAX + batch.text_bytes();
    match catalog.may_weigh(batch.stream_count().saturating_mul(each)) {
        true => Ok(()),
        false => check(catalog, more(catalog, batch)),
    }
}

/// By how much a message makes the catalog larger, at most.
fn more(catalog: &Catalog, batch: &Batch) -> usize {
    let mut values = vec![0; batch.stream_count()];
    for row in 0..batch.len() {
        let longest: &mut usize = &mut values[batch.stream_of(row)];
        *longest = (*longest).max(of_value(&batch.value(row), &batch.extra(row)));
    }
    let streams = values.iter().enumerate();
    streams
        .map(|(index, value)| more_of_stream(catalog, &batch.stream(index), *value))
        .sum()
}

fn more_of_stream(catalog: &Catalog, view: &StreamView<'_>, value: usize) -> usize {
    match catalog.find(view.topic) {
        None => of_topic(view.topic) + of_texts([view.sensor, view.property, view.unit]) + value,
        Some(id) => {
            let entry = catalog.entry(id);
            let names = of_datastream(&heard(view, &entry.datastream));
            names + value.saturating_sub(entry.last_weight())
        }
    }
}
