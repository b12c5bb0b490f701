//! `swe:DataRecord` with values inline (OGC 08-094r1 section 7.3.1), as the result of an O&M `OM_ComplexObservation`:
//! each of its fields is an observation by itself, as each result of a block's record is.
//!
//! What it deliberately does not do: arrays and choices within records, and ranges, which are no single result.

use super::array::set_topic;
use super::{Kind, token};
use crate::error::DecodeError;
use crate::infoset::{Event, Pull};
use crate::rows::Rows;
use alloc::string::String;
use weir_model::Limits;

/// A field as far as it was read.
#[derive(Default)]
struct Field {
    name: String,
    definition: String,
    unit: String,
    value: String,
    /// What it is, and the depth of that element.
    component: Option<(Kind, usize)>,
    /// Which part of the component is being read.
    part: Part,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Part {
    Unit,
    Value,
    #[default]
    Other,
}

/// Reads a record whose start was met last, up to its end: a row for each field with a value. `set` says what the
/// observation says of all of them; its topic is that of the observation.
pub(crate) fn read(
    pull: &mut impl Pull,
    topic: Option<&str>,
    rows: &mut Rows<'_>,
    limits: &Limits,
    set: impl Fn(&mut Rows<'_>),
) -> Result<(), DecodeError> {
    let start = pull.at();
    let (mut depth, mut count) = (1, 0);
    let mut field = Field::default();
    while depth > 0 {
        match pull.next()? {
            Event::Start(name) => {
                depth += 1;
                let is_list = matches!(name.local, "DataArray" | "DataChoice" | "Matrix");
                field.start(name.local, depth);
                if is_list {
                    return Err(DecodeError::expected(
                        pull.at(),
                        "a record of simple results",
                    ));
                }
            }
            Event::Attribute(name) => match name.local {
                "name" if field.component.is_none() => field.name = pull.text().into(),
                "definition" if field.is_at(depth) => field.definition = pull.text().into(),
                "code" | "href" if field.part == Part::Unit => field.unit = pull.text().into(),
                _ => {}
            },
            Event::Content if field.part == Part::Value => field.value.push_str(pull.text()),
            Event::End => {
                if field.is_at(depth) {
                    let at = pull.at();
                    count += usize::from(field.push(at, topic, rows, limits, &set)?);
                    field.component = None;
                }
                field.part = Part::Other;
                depth -= 1;
            }
            _ => {}
        }
    }
    match count {
        0 => Err(DecodeError::expected(
            start,
            "a record with a field that has a value",
        )),
        _ => Ok(()),
    }
}

impl Field {
    /// Takes note of an element at this depth.
    fn start(&mut self, name: &str, depth: usize) {
        if matches!(name, "field" | "coordinate") {
            *self = Self::default();
        }
        // What stands deeper is of its quality.
        let is_its_own = self.component.is_some_and(|(_, own)| own + 1 == depth);
        self.part = match name {
            "value" if is_its_own => Part::Value,
            "uom" if is_its_own => Part::Unit,
            _ => Part::Other,
        };
        if let (None, Some(kind)) = (self.component, Kind::of_component(name)) {
            self.component = Some((kind, depth));
        }
    }

    fn is_at(&self, depth: usize) -> bool {
        self.component.is_some_and(|(_, own)| own == depth)
    }

    /// Pushes its row; says whether it has one.
    fn push(
        &self,
        at: usize,
        topic: Option<&str>,
        rows: &mut Rows<'_>,
        limits: &Limits,
        set: impl Fn(&mut Rows<'_>),
    ) -> Result<bool, DecodeError> {
        let value = self.value.trim_ascii();
        let (Some((kind, _)), false) = (self.component, value.is_empty()) else {
            return Ok(false);
        };
        let said = |text| Some(text).filter(|text: &&str| !text.is_empty());
        rows.begin(at)?;
        set(rows);
        set_topic(topic, said(&self.name), rows);
        said(&self.definition)
            .into_iter()
            .for_each(|uri| rows.property(uri));
        said(&self.unit)
            .into_iter()
            .for_each(|code| rows.unit(code));
        token::read_value(kind, value, at, b'.', rows, limits)?;
        rows.end(at)?;
        Ok(true)
    }
}
