//! What each function gives (18-088 table 24). One whose arguments are of no use to it gives null.

use super::eval::Source;
use super::parser::Function;
use super::relations;
use super::time::{midnight, parts};
use super::value::Value;
use crate::fault::Result;
use std::borrow::Cow;
use weir_model::Time;

/// The function's value.
// [STA-A.2.1.6-3]
pub(crate) fn call<'a>(
    function: Function,
    values: &[&Value<'a>],
    source: &dyn Source,
) -> Result<Value<'a>> {
    if function.is_of_geometries() {
        return relations::call(function, values, source);
    }
    let found = match values {
        [] => constant(function, source.now()),
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
