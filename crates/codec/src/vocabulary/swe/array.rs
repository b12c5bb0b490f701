//! `swe:DataArray`, of SWE Common 1.0.1 and 2.0: what the fields of its records are, and the block.
//!
//! Names of elements decide and not their namespace, which differs between the versions. Records and vectors
//! within a record are read as their components, each a field. What it deliberately does not do: arrays within
//! arrays, choices, ranges, components that may be left out, times that are counted from another one, binary and XML
//! blocks, descriptions that stand elsewhere. Each is refused where it is described: its tokens would be taken for
//! something else.

use super::block_read::{BlockReader, Record, Shared};
use super::opening::{Opening, is_field};
use super::rule::{self, Rule, elsewhere};
use super::{Kind, Role, Separators, URN};
use crate::crs::Crs;
use crate::error::DecodeError;
use crate::infoset::walk::{enter, leave, skip};
use crate::infoset::{Event, Pull};
use crate::limits::SWE_FIELDS_MAX;
use crate::rows::Rows;
use crate::stack_text::StackText;
use crate::unescaped::Unescaped;
use crate::vocabulary::iso_time::TimeReader;
use alloc::format;
use alloc::vec::Vec;
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
    let (mut promised, mut count) = (None, 0);
    loop {
        let part = match pull.next()? {
            Event::Start(name) => Part::named(name.local),
            Event::End => return check_count(promised, count, pull.at()),
            _ => continue,
        };
        match part {
            Part::ElementCount => promised = read_count(pull)?,
            Part::ElementType => description.read(pull)?,
            Part::Encoding => read_encoding(pull, &mut separators)?,
            Part::Values => {
                count = read_values(pull, &description, &separators, common, rows, limits)?;
            }
            Part::Other => skip(pull)?,
        }
    }
}

/// As many records as were said to be there.
fn check_count(promised: Option<usize>, count: usize, at: usize) -> Result<(), DecodeError> {
    match promised {
        Some(promised) if promised != count => {
            let sentence = format!("elementCount says {promised} records, and {count} are there");
            Err(DecodeError::meaning(at, sentence))
        }
        _ => Ok(()),
    }
}

/// Reads `swe:elementCount`: a `swe:Count` with a value, or without one, which says nothing.
fn read_count(pull: &mut impl Pull) -> Result<Option<usize>, DecodeError> {
    let (mut depth, mut count) = (1, None);
    while depth > 0 {
        match pull.next()? {
            Event::Start(_) => depth += 1,
            Event::End => depth -= 1,
            Event::Content => {
                let text = pull.text().trim_ascii();
                if !text.is_empty() {
                    let what = "a number of records";
                    let read = text.parse();
                    count = Some(read.map_err(|_| DecodeError::expected(pull.at(), what))?);
                }
            }
            Event::Attribute(name) if name.local == "href" => return Err(elsewhere(pull)),
            _ => {}
        }
    }
    Ok(count)
}

enum Part {
    ElementCount,
    ElementType,
    Encoding,
    Values,
    Other,
}

