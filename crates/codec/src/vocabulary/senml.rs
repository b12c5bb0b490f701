//! Sensor Measurement Lists (RFC 8428): packs of records, in JSON and CBOR.
//!
//! Read in full: base name, time, unit, value, sum and version apply to the records that follow
//! (section 4.1); names join, times and values add. Since codec has no clock, a relative time (below
//! 2^28 seconds, section 4.5.3) is left as it stands under [`Naming::Name`], and made absolute where
//! the batch is completed with its arrival; zero means now and is left out. A sum without a value is
//! a null result with the parameter `sum`, since its unit is not the record's.
//!
//! Written resolved, one record an observation, but for results that SenML has not: null is left
//! out, arrays and objects are strings of JSON. Names are topics as [`senml_name`] has them.

use super::message::note_unknown;
use super::senml_name;
use crate::base64;
use crate::error::DecodeError;
use crate::limits::SENML_UNIT_BYTES_MAX;
use crate::number::{as_integer, write_f64};
use crate::rows::{MemberSet, Rows, check_again, set_number};
use crate::stack_text::StackText;
use crate::syntax::{Emit, Exact, Key, Kind, Label, Pull, exact, label};
use alloc::format;
use alloc::vec::Vec;
use core::ops::ControlFlow;
use weir_model::batch::Naming;
use weir_model::limits::TOPIC_BYTES_MAX;
use weir_model::{Batch, Extra, Observation, Time, Value};

const NAME: Label = label!("n", Some(0));
const UNIT: Label = label!("u", Some(1));
const VALUE: Label = label!("v", Some(2));
const STRING: Label = label!("vs", Some(3));
const BOOLEAN: Label = label!("vb", Some(4));
const TIME: Label = label!("t", Some(6));

/// The version that is understood, and the default (section 4.4).
const VERSION: f64 = 10.0;

/// Writes a whole pack.
pub(crate) fn write(batch: &Batch, emit: &mut impl Emit) {
    let writable = |row: &usize| batch.value(*row) != Value::Null;
    emit.array((0..batch.len()).filter(writable).count());
    for row in (0..batch.len()).filter(writable) {
        write_record(&batch.row(row), emit);
    }
    emit.end_array();
}

fn write_record(row: &Observation<'_>, emit: &mut impl Emit) {
    let named = !row.topic.is_empty();
    let members = [named, row.unit.is_some(), row.time.is_some()];
    emit.map(1 + members.iter().filter(|there| **there).count());
    if named {
        emit.label(&NAME);
        emit.text(&senml_name::of_topic(row.topic));
    }
    if let Some(unit) = row.unit {
        emit.label(&UNIT);
        emit.text(unit);
    }
    if let Some(time) = row.time {
        emit.label(&TIME);
        emit.seconds(time);
    }
    write_value(row.value, emit);
    emit.end_map();
}

fn write_value(value: Value<'_>, emit: &mut impl Emit) {
    match value {
        Value::Number(number) => {
            emit.label(&VALUE);
            emit.number(number);
        }
        Value::Bool(truth) => {
            emit.label(&BOOLEAN);
            emit.bool(truth);
        }
        Value::Json(digits) if value.digits().is_some() => {
            emit.label(&VALUE);
            emit.json(digits);
        }
        Value::Text(text) | Value::Json(text) => {
            emit.label(&STRING);
            emit.text(text);
        }
        Value::Null => {}
    }
}

/// What records leave to those that follow.
#[derive(Default)]
struct Base {
    name: StackText<TOPIC_BYTES_MAX>,
    unit: StackText<SENML_UNIT_BYTES_MAX>,
    nanos: i64,
    value: Option<Exact>,
    sum: Option<f64>,
}

/// What one record says itself; its unit and a result that is no number are set at once.
#[derive(Default)]
struct Record {
    name: StackText<TOPIC_BYTES_MAX>,
    nanos: i64,
    number: Option<Exact>,
    sum: Option<f64>,
    /// Whether `vs`, `vb` or `vd` said the result.
    has_other: bool,
    /// Whether there is any field that is not of the base.
    has_own: bool,
    met: MemberSet,
}

