//! A message written as a stream.

use super::body::{Body, Places};
use super::columns::{ALWAYS, COLUMNS, Column, Shape};
use super::dictionary::Dictionary;
use super::flat_write::{FlatWrite, Slot};
use super::names::{
    ALIGNMENT, CONTINUATION, HEADER_DICTIONARY, HEADER_RECORD, HEADER_SCHEMA, PRECISION_DOUBLE,
    TYPE_BOOL, TYPE_FLOAT, TYPE_TIMESTAMP, TYPE_UTF8, UNIT_NANOSECOND, VERSION_5,
};
use alloc::vec::Vec;
use weir_model::{Batch, Extra, Time, Value};

pub(super) fn encode(batch: &Batch, out: &mut Vec<u8>) {
    let columns = Columns::of(batch);
    message(out, HEADER_SCHEMA, |flat| schema(&columns, flat));
    for (id, (column, _, shape)) in COLUMNS.iter().enumerate() {
        if *shape == Shape::Name {
            write_dictionary(id, &Dictionary::new(batch, *column), out);
        }
    }
    write_record(batch, &columns, out);
    out.extend_from_slice(&CONTINUATION);
    out.extend_from_slice(&[0; 4]);
}

/// Which columns a message needs.
struct Columns {
    needed: [bool; COLUMNS.len()],
}

impl Columns {
    fn of(batch: &Batch) -> Self {
        let mut needed = [false; COLUMNS.len()];
        needed[..ALWAYS].fill(true);
        for row in 0..batch.len() {
            match batch.value(row) {
                Value::Text(_) => needed[Column::Text as usize] = true,
                Value::Bool(_) => needed[Column::Truth as usize] = true,
                Value::Json(_) => needed[Column::Json as usize] = true,
                Value::Number(_) | Value::Null => {}
            }
            if batch.place(row).is_some() {
                needed[Column::Lat as usize] = true;
                needed[Column::Lon as usize] = true;
            }
            let extra = batch.extra(row);
            if !extra.is_empty() {
                note_extra(&extra, &mut needed);
            }
        }
        Self { needed }
    }

    fn iter(&self) -> impl Iterator<Item = (usize, Column, &'static str, Shape)> {
        let columns = COLUMNS.iter().enumerate().zip(self.needed);
        let needed = columns.filter(|(_, needed)| *needed);
        needed.map(|((id, (column, name, shape)), _)| (id, *column, *name, *shape))
    }
}

fn note_extra(extra: &Extra<'_>, needed: &mut [bool; COLUMNS.len()]) {
    for (column, there) in [
        (Column::End, extra.end.is_some()),
        (Column::ResultTime, extra.result_time.is_some()),
        (Column::ValidFrom, extra.valid.is_some()),
        (Column::ValidTo, extra.valid.is_some()),
        (Column::Quality, extra.quality.is_some()),
        (Column::Feature, extra.feature.is_some()),
        (Column::Parameters, extra.parameters.is_some()),
    ] {
        needed[column as usize] |= there;
    }
}

