//! The message as elements: the names of JSON's members, `<observation>` in `<observations>`.
//!
//! A result is a number, a boolean or a string as it reads; where that would be another, the
//! attribute `kind` says which: `text`, `null` or `json`. Elements of other names or in a namespace
//! are ignored.

use crate::error::DecodeError;
use crate::infoset::walk::{enter, leave, skip};
use crate::infoset::xml_chars::is_text;
use crate::infoset::{Atom, Emit, Event, Name, Pull};
use crate::lexical;
use crate::rows::{MemberSet, Rows, check_again};
use crate::syntax::Label;
use crate::vocabulary::members::{
    self, END, FEATURE, LAT, LON, Member, PARAMETERS, QUALITY, RESULT_TIME, SENSOR, TIME, TOPIC,
    TYPE, UNIT,
};
use weir_model::batch::Naming;
use weir_model::{Batch, Extra, Limits, Observation, Time, Value};

const OBSERVATIONS: Name = Name::local(members::OBSERVATIONS.name);
const OBSERVATION: Name = Name::local("observation");
const VALUE: Name = Name::local(members::VALUE.name);
const KIND: Name = Name::local("kind");
const VALID_TIME: Name = Name::local(members::VALID_TIME.name);
const FROM: &str = "from";
const TO: &str = "to";

/// Writes a whole message.
pub(crate) fn write(batch: &Batch, emit: &mut impl Emit) {
    emit.start(OBSERVATIONS);
    for row in batch.rows() {
        write_observation(&row, emit);
    }
    emit.end(OBSERVATIONS);
}

fn write_observation(row: &Observation<'_>, emit: &mut impl Emit) {
    let topic = (row.naming != Naming::Sent).then_some(row.topic);
    emit.start(OBSERVATION);
    write_leaf(&TOPIC, topic.map(Atom::Text), emit);
    write_leaf(&SENSOR, row.sensor.map(Atom::Text), emit);
    write_leaf(&TYPE, row.property.map(Atom::Text), emit);
    write_value(row.value, emit);
    write_leaf(&UNIT, row.unit.map(Atom::Text), emit);
    write_leaf(&TIME, row.time.map(Atom::Time), emit);
    write_leaf(
        &LAT,
        row.place.map(|place| Atom::Number(place.latitude)),
        emit,
    );
    write_leaf(
        &LON,
        row.place.map(|place| Atom::Number(place.longitude)),
        emit,
    );
    if !row.extra.is_empty() {
        write_extra(&row.extra, emit);
    }
    emit.end(OBSERVATION);
}

fn write_leaf(label: &'static Label, value: Option<Atom<'_>>, emit: &mut impl Emit) {
    write_named(label.name, value, emit);
}

fn write_named(name: &'static str, value: Option<Atom<'_>>, emit: &mut impl Emit) {
    if let Some(value) = value {
        emit.start(Name::local(name));
        emit.content(value);
        emit.end(Name::local(name));
    }
}

fn write_value(value: Value<'_>, emit: &mut impl Emit) {
    let (kind, content) = match value {
        Value::Number(number) => (None, Some(Atom::Result(number))),
        Value::Bool(truth) => (None, Some(Atom::Bool(truth))),
        Value::Null => (Some("null"), None),
        Value::Json(digits) if value.digits().is_some() => (None, Some(Atom::Text(digits))),
        Value::Json(json) => (Some("json"), Some(Atom::Json(json))),
        Value::Text("") => (Some("text"), None),
        Value::Text(text) => text_kind(text),
    };
    emit.start(VALUE);
    if let Some(kind) = kind {
        emit.attribute(KIND, Atom::Text(kind));
    }
    if let Some(content) = content {
        emit.content(content);
    }
    emit.end(VALUE);
}

fn text_kind(text: &str) -> (Option<&'static str>, Option<Atom<'_>>) {
    if !is_text(text) {
        return (Some("json"), Some(Atom::JsonString(text)));
    }
    let bare = text.trim_ascii() == text && matches!(lexical::simple(text), Value::Text(_));
    ((!bare).then_some("text"), Some(Atom::Text(text)))
}

