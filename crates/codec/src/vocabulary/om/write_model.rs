//! O&M 1.0: each observation by itself, as the type of observation that its result makes it
//! (OGC 07-022r1 section 7.2, `observationSpecialization_override.xsd`).
//!
//! Of what has no such type nothing is written: a model is asked for by who can read no other.

use super::write_block::{
    PREFIXES, gml, om, swe, write_feature, write_leaf, write_link, write_parameter,
};
use super::{XSI, XSI_TYPE, urn};
use crate::infoset::xml_text::{Prefix, XmlText};
use crate::infoset::{Atom, Emit, Name};
use crate::vocabulary::swe::is_symbol;
use alloc::string::String;
use weir_model::value::EXACT_INTEGER_MAX;
use weir_model::{Batch, Extra, Observation, Time, Value};

/// A type of observations of O&M 1.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Numbers with a unit.
    Measurement,
    /// Whole numbers without one.
    Count,
    /// Truths.
    Truth,
    /// Texts.
    Category,
}

/// The namespaces of such a document.
const MODEL_PREFIXES: &[Prefix] = &[
    PREFIXES[0],
    PREFIXES[1],
    PREFIXES[2],
    PREFIXES[3],
    PREFIXES[4],
    ("xsi", XSI),
    ("xs", super::XS),
];

impl Model {
    /// Every model.
    pub const ALL: [Model; 4] = [
        Model::Measurement,
        Model::Count,
        Model::Truth,
        Model::Category,
    ];

    /// The name of its observations.
    pub const fn name(self) -> &'static str {
        match self {
            Model::Measurement => "Measurement",
            Model::Count => "CountObservation",
            Model::Truth => "TruthObservation",
            Model::Category => "CategoryObservation",
        }
    }

    /// The model that a result is of; of some there is none.
    pub fn of(value: &Value<'_>, unit: Option<&str>) -> Option<Self> {
        match (value, unit) {
            (_, Some(unit)) if value.is_numeric() => is_symbol(unit).then_some(Model::Measurement),
            (Value::Number(number), None) => {
                (*number % 1.0 == 0.0 && number.abs() <= EXACT_INTEGER_MAX).then_some(Model::Count)
            }
            (Value::Json(_), None) if value.is_numeric() => Some(Model::Count),
            (Value::Bool(_), _) => Some(Model::Truth),
            (Value::Text(_), _) => Some(Model::Category),
            _ => None,
        }
    }

    /// The type of its results.
    const fn result(self) -> Name<'static> {
        match self {
            Model::Measurement => gml("MeasureType"),
            Model::Count => xs("integer"),
            Model::Truth => xs("boolean"),
            Model::Category => swe("ScopedNameType"),
        }
    }
}

const fn xs(local: &'static str) -> Name<'static> {
    Name {
        uri: super::XS,
        local,
    }
}

/// Writes those observations that are of a model into a service's answer.
pub(crate) fn write_within(
    batch: &Batch,
    model: Model,
    placement: &super::Placement<'_>,
    out: &mut alloc::vec::Vec<u8>,
) {
    let mut emit = XmlText::within(MODEL_PREFIXES, out);
    for index in placement.rows.clone() {
        let mut row = batch.row(index);
        if Model::of(&row.value, row.unit) != Some(model) {
            continue;
        }
        let feature = placement.features.get(batch.stream_of(index));
        row.extra.feature = row.extra.feature.or(feature.map(String::as_str));
        emit.raw(placement.before);
        write_observation(model, &row, placement.first + index, &mut emit);
        emit.raw(placement.after);
    }
}

fn write_observation(model: Model, row: &Observation<'_>, number: usize, emit: &mut impl Emit) {
    emit.start(om(model.name()));
    write_times(row, emit);
    write_link(om("procedure"), row.sensor, emit);
    write_link(om("observedProperty"), row.property, emit);
    write_feature(row.extra.feature, row.place, number, emit);
    let unit = row.unit.filter(|_| model != Model::Measurement);
    write_parameter(urn::UNIT, unit, emit);
    write_parameter(urn::QUALITY, row.extra.quality, emit);
    write_result(model, row, emit);
    emit.end(om(model.name()));
}

fn write_times(row: &Observation<'_>, emit: &mut impl Emit) {
    let Extra {
        end, result_time, ..
    } = row.extra;
    match (row.time, end) {
        (None, _) => write_link(om("samplingTime"), None, emit),
        (Some(time), None) => write_instant(om("samplingTime"), time, emit),
        (Some(begin), Some(end)) => {
            emit.start(om("samplingTime"));
            emit.start(gml("TimePeriod"));
            write_leaf(gml("beginPosition"), Atom::Time(begin), emit);
            write_leaf(gml("endPosition"), Atom::Time(end), emit);
            emit.end(gml("TimePeriod"));
            emit.end(om("samplingTime"));
        }
    }
    if let Some(time) = result_time {
        write_instant(om("resultTime"), time, emit);
    }
}

fn write_instant(name: Name<'static>, time: Time, emit: &mut impl Emit) {
    emit.start(name);
    emit.start(gml("TimeInstant"));
    write_leaf(gml("timePosition"), Atom::Time(time), emit);
    emit.end(gml("TimeInstant"));
    emit.end(name);
}

/// A category's code space is what it is a category of.
fn write_result(model: Model, row: &Observation<'_>, emit: &mut impl Emit) {
    emit.start(om("result"));
    emit.attribute(XSI_TYPE, Atom::Name(model.result()));
    match model {
        Model::Measurement => {
            let unit = row.unit.unwrap_or_default();
            emit.attribute(Name::local("uom"), Atom::Text(unit));
        }
        Model::Category => {
            let space = row.property.unwrap_or(super::UNKNOWN);
            emit.attribute(Name::local("codeSpace"), Atom::Text(space));
        }
        Model::Count | Model::Truth => {}
    }
    match row.value {
        Value::Number(number) => emit.content(Atom::Number(number)),
        Value::Bool(truth) => emit.content(Atom::Bool(truth)),
        // Of JSON there are digits alone.
        Value::Text(text) | Value::Json(text) => emit.content(Atom::Text(text)),
        Value::Null => {}
    }
    emit.end(om("result"));
}
