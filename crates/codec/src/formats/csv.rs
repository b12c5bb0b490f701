//! `csv`: RFC 4180 with a header line, one observation a line.
//!
//! Columns may stand in any order, only `value` is required, unknown ones are passed over, which is noted. A field
//! of `value` is read like a line of `plain`; an empty one is null.
#![cfg(feature = "csv")]

use crate::error::DecodeError;
use crate::format::{Carries, Format};
use crate::lexical;
use crate::limits::CSV_COLUMNS_MAX;
use crate::lines::{self, LineReader, Lines};
use crate::number::{TimeWriter, write_f64};
use crate::rows::{MemberSet, Rows, check_again};
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use weir_model::batch::Naming;
use weir_model::{Batch, BatchBuilder, Limits, Observation, Time, Value};

pub(crate) const FORMAT: Format = Format {
    text: true,
    carries: Carries {
        extra: false,
        ..Carries::ALL
    },
    reader: Some(|limits| Box::new(LineReader::new(Csv::default(), limits))),
    ..Format::new("csv", "text/csv", encode, decode)
};

const HEADER: &str = "topic,time,value,unit,type,sensor,lat,lon\r\n";

fn encode(batch: &Batch, out: &mut Vec<u8>) {
    out.extend_from_slice(HEADER.as_bytes());
    let mut times = TimeWriter::default();
    for row in batch.rows() {
        write_row(&row, &mut times, out);
    }
}

fn write_row(row: &Observation<'_>, times: &mut TimeWriter, out: &mut Vec<u8>) {
    write_field(row.topic, out);
    out.push(b',');
    if let Some(time) = row.time {
        times.write(time, out);
    }
    out.push(b',');
    write_value(row.value, out);
    for text in [row.unit, row.property, row.sensor] {
        out.push(b',');
        write_field(text.unwrap_or_default(), out);
    }
    let degrees = row.place.map(|place| [place.latitude, place.longitude]);
    for index in 0..2 {
        out.push(b',');
        if let Some(degrees) = degrees {
            write_f64(degrees[index], out);
        }
    }
    out.extend_from_slice(b"\r\n");
}

fn write_value(value: Value<'_>, out: &mut Vec<u8>) {
    let start = out.len();
    lexical::write(value, out);
    if matches!(value, Value::Text(_) | Value::Json(_)) {
        quote(start, out);
    }
}

fn write_field(text: &str, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(text.as_bytes());
    quote(start, out);
}

/// Puts what was written from `start` on into quotes, where it needs them.
fn quote(start: usize, out: &mut Vec<u8>) {
    let needs = |&byte: &u8| matches!(byte, b'"' | b',' | b'\r' | b'\n');
    if !out[start..].iter().any(needs) {
        return;
    }
    let inner = out[start..].iter().filter(|&&byte| byte == b'"').count();
    let mut from = out.len();
    let mut to = from + inner + 2;
    out.resize(to, b'"');
    // Backwards, so that nothing is overwritten before it is moved; the quotes are already there.
    to -= 1;
    while from > start {
        from -= 1;
        to -= 1;
        out[to] = out[from];
        if out[from] == b'"' {
            to -= 1;
            out[to] = b'"';
        }
    }
    out[start] = b'"';
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    Topic,
    Time,
    Value,
    Unit,
    Type,
    Sensor,
    Lat,
    Lon,
    Unknown,
}

impl Column {
    fn of(name: &str) -> Self {
        match name.trim_ascii() {
            "topic" => Column::Topic,
            "time" => Column::Time,
            "value" => Column::Value,
            "unit" => Column::Unit,
            "type" => Column::Type,
            "sensor" => Column::Sensor,
            "lat" => Column::Lat,
            "lon" => Column::Lon,
            _ => Column::Unknown,
        }
    }
}

/// The columns of a table, known once its first line is read.
#[derive(Default)]
struct Csv {
    header: Option<Header>,
}

struct Header {
    columns: [Column; CSV_COLUMNS_MAX],
    count: usize,
}

fn decode(bytes: &[u8], out: &mut BatchBuilder, limits: &Limits) -> Result<(), DecodeError> {
    lines::decode(Csv::default(), bytes, out, limits)
}

impl Lines for Csv {
    const QUOTES: bool = true;

    fn decode(
        &mut self,
        lines: &str,
        out: &mut BatchBuilder,
        limits: &Limits,
    ) -> Result<(), DecodeError> {
        let mut fields = Fields {
            text: lines,
            at: 0,
            limits,
        };
        let mut rows = Rows::new(out, limits);
        while fields.line_follows() {
            match &self.header {
                None => self.header = Some(read_header(&mut fields, &mut rows)?),
                Some(header) => read_row(header, &mut fields, &mut rows)?,
            }
        }
        Ok(())
    }

    fn finish(&self, at: usize) -> Result<(), DecodeError> {
        let missing = DecodeError::expected(at, "a header line");
        self.header.as_ref().map(|_| ()).ok_or(missing)
    }
}

