//! Times and results as values of JSON; [`crate::members`] writes the same as text.

use crate::members;
use serde_json::Value as Json;
use weir_model::{Time, Value};

/// RFC 3339 with three decimals at least, as SensorThings' examples have it.
pub(crate) fn instant(time: Time) -> String {
    let mut text = Vec::with_capacity(30);
    members::instant(&mut text, time);
    String::from_utf8_lossy(&text).into_owned()
}

/// A result as JSON; whole numbers are such.
pub(crate) fn result(value: Value<'_>) -> Json {
    match value {
        Value::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
            (number as i64).into()
        }
        Value::Number(number) => number.into(),
        Value::Bool(truth) => truth.into(),
        Value::Text(text) => text.into(),
        Value::Null => Json::Null,
        Value::Json(text) => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
    }
}
