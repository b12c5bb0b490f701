//! The line protocol read.

use super::OBSERVATION;
use super::scan::{self, Field, FieldValue, Words};
use crate::error::DecodeError;
use crate::lexical;
use crate::lines::{self, Lines};
use crate::rows::{Rows, finite, set_number};
use crate::stack_text::StackText;
use crate::syntax::Exact;
use crate::unescaped::Unescaped;
use core::ops::ControlFlow;
use weir_model::batch::Naming;
use weir_model::limits::TOPIC_BYTES_MAX;
use weir_model::{BatchBuilder, Extra, Limits, Time, Value};

type Path = StackText<TOPIC_BYTES_MAX>;

/// Where a reader of pieces stands in a line.
#[derive(Default)]
pub(super) struct Influx {
    place: Place,
    /// The byte before.
    previous: u8,
    /// Whether a backslash stands before, between quotes.
    escaped: bool,
}

#[derive(Clone, Copy, Default)]
enum Place {
    /// Before the first character.
    #[default]
    Start,
    Comment,
    /// In the measurement and its tags.
    Series,
    Fields,
    Quoted,
}

impl Lines for Influx {
    const QUOTES: bool = true;

    /// A quote opens a string only where the value of a field begins.
    fn ends_line(&mut self, byte: u8, _quoted: &mut bool) -> bool {
        let previous = core::mem::replace(&mut self.previous, byte);
        self.place = match (self.place, byte) {
            (Place::Quoted, _) if self.escaped => {
                self.escaped = false;
                Place::Quoted
            }
            (Place::Quoted, b'"') => Place::Fields,
            (Place::Quoted, _) => {
                self.escaped = byte == b'\\';
                Place::Quoted
            }
            (_, b'\n') => {
                self.place = Place::Start;
                return true;
            }
            (Place::Start, b' ' | b'\t' | b'\r') => Place::Start,
            (Place::Start, b'#') => Place::Comment,
            (Place::Start, _) => Place::Series,
            (Place::Series, b' ') if previous != b'\\' => Place::Fields,
            (Place::Fields, b'"') if previous == b'=' => Place::Quoted,
            (place, _) => place,
        };
        false
    }

    fn decode(
        &mut self,
        lines: &str,
        out: &mut BatchBuilder,
        limits: &Limits,
    ) -> Result<(), DecodeError> {
        let mut words = Words { text: lines, at: 0 };
        let mut rows = Rows::new(out, limits);
        while words.line_follows() {
            read_line(&mut words, &mut rows, limits)?;
        }
        Ok(())
    }
}

pub(super) fn decode(
    bytes: &[u8],
    out: &mut BatchBuilder,
    limits: &Limits,
) -> Result<(), DecodeError> {
    lines::decode(Influx::default(), bytes, out, limits)
}

/// A line is read twice, since its time, which all its observations share, stands at its end.
fn read_line(
    words: &mut Words<'_>,
    rows: &mut Rows<'_>,
    limits: &Limits,
) -> Result<(), DecodeError> {
    let start = words.at;
    let measurement = words.word(b", ");
    if measurement.is_empty() {
        return Err(DecodeError::expected(start, "a measurement"));
    }
    let tags = *words;
    while words.tag()?.is_some() {}
    words.pass_spaces();
    let fields = *words;
    let mut is_observation = false;
    loop {
        let field = words.field()?;
        is_observation |= matches!(field.name, "value" | "json" | "null");
        if !field.more {
            break;
        }
    }
    let line = Line {
        start,
        tags,
        fields,
        time: words.timestamp()?,
        limits,
    };
    if measurement == OBSERVATION && is_observation {
        line.read_observation(rows)
    } else {
        line.read_metric(measurement, rows)
    }
}

/// A line whose parts were found.
struct Line<'a> {
    start: usize,
    tags: Words<'a>,
    fields: Words<'a>,
    time: Option<Time>,
    limits: &'a Limits,
}

