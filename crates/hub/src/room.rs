//! Room in the catalog: what would make it larger than it may be is refused.

use crate::fault::Fault;
use crate::limits::{ENTRY_BYTES, NAME_BYTES_MAX};
use crate::state::catalog::Catalog;
use crate::weight;
use weir_model::batch::StreamView;
use weir_model::{Batch, Datastream, Described};

/// Names of a datastream that a message says: sensor, property and unit, beside its topic.
const NAMES: usize = 4;

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
        Some(entry) => {
            weight::of_datastream(said).saturating_sub(weight::of_datastream(&entry.datastream))
        }
        None => weight::of_topic(topic) + weight::of_datastream(said),
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
        *longest = (*longest).max(weight::of_value(&batch.value(row), &batch.extra(row)));
    }
    let streams = values.iter().enumerate();
    streams
        .map(|(index, value)| more_of_stream(catalog, &batch.stream(index), *value))
        .sum()
}

fn more_of_stream(catalog: &Catalog, view: &StreamView<'_>, value: usize) -> usize {
    match catalog.find(view.topic) {
        None => {
            weight::of_topic(view.topic)
                + weight::of_texts([view.sensor, view.property, view.unit])
                + value
        }
        Some(id) => {
            let entry = catalog.entry(id);
            let new = Described::of(view).beyond(entry.datastream.says());
            let names = weight::of_texts([new.sensor, new.property, new.unit]);
            names + value.saturating_sub(entry.last_weight())
        }
    }
}
