//! `swe:DataRecord` with values inline (OGC 08-094r1 section 7.3.1), the `swe:SimpleDataRecord` of 1.0.1, or one
//! component by itself, as the result of an observation of O&M: each field is an observation by itself, as each result
//! of a block's record is. A field that is a time is that of those behind it.
//!
//! What it deliberately does not do: arrays and choices within records, and ranges, which are no single result.

use super::array::{Attribute, INSTANTS, is_frame_of_time, set_topic};
use super::opening::{Opening, is_field, is_group};
use super::rule::{self, Rule};
use super::{Kind, token};
use crate::error::DecodeError;
use crate::infoset::{Event, Pull};
use crate::rows::Rows;
use crate::vocabulary::iso_time;
use alloc::string::String;
use weir_model::{Extra, Limits, Time};

/// A field as far as it was read.
#[derive(Default)]
struct Field {
    opening: Opening<Component>,
    name: String,
    definition: String,
    unit: String,
    value: String,
    rule: Rule,
    /// Which part of the component is being read.
    part: Part,
}

#[derive(Clone, Copy)]
enum Component {
    Result(Kind),
    Time,
}

impl Component {
    fn named(name: &str) -> Option<Self> {
        match name {
            "Time" => Some(Component::Time),
            _ => Kind::of_component(name).map(Component::Result),
        }
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Part {
    Unit,
    Value,
    #[default]
    Other,
}

/// Where a record, or a component, begins.
pub(crate) struct Start(Option<Component>);

impl Start {
    /// That of an element of this name; `None` where it is no result.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match Component::named(name) {
            None if is_group(name) => Some(Self(None)),
            None | Some(Component::Time) => None,
            component => Some(Self(component)),
        }
    }
}

/// What is said of all fields of a record.
pub(crate) struct Common<'a, S> {
    pub(crate) topic: Option<&'a str>,
    pub(crate) limits: &'a Limits,
    /// Sets what the observation says.
    pub(crate) set: S,
}

/// What was read of a record so far.
#[derive(Default)]
struct Before {
    rows: usize,
    time: Option<Time>,
    result_time: Option<Time>,
}

/// Reads a record, or a component, whose start was met last, up to its end: a row for each field with a value.
pub(crate) fn read<S: Fn(&mut Rows<'_>)>(
    pull: &mut impl Pull,
    start: &Start,
    common: &Common<'_, S>,
    rows: &mut Rows<'_>,
) -> Result<(), DecodeError> {
    let begin = pull.at();
    let (mut depth, mut before) = (1, Before::default());
    let mut field = Field {
        opening: Opening::of(start.0),
        ..Field::default()
    };
    while depth > 0 {
        match pull.next()? {
            Event::Start(name) => {
                depth += 1;
                let rule = rule::Part::named(name.local).filter(|_| field.opening.has(depth));
                if !field.start(name.local, depth) {
                    let what = "a record of times and simple results";
                    return Err(DecodeError::expected(pull.at(), what));
                }
                if let Some(part) = rule {
                    field.rule.read(part, pull)?;
                    depth -= 1;
                }
            }
            Event::Attribute(name) => {
                let attribute = Attribute::named(name.local, field.part == Part::Unit);
                field.attribute(attribute, depth, pull)?;
            }
            Event::Content if field.part == Part::Value => field.value.push_str(pull.text()),
            Event::End => {
                if field.opening.is_ended(depth, pull)? {
                    field.push(pull.at(), common, &mut before, rows)?;
                    field.opening.close();
                }
                field.part = Part::Other;
                depth -= 1;
            }
            _ => {}
        }
    }
    match before.rows {
        0 => Err(DecodeError::expected(
            begin,
            "a record with a field that has a value",
        )),
        _ => Ok(()),
    }
}

impl Field {
    /// Takes note of an element at this depth; `false` where it is none of a field.
    fn start(&mut self, name: &str, depth: usize) -> bool {
        if is_field(name) {
            *self = Self {
                opening: Opening::at(depth),
                ..Self::default()
            };
        }
        let is_of_it = self.opening.has(depth);
        self.part = match name {
            "value" if is_of_it => Part::Value,
            "uom" if is_of_it => Part::Unit,
            _ => Part::Other,
        };
        self.opening.start(name, depth, Component::named)
    }

    fn attribute(
        &mut self,
        attribute: Attribute,
        depth: usize,
        pull: &impl Pull,
    ) -> Result<(), DecodeError> {
        let text = pull.text();
        let component = self.opening.component();
        let is_time = matches!(component, Some(Component::Time));
        match attribute {
            Attribute::Name if component.is_none() => self.name = text.into(),
            Attribute::Definition if self.opening.is_at(depth) => self.definition = text.into(),
            Attribute::Unit => self.unit = text.into(),
            Attribute::Frame if !is_time || is_frame_of_time(text) => {}
            Attribute::Frame | Attribute::ReferenceTime if is_time => {
                return Err(DecodeError::expected(pull.at(), INSTANTS));
            }
            _ => {}
        }
        Ok(())
    }

    /// Pushes its row, if it has one, or takes its time.
    fn push<S: Fn(&mut Rows<'_>)>(
        &self,
        at: usize,
        common: &Common<'_, S>,
        before: &mut Before,
        rows: &mut Rows<'_>,
    ) -> Result<(), DecodeError> {
        let value = self.value.trim_ascii();
        let (Some(component), false) = (self.opening.component(), value.is_empty()) else {
            return Ok(());
        };
        let nil = self.rule.reason(value, b'.');
        if nil.is_none() {
            self.rule.check(value, at, b'.')?;
        }
        let kind = match component {
            Component::Result(kind) => kind,
            Component::Time if nil.is_some() => return Ok(()),
            Component::Time => return self.take_time(value, at, before),
        };
        let said = |text| Some(text).filter(|text: &&str| !text.is_empty());
        rows.begin(at)?;
        (common.set)(rows);
        before.time.into_iter().for_each(|time| rows.time(time));
        if before.result_time.is_some() {
            rows.extra(Extra {
                result_time: before.result_time,
                ..Extra::default()
            });
        }
        set_topic(common.topic, said(&self.name), rows);
        let definition = said(&self.definition).into_iter();
        definition.for_each(|uri| rows.property(uri));
        said(&self.unit)
            .into_iter()
            .for_each(|code| rows.unit(code));
        match nil {
            Some(reason) => token::set_nil(reason, rows),
            None => token::read_value(kind, value, at, b'.', rows, common.limits)?,
        }
        before.rows += 1;
        rows.end(at)
    }

    fn take_time(&self, value: &str, at: usize, before: &mut Before) -> Result<(), DecodeError> {
        if before.rows > 0 {
            return Err(DecodeError::expected(at, "a time before the results"));
        }
        let time = iso_time::parse(value);
        let time = time.map_err(|error| DecodeError::expected(at, error.expected))?;
        if self.definition.ends_with("ResultTime") {
            before.result_time = Some(time)
        } else {
            before.time = Some(time)
        }
        Ok(())
    }
}