fn write_extra(extra: &Extra<'_>, emit: &mut impl Emit) {
    write_leaf(&END, extra.end.map(Atom::Time), emit);
    write_leaf(&RESULT_TIME, extra.result_time.map(Atom::Time), emit);
    if let Some((from, to)) = extra.valid {
        emit.start(VALID_TIME);
        write_named(FROM, Some(Atom::Time(from)), emit);
        write_named(TO, Some(Atom::Time(to)), emit);
        emit.end(VALID_TIME);
    }
    write_leaf(&QUALITY, extra.quality.map(Atom::Text), emit);
    write_leaf(&FEATURE, extra.feature.map(Atom::Text), emit);
    write_leaf(&PARAMETERS, extra.parameters.map(Atom::Json), emit);
}

/// Reads a whole message, or one observation.
pub(crate) fn read(
    pull: &mut impl Pull,
    rows: &mut Rows<'_>,
    limits: &Limits,
) -> Result<(), DecodeError> {
    let root = match pull.next()? {
        Event::Start(name) => Root::named(name),
        _ => None,
    };
    let what = "the element observations";
    let root = root.ok_or_else(|| DecodeError::expected(pull.at(), what))?;
    read_root(root, pull, rows, limits)?;
    match pull.next()? {
        Event::Done => Ok(()),
        _ => Err(DecodeError::expected(pull.at(), "the end of the document")),
    }
}

/// The elements that can be a whole message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Root {
    Observations,
    Observation,
}

impl Root {
    /// The root of this name.
    pub(crate) fn named(name: Name<'_>) -> Option<Self> {
        match name {
            OBSERVATIONS => Some(Root::Observations),
            OBSERVATION => Some(Root::Observation),
            _ => None,
        }
    }
}

/// Reads a message whose root was met last, up to its end.
pub(crate) fn read_root(
    root: Root,
    pull: &mut impl Pull,
    rows: &mut Rows<'_>,
    limits: &Limits,
) -> Result<(), DecodeError> {
    match root {
        Root::Observations => read_observations(pull, rows, limits),
        Root::Observation => read_observation(pull, rows, limits),
    }
}

fn read_observations(
    pull: &mut impl Pull,
    rows: &mut Rows<'_>,
    limits: &Limits,
) -> Result<(), DecodeError> {
    loop {
        match pull.next()? {
            Event::Start(OBSERVATION) => read_observation(pull, rows, limits)?,
            Event::Start(name) => {
                rows.pass_over(name.local);
                skip(pull)?;
            }
            Event::Attribute(name) => note_attribute(name, rows),
            Event::End => return Ok(()),
            _ => {}
        }
    }
}

/// Those of a namespace are somebody's else.
fn note_attribute(name: Name<'_>, rows: &mut Rows<'_>) {
    if name.uri.is_empty() {
        rows.pass_over(name.local);
    }
}

fn member(name: Name<'_>, rows: &mut Rows<'_>) -> Member {
    let member = match name.uri {
        "" => Member::named(name.local),
        _ => Member::Unknown,
    };
    if member == Member::Unknown {
        rows.pass_over(name.local);
    }
    member
}

fn read_observation(
    pull: &mut impl Pull,
    rows: &mut Rows<'_>,
    limits: &Limits,
) -> Result<(), DecodeError> {
    let (start, mut met) = (pull.at(), MemberSet::default());
    rows.begin(start)?;
    loop {
        let member = match pull.next()? {
            Event::Start(name) => member(name, rows),
            Event::End => return rows.end(start),
            Event::Attribute(name) => {
                note_attribute(name, rows);
                continue;
            }
            _ => continue,
        };
        if member != Member::Unknown && met.is_again(member as u32) {
            check_again(member.name(), pull.at(), rows)?;
        }
        match member {
            Member::Unknown => skip(pull)?,
            Member::Value => read_value(pull, rows, limits)?,
            Member::ValidTime => read_valid_time(pull, rows)?,
            leaf => read_leaf(leaf, pull, rows, limits)?,
        }
    }
}

