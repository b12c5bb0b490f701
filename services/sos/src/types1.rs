//! What version 1.0.0 has beside its profiles (OGC 06-009r6 sections 10.1 to 10.7): when a feature was observed,
//! and the schemas of features, observations and results.
//!
//! A schema is told as one that imports OGC's and narrows it to what the service gives; so a client that
//! validates needs no copy from here.

use crate::ask::Ask;
use crate::exception::Exception;
use crate::features::known;
use crate::models;
use crate::names::*;
use crate::reply::Reply;
use weir_codec::Model;
use weir_codec::document::Xml;
use weir_hub::{Extent, Made};

const ACTION: &str = "http://www.opengis.net/sos/1.0/";

/// Answers GetFeatureOfInterestTime: from when to when there are observations of a feature.
// [SOS1-10.4-1]
pub(crate) fn feature_time(ask: &Ask) -> Result<Reply, Exception> {
    let name = "FeatureOfInterestId";
    let id = ask.params.required(name)?;
    let features = known(ask, &ask.inventory()?)?;
    let feature = features.get(id);
    let feature = feature.ok_or_else(|| Exception::invalid(name, format!("there is no `{id}`")))?;
    let topics = feature.topics.iter().cloned();
    let made: Vec<_> = topics.map(Made::from).collect();
    let extents = ask.caller()?.extents(&made)?;
    let extent = extents.into_iter().flatten().reduce(Extent::joined);
    let mut xml = Xml::new();
    xml.start("gml:TimePeriod").prefixes(&[("gml", GML31)]);
    let end = extent.map(|extent| extent.last.max(extent.end.unwrap_or(extent.last)));
    let begin = extent.map(|extent| extent.first);
    for (name, time) in [("gml:beginPosition", begin), ("gml:endPosition", end)] {
        match time {
            Some(time) => xml.leaf(name, &time.to_string()),
            None => xml.empty(name, "indeterminatePosition", "unknown"),
        };
    }
    Ok(Reply::Document(xml.finish(), ACTION))
}

/// Answers DescribeFeatureType: what a feature is in GML.
// [SOS1-10.4-2]
pub(crate) fn feature_type(ask: &Ask) -> Result<Reply, Exception> {
    let name = "FeatureId";
    let id = ask.params.required(name)?;
    let features = known(ask, &ask.inventory()?)?;
    match features.get(id).map(|feature| feature.position.is_some()) {
        Some(true) => Ok(schema(SAMPLING, "SamplingPoint", "sa:SamplingPointType")),
        Some(false) => Ok(schema(
            SAMPLING,
            "SamplingFeature",
            "sa:SamplingFeatureType",
        )),
        None => Err(Exception::invalid(name, format!("there is no `{id}`"))),
    }
}

/// Answers DescribeObservationType: what the observations of a property are.
// [SOS1-10.4-3]
pub(crate) fn observation_type(ask: &Ask) -> Result<Reply, Exception> {
    let name = "observedProperty";
    let id = ask.params.required(name)?;
    let inventory = ask.inventory()?;
    let mut own = inventory
        .of_property(id)
        .map(|named| inventory.series(named));
    let first = own.next();
    let first = first.ok_or_else(|| Exception::invalid(name, format!("there is no `{id}`")))?;
    Ok(of_model(first.model))
}

/// Answers DescribeResultModel: what the observations of a model are.
// [SOS1-10.4-4]
pub(crate) fn result_model(ask: &Ask) -> Result<Reply, Exception> {
    let name = "ResultName";
    Ok(of_model(models::named(name, ask.params.required(name)?)?))
}

fn of_model(model: Option<Model>) -> Reply {
    match model {
        None => schema(OM, "Observation", "om:ObservationType"),
        Some(model) => {
            let own = format!("om:{}Type", model.name());
            schema(SPECIALIZED, model.name(), &own)
        }
    }
}

/// A namespace, its prefix here, and where OGC has its schema.
type Imported = (&'static str, &'static str, &'static str);

const SAMPLING: Imported = (
    "sa",
    SA10,
    "http://schemas.opengis.net/sampling/1.0.0/sampling.xsd",
);
const OM: Imported = ("om", OM10, "http://schemas.opengis.net/om/1.0.0/om.xsd");
const SPECIALIZED: Imported = (
    "om",
    OM10,
    "http://schemas.opengis.net/om/1.0.0/extensions/observationSpecialization_override.xsd",
);

/// A schema of one element, of a type that another schema has.
fn schema((prefix, uri, location): Imported, element: &str, class: &str) -> Reply {
    let mut xml = Xml::new();
    xml.start("xs:schema")
        .prefixes(&[("xs", XS), (prefix, uri)]);
    xml.attribute("targetNamespace", "urn:weir:sos");
    xml.start("xs:import").attribute("namespace", uri);
    xml.attribute("schemaLocation", location).end();
    xml.start("xs:element").attribute("name", element);
    xml.attribute("type", class).end();
    Reply::Document(xml.finish(), ACTION)
}
