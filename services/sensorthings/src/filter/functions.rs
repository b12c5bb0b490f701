//! What each function gives (18-088 table 24). One whose arguments are of no use to it gives null.

use super::geo::{self, Geometry};
use super::parser::Function;
use super::time::{midnight, parts};
use super::value::Value;
use crate::fault::{Fault, Result};
use std::borrow::Cow;
use weir_model::Time;

/// The function's value.
// [STA-A.2.1.6-3]
pub(crate) fn call<'a>(function: Function, values: &[&Value<'a>], now: Time) -> Result<Value<'a>> {
    if let Some(geometries) = geometric(function, values) {
        return geometries;
    }
    let found = match values {
        [] => constant(function, now),
        [one] => of_one(function, one),
        _ => of_texts(function, values),
    };
    Ok(found.unwrap_or(Value::Null))
}

fn constant<'a>(function: Function, now: Time) -> Option<Value<'a>> {
    match function {
        Function::Now => Some(Value::Time(now)),
        Function::MinDateTime => Some(Value::Time(Time::from_nanos(i64::MIN + 1))),
        Function::MaxDateTime => Some(Value::Time(Time::from_nanos(i64::MAX))),
        _ => None,
    }
}

fn of_one<'a>(function: Function, value: &Value<'a>) -> Option<Value<'a>> {
    let owned = |text: String| Some(Value::Text(Cow::Owned(text)));
    match function {
        Function::Length => Some(Value::Number(value.text()?.chars().count() as f64)),
        Function::ToLower => owned(value.text()?.to_lowercase()),
        Function::ToUpper => owned(value.text()?.to_uppercase()),
        Function::Trim => owned(value.text()?.trim().to_owned()),
        Function::Round => Some(Value::Number(value.number()?.round())),
        Function::Floor => Some(Value::Number(value.number()?.floor())),
        Function::Ceiling => Some(Value::Number(value.number()?.ceil())),
        _ => of_time(function, value.span()?.0),
    }
}

fn of_time<'a>(function: Function, time: Time) -> Option<Value<'a>> {
    let (year, month, day, hour, minute, second, nanos) = parts(time);
    let number = match function {
        Function::Year => year as f64,
        Function::Month => month as f64,
        Function::Day => day as f64,
        Function::Hour => hour as f64,
        Function::Minute => minute as f64,
        Function::Second => second as f64,
        Function::FractionalSeconds => nanos as f64 / 1e9,
        // Times are kept in UTC.
        Function::TotalOffsetMinutes => 0.0,
        Function::Date => return Some(Value::Time(midnight(time))),
        Function::TimeOfDay => {
            let since = time.nanos() - midnight(time).nanos();
            return Some(Value::Duration(since));
        }
        _ => return None,
    };
    Some(Value::Number(number))
}

fn of_texts<'a>(function: Function, values: &[&Value<'a>]) -> Option<Value<'a>> {
    let (first, second) = (values[0].text()?, values[1].text()?);
    match function {
        // 18-088 has the part first, as OData 2 does.
        Function::SubstringOf => Some(Value::Bool(second.contains(&*first))),
        Function::EndsWith => Some(Value::Bool(first.ends_with(&*second))),
        Function::StartsWith => Some(Value::Bool(first.starts_with(&*second))),
        Function::Concat => Some(Value::Text(format!("{first}{second}").into())),
        Function::IndexOf => {
            let at = first.find(&*second);
            let at = at.map_or(-1.0, |at| first[..at].chars().count() as f64);
            Some(Value::Number(at))
        }
        Function::Substring => {
            let count = |value: &Value<'_>| value.number().filter(|it| (0.0..1e9).contains(it));
            let skipped = count(values[1])? as usize;
            let taken = match values.get(2) {
                Some(most) => count(most)? as usize,
                None => usize::MAX,
            };
            let text: String = first.chars().skip(skipped).take(taken).collect();
            Some(Value::Text(text.into()))
        }
        _ => None,
    }
}

/// What a function of geometries gives; `None` for the others.
fn geometric<'a>(function: Function, values: &[&Value<'a>]) -> Option<Result<Value<'a>>> {
    type Relation = fn(&Geometry, &Geometry) -> bool;
    let relation: Relation = match function {
        Function::GeoLength => return Some(Ok(of_geometry(values[0]))),
        Function::GeoDistance => return Some(Ok(distance(values[0], values[1]))),
        Function::StRelate => return Some(relate(values)),
        Function::StEquals => geo::equals,
        Function::StDisjoint => |a, b| !geo::intersects(a, b),
        Function::StTouches => geo::touches,
        Function::StWithin => |a, b| geo::contains(b, a),
        Function::StOverlaps => geo::overlaps,
        Function::StCrosses => geo::crosses,
        Function::StIntersects | Function::GeoIntersects => geo::intersects,
        Function::StContains => geo::contains,
        _ => return None,
    };
    let related = match (geometry(values[0]), geometry(values[1])) {
        (Some(a), Some(b)) => Value::Bool(relation(&a, &b)),
        _ => Value::Null,
    };
    Some(Ok(related))
}

fn geometry(value: &Value<'_>) -> Option<Geometry> {
    match value {
        Value::Geometry(text) => geo::parse(text),
        Value::Json(json) => geo::of_json(json),
        _ => None,
    }
}

fn of_geometry<'a>(value: &Value<'_>) -> Value<'a> {
    geometry(value).map_or(Value::Null, |it| Value::Number(geo::length(&it)))
}

fn distance<'a>(a: &Value<'_>, b: &Value<'_>) -> Value<'a> {
    match (geometry(a), geometry(b)) {
        (Some(a), Some(b)) => Value::Number(geo::distance(&a, &b)),
        _ => Value::Null,
    }
}

/// Whether two geometries are of a pattern of nine intersections (OGC 06-103r4 section 6.1.15.2).
fn relate<'a>(values: &[&Value<'a>]) -> Result<Value<'a>> {
    let (Some(a), Some(b)) = (geometry(values[0]), geometry(values[1])) else {
        return Ok(Value::Null);
    };
    let pattern = values[2].text().unwrap_or_default();
    match geo::Matrix::of(&a, &b).is(&pattern) {
        Some(holds) => Ok(Value::Bool(holds)),
        None => {
            let problem = format!("st_relate: `{pattern}` is not nine of `TF*012`");
            Err(Fault::bad(problem))
        }
    }
}
