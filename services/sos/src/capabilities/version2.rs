//! The document of version 2.0.0.

use super::common;
use super::edition::Edition;
use crate::area::Area;
use crate::ask::Ask;
use crate::exception::Exception;
use crate::inventory::{Offering, distinct};
use crate::names::*;
use crate::relation::{RELATIONS, Relation};
use crate::spatial;
use weir_codec::document::Xml;

/// Conformance classes that hold (OGC 12-006 table 1).
// [SOS2-8.1-7]
const PROFILES: &[&str] = &[
    "http://www.opengis.net/spec/SOS/2.0/conf/core",
    "http://www.opengis.net/spec/SOS/2.0/conf/kvp-core",
    "http://www.opengis.net/spec/SOS/2.0/conf/gfoi",
    "http://www.opengis.net/spec/SOS/2.0/conf/obsByIdRetrieval",
    "http://www.opengis.net/spec/SOS/2.0/conf/insertionCap",
    "http://www.opengis.net/spec/SOS/2.0/conf/sensorInsertion",
    "http://www.opengis.net/spec/SOS/2.0/conf/sensorDeletion",
    "http://www.opengis.net/spec/SOS/2.0/conf/obsInsertion",
    "http://www.opengis.net/spec/SOS/2.0/conf/resultInsertion",
    "http://www.opengis.net/spec/SOS/2.0/conf/resultRetrieval",
    "http://www.opengis.net/spec/SOS/2.0/conf/spatialFilteringProfile",
    "http://www.opengis.net/spec/SOS/2.0/conf/xml",
    "http://www.opengis.net/spec/SOS/2.0/conf/soap",
    "http://www.opengis.net/spec/OMXML/2.0/conf/measurement",
    "http://www.opengis.net/spec/OMXML/2.0/conf/truthObservation",
    "http://www.opengis.net/spec/OMXML/2.0/conf/textObservation",
    "http://www.opengis.net/spec/OMXML/2.0/conf/samplingPoint",
];

const FEATURE_TYPES: [&str; 2] = [SAMPLING_POINT, SAMPLING_FEATURE];

pub(super) const EDITION: Edition = Edition {
    prefixes: &[
        ("sos", SOS20),
        ("swes", SWES20),
        ("ows", OWS11),
        ("fes", FES20),
        ("gml", GML32),
    ],
    profiles: PROFILES,
    insertion: Some(insertion),
    filters,
    contents,
};

/// What may be inserted (OGC 12-006 section 10.4).
// [SOS2-10.1-1] [SOS2-10.1-2]
fn insertion(xml: &mut Xml) {
    xml.start("sos:extension")
        .start("sos:InsertionCapabilities");
    xml.leaves("sos:procedureDescriptionFormat", [SML20, SML101]);
    xml.leaves("sos:featureOfInterestType", FEATURE_TYPES);
    xml.leaves("sos:observationType", INSERTED_TYPES);
    xml.leaf(
        "sos:supportedEncoding",
        "http://www.opengis.net/swe/2.0/TextEncoding",
    );
    xml.end().end();
}

/// What geometries may stand in a filter.
const GEOMETRIES: &[&str] = &[
    "gml:Envelope",
    "gml:Point",
    "gml:LineString",
    "gml:Polygon",
    "gml:MultiPoint",
    "gml:MultiCurve",
    "gml:MultiSurface",
];

