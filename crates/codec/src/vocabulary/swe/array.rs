//! `swe:DataArray`, of SWE Common 1.0.1 and 2.0: what the fields of its records are, and the block.
//!
//! Names of elements decide and not their namespace, which differs between the versions. Records and vectors
//! within a record are read as their components, each a field. What it deliberately does not do: arrays within
//! arrays, binary and XML blocks, descriptions that stand elsewhere.

use super::block_read::{BlockReader, Record, Shared};
use super::{Kind, Role, Separators, URN};
use crate::error::DecodeError;
use crate::infoset::walk::{enter, leave, skip};
use crate::infoset::{Event, Pull};
use crate::limits::SWE_FIELDS_MAX;
use crate::rows::Rows;
use crate::stack_text::StackText;
use crate::unescaped::Unescaped;
use crate::vocabulary::iso_time::TimeReader;
use alloc::format;
use weir_model::batch::Naming;
use weir_model::{BatchBuilder, KeptNames, Limits};

/// What an observation says of all the records in its array.
#[derive(Clone, Copy, Default)]
pub(crate) struct Common<'a> {
    pub(crate) topic: Option<&'a str>,
    pub(crate) sensor: Option<&'a str>,
    pub(crate) property: Option<&'a str>,
    pub(crate) unit: Option<&'a str>,
    pub(crate) shared: Shared<'a>,
}

/// Reads an array whose start was met last, up to its end.
pub(crate) fn read(
    pull: &mut impl Pull,
    common: &Common<'_>,
    rows: &mut Rows<'_>,
    limits: &Limits,
) -> Result<(), DecodeError> {
    let mut description = Description::default();
    let mut separators = Separators::new(",", " ");
    loop {
        let part = match pull.next()? {
            Event::Start(name) => Part::named(name.local),
            Event::End => return Ok(()),
            _ => continue,
        };
        match part {
            Part::ElementType => description.read(pull)?,
            Part::Encoding => read_encoding(pull, &mut separators)?,
            Part::Values => {
                read_values(pull, &description, &separators, common, rows, limits)?;
            }
            Part::Other => skip(pull)?,
        }
    }
}

enum Part {
    ElementType,
    Encoding,
    Values,
    Other,
}

impl Part {
    fn named(name: &str) -> Self {
        match name {
            "elementType" => Part::ElementType,
            "encoding" => Part::Encoding,
            "values" => Part::Values,
            _ => Part::Other,
        }
    }
}

fn read_values(
    pull: &mut impl Pull,
    description: &Description,
    separators: &Separators,
    common: &Common<'_>,
    rows: &mut Rows<'_>,
    limits: &Limits,
) -> Result<(), DecodeError> {
    let start = pull.at();
    pull.long();
    if !enter(pull)? {
        return Ok(());
    }
    if description.record.result_count() == 0 {
        let what = "before the values a flat record with a field that is a result";
        return Err(DecodeError::expected(start, what));
    }
    let names = description.names(common, rows);
    let mut reader = BlockReader {
        separators,
        shared: common.shared,
        limits,
        times: TimeReader::default(),
    };
    reader.read(pull.text(), pull.at(), &description.record, &names, rows)?;
    leave(pull)
}

/// Reads `swe:encoding`: a `TextBlock` (1.0.1) or a `TextEncoding` (2.0).
fn read_encoding(pull: &mut impl Pull, separators: &mut Separators) -> Result<(), DecodeError> {
    let mut depth = 1;
    while depth > 0 {
        let separator = match pull.next()? {
            Event::Start(name) => {
                let text = matches!(name.local, "TextBlock" | "TextEncoding");
                depth += 1;
                if !text {
                    return Err(DecodeError::expected(pull.at(), "values in text"));
                }
                continue;
            }
            Event::Attribute(name) => match name.local {
                "tokenSeparator" => &mut separators.token,
                "blockSeparator" => &mut separators.block,
                "decimalSeparator" => {
                    separators.decimal = *pull.text().as_bytes().first().unwrap_or(&b'.');
                    continue;
                }
                _ => continue,
            },
            Event::End => {
                depth -= 1;
                continue;
            }
            _ => continue,
        };
        set_separator(pull.text(), separator)
            .ok_or_else(|| DecodeError::expected(pull.at(), "a separator of 1 to 16 bytes"))?;
    }
    Ok(())
}

/// Takes a separator; `None` where it is empty or too long.
pub(crate) fn set_separator<const N: usize>(text: &str, to: &mut StackText<N>) -> Option<()> {
    (!text.is_empty() && to.set(text).is_continue()).then_some(())
}

/// The fields that `swe:elementType` describes.
#[derive(Default)]
struct Description {
    record: Record,
    /// One for each field that is a result.
    results: [ResultField; SWE_FIELDS_MAX],
    result_count: usize,
    /// Names, definitions and units of the results.
    texts: Unescaped,
}

/// Places in a description's texts, from and to.
type Place = (usize, usize);

#[derive(Clone, Copy, Default)]
struct ResultField {
    name: Place,
    definition: Place,
    unit: Place,
}