/// Reads a whole pack.
pub(crate) fn read(pull: &mut impl Pull, rows: &mut Rows<'_>) -> Result<(), DecodeError> {
    let mut base = Base::default();
    let mut record = Record::default();
    let mut pack = pull.array()?;
    while pull.item(&mut pack)? {
        let start = pull.at();
        rows.begin(start)?;
        record.clear();
        let mut map = pull.map()?;
        while let Some(key) = pull.key(&mut map)? {
            let field = field(key);
            if matches!(field, Field::Unknown) {
                note_unknown(key, rows);
            } else if record.met.is_again(field as u32) {
                let name = match key {
                    Key::Text(name) => name.into(),
                    Key::Number(number) => format!("{number}"),
                };
                check_again(&name, pull.at(), rows)?;
            }
            read_field(field, pull, &mut base, &mut record, rows)?;
        }
        if record.has_own {
            finish_record(start, &mut base, &record, rows)?
        } else {
            rows.abandon()
        }
    }
    pull.finish()
}

impl Record {
    fn clear(&mut self) {
        self.name.truncate(0);
        self.nanos = 0;
        (self.number, self.sum) = (None, None);
        (self.has_other, self.has_own) = (false, false);
        self.met = MemberSet::default();
    }
}

#[derive(Clone, Copy)]
enum Field {
    BaseVersion,
    BaseName,
    BaseTime,
    BaseUnit,
    BaseValue,
    BaseSum,
    Name,
    Unit,
    Value,
    String,
    Boolean,
    Sum,
    Time,
    UpdateTime,
    Data,
    /// Not known and to be ignored.
    Unknown,
    /// Not known and to be understood (section 4.4).
    Needed,
}

/// Labels of section 4.3 with their integers of section 6.
fn field(key: Key<'_>) -> Field {
    match key {
        Key::Text("bver") | Key::Number(-1) => Field::BaseVersion,
        Key::Text("bn") | Key::Number(-2) => Field::BaseName,
        Key::Text("bt") | Key::Number(-3) => Field::BaseTime,
        Key::Text("bu") | Key::Number(-4) => Field::BaseUnit,
        Key::Text("bv") | Key::Number(-5) => Field::BaseValue,
        Key::Text("bs") | Key::Number(-6) => Field::BaseSum,
        Key::Text("n") | Key::Number(0) => Field::Name,
        Key::Text("u") | Key::Number(1) => Field::Unit,
        Key::Text("v") | Key::Number(2) => Field::Value,
        Key::Text("vs") | Key::Number(3) => Field::String,
        Key::Text("vb") | Key::Number(4) => Field::Boolean,
        Key::Text("s") | Key::Number(5) => Field::Sum,
        Key::Text("t") | Key::Number(6) => Field::Time,
        Key::Text("ut") | Key::Number(7) => Field::UpdateTime,
        Key::Text("vd") | Key::Number(8) => Field::Data,
        Key::Text(name) if name.ends_with('_') => Field::Needed,
        _ => Field::Unknown,
    }
}

fn read_field(
    field: Field,
    pull: &mut impl Pull,
    base: &mut Base,
    record: &mut Record,
    rows: &mut Rows<'_>,
) -> Result<(), DecodeError> {
    let at = pull.at();
    let mut stored = ControlFlow::Continue(());
    match field {
        Field::BaseVersion => return read_version(pull),
        Field::BaseName => stored = base.name.set(&senml_name::to_topic(pull.text()?)),
        Field::BaseUnit => stored = base.unit.set(pull.text()?),
        Field::BaseTime => base.nanos = pull.seconds()?,
        Field::BaseValue => base.value = Some(exact(pull)?),
        Field::BaseSum => base.sum = Some(pull.number()?),
        Field::Unknown => pull.skip()?,
        Field::Needed => {
            let what = "no field that must be understood (its label ends with _)";
            return Err(DecodeError::expected(at, what));
        }
        own => {
            record.has_own = true;
            return read_own(own, pull, record, rows);
        }
    }
    let limit = TOPIC_BYTES_MAX.min(SENML_UNIT_BYTES_MAX);
    match stored {
        ControlFlow::Break(()) => Err(DecodeError::over(at, "bytes of a base name or unit", limit)),
        ControlFlow::Continue(()) => Ok(()),
    }
}

fn read_version(pull: &mut impl Pull) -> Result<(), DecodeError> {
    let at = pull.at();
    if pull.number()? <= VERSION {
        Ok(())
    } else {
        Err(DecodeError::expected(at, "a SenML version of at most 10"))
    }
}

