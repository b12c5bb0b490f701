//! The document of version 1.0.0.

use super::common;
use super::edition::Edition;
use crate::area::Area;
use crate::ask::Ask;
use crate::exception::Exception;
use crate::identifiers::nc_name;
use crate::inventory::Offering;
use crate::names::*;
use crate::relation::RELATIONS;
use crate::{comparison, models, spatial};
use weir_codec::document::Xml;

// [SOS1-8.2-1]
pub(super) const EDITION: Edition = Edition {
    prefixes: &[
        ("sos", SOS10),
        ("ows", OWS11),
        ("ogc", OGC),
        ("gml", GML31),
        ("om", OM10),
    ],
    profiles: &[],
    insertion: None,
    filters,
    contents,
};

/// Which filters there are (OGC 04-095 section 20, with the temporal operators of SOS 1.0.0).
fn filters(xml: &mut Xml) {
    xml.start("sos:Filter_Capabilities");
    xml.start("ogc:Spatial_Capabilities")
        .start("ogc:GeometryOperands");
    for name in ["gml:Envelope", "gml:Point", "gml:LineString", "gml:Polygon"] {
        xml.leaf("ogc:GeometryOperand", name);
    }
    xml.end().start("ogc:SpatialOperators");
    for name in spatial::NAMES {
        xml.empty("ogc:SpatialOperator", "name", name);
    }
    xml.end().end();
    xml.start("ogc:Temporal_Capabilities")
        .start("ogc:TemporalOperands");
    for name in ["gml:TimePeriod", "gml:TimeInstant"] {
        xml.leaf("ogc:TemporalOperand", name);
    }
    xml.end().start("ogc:TemporalOperators");
    let named = RELATIONS.iter().filter(|(.., name)| !name.is_empty());
    for (.., name) in named {
        xml.empty("ogc:TemporalOperator", "name", name);
    }
    xml.end().end();
    xml.start("ogc:Scalar_Capabilities")
        .start("ogc:ComparisonOperators");
    xml.leaves("ogc:ComparisonOperator", comparison::NAMES);
    xml.end().end();
    xml.start("ogc:Id_Capabilities");
    xml.start("ogc:EID").end();
    xml.end().end();
}

fn contents(ask: &Ask, offerings: &[Offering], xml: &mut Xml) -> Result<(), Exception> {
    // Contents of no offering are not by the schema.
    if offerings.is_empty() {
        return Ok(());
    }
    xml.start("sos:Contents")
        .start("sos:ObservationOfferingList");
    for (offering, spans) in offerings.iter().zip(common::extents(ask, offerings)?) {
        xml.start("sos:ObservationOffering");
        xml.attribute("gml:id", &nc_name(&offering.id));
        xml.leaf("gml:name", &offering.id);
        xml.leaves("gml:name", offering.name.as_deref());
        bounded_by(offering, xml);
        xml.start("sos:time").start("gml:TimePeriod");
        common::positions(spans.observed, xml);
        xml.end().end();
        xml.empty("sos:procedure", "xlink:href", &offering.procedure);
        for property in offering.properties() {
            xml.empty("sos:observedProperty", "xlink:href", property);
        }
        for feature in offering.features() {
            xml.empty("sos:featureOfInterest", "xlink:href", feature);
        }
        for format in RESPONSE_FORMATS_1 {
            xml.leaf("sos:responseFormat", format);
        }
        xml.leaves("sos:resultModel", models::names(&offering.series));
        xml.leaves("sos:responseMode", RESPONSE_MODES);
        xml.end();
    }
    xml.end().end();
    Ok(())
}

/// Mandatory here, so that what has no place is said to be anywhere.
fn bounded_by(offering: &Offering, xml: &mut Xml) {
    let places = offering.series.iter().filter_map(|series| series.place);
    xml.start("gml:boundedBy");
    match Area::around(places) {
        None => {
            xml.leaf("gml:Null", "unknown");
        }
        Some(area) => {
            let [lower, upper] = area.corners();
            xml.start("gml:Envelope").attribute("srsName", WGS84_URN);
            xml.leaf("gml:lowerCorner", &lower);
            xml.leaf("gml:upperCorner", &upper).end();
        }
    }
    xml.end();
}
