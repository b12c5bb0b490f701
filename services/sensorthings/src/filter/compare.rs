//! Which of two values comes first, and whether they are the same.

use super::value::Value;
use std::cmp::Ordering;

/// The order of two values; `None` where they have none. A number and a text compare as numbers where the
/// text reads as one.
// [STA-A.2.1.6-5]
pub(crate) fn compare(a: &Value<'_>, b: &Value<'_>) -> Option<Ordering> {
    match (a, b) {
        (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        (Value::Duration(a), Value::Duration(b)) => Some(a.cmp(b)),
        (Value::Time(_) | Value::Interval(..), _) | (_, Value::Time(_) | Value::Interval(..)) => {
            spans(a.span()?, b.span()?)
        }
        (Value::Whole(_), _) | (_, Value::Whole(_)) => match (a.whole(), b.whole()) {
            (Some(a), Some(b)) => Some(a.cmp(&b)),
            _ => a.number()?.partial_cmp(&b.number()?),
        },
        (Value::Number(_), _) | (_, Value::Number(_)) => match (a.number(), b.number()) {
            (Some(a), Some(b)) => a.partial_cmp(&b),
            _ => None,
        },
        (Value::Json(a), Value::Json(b)) if a == b => Some(Ordering::Equal),
        _ => None,
    }
}

/// An interval is less than what begins at or after its end (18-088 section 9.3.3.5.1, ISO 8601).
fn spans(
    a: (weir_model::Time, weir_model::Time),
    b: (weir_model::Time, weir_model::Time),
) -> Option<Ordering> {
    if a == b {
        return Some(Ordering::Equal);
    }
    if a.1 <= b.0 {
        return Some(Ordering::Less);
    }
    if a.0 >= b.1 {
        return Some(Ordering::Greater);
    }
    None
}

/// Whether two values are the same.
pub(crate) fn equal(a: &Value<'_>, b: &Value<'_>) -> bool {
    match (a, b) {
        (Value::Null, Value::Null) => true,
        (Value::Null, _) | (_, Value::Null) => false,
        _ => compare(a, b) == Some(Ordering::Equal),
    }
}

/// An order of all values, for sorting: null first, then by kind; objects and lists by their text.
pub(crate) fn order(a: &Value<'_>, b: &Value<'_>) -> Ordering {
    compare(a, b).unwrap_or_else(|| match (a, b) {
        (Value::Time(_) | Value::Interval(..), Value::Time(_) | Value::Interval(..)) => {
            a.span().cmp(&b.span())
        }
        (Value::Json(a), Value::Json(b)) => a.to_string().cmp(&b.to_string()),
        _ => rank(a).cmp(&rank(b)),
    })
}

fn rank(value: &Value<'_>) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(_) | Value::Whole(_) => 2,
        Value::Time(_) | Value::Interval(..) => 3,
        Value::Duration(_) => 4,
        Value::Text(_) => 5,
        _ => 6,
    }
}
