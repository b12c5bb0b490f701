//! The message of weir and of paper 000 (section V, figure 2): observations with named members.
//!
//! Four shapes are read: the message, one observation, an array of observations, and the flat
//! object, whose members are one observation each. Which one it is follows from the outermost names,
//! not from trying; so an error is always about the shape that was meant. Members beside those of one
//! observation are one observation each below its topic, as those of a flat object are.

mod flat;
mod forgiving;

use crate::error::DecodeError;
use crate::rows::{MemberSet, Rows, check_again};
use crate::syntax::{Emit, Key, Kind, Label, Pull};
use crate::vocabulary::members::{
    END, FEATURE, LAT, LON, Member, OBSERVATIONS, PARAMETERS, QUALITY, RESULT_TIME, SENSOR, TIME,
    TOPIC, TYPE, UNIT, VALID_TIME, VALUE,
};
use alloc::format;
use weir_model::batch::Naming;
use weir_model::value::EXACT_INTEGER_MAX;
use weir_model::{Batch, Extra, FlawKind, Observation, Value};

/// Writes a whole message.
pub(crate) fn write(batch: &Batch, emit: &mut impl Emit) {
    emit.map(1);
    emit.label(&OBSERVATIONS);
    emit.array(batch.len());
    for row in batch.rows() {
        write_observation(&row, emit);
    }
    emit.end_array();
    emit.end_map();
}

fn write_observation(row: &Observation<'_>, emit: &mut impl Emit) {
    emit.map(members(row));
    if row.naming != Naming::Sent {
        emit.label(&TOPIC);
        emit.text(row.topic);
    }
    write_text(&SENSOR, row.sensor, emit);
    write_text(&TYPE, row.property, emit);
    emit.label(&VALUE);
    write_value(row.value, emit);
    write_text(&UNIT, row.unit, emit);
    if let Some(time) = row.time {
        emit.label(&TIME);
        emit.time(time);
    }
    if let Some(place) = row.place {
        emit.label(&LAT);
        emit.number(place.latitude);
        emit.label(&LON);
        emit.number(place.longitude);
    }
    if !row.extra.is_empty() {
        write_extra(&row.extra, emit);
    }
    emit.end_map();
}

/// Writes a result and what an observation carries beside it, as the members of a map.
pub(crate) fn write_result(value: Value<'_>, extra: &Extra<'_>, emit: &mut impl Emit) {
    emit.map(1 + extra_members(extra));
    emit.label(&VALUE);
    write_value(value, emit);
    write_extra(extra, emit);
    emit.end_map();
}

fn members(row: &Observation<'_>) -> usize {
    let core = [
        row.naming != Naming::Sent,
        row.sensor.is_some(),
        row.property.is_some(),
        row.unit.is_some(),
        row.time.is_some(),
    ];
    let core = 1 + core.iter().filter(|there| **there).count();
    core + if row.place.is_some() { 2 } else { 0 } + extra_members(&row.extra)
}

fn extra_members(extra: &Extra<'_>) -> usize {
    let there = [
        extra.end.is_some(),
        extra.result_time.is_some(),
        extra.valid.is_some(),
        extra.quality.is_some(),
        extra.feature.is_some(),
        extra.parameters.is_some(),
    ];
    there.iter().filter(|there| **there).count()
}

fn write_text(label: &'static Label, text: Option<&str>, emit: &mut impl Emit) {
    if let Some(text) = text {
        emit.label(label);
        emit.text(text);
    }
}

fn write_value(value: Value<'_>, emit: &mut impl Emit) {
    match value {
        Value::Number(number) => emit.number(number),
        Value::Bool(truth) => emit.bool(truth),
        Value::Text(text) => emit.text(text),
        Value::Null => emit.null(),
        Value::Json(json) => emit.json(json),
    }
}

fn write_extra(extra: &Extra<'_>, emit: &mut impl Emit) {
    for (label, time) in [(&END, extra.end), (&RESULT_TIME, extra.result_time)] {
        if let Some(time) = time {
            emit.label(label);
            emit.time(time);
        }
    }
    if let Some((from, to)) = extra.valid {
        emit.label(&VALID_TIME);
        emit.array(2);
        emit.time(from);
        emit.time(to);
        emit.end_array();
    }
    write_text(&QUALITY, extra.quality, emit);
    write_text(&FEATURE, extra.feature, emit);
    if let Some(json) = extra.parameters {
        emit.label(&PARAMETERS);
        emit.json(json);
    }
}

