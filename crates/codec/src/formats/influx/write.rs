//! The line protocol written, one observation a line.

use super::{NANOSECONDS_MIN, OBSERVATION};
use crate::number::write_f64;
use alloc::vec::Vec;
use core::fmt::{self, Write};
use weir_model::batch::Naming;
use weir_model::{Batch, Extra, Observation, Time, Value};

pub(super) fn encode(batch: &Batch, out: &mut Vec<u8>) {
    for row in batch.rows() {
        write_line(&row, out);
    }
}

fn write_line(row: &Observation<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(OBSERVATION.as_bytes());
    let topic = Some(row.topic).filter(|_| row.naming != Naming::Sent);
    // Sorted by name, as InfluxDB asks for.
    let names = [
        ("sensor", row.sensor),
        ("topic", topic),
        ("type", row.property),
        ("unit", row.unit),
    ];
    for (name, text) in names {
        if let Some(text) = text.filter(|text| is_tag(text)) {
            write_tag(name, text, out);
        }
    }
    out.push(b' ');
    write_value(row.value, out);
    for (name, text) in names {
        write_text(name, text.filter(|text| !is_tag(text)), out);
    }
    if let Some(place) = row.place {
        out.extend_from_slice(b",lat=");
        write_f64(place.latitude, out);
        out.extend_from_slice(b",lon=");
        write_f64(place.longitude, out);
    }
    if !row.extra.is_empty() {
        write_extra(&row.extra, out);
    }
    write_timestamp(row.time, out);
    out.push(b'\n');
}

/// Says whether a tag can hold a text.
fn is_tag(text: &str) -> bool {
    !text.is_empty() && !text.ends_with('\\') && !text.contains(char::is_control)
}

fn write_tag(name: &str, text: &str, out: &mut Vec<u8>) {
    out.push(b',');
    out.extend_from_slice(name.as_bytes());
    out.push(b'=');
    for byte in text.bytes() {
        if matches!(byte, b',' | b'=' | b' ') {
            out.push(b'\\');
        }
        out.push(byte);
    }
}

fn write_value(value: Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Null => return out.extend_from_slice(b"null=true"),
        Value::Json(digits) if value.digits().is_some() => {
            let mark = if digits.parse::<i64>().is_ok() {
                'i'
            } else {
                'u'
            };
            return append(out, format_args!("value={digits}{mark}"));
        }
        Value::Json(json) => {
            out.extend_from_slice(b"json=");
            return write_string(json, out);
        }
        _ => out.extend_from_slice(b"value="),
    }
    match value {
        Value::Number(number) => write_f64(number, out),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Text(text) => write_string(text, out),
        Value::Null | Value::Json(_) => {}
    }
}

fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

fn write_text(name: &str, text: Option<&str>, out: &mut Vec<u8>) {
    if let Some(text) = text {
        out.push(b',');
        out.extend_from_slice(name.as_bytes());
        out.push(b'=');
        write_string(text, out);
    }
}

fn write_extra(extra: &Extra<'_>, out: &mut Vec<u8>) {
    for (name, time) in [
        ("end", extra.end),
        ("resultTime", extra.result_time),
        ("validFrom", extra.valid.map(|(from, _)| from)),
        ("validTo", extra.valid.map(|(_, to)| to)),
    ] {
        if let Some(time) = time {
            write_time(name, time, out);
        }
    }
    write_text("quality", extra.quality, out);
    write_text("feature", extra.feature, out);
    write_text("parameters", extra.parameters, out);
}

fn write_time(name: &str, time: Time, out: &mut Vec<u8>) {
    append(out, format_args!(",{name}={}i", time.nanos()));
}

/// At the end of the line, unless it would be read in a coarser unit there.
fn write_timestamp(time: Option<Time>, out: &mut Vec<u8>) {
    let Some(time) = time else { return };
    if time.nanos().unsigned_abs() >= NANOSECONDS_MIN {
        append(out, format_args!(" {}", time.nanos()))
    } else {
        write_time("time", time, out)
    }
}

fn append(out: &mut Vec<u8>, text: fmt::Arguments<'_>) {
    struct Bytes<'o>(&'o mut Vec<u8>);
    impl Write for Bytes<'_> {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0.extend_from_slice(text.as_bytes());
            Ok(())
        }
    }
    // Writing to memory cannot fail.
    let _infallible = Bytes(out).write_fmt(text);
}
