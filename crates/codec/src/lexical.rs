//! A result where there is nothing but text: `21.5` is a number, `true` a boolean, `open` a string.
//!
//! The decision worth arguing: a string that would read as something else (`"21.5"`, the empty one,
//! one that spans lines) is written as a JSON string, in quotes; so every result comes back equal,
//! and ordinary words stay bare.

use crate::error::DecodeError;
use crate::number::write_f64;
use crate::rows::set_number;
use crate::syntax::Pull;
use crate::syntax::json::Json;
use crate::syntax::json_text::write_string;
use alloc::borrow::Cow;
use alloc::vec::Vec;
use weir_model::value::EXACT_INTEGER_MAX;
use weir_model::{BatchBuilder, Limits, Value};

/// Appends a result so that [`read`] gives it back.
pub(crate) fn write(value: Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Number(number) => write_f64(number, out),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Null => out.extend_from_slice(b"null"),
        Value::Json(json) => out.extend_from_slice(json.as_bytes()),
        Value::Text(text) if is_bare(text) => out.extend_from_slice(text.as_bytes()),
        Value::Text(text) => write_string(text, out),
    }
}

/// Says whether a string reads back as itself without quotes.
pub(crate) fn is_bare(text: &str) -> bool {
    let shape = text.trim_ascii() == text
        && !text.is_empty()
        && !text.starts_with(['"', '[', '{', '\u{feff}'])
        && !text.ends_with('\0')
        && !text.contains(['\n', '\r']);
    shape && matches!(simple(text), Value::Text(_))
}

/// A number, a boolean, null, or else the string itself.
pub(crate) fn simple(text: &str) -> Value<'_> {
    match text {
        // Python and spreadsheets write it so.
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        "null" => Value::Null,
        _ if not_finite(text).is_some() => Value::Null,
        _ => numeric(text).unwrap_or(Value::Text(text)),
    }
}

/// What C, Python, JavaScript, XML Schema and spreadsheets write for a number that is none, or infinite.
pub(crate) fn not_finite(text: &str) -> Option<f64> {
    let (is_negative, magnitude) = match text.as_bytes() {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        all => (false, all),
    };
    match magnitude {
        b"NaN" | b"nan" | b"NAN" => Some(f64::NAN),
        b"Infinity" | b"infinity" | b"inf" | b"Inf" | b"INF" if is_negative => {
            Some(f64::NEG_INFINITY)
        }
        b"Infinity" | b"infinity" | b"inf" | b"Inf" | b"INF" => Some(f64::INFINITY),
        _ => None,
    }
}

/// The number that is none which a text begins with, and how long it is.
pub(crate) fn first_not_finite(text: &str) -> Option<(f64, usize)> {
    let letters = text.strip_prefix('-').unwrap_or(text);
    let end = letters.find(|letter: char| !letter.is_ascii_alphabetic());
    let len = text.len() - letters.len() + end.unwrap_or(letters.len());
    not_finite(&text[..len]).map(|number| (number, len))
}

/// A finite number, where nothing else may stand.
pub(crate) fn double(text: &str, at: usize) -> Result<f64, DecodeError> {
    number(text).ok_or_else(|| match not_finite(text) {
        Some(number) => DecodeError::not_finite(at, number),
        None => DecodeError::expected(at, "a number"),
    })
}

/// Sets the result that a text without quotes is.
pub(crate) fn set(text: &str, at: usize, out: &mut BatchBuilder) -> Result<(), DecodeError> {
    match not_finite(text) {
        Some(number) => set_number(out, Err(DecodeError::not_finite(at, number))),
        None => {
            out.value(simple(text));
            Ok(())
        }
    }
}

/// A finite decimal number: a double, or the digits of an integer that is none.
pub(crate) fn numeric(text: &str) -> Option<Value<'_>> {
    let number = number(text)?;
    if number.abs() < EXACT_INTEGER_MAX {
        return Some(Value::Number(number));
    }
    let digits = text.strip_prefix('+').unwrap_or(text);
    Some(Value::of_number(number, digits.trim_start_matches('0')))
}

/// A finite decimal number; `+` and leading zeros are allowed, as sensors write them.
pub(crate) fn number(text: &str) -> Option<f64> {
    let decimal = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    if !text.bytes().all(decimal) {
        return None;
    }
    text.parse::<f64>().ok().filter(|number| number.is_finite())
}

/// Sets the result that `text` says; its first byte is at `at` in the message.
pub(crate) fn read(
    text: &str,
    at: usize,
    out: &mut BatchBuilder,
    limits: &Limits,
) -> Result<(), DecodeError> {
    let text = text.trim_ascii();
    if text.len() > limits.text_bytes {
        return Err(DecodeError::over(
            at,
            "bytes of a string",
            limits.text_bytes,
        ));
    }
    if text.starts_with(['"', '[', '{']) && read_json(text, out, limits).is_ok() {
        return Ok(());
    }
    set(text, at, out)
}

/// An array or object in JSON, made compact; its first byte is at `at` in the message.
pub(crate) fn json<'t>(
    text: &'t str,
    at: usize,
    limits: &'t Limits,
) -> Result<Cow<'t, str>, DecodeError> {
    let mut json = Json::new(text, limits);
    let checked = json.tree().and_then(|tree| json.finish().map(|()| tree));
    checked.map_err(|error| DecodeError {
        at: at + error.at,
        ..error
    })
}

/// A result in JSON: an array or object, made compact, or the digits of an integer that is no double.
pub(crate) fn json_result<'t>(
    text: &'t str,
    at: usize,
    limits: &'t Limits,
) -> Result<Cow<'t, str>, DecodeError> {
    match Value::of_digits(text) {
        Some(_) => Ok(Cow::Borrowed(text)),
        None => json(text, at, limits),
    }
}

/// Sets the result that is written in JSON: an array, an object, a string or digits.
pub(crate) fn read_json(
    text: &str,
    out: &mut BatchBuilder,
    limits: &Limits,
) -> Result<(), DecodeError> {
    if !text.starts_with('"') {
        out.value(Value::Json(&json_result(text, 0, limits)?));
        return Ok(());
    }
    let mut string = Json::new(text, limits);
    out.value(Value::Text(string.text()?));
    // What was set is overwritten where this fails.
    string.finish()
}
