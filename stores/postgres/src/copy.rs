//! Rows in the binary format of `COPY` (PostgreSQL's manual, COPY, Binary Format).

use crate::buffer::{Chunk, Mark};
use bytes::{BufMut, BytesMut};
use weir_model::{Extra, Observation, Place, Time, Value};

/// Columns of an observation but its datastream's, in the order of [`put_row`], each with this before it.
macro_rules! stored {
    ($of:literal) => {
        stored!($of, "time" "cursor" "item" "number" "truth" "text" "json" "latitude" "longitude"
            "time_end" "result_time" "valid_from" "valid_to" "quality" "feature" "parameters"
            "quoted" "description")
    };
    ($of:literal, $first:literal $($name:literal)*) => {
        concat!($of, $first, $(", ", $of, $name),*)
    };
}
pub(crate) use stored;

/// What takes the rows.
pub(crate) const COPY: &str = concat!(
    "COPY weir.observation (datastream, ",
    stored!(""),
    ") FROM STDIN (FORMAT binary)"
);
const COLUMNS: i16 = 19;

/// Signature, no flags, no extension.
pub(crate) const HEAD: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// A tuple of -1 fields.
pub(crate) const TAIL: &[u8] = &[0xff, 0xff];
const NULL: i32 = -1;

/// Puts a row of a chunk behind others, under its datastream's number.
pub(crate) fn put_row(out: &mut BytesMut, datastream: i32, chunk: &Chunk, row: usize) {
    let (mark, observation) = (chunk.marks[row], chunk.batch.row(row));
    let is_quoted = needs_quotes(&observation);
    out.put_i16(COLUMNS);
    put_key(out, datastream, mark, &observation);
    put_value(out, observation.value, is_quoted);
    put_place(out, observation.place);
    put_extra(out, &observation.extra, is_quoted);
    if is_quoted {
        put_bytes(out, &[1])
    } else {
        out.put_i32(NULL)
    }
    put_bytes(out, &i16::from(observation.description).to_be_bytes());
}

fn put_key(out: &mut BytesMut, datastream: i32, mark: Mark, observation: &Observation<'_>) {
    put_bytes(out, &datastream.to_be_bytes());
    put_i64(
        out,
        Some(observation.time.map_or(mark.arrival, Time::nanos)),
    );
    put_i64(out, Some(mark.cursor.bits() as i64));
    put_bytes(out, &mark.item.to_be_bytes());
}

/// The one of four columns that holds the result.
fn put_value(out: &mut BytesMut, value: Value<'_>, is_quoted: bool) {
    let column = match value {
        Value::Number(_) => 0,
        Value::Bool(_) => 1,
        Value::Text(_) => 2,
        Value::Json(_) => 3,
        Value::Null => 4,
    };
    for at in 0..4 {
        match value {
            _ if at != column => out.put_i32(NULL),
            Value::Number(number) => put_bytes(out, &number.to_be_bytes()),
            Value::Bool(truth) => put_bytes(out, &[u8::from(truth)]),
            Value::Text(text) => put_text(out, Some(text), is_quoted),
            Value::Json(text) => put_text(out, Some(text), false),
            Value::Null => {}
        }
    }
}

fn put_place(out: &mut BytesMut, place: Option<Place>) {
    match place {
        None => {
            out.put_i32(NULL);
            out.put_i32(NULL);
        }
        Some(place) => {
            put_bytes(out, &place.latitude.to_be_bytes());
            put_bytes(out, &place.longitude.to_be_bytes());
        }
    }
}

fn put_extra(out: &mut BytesMut, extra: &Extra<'_>, is_quoted: bool) {
    put_i64(out, extra.end.map(Time::nanos));
    put_i64(out, extra.result_time.map(Time::nanos));
    put_i64(out, extra.valid.map(|(from, _)| from.nanos()));
    put_i64(out, extra.valid.map(|(_, to)| to.nanos()));
    put_text(out, extra.quality, is_quoted);
    put_text(out, extra.feature, is_quoted);
    put_text(out, extra.parameters, false);
}

/// A text of PostgreSQL holds no zero byte.
fn needs_quotes(observation: &Observation<'_>) -> bool {
    let text = match observation.value {
        Value::Text(text) => Some(text),
        _ => None,
    };
    let texts = [text, observation.extra.quality, observation.extra.feature];
    texts.into_iter().flatten().any(|text| text.contains('\0'))
}

fn put_bytes(out: &mut BytesMut, bytes: &[u8]) {
    out.put_i32(bytes.len() as i32);
    out.put_slice(bytes);
}

fn put_i64(out: &mut BytesMut, number: Option<i64>) {
    match number {
        Some(number) => put_bytes(out, &number.to_be_bytes()),
        None => out.put_i32(NULL),
    }
}

fn put_text(out: &mut BytesMut, text: Option<&str>, is_quoted: bool) {
    match text {
        None => out.put_i32(NULL),
        Some(text) if is_quoted => {
            put_bytes(out, serde_json::Value::from(text).to_string().as_bytes());
        }
        Some(text) => put_bytes(out, text.as_bytes()),
    }
}
