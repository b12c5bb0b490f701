//! O&M read, of either version.

use super::context::Context;
use super::time_object::{self, TimesMet};
use super::{HREF, OM10, OM20, SAMPLING_GEOMETRY, XSI_TYPE, is_nil, urn};
use crate::error::DecodeError;
use crate::infoset::walk::skip;
use crate::infoset::{Event, Name, Pull};
use crate::lexical;
use crate::rows::Rows;
use crate::syntax::json_text::write_string;
use crate::vocabulary::swe;
use alloc::string::String;
use alloc::vec::Vec;
use weir_model::{Limits, Value};

/// Reads a whole message: an observation, or a collection of them.
pub(crate) fn read(
    pull: &mut impl Pull,
    rows: &mut Rows<'_>,
    limits: &Limits,
) -> Result<(), DecodeError> {
    let root = match pull.next()? {
        Event::Start(name) if is_observation(name) => Some(true),
        Event::Start(name) if name.uri.starts_with("http://www.opengis.net/") => Some(false),
        _ => None,
    };
    let mut reader = Reader {
        context: Context::default(),
        met: TimesMet::default(),
        limits,
    };
    match root {
        Some(true) => reader.observation(pull, rows)?,
        Some(false) => reader.collection(pull, rows)?,
        None => {
            let what = "om:OM_Observation, om:Observation or a collection of OGC's";
            return Err(DecodeError::expected(pull.at(), what));
        }
    }
    match pull.next()? {
        Event::Done => Ok(()),
        _ => Err(DecodeError::expected(pull.at(), "the end of the document")),
    }
}

fn is_om(uri: &str) -> bool {
    uri == OM20 || uri == OM10
}

/// Also the specialised ones of 1.0 (`om:Measurement`, `om:CategoryObservation` and the like).
fn is_observation(name: Name<'_>) -> bool {
    is_om(name.uri) && (name.local.ends_with("Observation") || name.local == "Measurement")
}

/// A property of an observation.
#[derive(Clone, Copy)]
enum Property {
    PhenomenonTime,
    ResultTime,
    ValidTime,
    Procedure,
    ObservedProperty,
    Feature,
    Parameter,
    Result,
    Other,
}

impl Property {
    fn named(name: Name<'_>) -> Self {
        match name.local {
            _ if !is_om(name.uri) => Property::Other,
            "phenomenonTime" | "samplingTime" => Property::PhenomenonTime,
            "resultTime" => Property::ResultTime,
            "validTime" => Property::ValidTime,
            "procedure" => Property::Procedure,
            "observedProperty" => Property::ObservedProperty,
            "featureOfInterest" => Property::Feature,
            "parameter" => Property::Parameter,
            "result" => Property::Result,
            _ => Property::Other,
        }
    }
}

struct Reader<'l> {
    context: Context,
    met: TimesMet,
    limits: &'l Limits,
}

impl Reader<'_> {
    fn collection(&mut self, pull: &mut impl Pull, rows: &mut Rows<'_>) -> Result<(), DecodeError> {
        let mut depth = 1;
        while depth > 0 {
            match pull.next()? {
                Event::Start(name) if is_observation(name) => self.observation(pull, rows)?,
                Event::Start(_) => depth += 1,
                Event::End => depth -= 1,
                _ => {}
            }
        }
        Ok(())
    }

    fn observation(
        &mut self,
        pull: &mut impl Pull,
        rows: &mut Rows<'_>,
    ) -> Result<(), DecodeError> {
        let start = pull.at();
        self.context.clear();
        loop {
            let property = match pull.next()? {
                Event::Start(name) => Property::named(name),
                Event::End => break,
                _ => continue,
            };
            self.property(property, start, pull, rows)?;
        }
        match self.context.done {
            true => Ok(()),
            false => Err(DecodeError::expected(
                start,
                "an observation with an om:result",
            )),
        }
    }

    fn property(
        &mut self,
        property: Property,
        start: usize,
        pull: &mut impl Pull,
        rows: &mut Rows<'_>,
    ) -> Result<(), DecodeError> {
        let context = &mut self.context;
        match property {
            Property::PhenomenonTime => {
                let span = time_object::read(pull, &mut self.met)?;
                (context.times.begin, context.times.end) = (span.begin, span.end);
                Ok(())
            }
            Property::ResultTime => {
                context.times.result = time_object::read(pull, &mut self.met)?.begin;
                Ok(())
            }
            Property::ValidTime => {
                let span = time_object::read(pull, &mut self.met)?;
                context.times.valid = span.begin.zip(span.end);
                Ok(())
            }
            Property::Procedure => read_link(pull, |href| context.sensor.set(href)),
            Property::ObservedProperty => read_link(pull, |href| context.property.set(href)),
            Property::Feature => read_feature(pull, context),
            Property::Parameter => read_parameter(pull, context),
            Property::Result => self.result(start, pull, rows),
            Property::Other => skip(pull),
        }
    }

    fn result(
        &mut self,
        start: usize,
        pull: &mut impl Pull,
        rows: &mut Rows<'_>,
    ) -> Result<(), DecodeError> {
        self.context.close_others();
        self.context.done = true;
        let mut form = Form::default();
        loop {
            match pull.next()? {
                Event::Attribute(XSI_TYPE) => form.kind = ResultKind::of(pull.name()?),
                Event::Attribute(HREF) => form.href.push_str(pull.text()),
                Event::Attribute(name) if name.local == "uom" => {
                    self.context.unit.set(pull.text());
                }
                Event::Attribute(name) => form.nil |= name.local == "nilReason",
                Event::Start(name) if name.local == "DataArray" => {
                    swe::array::read(pull, &self.context.common(), rows, self.limits)?;
                    return skip(pull);
                }
                Event::Content => {
                    if form.may_nest() && pull.text().trim_ascii().is_empty() {
                        continue;
                    }
                    self.begin(start, rows)?;
                    self.value(form.kind, pull, rows)?;
                    rows.end(start)?;
                    return skip(pull);
                }
                Event::End => return self.empty_result(start, &form, rows),
                _ => return Err(DecodeError::expected(pull.at(), RESULT)),
            }
        }
    }

    fn begin(&self, start: usize, rows: &mut Rows<'_>) -> Result<(), DecodeError> {
        rows.begin(start)?;
        self.context.set(rows);
        Ok(())
    }

    fn empty_result(
        &self,
        start: usize,
        form: &Form,
        rows: &mut Rows<'_>,
    ) -> Result<(), DecodeError> {
        self.begin(start, rows)?;
        match form.kind {
            _ if form.nil => rows.value(Value::Null),
            _ if !form.href.is_empty() => rows.value(Value::Text(&form.href)),
            ResultKind::Text => rows.value(Value::Text("")),
            _ => return Err(DecodeError::expected(start, RESULT)),
        }
        rows.end(start)
    }

    fn value(
        &self,
        kind: ResultKind,
        pull: &impl Pull,
        rows: &mut Rows<'_>,
    ) -> Result<(), DecodeError> {
        let text = pull.text();
        let bare = text.trim_ascii();
        if self.context.json {
            let read = lexical::read_json(text, rows, self.limits);
            return read.map_err(|error| DecodeError {
                at: pull.at() + error.at,
                ..error
            });
        }
        rows.value(match (kind, bare) {
            (ResultKind::Number, "NaN") => Value::Null,
            (ResultKind::Number, _) => Value::Number(pull.number()?),
            (ResultKind::Bool, "true" | "1") => Value::Bool(true),
            (ResultKind::Bool, "false" | "0") => Value::Bool(false),
            (ResultKind::Bool, _) => {
                return Err(DecodeError::expected(pull.at(), "true or false"));
            }
            (ResultKind::Text, _) => Value::Text(text),
            (ResultKind::AsItReads, _) => lexical::simple(bare),
        });
        Ok(())
    }
}

