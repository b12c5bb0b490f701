//! Requests in XML: by themselves, or from an envelope or EXI.

use super::elements;
use crate::comparison::Comparison;
use crate::exception::{Code, Exception};
use crate::limits::TEMPORAL_FILTERS_MAX;
use crate::moment::{Property, compared, period, span};
use crate::names::{FES20, GDA10, GDA20, OGC, SOS10, SOS20, SWES20};
use crate::operations;
use crate::params::{Params, Version};
use crate::relation::{Period, Relation};
use crate::spatial::Spatial;
use bytes::Bytes;
use std::cell::Cell;
use weir_codec::document::{Element, read_head, read_xml};

/// Reads a request. Of one that holds a message only what stands before that.
pub(super) fn read_root(body: &[u8]) -> Result<Element, Exception> {
    let malformed = |fault: weir_codec::document::Fault| Exception::malformed(fault.to_string());
    let met = Cell::new(false);
    let root = read_head(body, &|_| met.replace(true)).map_err(malformed)?;
    match root.local == "InsertObservation" {
        true => read_head(body, &is_observation),
        false => read_xml(body),
    }
    .map_err(malformed)
}

/// Whether an element of this name holds observations, or is one of a type of O&M.
pub(super) fn is_observation(local: &str) -> bool {
    matches!(local, "observation" | "Observation" | "Measurement") || OBSERVATIONS.contains(&local)
}

/// The types of observations of O&M 1.0 beside these, read or refused with what is wrong.
const OBSERVATIONS: &[&str] = &[
    "CategoryObservation",
    "CountObservation",
    "TruthObservation",
    "GeometryObservation",
    "TemporalObservation",
    "ComplexObservation",
];

/// The operations whose elements are of SWE Service (OGC 09-001).
const OF_SWES: &[&str] = &[
    "DescribeSensor",
    "InsertSensor",
    "DeleteSensor",
    "UpdateSensorDescription",
];

fn version_of(root: &Element) -> Result<Version, Exception> {
    let swes = OF_SWES.contains(&root.local.as_str());
    match root.uri.as_str() {
        SOS10 => Ok(Version::V1),
        SWES20 if swes => Ok(Version::V2),
        SOS20 if !swes => Ok(Version::V2),
        GDA10 | GDA20 if root.local == "GetDataAvailability" => Ok(Version::V2),
        _ if !operations::is_known(&root.local) => Err(operations::unknown(&root.local)),
        other => Err(Exception::new(
            Code::InvalidRequest,
            &root.local,
            format!(
                "{} is of no namespace `{other}` that is spoken here",
                root.local
            ),
        )),
    }
}

/// The parameters of a request; `message` is the document as it came.
// [SOS2-13.1-1]
pub(super) fn params(root: Element, message: Option<Bytes>) -> Result<Params, Exception> {
    let version = version_of(&root)?;
    let mut params = Params::of(&root.local);
    for name in [
        "service",
        "version",
        "updateSequence",
        "outputFormat",
        "srsName",
    ] {
        if let Some(value) = root.attribute(name) {
            params.add(name, value)?;
        }
    }
    check_version(version, &params)?;
    elements::check(&root, version)?;
    for child in root.elements() {
        add(child, &mut params)?;
    }
    if root.local == "InsertObservation" {
        params.message = Some(message.unwrap_or_else(|| root.to_xml().into()));
    }
    params.element = Some(root);
    Ok(params)
}

/// What the attribute says must be what the namespace says.
fn check_version(version: Version, params: &Params) -> Result<(), Exception> {
    match params.one("version")? {
        Some(text) if text != version.text() => Err(Exception::invalid(
            "version",
            format!("`{text}`, but the namespace is that of {}", version.text()),
        )),
        _ => Ok(()),
    }
}

/// Elements whose content is looked at by the operation itself.
const STRUCTURED: &[&str] = &[
    "procedureDescription",
    "description",
    "metadata",
    "relatedFeature",
    "proposedTemplate",
    "resultValues",
    "SensorDescription",
    "ObservationTemplate",
];

fn add(child: &Element, params: &mut Params) -> Result<(), Exception> {
    let name = child.local.as_str();
    match name {
        "AcceptVersions" | "Sections" | "AcceptFormats" => {
            let mut parts = child.elements();
            parts.try_for_each(|part| params.add(name, &part.text()))
        }
        "temporalFilter" | "eventTime" => temporal(name, child, params),
        "validTime" => {
            params.add(name, &child.local)?;
            params.required(name)?;
            match operand(name, child)? {
                Operand::Instant(span) | Operand::Period(span) => params.valid = Some(span),
                Operand::Latest | Operand::First => {
                    let sentence = "an instant or a period was expected";
                    return Err(Exception::invalid(name, sentence));
                }
            }
            Ok(())
        }
        "spatialFilter" | "location" => spatial(name, child, params),
        "extension" => extension(child, params),
        "featureOfInterest" if child.first().is_some() => features(name, child, params),
        "featureOfInterest" => params.add(name, &child.text()),
        // GetObservationById names observations, where inserting has them.
        "observation" if child.first().is_none() => params.add(name, &child.text()),
        "result" => {
            params.comparison = Some(Comparison::of_element(name, operator(name, child)?)?);
            Ok(())
        }
        _ if STRUCTURED.contains(&name) || is_observation(name) => Ok(()),
        _ => params.add(name, &child.text()),
    }
}

