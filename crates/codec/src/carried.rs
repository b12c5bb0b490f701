//! What of a message comes back from a format: the measure of every round trip.

use crate::error::DecodeError;
use crate::format::{Carries, Format};
use alloc::vec::Vec;
use weir_model::batch::Naming;
use weir_model::{Batch, BatchBuilder, Extra, Limits, Observation, Value};

/// How a message came back from a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoundTrip {
    /// Length of the message in the format, in bytes.
    pub bytes: usize,
    /// Whether all came back that the format carries.
    pub equal: bool,
}

/// Writes of a message what a format carries and reads it back.
pub fn round_trip(format: &Format, batch: &Batch) -> Result<RoundTrip, DecodeError> {
    let sent = carried(batch, &format.carries);
    let mut bytes = Vec::new();
    (format.encode)(&sent, &mut bytes);
    let mut builder = BatchBuilder::new();
    (format.decode)(&bytes, &mut builder, &Limits::default())?;
    let read = comparable(builder.batch(), &format.carries);
    Ok(RoundTrip {
        bytes: bytes.len(),
        equal: read == comparable(&sent, &format.carries),
    })
}

/// What is left of a message where no more is carried, in its order.
pub fn carried(batch: &Batch, carries: &Carries) -> Batch {
    of_rows(batch.rows().filter_map(|row| carried_of(&row, carries)))
}

/// A message as two are compared: how a topic was named does not count, nor, where order is not carried,
/// how the observations of several datastreams were interleaved.
pub fn comparable(batch: &Batch, carries: &Carries) -> Batch {
    let mut rows: Vec<_> = batch.rows().collect();
    if carries.topic {
        rows.iter_mut().for_each(|row| row.naming = Naming::Topic);
    }
    if !carries.order {
        rows.sort_by_key(|row| (row.topic, row.sensor, row.property, row.unit));
    }
    of_rows(rows.into_iter())
}

fn of_rows<'a>(rows: impl Iterator<Item = Observation<'a>>) -> Batch {
    let mut builder = BatchBuilder::new();
    for row in rows {
        // Rows of a batch were checked when it was made.
        let _checked_before = builder.push(&row);
    }
    builder.finish()
}

/// What is left of an observation; `None` where its result is of a kind that is not carried.
fn carried_of<'a>(row: &Observation<'a>, carries: &Carries) -> Option<Observation<'a>> {
    let kept = match row.value {
        Value::Number(_) | Value::Bool(_) => true,
        Value::Text(_) => carries.text,
        Value::Null => carries.null,
        Value::Json(_) => carries.json,
    };
    let (naming, topic) = match carries.topic {
        true => (Naming::Topic, row.topic),
        false => (Naming::Sent, ""),
    };
    kept.then_some(Observation {
        naming,
        topic,
        sensor: row.sensor.filter(|_| carries.sensor),
        property: row.property.filter(|_| carries.property),
        unit: row.unit.filter(|_| carries.unit),
        value: row.value,
        time: row.time.filter(|_| carries.time),
        place: row.place.filter(|_| carries.place),
        extra: match carries.extra {
            true => row.extra,
            false => Extra::default(),
        },
    })
}