fn read_header(fields: &mut Fields<'_>, rows: &mut Rows<'_>) -> Result<Header, DecodeError> {
    let (start, mut met) = (fields.at, MemberSet::default());
    let mut header = Header {
        columns: [Column::Unknown; CSV_COLUMNS_MAX],
        count: 0,
    };
    loop {
        let at = fields.at;
        let (name, last) = fields.field()?;
        let Some(column) = header.columns.get_mut(header.count) else {
            return Err(DecodeError::over(at, "columns", CSV_COLUMNS_MAX));
        };
        *column = Column::of(&name);
        if *column == Column::Unknown {
            rows.pass_over(&name);
        } else if met.is_again(*column as u32) {
            check_again(name.trim_ascii(), at, rows)?;
        }
        header.count += 1;
        if last {
            break;
        }
    }
    if header.columns.contains(&Column::Value) {
        Ok(header)
    } else {
        Err(DecodeError::expected(
            start,
            "a header line with a column `value`",
        ))
    }
}

fn read_row(
    header: &Header,
    fields: &mut Fields<'_>,
    rows: &mut Rows<'_>,
) -> Result<(), DecodeError> {
    let start = fields.at;
    rows.begin(start)?;
    for index in 0..header.count {
        let at = fields.at;
        let (field, last) = fields.field()?;
        read_field(header.columns[index], &field, at, rows, fields.limits)?;
        if last != (index + 1 == header.count) {
            return Err(wrong_count(at, index + 1, header.count));
        }
    }
    rows.end(start)
}

/// The row's last field is not the header's last.
fn wrong_count(at: usize, fields: usize, wanted: usize) -> DecodeError {
    let found = if fields < wanted {
        format!("found {fields}")
    } else {
        "found more".into()
    };
    DecodeError::meaning(
        at,
        format!("expected {wanted} fields as in the header, {found}"),
    )
}

fn read_field(
    column: Column,
    field: &str,
    at: usize,
    rows: &mut Rows<'_>,
    limits: &Limits,
) -> Result<(), DecodeError> {
    if field.is_empty() {
        if column == Column::Value {
            rows.value(Value::Null);
        }
        return Ok(());
    }
    match column {
        Column::Topic => rows.topic(Naming::Topic, field),
        Column::Unit => rows.unit(field),
        Column::Type => rows.property(field),
        Column::Sensor => rows.sensor(field),
        Column::Value => lexical::read(field, at, rows, limits)?,
        Column::Time => rows.time(read_time(field, at)?),
        Column::Lat => rows.latitude(read_degrees(field, at)?),
        Column::Lon => rows.longitude(read_degrees(field, at)?),
        Column::Unknown => {}
    }
    Ok(())
}

fn read_time(field: &str, at: usize) -> Result<Time, DecodeError> {
    let time = Time::parse_rfc3339(field.trim_ascii().as_bytes());
    time.map_err(|error| DecodeError::expected(at + error.at, error.expected))
}

fn read_degrees(field: &str, at: usize) -> Result<f64, DecodeError> {
    lexical::number(field.trim_ascii())
        .ok_or_else(|| DecodeError::expected(at, "degrees as a decimal number"))
}

/// Reads field after field.
struct Fields<'a> {
    text: &'a str,
    at: usize,
    limits: &'a Limits,
}

impl<'a> Fields<'a> {
    /// Passes blank lines; says whether another follows.
    fn line_follows(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        while let Some(b'\r' | b'\n') = bytes.get(self.at) {
            self.at += 1;
        }
        self.at < bytes.len()
    }

    /// The next field, and whether it is the last of its line.
    fn field(&mut self) -> Result<(Cow<'a, str>, bool), DecodeError> {
        let start = self.at;
        let field = match self.text.as_bytes().get(start) {
            Some(b'"') => self.quoted()?,
            _ => self.bare()?,
        };
        if field.len() > self.limits.text_bytes {
            return Err(DecodeError::over(
                start,
                "bytes of a field",
                self.limits.text_bytes,
            ));
        }
        let rest = &self.text.as_bytes()[self.at..];
        let (mark, last) = match rest {
            [b',', ..] => (1, false),
            [b'\r', b'\n', ..] => (2, true),
            [b'\n', ..] => (1, true),
            [] | [b'\r'] => (rest.len(), true),
            _ => {
                return Err(DecodeError::expected(
                    self.at,
                    "a comma or the end of the line",
                ));
            }
        };
        self.at += mark;
        Ok((field, last))
    }

    fn bare(&mut self) -> Result<Cow<'a, str>, DecodeError> {
        let rest = &self.text[self.at..];
        let end = rest
            .bytes()
            .position(|byte| matches!(byte, b',' | b'\r' | b'\n' | b'"'));
        let field = &rest[..end.unwrap_or(rest.len())];
        self.at += field.len();
        match self.text.as_bytes().get(self.at) {
            Some(b'"') => Err(DecodeError::expected(
                self.at,
                "a field with a quote to be in quotes",
            )),
            _ => Ok(Cow::Borrowed(field)),
        }
    }

    fn quoted(&mut self) -> Result<Cow<'a, str>, DecodeError> {
        let mut joined: Option<String> = None;
        self.at += 1;
        loop {
            let rest = &self.text[self.at..];
            let Some(end) = rest.find('"') else {
                return Err(DecodeError::truncated(self.text.len()));
            };
            let doubled = rest.as_bytes().get(end + 1) == Some(&b'"');
            let part = &rest[..end + usize::from(doubled)];
            self.at += end + 1 + usize::from(doubled);
            match (&mut joined, doubled) {
                (None, false) => return Ok(Cow::Borrowed(part)),
                (Some(text), false) => {
                    text.push_str(part);
                    return Ok(Cow::Owned(joined.unwrap_or_default()));
                }
                (text, true) => text.get_or_insert_default().push_str(part),
            }
        }
    }
}
