//! One token: how text and results are written so that no separator stands in them, and read back.

use super::Kind;
use crate::error::DecodeError;
use crate::infoset::{Atom, Emit};
use crate::lexical;
use crate::number::Decimal;
use crate::rows::Rows;
use crate::syntax::Pull;
use crate::syntax::json::Json;
use weir_model::{Extra, Limits, Value};

/// Writes text: bare, or as a JSON string.
pub(super) fn write_text(text: &str, emit: &mut impl Emit) {
    if is_bare(text) {
        emit.content(Atom::Text(text))
    } else {
        write_quoted(text, emit)
    }
}

/// Writes a JSON document.
pub(super) fn write_json(json: &str, emit: &mut impl Emit) {
    emit.content(Atom::Text("="));
    write_quoted(json, emit);
}

/// Writes a result so that it reads back as what it is, whatever the others are.
pub(super) fn write_any(value: Value<'_>, emit: &mut impl Emit) {
    match value {
        Value::Number(number) => emit.content(Atom::Number(number)),
        Value::Bool(truth) => emit.content(Atom::Bool(truth)),
        Value::Null => {}
        Value::Json(digits) if value.digits().is_some() => emit.content(Atom::Text(digits)),
        Value::Json(json) => write_json(json, emit),
        Value::Text(text) if matches!(lexical::simple(text), Value::Text(_)) => {
            write_text(text, emit);
        }
        Value::Text(text) => write_quoted(text, emit),
    }
}

/// Characters that never stand in a token as they are.
fn is_special(character: char) -> bool {
    matches!(
        character,
        '\0'..='\x1F' | '"' | '\\' | ',' | ';' | '\u{FFFE}' | '\u{FFFF}'
    )
}

fn is_bare(text: &str) -> bool {
    !text.is_empty()
        && text.trim_ascii() == text
        && !text.starts_with(['=', '#'])
        && !text.contains(is_special)
}

fn write_quoted(text: &str, emit: &mut impl Emit) {
    emit.content(Atom::Text("\""));
    let mut rest = text;
    while let Some(at) = rest.find(is_special) {
        emit.content(Atom::Text(&rest[..at]));
        let Some(character) = rest[at..].chars().next() else {
            break;
        };
        write_escape(character, emit);
        rest = &rest[at + character.len_utf8()..];
    }
    emit.content(Atom::Text(rest));
    emit.content(Atom::Text("\""));
}

fn write_escape(character: char, emit: &mut impl Emit) {
    let mut escape = *b"\\u0000";
    for (place, shift) in [(2, 12), (3, 8), (4, 4), (5, 0)] {
        escape[place] = b"0123456789abcdef"[(character as usize) >> shift & 15];
    }
    emit.content(Atom::Text(
        core::str::from_utf8(&escape).unwrap_or_default(),
    ));
}

/// Hands on the text that a token says; its first byte is at `at`.
pub(super) fn read_text(
    token: &str,
    at: usize,
    limits: &Limits,
    take: impl FnOnce(&str),
) -> Result<(), DecodeError> {
    check_length(token, at, limits)?;
    if !token.starts_with('"') {
        take(token);
        return Ok(());
    }
    let mut json = Json::new(token, limits);
    let read = json.text().map(take).and_then(|()| json.finish());
    read.map_err(|error| shifted(error, at))
}

/// Hands on the JSON document that a token says.
pub(super) fn read_json(
    token: &str,
    at: usize,
    limits: &Limits,
    take: impl FnOnce(&str),
) -> Result<(), DecodeError> {
    let Some(quoted) = token.strip_prefix('=') else {
        return Err(DecodeError::expected(at, "= and JSON in a JSON string"));
    };
    let mut checked = Ok(());
    read_text(quoted, at + 1, limits, |json| {
        checked = lexical::json(json, 0, limits).map(|json| take(&json));
    })?;
    // Where in an escaped string the document goes wrong is hard to say; where it begins is not.
    checked.map_err(|error| DecodeError { at, ..error })
}

fn shifted(error: DecodeError, at: usize) -> DecodeError {
    DecodeError {
        at: at + error.at,
        ..error
    }
}

fn check_length(token: &str, at: usize, limits: &Limits) -> Result<(), DecodeError> {
    if token.len() > limits.text_bytes {
        Err(DecodeError::over(
            at,
            "bytes of a string",
            limits.text_bytes,
        ))
    } else {
        Ok(())
    }
}