const RESULT: &str = "a result that is a number, a boolean, a text or a swe:DataArray";

/// What a result's attributes say.
#[derive(Default)]
struct Form {
    kind: ResultKind,
    href: String,
    nil: bool,
}

impl Form {
    fn may_nest(&self) -> bool {
        matches!(self.kind, ResultKind::AsItReads)
    }
}

#[derive(Clone, Copy, Default)]
enum ResultKind {
    Number,
    Bool,
    Text,
    #[default]
    AsItReads,
}

impl ResultKind {
    /// The kind of a type of XML Schema, GML or SWE.
    fn of(name: Name<'_>) -> Self {
        match name.local {
            "MeasureType" | "double" | "float" | "decimal" | "integer" | "int" | "long"
            | "short" | "nonNegativeInteger" | "positiveInteger" => ResultKind::Number,
            "boolean" => ResultKind::Bool,
            "string"
            | "normalizedString"
            | "token"
            | "anyURI"
            | "ReferenceType"
            | "CodeType"
            | "CodeWithAuthorityType"
            | "ScopedNameType" => ResultKind::Text,
            _ => ResultKind::AsItReads,
        }
    }
}

/// Reads over a property, handing on what it refers to.
fn read_link(pull: &mut impl Pull, take: impl FnOnce(&str)) -> Result<(), DecodeError> {
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

/// Reads `featureOfInterest`: a reference, or a sampling feature with its position.
fn read_feature(pull: &mut impl Pull, context: &mut Context) -> Result<(), DecodeError> {
    let mut depth = 1;
    let mut place = PlaceReader::default();
    let mut names_it = true;
    while depth > 0 {
        match pull.next()? {
            Event::Start(name) => {
                depth += 1;
                names_it = name.local == "sampledFeature";
                place.start(name.local);
            }
            Event::End => {
                depth -= 1;
                place.end();
            }
            Event::Attribute(HREF) if names_it => {
                if !is_nil(pull.text()) {
                    context.feature.set(pull.text());
                }
            }
            Event::Attribute(name) if name.local == "srsName" => place.system(pull.text()),
            Event::Content => place.content(pull, context)?,
            _ => {}
        }
    }
    Ok(())
}

/// Finds `gml:pos` among elements.
#[derive(Default)]
struct PlaceReader {
    position: bool,
    longitude_first: bool,
}

impl PlaceReader {
    fn start(&mut self, name: &str) {
        self.position = name == "pos";
    }

    fn end(&mut self) {
        self.position = false;
    }

    /// Of the systems in use for stations only CRS84 has the longitude first.
    fn system(&mut self, name: &str) {
        self.longitude_first = name.contains("CRS84");
    }

    fn content(&self, pull: &impl Pull, context: &mut Context) -> Result<(), DecodeError> {
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
fn read_parameter(pull: &mut impl Pull, context: &mut Context) -> Result<(), DecodeError> {
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
        Value::Bool(_) | Value::Null => json.extend_from_slice(text.as_bytes()),
        _ => write_string(text, &mut json),
    }
    *object = String::from_utf8(json).unwrap_or_default();
}