impl<'a> Line<'a> {
    fn each_field(
        &self,
        mut each: impl FnMut(&Field<'a>) -> Result<(), DecodeError>,
    ) -> Result<(), DecodeError> {
        let mut words = self.fields;
        loop {
            let field = words.field()?;
            each(&field)?;
            if !field.more {
                return Ok(());
            }
        }
    }

    /// One observation a field.
    fn read_metric(&self, measurement: &str, rows: &mut Rows<'_>) -> Result<(), DecodeError> {
        let mut path = Path::default();
        let mut pushed = push_level(&mut path, measurement, b"=");
        let mut words = self.tags;
        while let (Some((name, value, _)), true) = (words.tag()?, pushed.is_continue()) {
            pushed = push_tag(&mut path, name, value);
        }
        let above = path.len();
        self.each_field(|field| {
            let over = DecodeError::over(field.name_at, "bytes of a topic", TOPIC_BYTES_MAX);
            path.truncate(above);
            if pushed.is_break() || push_field(&mut path, field.name).is_break() {
                return Err(over);
            }
            rows.begin(field.name_at)?;
            rows.topic(Naming::Below, path.as_str());
            self.set_value(field, rows)?;
            self.time.into_iter().for_each(|time| rows.time(time));
            rows.end(field.name_at)
        })
    }

    fn set_value(&self, field: &Field<'_>, rows: &mut Rows<'_>) -> Result<(), DecodeError> {
        match field.value {
            FieldValue::Number(number) => set_number(rows, finite(number, field.value_at))?,
            FieldValue::Integer(number) => rows.number(Exact::Whole(number.into())),
            FieldValue::Unsigned(number) => rows.number(Exact::Whole(number.into())),
            FieldValue::Bool(truth) => rows.value(Value::Bool(truth)),
            FieldValue::Text(raw) => {
                let mut buffer = Unescaped::default();
                let text = self.text(raw, field.value_at, &mut buffer)?;
                rows.value(Value::Text(text));
            }
        }
        Ok(())
    }

    fn text<'b>(
        &self,
        raw: &'b str,
        at: usize,
        buffer: &'b mut Unescaped,
    ) -> Result<&'b str, DecodeError> {
        let limit = self.limits.text_bytes;
        match scan::string(raw, buffer) {
            text if text.len() > limit => Err(DecodeError::over(at, "bytes of a string", limit)),
            text => Ok(text),
        }
    }

    /// An observation of weir, with JSON's names.
    fn read_observation(&self, rows: &mut Rows<'_>) -> Result<(), DecodeError> {
        rows.begin(self.start)?;
        self.time.into_iter().for_each(|time| rows.time(time));
        let mut words = self.tags;
        while let Some((name, raw, at)) = words.tag()? {
            let mut buffer = Unescaped::default();
            let text = scan::name(raw, &mut buffer);
            if text.len() > self.limits.text_bytes {
                let limit = self.limits.text_bytes;
                return Err(DecodeError::over(at, "bytes of a string", limit));
            }
            set_name(name, text, rows);
        }
        let mut valid = [None; 2];
        self.each_field(|field| match field.name {
            "validFrom" => nanoseconds(field).map(|time| valid[0] = Some(time)),
            "validTo" => nanoseconds(field).map(|time| valid[1] = Some(time)),
            _ => self.read_member(field, rows),
        })?;
        rows.valid(valid, self.start)?;
        rows.end(self.start)
    }

    fn read_member(&self, field: &Field<'_>, rows: &mut Rows<'_>) -> Result<(), DecodeError> {
        let extra = Extra::default();
        match field.name {
            "value" => self.set_value(field, rows)?,
            "null" => rows.value(Value::Null),
            "lat" => rows.latitude(degrees(field)?),
            "lon" => rows.longitude(degrees(field)?),
            "time" => rows.time(nanoseconds(field)?),
            "end" => rows.extra(Extra {
                end: Some(nanoseconds(field)?),
                ..extra
            }),
            "resultTime" => rows.extra(Extra {
                result_time: Some(nanoseconds(field)?),
                ..extra
            }),
            _ => self.read_text(field, rows)?,
        }
        Ok(())
    }

    /// Members that are text; others are unknown and passed over, which is noted.
    fn read_text(&self, field: &Field<'_>, rows: &mut Rows<'_>) -> Result<(), DecodeError> {
        let FieldValue::Text(raw) = field.value else {
            rows.pass_over(field.name);
            return Ok(());
        };
        let (extra, at) = (Extra::default(), field.value_at);
        let mut buffer = Unescaped::default();
        let text = self.text(raw, at, &mut buffer)?;
        match field.name {
            "json" => rows.value(Value::Json(&lexical::json_result(text, at, self.limits)?)),
            "quality" => rows.extra(Extra {
                quality: Some(text),
                ..extra
            }),
            "feature" => rows.extra(Extra {
                feature: Some(text),
                ..extra
            }),
            "parameters" => rows.extra(Extra {
                parameters: Some(&lexical::json(text, at, self.limits)?),
                ..extra
            }),
            name => set_name(name, text, rows),
        }
        Ok(())
    }
}