/// Sets that there is no result, and why.
pub(super) fn set_nil(reason: &str, rows: &mut Rows<'_>) {
    rows.value(Value::Null);
    rows.extra(Extra {
        quality: Some(reason).filter(|reason| !reason.is_empty()),
        ..Extra::default()
    });
}

/// Sets the result that a token of this kind says.
pub(super) fn read_value(
    kind: Kind,
    token: &str,
    at: usize,
    decimal: u8,
    rows: &mut Rows<'_>,
    limits: &Limits,
) -> Result<(), DecodeError> {
    if token.is_empty() {
        rows.value(Value::Null);
        return Ok(());
    }
    let value = match (kind, number(token, decimal)) {
        (Kind::Any | Kind::Number, Some(number)) => Value::of_number(number, token),
        (Kind::Number, None) if token == "NaN" => Value::Null,
        (Kind::Number, None) => return Err(DecodeError::expected(at, "a number")),
        (Kind::Bool, _) => bool_of(token, at)?,
        (Kind::Text, _) => {
            return read_text(token, at, limits, |text| rows.value(Value::Text(text)));
        }
        (Kind::Any, None) => return read_any(token, at, rows, limits),
    };
    rows.value(value);
    Ok(())
}

fn bool_of(token: &str, at: usize) -> Result<Value<'static>, DecodeError> {
    match token {
        "true" | "1" => Ok(Value::Bool(true)),
        "false" | "0" => Ok(Value::Bool(false)),
        _ => Err(DecodeError::expected(at, "true or false")),
    }
}

fn read_any(
    token: &str,
    at: usize,
    rows: &mut Rows<'_>,
    limits: &Limits,
) -> Result<(), DecodeError> {
    match token.as_bytes()[0] {
        b'=' => read_json(token, at, limits, |json| rows.value(Value::Json(json))),
        b'"' => read_text(token, at, limits, |text| rows.value(Value::Text(text))),
        _ => {
            check_length(token, at, limits)?;
            lexical::set(token, at, rows)
        }
    }
}

/// Longest number that is read with another decimal separator than the point.
const NUMBER_BYTES_MAX: usize = 64;

/// A finite number with this decimal separator.
pub(super) fn number(token: &str, decimal: u8) -> Option<f64> {
    if decimal != b'.' && token.as_bytes().contains(&decimal) {
        let mut pointed = [0; NUMBER_BYTES_MAX];
        let pointed = pointed.get_mut(..token.len())?;
        pointed.copy_from_slice(token.as_bytes());
        for byte in pointed.iter_mut().filter(|byte| **byte == decimal) {
            *byte = b'.';
        }
        return core::str::from_utf8(pointed).ok().and_then(lexical::number);
    }
    short_number(token.as_bytes()).or_else(|| lexical::number(token))
}

/// The number where it is digits with at most one point and few of them, as nearly all are.
fn short_number(token: &[u8]) -> Option<f64> {
    let (negative, digits) = match token {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || digits.len() > 17 {
        return None;
    }
    let (mut mantissa, mut decimals, mut pointed) = (0_u64, 0, false);
    for &byte in digits {
        match byte {
            b'0'..=b'9' => {
                mantissa = mantissa * 10 + u64::from(byte - b'0');
                decimals += i32::from(pointed);
            }
            b'.' if !pointed => pointed = true,
            _ => return None,
        }
    }
    let digits_there = digits.len() > usize::from(pointed);
    let decimal = Decimal {
        negative,
        mantissa,
        exponent: -decimals,
        cut: false,
    };
    digits_there.then(|| decimal.exact()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_read_with_any_decimal_separator() {
        for (token, decimal, expected) in [
            ("21.5", b'.', Some(21.5)),
            ("-0", b'.', Some(-0.0)),
            ("5.", b'.', Some(5.0)),
            (".5", b'.', Some(0.5)),
            (".", b'.', None),
            ("-", b'.', None),
            ("1e-7", b'.', Some(1e-7)),
            ("1.2.3", b'.', None),
            ("21,5", b',', Some(21.5)),
            ("21,5,1", b',', None),
            ("haze", b',', None),
        ] {
            assert_eq!(number(token, decimal), expected, "{token}");
        }
    }

    proptest! {
        #[test]
        fn short_numbers_are_read_as_long_ones_are(token in "-?[0-9]{0,12}\\.?[0-9]{0,8}") {
            let expected = lexical::number(&token).map(f64::to_bits);
            prop_assert_eq!(number(&token, b'.').map(f64::to_bits), expected);
        }
    }
}