/// Reads a whole message of any of the four shapes.
pub(crate) fn read(pull: &mut impl Pull, rows: &mut Rows<'_>) -> Result<(), DecodeError> {
    match pull.peek()? {
        Kind::Array => read_observations(pull, rows)?,
        Kind::Map if is_read_at_once(pull, rows) => {}
        Kind::Map => match shape(pull)? {
            Shape::Message => read_message(pull, rows)?,
            Shape::Observation => read_with_others(pull, rows)?,
            Shape::Flat => flat::read(pull, rows, flat::Members::All)?,
        },
        _ => {
            let what = "a message: a map or an array of observations";
            return Err(DecodeError::expected(pull.at(), what));
        }
    }
    pull.finish()
}

/// Reads an object all of whose members are those of one observation, which needs no look ahead; `false`
/// where it is not, and nothing was read.
fn is_read_at_once(pull: &mut impl Pull, rows: &mut Rows<'_>) -> bool {
    let (start, at) = (pull.mark(), pull.at());
    if rows.begin(at).is_err() {
        return false;
    }
    let read = matches!(read_known_members(pull, rows, at), Ok(true));
    if !read {
        rows.abandon();
        pull.rewind(start);
    }
    read
}

fn read_known_members(
    pull: &mut impl Pull,
    rows: &mut Rows<'_>,
    start: usize,
) -> Result<bool, DecodeError> {
    let (mut map, mut met) = (pull.map()?, MemberSet::default());
    while let Some(member) = pull.key(&mut map)?.map(member) {
        if member == Member::Unknown || met.is_again(member as u32) {
            return Ok(false);
        }
        read_member(member, pull, rows)?;
    }
    rows.end(start)?;
    Ok(true)
}

enum Shape {
    Message,
    Observation,
    Flat,
}

/// Looks at the outermost names and comes back.
fn shape(pull: &mut impl Pull) -> Result<Shape, DecodeError> {
    let start = pull.mark();
    let mut shape = Shape::Flat;
    let mut map = pull.map()?;
    while let Some(key) = pull.key(&mut map)? {
        if key == Key::Text(OBSERVATIONS.name) {
            shape = Shape::Message;
            break;
        }
        if key == Key::Text(VALUE.name) {
            shape = Shape::Observation;
        }
        pull.skip()?;
    }
    pull.rewind(start);
    Ok(shape)
}

fn read_message(pull: &mut impl Pull, rows: &mut Rows<'_>) -> Result<(), DecodeError> {
    let (mut map, mut is_read) = (pull.map()?, false);
    while let Some(key) = pull.key(&mut map)? {
        if key == Key::Text(OBSERVATIONS.name) {
            if core::mem::replace(&mut is_read, true) {
                check_again(OBSERVATIONS.name, pull.at(), rows)?;
            }
            read_observations(pull, rows)?;
        } else {
            note_unknown(key, rows);
            pull.skip()?;
        }
    }
    Ok(())
}

fn read_observations(pull: &mut impl Pull, rows: &mut Rows<'_>) -> Result<(), DecodeError> {
    let mut array = pull.array()?;
    while pull.item(&mut array)? {
        read_observation(pull, rows, note_unknown)?;
    }
    Ok(())
}

/// One observation, and of its members that no observation has one each below its topic, of the same time.
fn read_with_others(pull: &mut impl Pull, rows: &mut Rows<'_>) -> Result<(), DecodeError> {
    let (start, before) = (pull.mark(), rows.len());
    let by_and_by = |_: Key<'_>, _: &mut Rows<'_>| {};
    read_observation(pull, rows, by_and_by)?;
    let time = (rows.len() > before).then(|| rows.batch().time(before));
    pull.rewind(start);
    flat::read(pull, rows, flat::Members::Others(time.flatten()))
}

fn member(key: Key<'_>) -> Member {
    match key {
        Key::Text(name) => Member::named(name),
        Key::Number(_) => Member::Unknown,
    }
}

#[cold]
pub(super) fn note_unknown(key: Key<'_>, rows: &mut Rows<'_>) {
    match key {
        Key::Text(name) => rows.pass_over(name),
        Key::Number(number) => rows.pass_over(&format!("{number}")),
    }
}