/// A field as far as it was read.
#[derive(Default)]
struct Field {
    component: Option<Component>,
    /// Depth of the component's element.
    depth: usize,
    role: Option<Role>,
    texts: ResultField,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Component {
    Time,
    TimeRange,
    Result(Kind),
}

impl Component {
    fn named(name: &str) -> Option<Self> {
        match name {
            "Time" => Some(Component::Time),
            "TimeRange" => Some(Component::TimeRange),
            _ => Kind::of_component(name).map(Component::Result),
        }
    }
}

impl Description {
    fn read(&mut self, pull: &mut impl Pull) -> Result<(), DecodeError> {
        let mut depth = 1;
        let mut field = Field::default();
        let mut uom = false;
        while depth > 0 {
            match pull.next()? {
                Event::Start(name) => {
                    depth += 1;
                    uom = name.local == "uom";
                    let nested = matches!(name.local, "DataArray" | "DataChoice" | "Matrix");
                    field.start(name.local, depth);
                    if nested {
                        return Err(DecodeError::expected(pull.at(), "a flat record"));
                    }
                }
                Event::Attribute(name) => match name.local {
                    "name" => field.texts.name = self.keep(pull.text()),
                    "definition" if field.component.is_some() => {
                        field.role = role_of(pull.text());
                        field.texts.definition = self.keep(pull.text());
                    }
                    "code" | "href" if uom => field.texts.unit = self.keep(pull.text()),
                    _ => {}
                },
                Event::End => {
                    if field.component.is_some() && field.depth == depth {
                        self.push(&field, pull.at())?;
                        field.component = None;
                    }
                    depth -= 1;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn keep(&mut self, text: &str) -> Place {
        let start = self.texts.as_bytes().len();
        self.texts.push(text.as_bytes());
        (start, start + text.len())
    }

    fn push(&mut self, field: &Field, at: usize) -> Result<(), DecodeError> {
        let dated = [Role::Time, Role::Period];
        let is_first = || !self.record.roles().iter().any(|own| dated.contains(own));
        let definition = self.text(field.texts.definition).unwrap_or_default();
        // What observes latitudes has results of that definition.
        let is_value = self.text(field.texts.name) == Some(Role::Value(Kind::Any).name());
        let known = field
            .role
            .filter(|role| !is_value || matches!(role, Role::Value(_)));
        let role = match (known, field.component) {
            (Some(role), _) => role,
            (None, Some(Component::Result(kind))) => Role::Value(kind),
            (None, Some(Component::Time)) if definition.ends_with("ResultTime") => Role::ResultTime,
            (None, Some(Component::TimeRange)) if is_first() => Role::Period,
            (None, _) if is_first() => Role::Time,
            (None, _) => Role::Skip,
        };
        self.record.push(role, at)?;
        if matches!(role, Role::Value(_)) {
            // There are no more results than fields, and so many fit.
            self.results[self.result_count] = field.texts;
            self.result_count += 1;
        }
        Ok(())
    }

    fn text(&self, place: Place) -> Option<&str> {
        let text = self.texts.as_str().get(place.0..place.1);
        text.filter(|text| !text.is_empty())
    }

    /// The names of the datastream of each result. Of several, each is a datastream of its own below
    /// the observation's, by the name of its field.
    fn names(&self, common: &Common<'_>, rows: &mut Rows<'_>) -> [KeptNames; SWE_FIELDS_MAX] {
        let mut names = [KeptNames::NONE; SWE_FIELDS_MAX];
        let several = self.result_count > 1;
        for (names, field) in names.iter_mut().zip(&self.results[..self.result_count]) {
            BatchBuilder::begin(rows);
            let name = self.text(field.name).filter(|_| several);
            set_topic(common.topic, name, rows);
            let definition = self.text(field.definition);
            let definition = definition.filter(|text| role_of(text).is_none());
            let property = match several {
                true => definition.or(common.property),
                false => common.property.or(definition),
            };
            let unit = self.text(field.unit).or(common.unit);
            property.into_iter().for_each(|name| rows.property(name));
            unit.into_iter().for_each(|code| rows.unit(code));
            common.sensor.into_iter().for_each(|uri| rows.sensor(uri));
            *names = rows.keep();
        }
        names
    }
}

impl Field {
    /// Takes note of an element at this depth.
    fn start(&mut self, name: &str, depth: usize) {
        if matches!(name, "field" | "coordinate") {
            *self = Self::default();
        }
        if let (None, Some(component)) = (self.component, Component::named(name)) {
            self.component = Some(component);
            self.depth = depth;
        }
    }
}

pub(super) fn set_topic(topic: Option<&str>, field: Option<&str>, rows: &mut Rows<'_>) {
    match (topic, field) {
        (Some(topic), Some(field)) => rows.topic(Naming::Topic, &format!("{topic}/{field}")),
        (Some(topic), None) => rows.topic(Naming::Topic, topic),
        (None, Some(field)) => rows.topic(Naming::Below, field),
        (None, None) => {}
    }
}

/// What a field of this definition says where it is no result: weir's own, and what servers of the
/// Sensor Observation Service use.
fn role_of(definition: &str) -> Option<Role> {
    if let Some(member) = definition.strip_prefix(URN) {
        return Role::named(member);
    }
    let ends = |end: &str| definition.ends_with(end);
    if ends("atitude") {
        Some(Role::Lat)
    } else if ends("ongitude") {
        Some(Role::Lon)
    } else if ends("FeatureOfInterest") || ends(":feature") {
        Some(Role::Feature)
    } else {
        None
    }
}