fn set_name(name: &str, text: &str, rows: &mut Rows<'_>) {
    match name {
        "topic" => rows.topic(Naming::Topic, text),
        "sensor" => rows.sensor(text),
        "type" => rows.property(text),
        "unit" => rows.unit(text),
        _ => rows.pass_over(name),
    }
}

fn nanoseconds(field: &Field<'_>) -> Result<Time, DecodeError> {
    match field.value {
        FieldValue::Integer(nanos) if nanos != i64::MIN => Ok(Time::from_nanos(nanos)),
        _ => {
            let what = "an integer, nanoseconds since 1970";
            Err(DecodeError::expected(field.value_at, what))
        }
    }
}

fn degrees(field: &Field<'_>) -> Result<f64, DecodeError> {
    match field.value {
        FieldValue::Number(degrees) => Ok(degrees),
        FieldValue::Integer(degrees) => Ok(degrees as f64),
        FieldValue::Unsigned(degrees) => Ok(degrees as f64),
        _ => Err(DecodeError::expected(field.value_at, "degrees, a number")),
    }
}

fn push_tag(path: &mut Path, name: &str, value: &str) -> ControlFlow<()> {
    path.push("/")?;
    push_level(path, name, b"=/")?;
    path.push("=")?;
    push_level(path, value, b"/")
}

fn push_field(path: &mut Path, name: &str) -> ControlFlow<()> {
    path.push("/")?;
    push_level(path, name, b"=/")
}

/// Adds a name without its escapes; what a level cannot hold, and `special`, percent-encoded.
fn push_level(path: &mut Path, raw: &str, special: &[u8]) -> ControlFlow<()> {
    let encoded = |byte: u8| {
        byte < 0x20 || matches!(byte, b'%' | b'+' | b'#' | 0x7F) || special.contains(&byte)
    };
    for part in scan::parts(raw) {
        for run in part.split_inclusive(|character: char| encoded_char(character, encoded)) {
            let last = run.bytes().last().filter(|&byte| encoded(byte));
            path.push(&run[..run.len() - usize::from(last.is_some())])?;
            if let Some(byte) = last {
                let digit = |nibble: u8| b"0123456789ABCDEF"[usize::from(nibble & 15)];
                let text = [b'%', digit(byte >> 4), digit(byte)];
                path.push(core::str::from_utf8(&text).unwrap_or_default())?;
            }
        }
    }
    ControlFlow::Continue(())
}

fn encoded_char(character: char, encoded: impl Fn(u8) -> bool) -> bool {
    u8::try_from(character).is_ok_and(|byte| byte < 0x80 && encoded(byte))
}