/// Writes a message's metadata with their length; gives what `header` gives, and where the length of
/// the body is to be put.
fn message<T>(
    out: &mut Vec<u8>,
    kind: u8,
    header: impl FnOnce(&mut FlatWrite<'_>) -> (usize, T),
) -> (usize, T) {
    out.extend_from_slice(&CONTINUATION);
    let len_at = out.len();
    out.extend_from_slice(&[0; 4]);
    let mut flat = FlatWrite::new(out);
    let slots = [
        Slot::Short(VERSION_5),
        Slot::Byte(kind),
        Slot::Link,
        Slot::Long(0),
    ];
    let message = flat.table(slots);
    flat.link(flat.root(), message.at);
    let (header_at, given) = header(&mut flat);
    flat.link(message.fields[2], header_at);
    flat.align(ALIGNMENT);
    let len = (out.len() - len_at - 4) as u32;
    out[len_at..len_at + 4].copy_from_slice(&len.to_le_bytes());
    (message.fields[3], given)
}

fn schema(columns: &Columns, flat: &mut FlatWrite<'_>) -> (usize, ()) {
    // The byte order is little-endian, which is the default.
    let schema = flat.table([Slot::Absent, Slot::Link]);
    let count = columns.iter().count();
    let fields = flat.vector(schema.fields[1], count, 4);
    for (index, (id, _, name, shape)) in columns.iter().enumerate() {
        field(id, name, shape, fields + index * 4, flat);
    }
    (schema.at, ())
}

fn field(id: usize, name: &str, shape: Shape, link: usize, flat: &mut FlatWrite<'_>) {
    let kind = match shape {
        Shape::Name | Shape::Text => TYPE_UTF8,
        Shape::Instant => TYPE_TIMESTAMP,
        Shape::Double => TYPE_FLOAT,
        Shape::Bool => TYPE_BOOL,
    };
    let dictionary = match shape {
        Shape::Name => Slot::Link,
        _ => Slot::Absent,
    };
    // Name, nullable, type, dictionary, children.
    let slots = [
        Slot::Link,
        Slot::Byte(1),
        Slot::Byte(kind),
        Slot::Link,
        dictionary,
        Slot::Link,
    ];
    let field = flat.table(slots);
    flat.link(link, field.at);
    flat.string(field.fields[0], name);
    field_type(shape, field.fields[3], flat);
    if shape == Shape::Name {
        let encoding = flat.table([Slot::Long(id as i64), Slot::Link]);
        flat.link(field.fields[4], encoding.at);
        // Signed integers of 32 bits.
        let index = flat.table([Slot::Int(32), Slot::Byte(1)]);
        flat.link(encoding.fields[1], index.at);
    }
    flat.vector(field.fields[5], 0, 4);
}

fn field_type(shape: Shape, link: usize, flat: &mut FlatWrite<'_>) {
    let at = match shape {
        Shape::Name | Shape::Text | Shape::Bool => flat.table([]).at,
        Shape::Double => flat.table([Slot::Short(PRECISION_DOUBLE)]).at,
        Shape::Instant => {
            let instant = flat.table([Slot::Short(UNIT_NANOSECOND), Slot::Link]);
            flat.string(instant.fields[1], "UTC");
            instant.at
        }
    };
    flat.link(link, at);
}

/// Metadata of a record batch, whose nodes and buffers are filled in with the body.
fn record(
    rows: usize,
    nodes: usize,
    buffers: usize,
    flat: &mut FlatWrite<'_>,
) -> (usize, (usize, usize)) {
    let record = flat.table([Slot::Long(rows as i64), Slot::Link, Slot::Link]);
    let nodes = flat.vector(record.fields[1], nodes, 16);
    let buffers = flat.vector(record.fields[2], buffers, 16);
    (record.at, (nodes, buffers))
}

fn write_dictionary(id: usize, dictionary: &Dictionary<'_>, out: &mut Vec<u8>) {
    let (body_len, (nodes, buffers)) = message(out, HEADER_DICTIONARY, |flat| {
        let table = flat.table([Slot::Long(id as i64), Slot::Link]);
        let (at, places) = record(dictionary.len(), 1, 3, flat);
        flat.link(table.fields[1], at);
        (table.at, places)
    });
    let places = Places {
        nodes,
        buffers,
        body_len,
    };
    let mut body = Body::new(out, places, dictionary.len());
    body.texts(|index| Some(dictionary.name(index)));
    body.finish();
}

fn write_record(batch: &Batch, columns: &Columns, out: &mut Vec<u8>) {
    let buffers = |shape: Shape| if shape == Shape::Text { 3 } else { 2 };
    let buffers = columns.iter().map(|(.., shape)| buffers(shape)).sum();
    let nodes = columns.iter().count();
    let (body_len, (nodes, buffers)) = message(out, HEADER_RECORD, |flat| {
        record(batch.len(), nodes, buffers, flat)
    });
    let places = Places {
        nodes,
        buffers,
        body_len,
    };
    let mut body = Body::new(out, places, batch.len());
    for (_, column, _, shape) in columns.iter() {
        match shape {
            Shape::Name => {
                let names = Dictionary::new(batch, column);
                let number = |row| names.of_stream(batch.stream_of(row));
                body.fixed(|row| number(row).map(i32::to_le_bytes));
            }
            Shape::Instant => {
                let nanos = |row| instant(batch, column, row).map(Time::nanos);
                body.fixed(|row| nanos(row).map(i64::to_le_bytes));
            }
            Shape::Double => body.fixed(|row| double(batch, column, row).map(f64::to_le_bytes)),
            Shape::Text => body.texts(|row| text(batch, column, row)),
            Shape::Bool => body.bools(|row| match batch.value(row) {
                Value::Bool(truth) => Some(truth),
                _ => None,
            }),
        }
    }
    body.finish();
}

fn instant(batch: &Batch, column: Column, row: usize) -> Option<Time> {
    match column {
        Column::Time => batch.time(row),
        Column::End => batch.extra(row).end,
        Column::ResultTime => batch.extra(row).result_time,
        Column::ValidFrom => batch.extra(row).valid.map(|(from, _)| from),
        _ => batch.extra(row).valid.map(|(_, to)| to),
    }
}

fn double(batch: &Batch, column: Column, row: usize) -> Option<f64> {
    match (column, batch.value(row)) {
        (Column::Lat, _) => batch.place(row).map(|place| place.latitude),
        (Column::Lon, _) => batch.place(row).map(|place| place.longitude),
        (_, Value::Number(number)) => Some(number),
        _ => None,
    }
}

fn text(batch: &Batch, column: Column, row: usize) -> Option<&str> {
    match (column, batch.value(row)) {
        (Column::Text, Value::Text(text)) | (Column::Json, Value::Json(text)) => Some(text),
        (Column::Text | Column::Json, _) => None,
        (Column::Quality, _) => batch.extra(row).quality,
        (Column::Feature, _) => batch.extra(row).feature,
        _ => batch.extra(row).parameters,
    }
}