/// Reads one observation. Of one that is to be forgiven, what is wrong is noted, and costs the member or, where it has
/// no result, all of it.
fn read_observation(
    pull: &mut impl Pull,
    rows: &mut Rows<'_>,
    of_others: impl Fn(Key<'_>, &mut Rows<'_>),
) -> Result<(), DecodeError> {
    let start = pull.at();
    rows.begin(start)?;
    let (mut map, mut met) = (pull.map()?, MemberSet::default());
    while let Some(key) = pull.key(&mut map)? {
        let member = member(key);
        if member == Member::Unknown {
            of_others(key, rows);
        } else if met.is_again(member as u32) {
            check_again(member.name(), pull.at(), rows)?;
        }
        let before = pull.mark();
        if let Err(error) = read_member(member, pull, rows) {
            if !rows.is_forgiving() {
                return Err(error);
            }
            pull.rewind(before);
            forgiving::read_wrong(member, &error, pull, rows)?;
        }
    }
    if rows.is_forgiving() {
        forgiving::end(start, rows);
        return Ok(());
    }
    rows.end(start)
}

fn read_member(
    member: Member,
    pull: &mut impl Pull,
    rows: &mut Rows<'_>,
) -> Result<(), DecodeError> {
    // Null counts as absent everywhere but as the result.
    if !matches!(member, Member::Value) && pull.peek()? == Kind::Null {
        return pull.null();
    }
    match member {
        Member::Topic => rows.topic(Naming::Topic, pull.text()?),
        Member::Sensor => rows.sensor(pull.text()?),
        Member::Type => rows.property(pull.text()?),
        Member::Value => read_value(pull, rows)?,
        Member::Unit => rows.unit(pull.text()?),
        Member::Time => rows.time(pull.time()?),
        Member::Lat => rows.latitude(pull.number()?),
        Member::Lon => rows.longitude(pull.number()?),
        Member::Unknown => pull.skip()?,
        of_bag => return read_extra(of_bag, pull, rows),
    }
    Ok(())
}

fn read_value(pull: &mut impl Pull, rows: &mut Rows<'_>) -> Result<(), DecodeError> {
    match pull.peek()? {
        Kind::Number => return read_number(pull, rows),
        Kind::Bool => rows.value(Value::Bool(pull.bool()?)),
        Kind::Text => rows.value(Value::Text(pull.text()?)),
        Kind::Null => {
            pull.null()?;
            rows.value(Value::Null);
        }
        Kind::Map | Kind::Array => {
            rows.value(Value::Json(&pull.json()?));
            if pull.is_nulled() {
                let what = "a number in an array or a map is none: it is null";
                rows.note(FlawKind::NotFinite, what.into());
            }
        }
        Kind::Time | Kind::Bytes => {
            let what = "a number, a boolean, a string, null, an array or a map";
            return Err(DecodeError::expected(pull.at(), what));
        }
    }
    Ok(())
}

/// Nearly all are doubles, which are read but once.
#[inline]
fn read_number(pull: &mut impl Pull, rows: &mut Rows<'_>) -> Result<(), DecodeError> {
    let start = pull.mark();
    match pull.number() {
        Ok(number) if number.abs() < EXACT_INTEGER_MAX => rows.value(Value::Number(number)),
        Ok(_) => {
            pull.rewind(start);
            rows.number(pull.exact()?);
        }
        Err(error) => return rows.read_number(Err(error)),
    }
    Ok(())
}

fn read_extra(
    member: Member,
    pull: &mut impl Pull,
    rows: &mut Rows<'_>,
) -> Result<(), DecodeError> {
    let mut extra = Extra::default();
    match member {
        Member::End => extra.end = Some(pull.time()?),
        Member::ResultTime => extra.result_time = Some(pull.time()?),
        Member::ValidTime => extra.valid = Some(read_interval(pull)?),
        Member::Quality => {
            let quality = Some(pull.text()?);
            rows.extra(Extra { quality, ..extra });
        }
        Member::Feature => {
            let feature = Some(pull.text()?);
            rows.extra(Extra { feature, ..extra });
        }
        _ => {
            if pull.peek()? != Kind::Map {
                return Err(DecodeError::expected(pull.at(), "a map of parameters"));
            }
            let parameters = &*pull.json()?;
            let parameters = Some(parameters);
            rows.extra(Extra {
                parameters,
                ..extra
            });
        }
    }
    rows.extra(extra);
    Ok(())
}

fn read_interval(
    pull: &mut impl Pull,
) -> Result<(weir_model::Time, weir_model::Time), DecodeError> {
    let start = pull.at();
    let mut array = pull.array()?;
    let mut ends = [None; 2];
    for end in &mut ends {
        if pull.item(&mut array)? {
            *end = Some(pull.time()?);
        }
    }
    match ends {
        [Some(from), Some(to)] if !pull.item(&mut array)? => Ok((from, to)),
        _ => Err(DecodeError::expected(start, "two times, from and to")),
    }
}