impl Part {
    fn named(name: &str) -> Self {
        match name {
            "elementCount" => Part::ElementCount,
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
) -> Result<usize, DecodeError> {
    let start = pull.at();
    pull.long();
    if !enter(pull)? {
        return Ok(0);
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
        rules: &description.rules,
        times: TimeReader::default(),
        count: 0,
    };
    reader.read(pull.text(), pull.at(), &description.record, &names, rows)?;
    let count = reader.count;
    leave(pull)?;
    Ok(count)
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
                    let [sign] = *pull.text().as_bytes() else {
                        return Err(DecodeError::expected(pull.at(), "a sign of one byte"));
                    };
                    separators.decimal = sign;
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
    /// What is said of the tokens of fields, by the field's place.
    rules: Vec<(usize, Rule)>,
    /// Whether what is in a frame of its own is a place in a system that is not known.
    strange_frame: bool,
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
    opening: Opening<Component>,
    role: Option<Role>,
    texts: ResultField,
    rule: Rule,
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
                    let is_of_it = field.opening.has(depth);
                    uom = name.local == "uom" && is_of_it;
                    let rule = rule::Part::named(name.local).filter(|_| is_of_it);
                    if !field.start(name.local, depth) {
                        let what = "a flat record of times and single results";
                        return Err(DecodeError::expected(pull.at(), what));
                    }
                    if let Some(part) = rule {
                        field.rule.read(part, pull)?;
                        depth -= 1;
                    }
                }
                Event::Attribute(name) => {
                    let attribute = Attribute::named(name.local, uom);
                    self.attribute(attribute, &mut field, depth, pull)?;
                }
                Event::End => {
                    if field.opening.is_ended(depth, pull)? {
                        self.push(&mut field, pull.at())?;
                        field.opening.close();
                    }
                    depth -= 1;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn attribute(
        &mut self,
        attribute: Attribute,
        field: &mut Field,
        depth: usize,
        pull: &impl Pull,
    ) -> Result<(), DecodeError> {
        let text = pull.text();
        let component = field.opening.component();
        let is_own = field.opening.is_at(depth);
        let is_time = matches!(component, Some(Component::Time | Component::TimeRange));
        let refused = match attribute {
            Attribute::Name if component.is_none() => {
                field.texts.name = self.keep(text);
                None
            }
            Attribute::Definition if is_own => {
                field.role = role_of(text);
                field.texts.definition = self.keep(text);
                None
            }
            Attribute::Unit => {
                field.texts.unit = self.keep(text);
                None
            }
            Attribute::Frame if component.is_none() => {
                self.strange_frame = Crs::named(text).is_none();
                None
            }
            Attribute::Frame if is_own && is_time && !is_frame_of_time(text) => Some(INSTANTS),
            Attribute::ReferenceTime if is_own => Some(INSTANTS),
            Attribute::Optional if is_own && matches!(text.trim_ascii(), "true" | "1") => {
                Some("a component that is always there")
            }
            _ => None,
        };
        match refused {
            Some(what) => Err(DecodeError::expected(pull.at(), what)),
            None => Ok(()),
        }
    }

    fn keep(&mut self, text: &str) -> Place {
        let start = self.texts.as_bytes().len();
        self.texts.push(text.as_bytes());
        (start, start + text.len())
    }

    fn push(&mut self, field: &mut Field, at: usize) -> Result<(), DecodeError> {
        let dated = [Role::Time, Role::Period];
        let is_first = || !self.record.roles().iter().any(|own| dated.contains(own));
        let definition = self.text(field.texts.definition).unwrap_or_default();
        // What observes latitudes has results of that definition.
        let is_value = self.text(field.texts.name) == Some(Role::Value(Kind::Any).name());
        let known = field
            .role
            .filter(|role| !is_value || matches!(role, Role::Value(_)));
        let role = match (known, field.opening.component()) {
            (Some(role), _) => role,
            (None, Some(Component::Result(kind))) => Role::Value(kind),
            (None, Some(Component::Time)) if definition.ends_with("ResultTime") => Role::ResultTime,
            (None, Some(Component::TimeRange)) if is_first() => Role::Period,
            (None, _) if is_first() => Role::Time,
            (None, _) => Role::Skip,
        };
        if matches!(role, Role::Lat | Role::Lon) {
            let unit = self.text(field.texts.unit).unwrap_or("deg");
            if self.strange_frame || !DEGREES.contains(&unit) {
                return Err(DecodeError::expected(at, "a place in degrees of WGS 84"));
            }
        }
        self.record.push(role, at)?;
        let rule = core::mem::take(&mut field.rule);
        if !rule.is_empty() {
            self.rules.push((self.record.roles().len() - 1, rule));
        }
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
            let property = if several {
                definition.or(common.property)
            } else {
                common.property.or(definition)
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

/// An attribute that says something of a field's tokens.
#[derive(Clone, Copy)]
pub(super) enum Attribute {
    Name,
    Definition,
    Unit,
    Frame,
    ReferenceTime,
    Optional,
    Other,
}

impl Attribute {
    pub(super) fn named(name: &str, of_unit: bool) -> Self {
        match name {
            "name" => Attribute::Name,
            "definition" => Attribute::Definition,
            "code" | "href" if of_unit => Attribute::Unit,
            "referenceFrame" => Attribute::Frame,
            "referenceTime" => Attribute::ReferenceTime,
            "optional" => Attribute::Optional,
            _ => Attribute::Other,
        }
    }
}

/// What tokens that are times are.
pub(super) const INSTANTS: &str = "times as ISO 8601 has them, in UTC";

/// Whether a reference system of time is that of ISO 8601: its name's last part says so.
pub(super) fn is_frame_of_time(name: &str) -> bool {
    let last = name.trim_ascii().rsplit([':', '/', '#', '.']).next();
    let known = ["UTC", "GMT", "Gregorian", "ISO8601", "ISO-8601"];
    last.is_some_and(|last| known.iter().any(|own| own.eq_ignore_ascii_case(last)))
}

/// What degrees are called.
const DEGREES: &[&str] = &[
    "deg",
    "degree",
    "degrees",
    "http://www.opengis.net/def/uom/UCUM/0/deg",
];

impl Field {
    /// Takes note of an element at this depth; `false` where it is none of a field.
    fn start(&mut self, name: &str, depth: usize) -> bool {
        if is_field(name) {
            *self = Self {
                opening: Opening::at(depth),
                ..Self::default()
            };
        }
        self.opening.start(name, depth, Component::named)
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
