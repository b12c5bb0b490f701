//! A JSON object as it is written, member by member: what is read often is text at once, and no tree of values.
//!
//! Names of members are those of the data model, which need no escapes; nothing here checks that.

use serde::Serialize;
use serde_json::Value as Json;
use weir_model::{Time, Value};

/// The object being written.
pub(crate) struct Members<'o> {
    out: &'o mut Vec<u8>,
    is_first: bool,
}

impl<'o> Members<'o> {
    pub(crate) fn begin(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        let is_first = true;
        Self { out, is_first }
    }

    fn separate(&mut self) {
        if !std::mem::replace(&mut self.is_first, false) {
            self.out.push(b',');
        }
    }

    /// Writes a name, which may be in parts; its value is to follow.
    pub(crate) fn open(&mut self, name: &[&str]) -> &mut Vec<u8> {
        self.separate();
        self.out.push(b'"');
        join(self.out, name);
        self.out.extend_from_slice(b"\":");
        self.out
    }

    /// Writes a member.
    pub(crate) fn member(&mut self, name: &[&str], value: &Json) {
        json(self.open(name), value);
    }

    /// Writes a member whose value is a text in parts, none of which needs an escape.
    pub(crate) fn plain(&mut self, name: &[&str], parts: &[&str]) {
        let out = self.open(name);
        out.push(b'"');
        join(out, parts);
        out.push(b'"');
    }

    /// Writes members that are text already, with commas between them.
    pub(crate) fn written(&mut self, members: &[u8]) {
        if !members.is_empty() {
            self.separate();
            self.out.extend_from_slice(members);
        }
    }

    /// How much is written.
    pub(crate) fn end_so_far(&self) -> usize {
        self.out.len()
    }

    pub(crate) fn end(self) {
        self.out.push(b'}');
    }
}

fn join(out: &mut Vec<u8>, parts: &[&str]) {
    parts
        .iter()
        .for_each(|part| out.extend_from_slice(part.as_bytes()));
}

/// Ends a list each of whose values has a comma behind it.
pub(crate) fn end_list(out: &mut Vec<u8>) {
    out.pop_if(|last| *last == b',');
    out.push(b']');
}

/// Writes a value: none of the model is one that JSON has not.
pub(crate) fn json(out: &mut Vec<u8>, value: &Json) {
    use std::io::Write;
    // Writing into memory does not fail.
    let _never = write!(out, "{value}");
}

/// Writes a number; null where it is none that JSON has.
pub(crate) fn number(out: &mut Vec<u8>, number: impl Serialize) {
    // Writing into memory does not fail.
    let _never = serde_json::to_writer(out, &number);
}

/// Writes a text with its quotes.
pub(crate) fn text(out: &mut Vec<u8>, text: &str) {
    // Writing into memory does not fail.
    let _never = serde_json::to_writer(out, text);
}

/// Writes an instant as RFC 3339 with three decimals at least, as SensorThings' examples have it.
pub(crate) fn instant(out: &mut Vec<u8>, time: Time) {
    const WHOLE: usize = "2026-01-01T00:00:00Z".len();
    let begin = out.len();
    time.write_rfc3339(out);
    if out.len() - begin == WHOLE {
        out.pop();
        out.extend_from_slice(b".000Z");
    }
}

/// Writes an instant or an interval as a JSON text.
pub(crate) fn times(out: &mut Vec<u8>, from: Time, to: Option<Time>) {
    out.push(b'"');
    instant(out, from);
    if let Some(to) = to {
        out.push(b'/');
        instant(out, to);
    }
    out.push(b'"');
}

/// Writes a result; whole numbers are written as such.
// [STA-A.3.1.1-10]
pub(crate) fn result(out: &mut Vec<u8>, value: Value<'_>) {
    match value {
        Value::Text(said) => text(out, said),
        Value::Null => out.extend_from_slice(b"null"),
        Value::Number(whole) if whole.fract() == 0.0 && whole.abs() < 9e15 => {
            number(out, whole as i64);
        }
        Value::Number(other) => number(out, other),
        Value::Bool(truth) => out.extend_from_slice(if truth { b"true" } else { b"false" }),
        Value::Json(said) => parsed(out, said),
    }
}

/// Writes what is kept as JSON, or as a text where it is none.
pub(crate) fn parsed(out: &mut Vec<u8>, said: &str) {
    match serde_json::from_str::<Json>(said) {
        Ok(value) => json(out, &value),
        Err(_) => text(out, said),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_written_is_read_as_it_was() {
        let mut out = Vec::new();
        let mut object = Members::begin(&mut out);
        object.member(&["a"], &json!({"b": ["\"\n", 1.5, null]}));
        object.plain(&["b", "@c"], &["x/", "y"]);
        object.written(b"");
        object.written(br#""d":1,"e":2"#);
        for (name, value) in [
            ("i", Value::Number(3.0)),
            ("n", Value::Number(0.1)),
            ("nan", Value::Number(f64::NAN)),
            ("t", Value::Text("\u{1}\\")),
            ("j", Value::Json(" [1, 2] ")),
            ("k", Value::Json("[1,")),
            ("z", Value::Null),
            ("y", Value::Bool(true)),
        ] {
            result(object.open(&[name]), value);
        }
        object.end();
        let read: Json = serde_json::from_slice(&out).unwrap();
        let expected = json!({"a": {"b": ["\"\n", 1.5, null]}, "b@c": "x/y", "d": 1, "e": 2,
            "i": 3, "n": 0.1, "nan": null, "t": "\u{1}\\", "j": [1, 2], "k": "[1,",
            "z": null, "y": true});
        assert_eq!(read, expected);
    }

    #[test]
    fn instants_have_three_decimals_at_least() {
        for (nanos, expected) in [
            (0, "\"1970-01-01T00:00:00.000Z\""),
            (1_500_000_000, "\"1970-01-01T00:00:01.500Z\""),
            (1, "\"1970-01-01T00:00:00.000000001Z\""),
        ] {
            let mut out = Vec::new();
            times(&mut out, Time::from_nanos(nanos), None);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }
}
