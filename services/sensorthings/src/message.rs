//! Observations as a message of the hub.

use crate::draft::Row;
use crate::fault::{Fault, Result};
use crate::id::Id;
use serde_json::Value as Json;
use weir_hub::{Media, Publish};
use weir_model::batch::Naming;
use weir_model::{BatchBuilder, Extra};

/// Observations of one datastream as one message, in the format that is shortest to read for so many.
pub(crate) fn message<'r>(topic: &str, rows: impl Iterator<Item = &'r Row>) -> Result<Publish> {
    let mut builder = BatchBuilder::new();
    for row in rows {
        add(&mut builder, row)?;
    }
    let name = if builder.len() > 16 { "block" } else { "json" };
    let format = weir_codec::by_name(name).ok_or_else(|| Fault::new(500, "a format is absent"))?;
    let mut body = Vec::new();
    (format.encode)(&builder.finish(), &mut body);
    Ok(Publish::new(topic, Media::Format(format), body))
}

fn add(builder: &mut BatchBuilder, row: &Row) -> Result<()> {
    let (Some(topics), Json::Array(results)) = (&row.components, &row.result) else {
        return add_one(builder, row, None, &row.result);
    };
    let mut each = topics.iter().zip(results);
    each.try_for_each(|(topic, result)| add_one(builder, row, Some(topic), result))
}

/// A number, which is written to `digits` where a double may not hold it.
pub(crate) fn number_of<'a>(
    number: &serde_json::Number,
    digits: &'a mut String,
) -> weir_model::Value<'a> {
    if !number.is_f64() {
        *digits = number.to_string();
    }
    weir_model::Value::of_number(number.as_f64().unwrap_or(f64::NAN), digits)
}

fn add_one(
    builder: &mut BatchBuilder,
    row: &Row,
    topic: Option<&str>,
    result: &Json,
) -> Result<()> {
    builder.begin();
    if let Some(topic) = topic {
        builder.topic(Naming::Topic, topic);
    }
    let mut json = String::new();
    builder.value(match result {
        Json::Null => weir_model::Value::Null,
        Json::Bool(truth) => weir_model::Value::Bool(*truth),
        Json::Number(number) => number_of(number, &mut json),
        Json::String(text) => weir_model::Value::Text(text),
        other => {
            json = other.to_string();
            weir_model::Value::Json(&json)
        }
    });
    row.time.into_iter().for_each(|time| builder.time(time));
    let feature = row.feature.as_ref().map(Id::to_string);
    let extra = Extra {
        end: row.end,
        result_time: row.result_time,
        valid: row.valid,
        quality: row.quality.as_deref(),
        feature: feature.as_deref(),
        parameters: row.parameters.as_deref(),
    };
    if !extra.is_empty() {
        builder.extra(extra);
    }
    builder.end().map_err(|error| Fault::bad(error.to_string()))
}
