//! What a message's body is as bytes: data as it is, values as text or as JSON, as clients send them that
//! say nothing else.

use super::decimal::{self, DECIMAL_32, DECIMAL_64, DECIMAL_128};
use crate::wire::{Body, Value};
use bytes::Bytes;
use std::fmt::Write;
use weir_model::value::EXACT_INTEGER_MAX;

/// The bytes of a body.
pub(super) fn bytes_of(body: Body) -> Bytes {
    match body {
        Body::Data(mut parts) if parts.len() == 1 => parts.remove(0),
        Body::Data(parts) => parts.concat().into(),
        Body::Value(Value::Binary(bytes)) => bytes,
        Body::Value(Value::String(text)) => text.into(),
        Body::Value(Value::Symbol(symbol)) => symbol.as_str().to_owned().into(),
        Body::Value(Value::Null) => Bytes::new(),
        Body::Value(value) => json(&value).into(),
        Body::Sequence(lists) => {
            let all = lists.into_iter().flatten().collect();
            json(&Value::List(all)).into()
        }
    }
}

fn json(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Float(number) => write_number(f64::from(*number), number, out),
        Value::Double(number) => write_number(*number, number, out),
        Value::Ulong(number) => print(number, out),
        Value::Char(character) => write_text(character.encode_utf8(&mut [0; 4]), out),
        Value::Binary(bytes) => write_text(&String::from_utf8_lossy(bytes), out),
        Value::Uuid(bytes) => print_hexadecimal(bytes, out),
        Value::List(values) | Value::Array(values) => write_list(values, out),
        Value::Map(map) => write_map(&map.0, out),
        Value::Described(both) => write(&both.1, out),
        Value::Decimal32(bytes) => decimal::write(bytes, DECIMAL_32, out),
        Value::Decimal64(bytes) => decimal::write(bytes, DECIMAL_64, out),
        Value::Decimal128(bytes) => decimal::write(bytes, DECIMAL_128, out),
        other => match (other.as_str(), other.as_i64()) {
            (Some(text), _) => write_text(text, out),
            (None, number) => print(&number.unwrap_or_default(), out),
        },
    }
}

/// `shortest` is the number as it is printed; that beyond 2^53 is no integer, and what is none is said as others say
/// it.
fn write_number(number: f64, shortest: &dyn std::fmt::Display, out: &mut String) {
    let whole = (number.abs() >= EXACT_INTEGER_MAX).then_some(".0");
    match number {
        _ if number.is_finite() => print(
            &format_args!("{shortest}{}", whole.unwrap_or_default()),
            out,
        ),
        _ if number.is_nan() => out.push_str("NaN"),
        _ => out.push_str(if number > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        }),
    }
}

fn print(value: &dyn std::fmt::Display, out: &mut String) {
    // Writing to a string does not fail.
    let _written = write!(out, "{value}");
}

fn print_hexadecimal(bytes: &[u8], out: &mut String) {
    out.push('"');
    bytes
        .iter()
        .for_each(|byte| print(&format_args!("{byte:02x}"), out));
    out.push('"');
}

fn write_list(values: &[Value], out: &mut String) {
    out.push('[');
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write(value, out);
    }
    out.push(']');
}

fn write_map(pairs: &[(Value, Value)], out: &mut String) {
    out.push('{');
    for (index, (key, value)) in pairs.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        match key.as_str() {
            Some(text) => write_text(text, out),
            None => write_text(&json(key), out),
        }
        out.push(':');
        write(value, out);
    }
    out.push('}');
}

/// RFC 8259 section 7.
fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\0'..='\u{1f}' => print(&format_args!("\\u{:04x}", u32::from(character)), out),
            other => out.push(other),
        }
    }
    out.push('"');
}

/// A value as text, for properties of a message; compounds are none.
pub(super) fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::List(_) | Value::Map(_) | Value::Array(_) | Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Symbol(symbol) => Some(symbol.as_str().to_owned()),
        Value::Binary(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        other => Some(json(other).trim_matches('"').to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Map;

    #[test]
    fn values_become_text_and_compounds_json() {
        let mut map = Map::default();
        map.push("value", Value::Double(21.5));
        map.push("unit", Value::from("°C \"x\"\n"));
        map.push(
            "list",
            Value::List(vec![Value::Int(-3), Value::Null, Value::Bool(true)]),
        );
        let body = bytes_of(Body::Value(Value::Map(map)));
        let expected = "{\"value\":21.5,\"unit\":\"°C \\\"x\\\"\\u000a\",\"list\":[-3,null,true]}";
        assert_eq!(body, expected);
        assert_eq!(bytes_of(Body::Value(Value::Double(21.5))), "21.5");
        assert_eq!(bytes_of(Body::Value(Value::from("21.5"))), "21.5");
        for (number, text) in [
            (f64::NAN, "NaN"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
            (9_007_199_254_740_992.0, "9007199254740992.0"),
        ] {
            assert_eq!(bytes_of(Body::Value(Value::Double(number))), text);
        }
        let long = Body::Value(Value::Ulong(9_007_199_254_740_993));
        assert_eq!(bytes_of(long), "9007199254740993");
        assert_eq!(bytes_of(Body::Value(Value::Float(0.1))), "0.1");
        let decimal = Body::Value(Value::Decimal32([0x32, 0, 0, 0xD7]));
        assert_eq!(bytes_of(decimal), "21.5");
        let parts = vec![Bytes::from_static(b"21"), Bytes::from_static(b".5")];
        assert_eq!(bytes_of(Body::Data(parts)), "21.5");
    }
}
