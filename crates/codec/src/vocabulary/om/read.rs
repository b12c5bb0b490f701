//! O&M read, of either version.

use super::context::Context;
use super::features_met::{FeaturesMet, read_feature};
use super::properties::{read_link, read_parameter};
use super::time_object::{self, TimesMet};
use super::{HREF, MISSING, OM10, OM20, OMX10, XSI_TYPE};
use crate::error::DecodeError;
use crate::infoset::walk::skip;
use crate::infoset::{Event, Name, Pull};
use crate::lexical;
use crate::rows::{Rows, set_number};
use crate::vocabulary::swe;
use alloc::string::String;
use weir_model::value::EXACT_INTEGER_MAX;
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
        features: FeaturesMet::default(),
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

/// Also the specialised ones of 1.0 (`om:Measurement`, `omx:CategoryObservation` and the like).
fn is_observation(name: Name<'_>) -> bool {
    (is_om(name.uri) || name.uri == OMX10)
        && (name.local.ends_with("Observation") || name.local == "Measurement")
}

/// A property of an observation.
#[allow(clippy::enum_variant_names, reason = "the names of O&M")]
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
    features: FeaturesMet,
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
        if self.context.done {
            Ok(())
        } else {
            Err(DecodeError::expected(
                start,
                "an observation with an om:result",
            ))
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
            Property::Feature => read_feature(pull, context, &mut self.features),
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
                Event::Attribute(name) if name.local == "nilReason" => {
                    form.nil = true;
                    // What is merely missing has no reason that could be kept.
                    if pull.text() != MISSING && self.context.quality.get().is_none() {
                        self.context.quality.set(pull.text());
                    }
                }
                Event::Attribute(_) => {}
                Event::Start(name) if name.local == "DataArray" => {
                    swe::array::read(pull, &self.context.common(), rows, self.limits)?;
                    return skip(pull);
                }
                Event::Start(name) => {
                    let start = swe::record::Start::named(name.local);
                    let start = start.ok_or_else(|| DecodeError::expected(pull.at(), RESULT))?;
                    self.record(&start, pull, rows)?;
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

    fn record(
        &self,
        start: &swe::record::Start,
        pull: &mut impl Pull,
        rows: &mut Rows<'_>,
    ) -> Result<(), DecodeError> {
        let common = swe::record::Common {
            topic: self.context.topic.get(),
            limits: self.limits,
            set: |rows: &mut Rows<'_>| self.context.set(rows),
        };
        swe::record::read(pull, start, &common, rows)
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
            (ResultKind::Number, _) => match pull.number() {
                Ok(number) if number.abs() < EXACT_INTEGER_MAX => Value::Number(number),
                Ok(number) => lexical::numeric(bare).unwrap_or(Value::Number(number)),
                not_finite => return set_number(rows, not_finite),
            },
            (ResultKind::Bool, "true" | "1") => Value::Bool(true),
            (ResultKind::Bool, "false" | "0") => Value::Bool(false),
            (ResultKind::Bool, _) => {
                return Err(DecodeError::expected(pull.at(), "true or false"));
            }
            (ResultKind::Text, _) => Value::Text(text),
            (ResultKind::AsItReads, _) => return lexical::set(bare, pull.at(), rows),
        });
        Ok(())
    }
}

const RESULT: &str = "a result that is a number, a boolean, a text, a swe:DataRecord, one of its \
    components or a swe:DataArray";

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
