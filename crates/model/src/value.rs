//! The result of an observation.

use core::fmt;

/// A result as the message's owner keeps it; text borrows from the batch.
///
/// Numbers are IEEE 754 doubles, the interoperable range of JSON (RFC 7493 section 2.2);
/// integers beyond 2^53 lose their low bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// A finite number; formats refuse NaN and infinities with a position.
    Number(f64),
    /// Truth.
    Bool(bool),
    /// A string.
    Text(&'a str),
    /// Observed, but without a result (O&M's nil).
    Null,
    /// An array or object, as compact JSON text.
    Json(&'a str),
}

impl Value<'_> {
    /// The number, where the result is one; `true` and `false` count as 1 and 0.
    pub fn number(&self) -> Option<f64> {
        match *self {
            Value::Number(number) => Some(number),
            Value::Bool(truth) => Some(f64::from(u8::from(truth))),
            _ => None,
        }
    }
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(number) => write!(f, "{number}"),
            Value::Bool(truth) => write!(f, "{truth}"),
            Value::Text(text) | Value::Json(text) => f.write_str(text),
            Value::Null => f.write_str("null"),
        }
    }
}