fn read_own(
    field: Field,
    pull: &mut impl Pull,
    record: &mut Record,
    rows: &mut Rows<'_>,
) -> Result<(), DecodeError> {
    let at = pull.at();
    match field {
        Field::Name => {
            let set = record.name.set(&senml_name::to_topic(pull.text()?));
            return fits(set, at);
        }
        Field::Unit => rows.unit(pull.text()?),
        Field::Time => record.nanos = pull.seconds()?,
        Field::Sum => record.sum = Some(pull.number()?),
        Field::Value => match exact(pull) {
            Err(error) if error.is_of_a_number() => {
                set_number(rows, Err(error))?;
                record.has_other = true;
            }
            number => record.number = Some(number?),
        },
        Field::UpdateTime => drop(pull.number()?),
        other => {
            read_other(other, pull, rows)?;
            if core::mem::replace(&mut record.has_other, true) {
                return Err(DecodeError::meaning(at, "a record has at most one value"));
            }
        }
    }
    Ok(())
}

fn fits(stored: ControlFlow<()>, at: usize) -> Result<(), DecodeError> {
    match stored {
        ControlFlow::Break(()) => Err(DecodeError::over(at, "bytes of a name", TOPIC_BYTES_MAX)),
        ControlFlow::Continue(()) => Ok(()),
    }
}

/// Reads a result that is no number; bytes are kept as base64url, as JSON has them.
fn read_other(field: Field, pull: &mut impl Pull, rows: &mut Rows<'_>) -> Result<(), DecodeError> {
    match field {
        Field::Boolean => rows.value(Value::Bool(pull.bool()?)),
        Field::Data if pull.peek()? == Kind::Bytes => {
            rows.value(Value::Text(&base64::url(pull.bytes()?)));
        }
        _ => rows.value(Value::Text(pull.text()?)),
    }
    Ok(())
}

/// Applies the base to a record (section 4.1) and adds its observation.
fn finish_record(
    at: usize,
    base: &mut Base,
    record: &Record,
    rows: &mut Rows<'_>,
) -> Result<(), DecodeError> {
    let prefix = base.name.len();
    fits(base.name.push(record.name.as_str()), at)?;
    rows.topic(Naming::Name, base.name.as_str());
    base.name.truncate(prefix);
    if !rows.has_unit() {
        rows.unit(base.unit.as_str());
    }
    let nanos = base.nanos.checked_add(record.nanos);
    let range = DecodeError::meaning(at, "base time and time add to a time out of range");
    match nanos.ok_or(range)? {
        0 => {}
        nanos => rows.time(Time::from_nanos(nanos)),
    }
    finish_value(at, base, record, rows)?;
    rows.end(at)
}

/// Whole numbers add to a whole one, however long.
fn total(one: Exact, other: Exact) -> Exact {
    let whole = |number| match number {
        Exact::Whole(number) => Some(number),
        Exact::Double(number) => as_integer(number).map(i128::from),
    };
    match (whole(one), whole(other)) {
        (Some(one), Some(other)) => Exact::Whole(one + other),
        _ => Exact::Double(one.nearest() + other.nearest()),
    }
}

/// A missing value or sum counts as zero where its base is there (section 4.5.4).
fn finish_value(
    at: usize,
    base: &Base,
    record: &Record,
    rows: &mut Rows<'_>,
) -> Result<(), DecodeError> {
    let sum = match (record.sum, base.sum) {
        (Some(own), Some(base)) => Some(own + base),
        (own, base) => own.or(base),
    };
    match (record.has_other, record.number) {
        (true, Some(_)) => return Err(DecodeError::meaning(at, "a record has at most one value")),
        (true, None) => {}
        (false, number) => match (number, base.value) {
            (Some(own), Some(base)) => rows.number(total(own, base)),
            (Some(number), None) | (None, Some(number)) => rows.number(number),
            (None, None) if sum.is_some() => rows.value(Value::Null),
            (None, None) => {
                return Err(DecodeError::meaning(at, "a record needs a value or a sum"));
            }
        },
    }
    if let Some(sum) = sum {
        let mut text = Vec::from(br#"{"sum":"#);
        write_f64(sum, &mut text);
        text.push(b'}');
        let parameters = core::str::from_utf8(&text).ok();
        rows.extra(Extra {
            parameters,
            ..Extra::default()
        });
    }
    Ok(())
}