/// The filters that 52North's server takes as extensions of requests (`http://www.opengis.net/sosrf/1.0`,
/// `http://www.opengis.net/sossf/1.0`); what is not known changes nothing.
fn extension(child: &Element, params: &mut Params) -> Result<(), Exception> {
    let name = "extension";
    let Some(inner) = child.first() else {
        return Ok(());
    };
    match (inner.local.as_str(), inner.first()) {
        ("ResultFilter", Some(filter)) => {
            params.comparison = Some(Comparison::of_element(name, filter)?);
            Ok(())
        }
        ("SpatialFilter", Some(_)) => spatial(name, inner, params),
        _ => Ok(()),
    }
}

/// SOS 1.0.0: a list of identifiers, or a spatial operator.
fn features(name: &str, child: &Element, params: &mut Params) -> Result<(), Exception> {
    let mut identifiers = child.all("ObjectID").peekable();
    if identifiers.peek().is_none() {
        return spatial(name, child, params);
    }
    identifiers.try_for_each(|identifier| params.add(name, &identifier.text()))
}

/// A filter's operator, of Filter Encoding 2.0 or 1.1.
fn operator<'e>(name: &str, filter: &'e Element) -> Result<&'e Element, Exception> {
    let operator = filter.first().ok_or_else(|| Exception::missing(name))?;
    match operator.uri.as_str() {
        FES20 | OGC => Ok(operator),
        other => {
            let sentence = format!("{} is no operator of `{other}`", operator.local);
            Err(Exception::new(Code::InvalidRequest, name, sentence))
        }
    }
}

fn spatial(name: &str, child: &Element, params: &mut Params) -> Result<(), Exception> {
    let filter = Spatial::of_element(name, operator(name, child)?)?;
    params.region.narrow(name, filter)
}

fn temporal(name: &str, child: &Element, params: &mut Params) -> Result<(), Exception> {
    let filter = operator(name, child)?;
    params.add(name, &filter.local)?;
    if params.all(name).len() > TEMPORAL_FILTERS_MAX {
        return Err(Exception::invalid(name, "too many temporal filters"));
    }
    let reference = filter
        .child("ValueReference")
        .or_else(|| filter.child("PropertyName"))
        .map(Element::text)
        .unwrap_or_else(|| "om:phenomenonTime".into());
    let property = property(name, &reference)?;
    let relation = Relation::named(&filter.local);
    match (relation, operand(name, filter)?) {
        (Some(Relation::Equals), Operand::Latest) => params.temporal.latest = true,
        (Some(Relation::Equals), Operand::First) => params.temporal.first = true,
        (Some(relation), Operand::Instant(span)) => {
            let relation = compared(relation, span);
            params.temporal.narrow(property, relation, span);
        }
        (Some(relation), Operand::Period(period)) => {
            params.temporal.narrow(property, relation, period);
        }
        (Some(_), _) => {
            let sentence = "what is latest or first is asked for with TEquals";
            return Err(Exception::invalid(name, sentence));
        }
        (None, _) => {
            let sentence = format!("there is no temporal operator {}", filter.local);
            return Err(Exception::new(Code::OptionNotSupported, name, sentence));
        }
    }
    Ok(())
}

fn property(name: &str, reference: &str) -> Result<Property, Exception> {
    // SOS 1.0.0 clients name the time by its encoding.
    if reference.contains("iso8601") {
        return Ok(Property::Phenomenon);
    }
    Property::named(reference).ok_or_else(|| {
        Exception::invalid(name, format!("`{reference}` is no time of observations"))
    })
}

enum Operand {
    /// As far as it is precise.
    Instant(Period),
    Period(Period),
    Latest,
    First,
}

/// What a position in time says: an instant, and none that is left open (GML 3.2.1 section 14.2.2.7).
fn position(name: &str, position: Option<&Element>) -> Result<String, Exception> {
    let left_open = position.and_then(|own| own.attribute("indeterminatePosition"));
    match left_open {
        Some(how) => {
            let sentence = format!(
                "a time of which `{how}` alone is known cannot be asked for: say an instant, \
                 or use After or Before"
            );
            Err(Exception::invalid(name, sentence))
        }
        None => Ok(position.map(Element::text).unwrap_or_default()),
    }
}

fn operand(name: &str, filter: &Element) -> Result<Operand, Exception> {
    if let Some(at) = filter.child("TimeInstant") {
        let text = position(name, at.child("timePosition"))?;
        return match text.as_str() {
            "latest" | "getLatest" => Ok(Operand::Latest),
            "first" | "getFirst" => Ok(Operand::First),
            text => Ok(Operand::Instant(span(name, text)?)),
        };
    }
    let whole = filter
        .child("TimePeriod")
        .ok_or_else(|| Exception::invalid(name, "a gml:TimeInstant or gml:TimePeriod is needed"))?;
    let end = |own: &str, other: &str| {
        let found = whole.child(own);
        let found = found.or_else(|| whole.child(other)?.find("timePosition"));
        position(name, found)
    };
    let (begin, end) = (end("beginPosition", "begin")?, end("endPosition", "end")?);
    Ok(Operand::Period(period(name, &begin, &end)?))
}
