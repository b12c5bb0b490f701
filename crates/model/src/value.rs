//! The result of an observation.

use core::fmt;

/// A result as the message's owner keeps it; text borrows from the batch.
///
/// Numbers are IEEE 754 doubles, the interoperable range of JSON (RFC 7493 section 2.2). An integer of 64
/// bits that no double is equal to is kept as its digits, so that a counter beyond 2^53 stays exact.
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
    /// An array or object, as compact JSON text; or the digits of an integer ([`Value::digits`]).
    Json(&'a str),
}

/// Every integer up to this, and no longer row of them, is a double.
pub const EXACT_INTEGER_MAX: f64 = 9_007_199_254_740_992.0;

impl<'a> Value<'a> {
    /// The number, where the result is one: of digits the nearest; `true` and `false` count as 1 and 0.
    pub fn number(&self) -> Option<f64> {
        match *self {
            Value::Number(number) => Some(number),
            Value::Bool(truth) => Some(f64::from(u8::from(truth))),
            _ => self.digits()?.parse().ok(),
        }
    }

    /// Says whether the result is a number, be it one of more digits than a double has.
    pub fn is_numeric(&self) -> bool {
        matches!(self, Value::Number(_)) || self.digits().is_some()
    }

    /// A number that is written so and nearest to that double.
    #[inline]
    pub fn of_number(nearest: f64, written: &'a str) -> Self {
        let is_double = nearest.abs() < EXACT_INTEGER_MAX;
        let digits = (!is_double).then(|| Value::of_digits(written)).flatten();
        digits.unwrap_or(Value::Number(nearest))
    }

    /// The digits of an integer that is no double, with a minus sign where it is negative.
    pub fn digits(&self) -> Option<&'a str> {
        match *self {
            Value::Json(text) if !text.starts_with(['[', '{']) => Some(text),
            _ => None,
        }
    }

    /// What a text says that is an integer as JSON has it, of 64 bits, signed or not, and no double.
    pub fn of_digits(text: &'a str) -> Option<Self> {
        let magnitude = text.strip_prefix('-').unwrap_or(text);
        let is_json = magnitude.starts_with(|first: char| matches!(first, '1'..='9'))
            && magnitude.bytes().all(|byte| byte.is_ascii_digit());
        // Shorter ones are below 2^53, longer ones beyond 64 bits.
        if !is_json || !(16..=20).contains(&magnitude.len()) {
            return None;
        }
        let whole: i128 = text.parse().ok()?;
        let of_64_bits = (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&whole);
        (of_64_bits && whole as f64 as i128 != whole).then_some(Value::Json(text))
    }
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // No double is taken for an integer that is none: with a point or an exponent it is one.
            Value::Number(number) if number.abs() >= EXACT_INTEGER_MAX => write!(f, "{number:?}"),
            Value::Number(number) => write!(f, "{number}"),
            Value::Bool(truth) => write!(f, "{truth}"),
            Value::Text(text) | Value::Json(text) => f.write_str(text),
            Value::Null => f.write_str("null"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_that_no_double_is_equal_to_are_digits() {
        for digits in [
            "9007199254740993",
            "-9007199254740993",
            "9223372036854775807",
            "18446744073709551615",
            "1234567890123456789",
            "-9223372036854775807",
        ] {
            let value = Value::of_digits(digits);
            assert_eq!(value, Some(Value::Json(digits)), "{digits}");
            assert_eq!(value.and_then(|value| value.digits()), Some(digits));
            let nearest = value.and_then(|value| value.number());
            assert_eq!(nearest, digits.parse().ok(), "{digits}");
        }
    }

    #[test]
    fn what_a_double_holds_or_64_bits_do_not_is_none() {
        for other in [
            "9007199254740992",
            "9007199254740994",
            "-9223372036854775808",
            "18446744073709551616",
            "18446744073709551617",
            "09007199254740993",
            "+9007199254740993",
            "9007199254740993.0",
            "9007199254740993e0",
            "",
            "-",
            "[9007199254740993]",
        ] {
            assert_eq!(Value::of_digits(other), None, "{other}");
        }
        assert_eq!(Value::Json("[1]").digits(), None);
        assert_eq!(Value::Text("9007199254740993").digits(), None);
    }
}
