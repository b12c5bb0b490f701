//! Properties of an observation that are references or parameters, and where they say that it was made.

use super::context::Context;
use super::{HREF, SAMPLING_GEOMETRY, is_nil, urn};
use crate::crs::Crs;
use crate::error::DecodeError;
use crate::infoset::{Event, Name, Pull};
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

/// An attribute that says how coordinates are to be read.
#[derive(Clone, Copy)]
pub(super) enum OfCoordinates {
    /// `srsName`
    System,
    /// One of the signs of `gml:coordinates`, with what it is where it is not said.
    Sign(&'static str),
}

impl OfCoordinates {
    pub(super) fn named(name: Name<'_>) -> Option<Self> {
        Some(match name.local {
            "srsName" => OfCoordinates::System,
            "decimal" => OfCoordinates::Sign("."),
            "cs" => OfCoordinates::Sign(","),
            "ts" => OfCoordinates::Sign(" "),
            _ => return None,
        })
    }
}

/// Finds the position of a `gml:Point` among elements: `gml:pos`, or the `gml:coordinates` of before.
#[derive(Default)]
pub(super) struct PlaceReader {
    /// Whether the object that was begun last is a point.
    point: bool,
    position: bool,
    /// The system that was named last; it holds for what stands deeper, and for the geometries of a feature whose
    /// envelope names it (GML 3.2.1 section 9.10).
    crs: Crs,
    /// What is wrong with it.
    refused: Option<DecodeError>,
}

impl PlaceReader {
    pub(super) fn start(&mut self, name: &str) {
        // Objects of GML begin with a capital, properties do not.
        if name.as_bytes().first().is_some_and(u8::is_ascii_uppercase) {
            self.point = name == "Point";
        }
        self.position = self.point && matches!(name, "pos" | "coordinates");
    }

    pub(super) fn end(&mut self) {
        self.position = false;
    }

    /// Takes an attribute of those that say how coordinates are to be read.
    pub(super) fn attribute(&mut self, attribute: OfCoordinates, pull: &impl Pull) {
        let at = pull.at();
        match attribute {
            OfCoordinates::System => match Crs::read(pull.text()) {
                Ok(crs) => (self.crs, self.refused) = (crs, None),
                Err(sentence) => self.refused = Some(DecodeError::meaning(at, sentence)),
            },
            OfCoordinates::Sign(usual) if self.position && pull.text() != usual => {
                let what = "coordinates between commas and blanks, with points";
                self.refused = Some(DecodeError::expected(at, what));
            }
            OfCoordinates::Sign(_) => {}
        }
    }

    pub(super) fn content(
        &self,
        pull: &impl Pull,
        context: &mut Context,
    ) -> Result<(), DecodeError> {
        match &self.refused {
            _ if !self.position => Ok(()),
            Some(error) => Err(error.clone()),
            None => {
                let position = self.crs.position_of(pull.text());
                let position = position.map_err(|what| DecodeError::expected(pull.at(), what))?;
                context.position = Some(position);
                Ok(())
            }
        }
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
            Event::Attribute(name) => {
                if let Some(attribute) = OfCoordinates::named(name) {
                    place.attribute(attribute, pull);
                }
            }
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
        Parameter::Other => {
            let value = lexical::simple(text.trim_ascii());
            add_member(name, value, &mut context.others);
        }
    }
}

/// Adds a member to an object that lacks its closing bracket.
pub(super) fn add_member(name: &str, value: Value<'_>, object: &mut String) {
    let mut json: Vec<u8> = core::mem::take(object).into_bytes();
    json.push(if json.is_empty() { b'{' } else { b',' });
    write_string(name, &mut json);
    json.push(b':');
    match value {
        Value::Number(number) => crate::number::write_f64(number, &mut json),
        Value::Bool(true) => json.extend_from_slice(b"true"),
        Value::Bool(false) => json.extend_from_slice(b"false"),
        Value::Null => json.extend_from_slice(b"null"),
        Value::Text(text) => write_string(text, &mut json),
        digits @ Value::Json(_) if digits.digits().is_some() => lexical::write(digits, &mut json),
        Value::Json(own) => json.extend_from_slice(own.as_bytes()),
    }
    *object = String::from_utf8(json).unwrap_or_default();
}
