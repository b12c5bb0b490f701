//! What an expression is of one entity.

use super::geo::Geometry;
use crate::id::INTEGER_MAX;
use serde_json::Value as Json;
use std::borrow::Cow;
use std::sync::Arc;
use weir_model::Time;

/// A value of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    Null,
    Bool(bool),
    Number(f64),
    /// A whole number that [`Value::Number`] would not keep.
    Whole(u64),
    Text(Cow<'a, str>),
    Time(Time),
    /// From when to when.
    Interval(Time, Time),
    /// Nanoseconds.
    Duration(i64),
    /// GeoJSON.
    Json(Cow<'a, Json>),
    /// What was said in WKT.
    Geometry(Arc<Geometry>),
    /// What a way to many entities leads to.
    Many(Vec<Value<'a>>),
}

impl<'a> Value<'a> {
    /// A JSON value as an expression has it.
    pub(crate) fn of_json(json: &'a Json) -> Self {
        match json {
            Json::Null => Value::Null,
            Json::Bool(truth) => Value::Bool(*truth),
            Json::Number(number) => match number.as_u64() {
                Some(whole) => Value::of_whole(whole),
                None => number.as_f64().map_or(Value::Null, Value::Number),
            },
            Json::String(text) => Value::Text(text.into()),
            other => Value::Json(Cow::Borrowed(other)),
        }
    }

    /// What lies at a path below a JSON value.
    pub(crate) fn below(mut json: &Json, path: &[String]) -> Value<'static> {
        for name in path {
            json = match name.parse::<usize>() {
                Ok(index) if json.is_array() => &json[index],
                _ => &json[name.as_str()],
            };
        }
        Value::of_json(json).into_owned()
    }

    /// A whole number.
    pub(crate) fn of_whole(whole: u64) -> Self {
        if whole <= INTEGER_MAX {
            Value::Number(whole as f64)
        } else {
            Value::Whole(whole)
        }
    }

    /// A result of an observation.
    pub(crate) fn of_result(result: weir_model::Value<'a>) -> Self {
        match result {
            weir_model::Value::Number(number) => Value::Number(number),
            weir_model::Value::Bool(truth) => Value::Bool(truth),
            weir_model::Value::Text(text) => Value::Text(text.into()),
            weir_model::Value::Null => Value::Null,
            weir_model::Value::Json(json) => match serde_json::from_str(json) {
                Ok(number @ Json::Number(_)) => Value::of_json(&number).into_owned(),
                Ok(json) => Value::Json(Cow::Owned(json)),
                Err(_) => Value::Text(json.into()),
            },
        }
    }

    /// An instant or an interval as JSON has it.
    pub(crate) fn of_time(text: &str) -> Self {
        let instant = |text: &str| super::time::instant(text);
        match text.split_once('/') {
            Some((from, to)) => match (instant(from), instant(to)) {
                (Some(from), Some(to)) => Value::Interval(from, to),
                _ => Value::Null,
            },
            None => instant(text).map_or(Value::Null, Value::Time),
        }
    }

    /// The same, with all that it borrowed for its own.
    pub(crate) fn into_owned(self) -> Value<'static> {
        match self {
            Value::Null => Value::Null,
            Value::Bool(truth) => Value::Bool(truth),
            Value::Number(number) => Value::Number(number),
            Value::Whole(whole) => Value::Whole(whole),
            Value::Text(text) => Value::Text(text.into_owned().into()),
            Value::Time(time) => Value::Time(time),
            Value::Interval(from, to) => Value::Interval(from, to),
            Value::Duration(nanos) => Value::Duration(nanos),
            Value::Json(json) => Value::Json(Cow::Owned(json.into_owned())),
            Value::Geometry(geometry) => Value::Geometry(geometry),
            Value::Many(many) => Value::Many(many.into_iter().map(Value::into_owned).collect()),
        }
    }

    /// About how many bytes it has beside itself.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Value::Text(text) => text.len(),
            Value::Json(json) => bytes_of(json),
            _ => 0,
        }
    }

    /// Begin and end, of what is a time or reads as one.
    pub(crate) fn span(&self) -> Option<(Time, Time)> {
        match self {
            Value::Time(time) => Some((*time, *time)),
            Value::Interval(from, to) => Some((*from, *to)),
            Value::Text(text) => match Value::of_time(text) {
                Value::Null => None,
                time => time.span(),
            },
            _ => None,
        }
    }

    /// The number, of what is one or reads as one.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Value::Number(number) => Some(*number),
            Value::Whole(whole) => Some(*whole as f64),
            Value::Text(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// The whole number, of what is one or reads as one.
    pub(crate) fn whole(&self) -> Option<u64> {
        match self {
            Value::Whole(whole) => Some(*whole),
            Value::Number(number) => {
                let whole = *number as u64;
                (whole as f64 == *number).then_some(whole)
            }
            Value::Text(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// The text, of what is one or is written as one.
    // [STA-A.2.1.6-4]
    pub(crate) fn text(&self) -> Option<Cow<'_, str>> {
        match self {
            Value::Text(text) => Some(Cow::Borrowed(text)),
            Value::Number(number) => Some(number.to_string().into()),
            Value::Whole(whole) => Some(whole.to_string().into()),
            Value::Bool(truth) => Some(truth.to_string().into()),
            Value::Time(time) => Some(time.to_string().into()),
            _ => None,
        }
    }
}

fn bytes_of(json: &Json) -> usize {
    size_of::<Json>()
        + match json {
            Json::String(text) => text.len(),
            Json::Array(many) => many.iter().map(bytes_of).sum(),
            Json::Object(members) => {
                let each = members.iter();
                each.map(|(name, value)| name.len() + bytes_of(value)).sum()
            }
            _ => 0,
        }
}
