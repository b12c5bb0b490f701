//! What of a message comes back from a format: the measure of every round trip.
//!
//! Results and parameters that are JSON are compared by what they say, not by how it is written; numbers
//! by their bits, so that a zero that lost its sign is seen.

use crate::error::DecodeError;
use crate::format::{Carries, Format};
use crate::json_value::normal;
use alloc::string::String;
use alloc::vec::Vec;
use weir_model::batch::Naming;
use weir_model::{Batch, BatchBuilder, Extra, Limits, Observation, Place, Value};

/// How a message came back from a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoundTrip {
    /// Length of the message in the format, in bytes.
    pub bytes: usize,
    /// Whether all came back that the format carries.
    pub equal: bool,
    /// What this message had that the format does not carry, by the names of [`Carries::left_out`].
    pub lost: Vec<&'static str>,
}

/// Writes of a message what a format carries and reads it back.
pub fn round_trip(format: &Format, batch: &Batch) -> Result<RoundTrip, DecodeError> {
    let carries = &format.carries;
    let sent = carried(batch, carries);
    let mut bytes = Vec::new();
    (format.encode)(&sent, &mut bytes);
    let mut builder = BatchBuilder::new();
    (format.decode)(&bytes, &mut builder, &Limits::default())?;
    Ok(RoundTrip {
        bytes: bytes.len(),
        equal: same(builder.batch(), &sent, carries),
        lost: lost(batch, &sent, builder.batch(), carries),
    })
}

/// Names of what a message had and no longer has.
fn lost(batch: &Batch, sent: &Batch, read: &Batch, carries: &Carries) -> Vec<&'static str> {
    let of_message = |without: &Carries| {
        if without.order {
            let texts = |row: Observation<'_>, carries| Texts::of(&row, carries);
            let altered = |row| texts(row, without) != texts(row, &Carries::ALL);
            !same(&carried(batch, without), batch, &Carries::ALL) || batch.rows().any(altered)
        } else {
            // Only the reader of the format knows how the observations stood.
            !same(
                read,
                sent,
                &Carries {
                    order: true,
                    ..*carries
                },
            )
        }
    };
    let left_out = carries.left_out();
    let lost = left_out.filter(|(_, without)| of_message(without));
    lost.map(|(name, _)| name).collect()
}

/// What is left of a message where no more is carried, in its order.
pub fn carried(batch: &Batch, carries: &Carries) -> Batch {
    let mut builder = BatchBuilder::new();
    for row in batch.rows() {
        if let Some(row) = carried_of(&row, carries) {
            // Rows of a batch were checked when it was made.
            let _checked_before = builder.push(&row);
        }
    }
    builder.finish()
}

/// Says whether two messages are the same to who may ask for no more than is carried: how a topic was
/// named and how JSON was written does not count, nor, where order is not carried, how the observations
/// of several datastreams were interleaved.
pub fn same(one: &Batch, other: &Batch, carries: &Carries) -> bool {
    let (one, other) = (in_order(one, carries), in_order(other, carries));
    let pairs = one.iter().zip(&other);
    one.len() == other.len()
        && pairs
            .into_iter()
            .all(|(one, other)| same_row(one, other, carries))
}

fn in_order<'b>(batch: &'b Batch, carries: &Carries) -> Vec<Observation<'b>> {
    let mut rows: Vec<_> = batch.rows().collect();
    if !carries.order {
        rows.sort_by_key(|row| (row.topic, row.sensor, row.property, row.unit));
    }
    rows
}

fn same_row(one: &Observation<'_>, other: &Observation<'_>, carries: &Carries) -> bool {
    let (texts, other_texts) = (Texts::of(one, carries), Texts::of(other, carries));
    let (one, other) = (texts.in_place(one), other_texts.in_place(other));
    let naming = if carries.topic {
        Naming::Topic
    } else {
        Naming::Sent
    };
    let alike = |row| Observation { naming, ..row };
    bits(&one) == bits(&other) && alike(one) == alike(other)
}

/// What equality of numbers does not see.
fn bits(row: &Observation<'_>) -> [Option<u64>; 3] {
    let value = match row.value {
        Value::Number(number) => Some(number.to_bits()),
        _ => None,
    };
    let (latitude, longitude) = row
        .place
        .map(|place| (place.latitude, place.longitude))
        .unzip();
    [
        value,
        latitude.map(f64::to_bits),
        longitude.map(f64::to_bits),
    ]
}

/// The JSON of an observation, as [`normal`] has it.
#[derive(PartialEq)]
struct Texts {
    value: Option<String>,
    parameters: Option<String>,
}

impl Texts {
    fn of(row: &Observation<'_>, carries: &Carries) -> Self {
        let value = match row.value {
            Value::Json(json) => Some(normal(json, carries)),
            _ => None,
        };
        let parameters = row.extra.parameters.map(|json| normal(json, carries));
        Self { value, parameters }
    }

    /// The observation with these texts.
    fn in_place<'a>(&'a self, row: &Observation<'a>) -> Observation<'a> {
        let extra = Extra {
            parameters: self.parameters.as_deref(),
            ..row.extra
        };
        let value = self.value.as_deref().map_or(row.value, Value::Json);
        Observation {
            value,
            extra,
            ..*row
        }
    }
}

/// What is left of an observation; `None` where its result is of a kind that is not carried.
fn carried_of<'a>(row: &Observation<'a>, carries: &Carries) -> Option<Observation<'a>> {
    let kept = match row.value {
        Value::Number(_) | Value::Bool(_) => true,
        _ if row.value.is_numeric() => true,
        Value::Text(_) => carries.text,
        Value::Null => carries.null,
        Value::Json(_) => carries.json,
    };
    let (naming, topic) = if carries.topic {
        (Naming::Topic, row.topic)
    } else {
        (Naming::Sent, "")
    };
    kept.then_some(Observation {
        naming,
        topic,
        sensor: row.sensor.filter(|_| carries.sensor),
        property: row.property.filter(|_| carries.property),
        unit: row.unit.filter(|_| carries.unit),
        description: row.description,
        value: match row.value.digits() {
            Some(digits) if !carries.integers => Value::Text(digits),
            _ => row.value,
        },
        time: row.time.filter(|_| carries.time),
        place: row
            .place
            .filter(|_| carries.place)
            .map(|place| carried_place(place, carries)),
        extra: if carries.extra {
            row.extra
        } else {
            Extra::default()
        },
    })
}

fn carried_place(place: Place, carries: &Carries) -> Place {
    if carries.zero_sign {
        place
    } else {
        // Zero is the sum of both zeros (IEEE 754-2008 section 6.3).
        Place {
            latitude: place.latitude + 0.0,
            longitude: place.longitude + 0.0,
        }
    }
}