/// Which filters there are (OGC 09-026r1 section 7.14).
// [SOS2-8.1-5]
fn filters(xml: &mut Xml) {
    xml.start("sos:filterCapabilities")
        .start("fes:Filter_Capabilities");
    xml.start("fes:Conformance");
    for (name, holds) in [
        ("ImplementsQuery", false),
        ("ImplementsAdHocQuery", false),
        ("ImplementsFunctions", false),
        ("ImplementsResourceld", false),
        ("ImplementsMinStandardFilter", false),
        ("ImplementsStandardFilter", false),
        ("ImplementsMinSpatialFilter", true),
        ("ImplementsSpatialFilter", true),
        ("ImplementsMinTemporalFilter", true),
        ("ImplementsTemporalFilter", true),
        ("ImplementsVersionNav", false),
        ("ImplementsSorting", false),
        ("ImplementsExtendedOperators", false),
    ] {
        xml.start("fes:Constraint").attribute("name", name);
        xml.start("ows:NoValues").end();
        xml.leaf("ows:DefaultValue", if holds { "TRUE" } else { "FALSE" });
        xml.end();
    }
    xml.end();
    xml.start("fes:Spatial_Capabilities")
        .start("fes:GeometryOperands");
    for name in GEOMETRIES {
        xml.empty("fes:GeometryOperand", "name", name);
    }
    xml.end().start("fes:SpatialOperators");
    for name in spatial::NAMES {
        xml.empty("fes:SpatialOperator", "name", name);
    }
    xml.end().end();
    xml.start("fes:Temporal_Capabilities")
        .start("fes:TemporalOperands");
    for name in ["gml:TimePeriod", "gml:TimeInstant"] {
        xml.empty("fes:TemporalOperand", "name", name);
    }
    xml.end().start("fes:TemporalOperators");
    // The schema has no name for AnyInteracts.
    let named = RELATIONS
        .iter()
        .filter(|own| own.0 != Relation::AnyInteracts);
    for (_, name, _) in named {
        xml.empty("fes:TemporalOperator", "name", name);
    }
    xml.end().end().end().end();
}

// [SOS2-8.1-4] [SOS2-8.1-11] [SOS2-8.1-10] [SOS2-8.1-12] [SOS2-8.1-13] [SOS2-8.1-14]
fn contents(ask: &Ask, offerings: &[Offering], xml: &mut Xml) -> Result<(), Exception> {
    xml.start("sos:contents").start("sos:Contents");
    for format in [SML20, SML101] {
        xml.leaf("swes:procedureDescriptionFormat", format);
    }
    for property in distinct(offerings.iter().flat_map(Offering::properties)) {
        xml.leaf("swes:observableProperty", property);
    }
    let extents = common::extents(ask, offerings)?;
    for (number, (offering, spans)) in offerings.iter().zip(extents).enumerate() {
        xml.start("swes:offering").start("sos:ObservationOffering");
        xml.leaf("swes:identifier", &offering.id);
        xml.leaves("swes:name", offering.name.as_deref());
        // What the contents say of all is said again of each: clients look for it there.
        xml.leaf("swes:procedure", &offering.procedure);
        xml.leaves("swes:procedureDescriptionFormat", [SML20, SML101]);
        for property in offering.properties() {
            xml.leaf("swes:observableProperty", property);
        }
        offering.related.iter().for_each(|own| own.write(xml));
        observed_area(offering, xml);
        let result = spans.result.map(|(from, to)| (Some(from), Some(to)));
        for (name, id, span) in [
            ("sos:phenomenonTime", "pt", Some(spans.observed)),
            ("sos:resultTime", "rt", result),
        ] {
            let Some(span) = span.filter(|span| span.1.is_some()) else {
                continue;
            };
            xml.start(name).start("gml:TimePeriod");
            xml.attribute("gml:id", &format!("{id}{number}"));
            common::positions(span, xml);
            xml.end().end();
        }
        xml.leaves("sos:responseFormat", RESPONSE_FORMATS);
        let classes = offering.series.iter().map(|series| series.class);
        for class in distinct(classes) {
            xml.leaf("sos:observationType", class);
        }
        xml.leaves("sos:featureOfInterestType", FEATURE_TYPES);
        xml.end().end();
    }
    for format in RESPONSE_FORMATS {
        xml.leaf("sos:responseFormat", format);
    }
    for class in OBSERVATION_TYPES {
        xml.leaf("sos:observationType", class);
    }
    xml.leaves("sos:featureOfInterestType", FEATURE_TYPES);
    xml.end().end();
    Ok(())
}

// [SOS2-8.1-8] [SOS2-8.0-5]
fn observed_area(offering: &Offering, xml: &mut Xml) {
    let places = offering.series.iter().filter_map(|series| series.place);
    let Some(area) = Area::around(places) else {
        return;
    };
    let [lower, upper] = area.corners();
    xml.start("sos:observedArea").start("gml:Envelope");
    xml.attribute("srsName", WGS84);
    xml.leaf("gml:lowerCorner", &lower);
    xml.leaf("gml:upperCorner", &upper);
    xml.end().end();
}
