//! Properties of an observation that are references or parameters, and where they say that it was made.

use super::context::Context;
use super::{HREF, SAMPLING_GEOMETRY, is_nil, urn};
use crate::error::DecodeError;
use crate::infoset::{Event, Pull};
use crate::lexical;
use crate::syntax::json_text::write_string;
use alloc::string::String;
use alloc::vec::Vec;
use weir_model::Value;

/// Reads over a property, handing on what it refers to.
pub(super) fn read_link(pull: &mut impl Pull, take: impl FnOnce(&str)) -> Result<(), DecodeError> {
    let mut take = Some(take);
    let mut depth = 1;
    while depth > 0 {
        match pull.next()? {
            Event::Start(_) => depth += 1,
            Event::End => depth -= 1,
            Event::Attribute(HREF) if depth == 1 => {
                if let Some(take) = take.take().filter(|_| !is_nil(pull.text())) {
                    take(pull.text());
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Finds `gml:pos` among elements.
#[derive(Default)]
pub(super) struct PlaceReader {
    position: bool,
    longitude_first: bool,
}

impl PlaceReader {
    pub(super) fn start(&mut self, name: &str) {
        self.position = name == "pos";
    }

    pub(super) fn end(&mut self) {
        self.position = false;
    }

    /// Of the systems in use for stations only CRS84 has the longitude first.
    pub(super) fn system(&mut self, name: &str) {
        self.longitude_first = name.contains("CRS84");
    }

    pub(super) fn content(
        &self,
        pull: &impl Pull,
        context: &mut Context,
    ) -> Result<(), DecodeError> {
        if !self.position {
            return Ok(());
        }
        let mut numbers = pull.text().split_ascii_whitespace().map(lexical::number);
        let (Some(Some(one)), Some(Some(other))) = (numbers.next(), numbers.next()) else {
            return Err(DecodeError::expected(pull.at(), "two coordinates"));
        };
        let (latitude, longitude) = match self.longitude_first {
            true => (other, one),
            false => (one, other),
        };
        (context.latitude, context.longitude) = (Some(latitude), Some(longitude));
        Ok(())
    }
}

/// Which parameter is meant.
#[derive(Clone, Copy)]
enum Parameter {
    Topic,
    Unit,
    Kind,
    Quality,
    Parameters,
    Place,
    Other,
}

impl Parameter {
    fn named(uri: &str) -> Self {
        match uri {
            urn::TOPIC => Parameter::Topic,
            urn::UNIT => Parameter::Unit,
            urn::KIND => Parameter::Kind,
            urn::QUALITY => Parameter::Quality,
            urn::PARAMETERS => Parameter::Parameters,
            SAMPLING_GEOMETRY => Parameter::Place,
            _ => Parameter::Other,
        }
    }
}

/// Reads `om:parameter`: an `om:NamedValue` of 2.0, or a `swe:Text` and the like of 1.0, whose
/// `definition` names it.
pub(super) fn read_parameter(
    pull: &mut impl Pull,
    context: &mut Context,
) -> Result<(), DecodeError> {
    let mut parameter = Parameter::Other;
    let mut name = String::new();
    let mut place = PlaceReader::default();
    let mut depth = 1;
    let mut value = false;
    while depth > 0 {
        match pull.next()? {
            Event::Start(element) => {
                depth += 1;
                value = element.local == "value";
                place.start(element.local);
            }
            Event::End => {
                depth -= 1;
                value = false;
                place.end();
            }
            // A category refers to what it is.
            Event::Attribute(HREF) if value => {
                set_parameter(parameter, &name, pull.text(), context);
            }
            Event::Attribute(attribute) if attribute == HREF || attribute.local == "definition" => {
                parameter = Parameter::named(pull.text());
                if matches!(parameter, Parameter::Other) {
                    name = pull.text().into();
                }
            }
            Event::Attribute(name) if name.local == "srsName" => place.system(pull.text()),
            Event::Content if matches!(parameter, Parameter::Place) => {
                place.content(pull, context)?;
            }
            Event::Content if value => set_parameter(parameter, &name, pull.text(), context),
            _ => {}
        }
    }
    Ok(())
}

fn set_parameter(parameter: Parameter, name: &str, text: &str, context: &mut Context) {
    match parameter {
        Parameter::Topic => context.topic.set(text),
        Parameter::Unit => context.unit.set(text),
        Parameter::Kind => context.json = text == "json",
        Parameter::Quality => context.quality.set(text),
        Parameter::Parameters => context.parameters.set(text),
        Parameter::Place => {}
        Parameter::Other if name.is_empty() => {}
        Parameter::Other => add_member(name, text.trim_ascii(), &mut context.others),
    }
}

/// Adds a member to an object that lacks its closing bracket.
fn add_member(name: &str, text: &str, object: &mut String) {
    let mut json: Vec<u8> = core::mem::take(object).into_bytes();
    json.push(if json.is_empty() { b'{' } else { b',' });
    write_string(name, &mut json);
    json.push(b':');
    match lexical::simple(text) {
        Value::Number(number) => crate::number::write_f64(number, &mut json),
        digits @ Value::Json(_) => lexical::write(digits, &mut json),
        Value::Bool(_) | Value::Null => json.extend_from_slice(text.as_bytes()),
        _ => write_string(text, &mut json),
    }
    *object = String::from_utf8(json).unwrap_or_default();
}