fn read_leaf(
    member: Member,
    pull: &mut impl Pull,
    rows: &mut Rows<'_>,
    limits: &Limits,
) -> Result<(), DecodeError> {
    if !enter(pull)? {
        return Ok(());
    }
    let mut extra = Extra::default();
    match member {
        Member::Topic => rows.topic(Naming::Topic, pull.text()),
        Member::Sensor => rows.sensor(pull.text()),
        Member::Type => rows.property(pull.text()),
        Member::Unit => rows.unit(pull.text()),
        Member::Time => rows.time(pull.time()?),
        Member::Lat => rows.latitude(pull.number()?),
        Member::Lon => rows.longitude(pull.number()?),
        Member::End => extra.end = Some(pull.time()?),
        Member::ResultTime => extra.result_time = Some(pull.time()?),
        Member::Quality => extra.quality = Some(pull.text()),
        Member::Feature => extra.feature = Some(pull.text()),
        Member::Parameters => {
            let parameters = lexical::json(pull.text(), pull.at(), limits)?;
            rows.extra(Extra {
                parameters: Some(&parameters),
                ..extra
            });
        }
        // These are no leaves.
        Member::Value | Member::ValidTime | Member::Unknown => {}
    }
    rows.extra(extra);
    leave(pull)
}

#[derive(Clone, Copy)]
enum Kind {
    AsItReads,
    Text,
    Null,
    Json,
}

fn read_value(
    pull: &mut impl Pull,
    rows: &mut Rows<'_>,
    limits: &Limits,
) -> Result<(), DecodeError> {
    let mut kind = Kind::AsItReads;
    let content = loop {
        match pull.next()? {
            Event::Attribute(KIND) => kind = read_kind(pull)?,
            Event::Attribute(name) => note_attribute(name, rows),
            Event::Content => break true,
            Event::End => break false,
            _ => return Err(DecodeError::expected(pull.at(), "text and no element")),
        }
    };
    let text = if content { pull.text() } else { "" };
    match kind {
        Kind::Null => rows.value(Value::Null),
        Kind::Text => rows.value(Value::Text(text)),
        Kind::Json => {
            let read = lexical::read_json(text, rows, limits);
            read.map_err(|error| DecodeError {
                at: pull.at() + error.at,
                ..error
            })?;
        }
        // An empty element says nothing, so that the missing value is the error.
        Kind::AsItReads if text.trim_ascii().is_empty() => {}
        Kind::AsItReads => lexical::set(text.trim_ascii(), pull.at(), rows)?,
    }
    if content { leave(pull) } else { Ok(()) }
}

fn read_kind(pull: &impl Pull) -> Result<Kind, DecodeError> {
    match pull.text() {
        "text" => Ok(Kind::Text),
        "null" => Ok(Kind::Null),
        "json" => Ok(Kind::Json),
        _ => Err(DecodeError::expected(
            pull.at(),
            "kind to be text, null or json",
        )),
    }
}

fn read_valid_time(pull: &mut impl Pull, rows: &mut Rows<'_>) -> Result<(), DecodeError> {
    let start = pull.at();
    let (mut from, mut to) = (None, None);
    loop {
        let end = match pull.next()? {
            Event::Start(Name {
                uri: "",
                local: FROM,
            }) => &mut from,
            Event::Start(Name { uri: "", local: TO }) => &mut to,
            Event::Start(_) => {
                skip(pull)?;
                continue;
            }
            Event::End => break,
            _ => continue,
        };
        *end = read_time(pull)?;
    }
    let valid = from.zip(to);
    let both = DecodeError::expected(start, "both from and to in validTime");
    let valid = Some(valid.ok_or(both)?);
    rows.extra(Extra {
        valid,
        ..Extra::default()
    });
    Ok(())
}

fn read_time(pull: &mut impl Pull) -> Result<Option<Time>, DecodeError> {
    if !enter(pull)? {
        return Ok(None);
    }
    let time = pull.time()?;
    leave(pull)?;
    Ok(Some(time))
}
