//! Observations in RDF: SOSA (W3C SSN 2017), with OWL-Time, QUDT and WGS 84.
//!
//! Results are `sosa:hasSimpleResult`, numbers with a unit also `sosa:hasResult`, a
//! `qudt:QuantityValue` whose unit has its UCUM code. What these vocabularies have no place for
//! (topic, quality, parameters, from when to when a result is valid) has properties of weir's own. The
//! place is the observation's `geo:location`; read is also that of its sensor and its feature.
//!
//! What it deliberately does not do: reasoning, collections of observations, platforms, samples.

mod read;

pub(crate) use read::read;

use crate::rdf::{Class, Describe, Literal, Property};
use weir_model::batch::Naming;
use weir_model::{Batch, Extra, Observation, Place, Time, Value};

/// Writes a whole message.
pub(crate) fn write(batch: &Batch, graph: &mut impl Describe) {
    for row in batch.rows() {
        write_observation(&row, graph);
    }
}

fn write_observation(row: &Observation<'_>, graph: &mut impl Describe) {
    graph.begin(Class::Observation);
    if row.naming != Naming::Sent {
        graph.literal(Property::Topic, Literal::Text(row.topic));
    }
    for (property, name) in [
        (Property::MadeBySensor, row.sensor),
        (Property::ObservedProperty, row.property),
        (Property::HasFeatureOfInterest, row.extra.feature),
    ] {
        if let Some(name) = name {
            graph.resource(property, name);
        }
    }
    write_result(row, graph);
    write_phenomenon_time(row.time, row.extra.end, graph);
    if let Some(place) = row.place {
        write_place(place, graph);
    }
    write_extra(&row.extra, graph);
    graph.end();
}

fn write_result(row: &Observation<'_>, graph: &mut impl Describe) {
    let simple = match row.value {
        Value::Number(number) => Some(Literal::Number(number)),
        Value::Bool(truth) => Some(Literal::Bool(truth)),
        Value::Text(text) => Some(Literal::Text(text)),
        Value::Json(digits) if row.value.digits().is_some() => Some(Literal::Integer(digits)),
        Value::Json(json) => Some(Literal::Json(json)),
        Value::Null => None,
    };
    match simple {
        Some(literal) => graph.literal(Property::HasSimpleResult, literal),
        None => graph.nil(Property::HasResult),
    }
    match (row.unit, simple) {
        (Some(unit), Some(number @ (Literal::Number(_) | Literal::Integer(_)))) => {
            graph.open(Property::HasResult, Some(Class::QuantityValue));
            graph.literal(Property::NumericValue, number);
            graph.open(Property::HasUnit, None);
            graph.literal(Property::UcumCode, Literal::Ucum(unit));
            graph.close();
            graph.close();
        }
        // The unit that numbers of the datastream have.
        (Some(unit), _) => graph.literal(Property::Unit, Literal::Text(unit)),
        (None, _) => {}
    }
}

fn write_phenomenon_time(begin: Option<Time>, end: Option<Time>, graph: &mut impl Describe) {
    match (begin, end) {
        (None, None) => {}
        (Some(time), None) => {
            graph.open(Property::PhenomenonTime, Some(Class::Instant));
            graph.literal(Property::Instant, Literal::Time(time));
            graph.close();
        }
        (begin, end) => {
            graph.open(Property::PhenomenonTime, Some(Class::Interval));
            for (property, time) in [(Property::HasBeginning, begin), (Property::HasEnd, end)] {
                if let Some(time) = time {
                    graph.open(property, Some(Class::Instant));
                    graph.literal(Property::Instant, Literal::Time(time));
                    graph.close();
                }
            }
            graph.close();
        }
    }
}

fn write_place(place: Place, graph: &mut impl Describe) {
    graph.open(Property::Location, None);
    graph.literal(Property::Latitude, Literal::Number(place.latitude));
    graph.literal(Property::Longitude, Literal::Number(place.longitude));
    graph.close();
}

fn write_extra(extra: &Extra<'_>, graph: &mut impl Describe) {
    let (from, to) = extra.valid.unzip();
    for (property, time) in [
        (Property::ResultTime, extra.result_time),
        (Property::ValidFrom, from),
        (Property::ValidTo, to),
    ] {
        if let Some(time) = time {
            graph.literal(property, Literal::Time(time));
        }
    }
    if let Some(quality) = extra.quality {
        graph.literal(Property::Quality, Literal::Text(quality));
    }
    if let Some(parameters) = extra.parameters {
        graph.literal(Property::Parameters, Literal::Json(parameters));
    }
}
