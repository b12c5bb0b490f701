//! Sensors described in SensorML 2.0 (OGC 12-000) and 1.0.1 (OGC 07-000), and what a description says.

use crate::inventory::Series;
use crate::names::*;
use weir_codec::document::{Element, Xml};

/// What a Term is defined as that names a sensor (OGC 07-122r2).
const UNIQUE_ID: &str = "urn:ogc:def:identifier:OGC:1.0:uniqueID";

/// A system of SensorML 2.0.
pub(crate) fn version_20(procedure: &str, series: &[Series]) -> String {
    let mut xml = Xml::new();
    xml.start("sml:PhysicalSystem").prefixes(&[
        ("sml", SML20),
        ("swe", SWE20),
        ("gml", GML32),
        ("xlink", XLINK),
    ]);
    xml.attribute("gml:id", "sensor");
    xml.start("gml:identifier")
        .attribute("codeSpace", "uniqueID");
    xml.text(procedure).end();
    features(series, &mut xml);
    outputs(series, &mut xml);
    if let Some(place) = series.iter().find_map(|own| own.place) {
        xml.start("sml:position").start("gml:Point");
        xml.attribute("gml:id", "position")
            .attribute("srsName", WGS84);
        xml.leaf(
            "gml:pos",
            &format!("{} {}", place.latitude, place.longitude),
        );
        xml.end().end();
    }
    xml.finish()
}

fn features(series: &[Series], xml: &mut Xml) {
    let all = crate::inventory::distinct(series.iter().map(|own| own.feature.as_str()));
    if all.is_empty() {
        return;
    }
    xml.start("sml:featuresOfInterest").start("sml:FeatureList");
    for feature in all {
        xml.empty("sml:feature", "xlink:href", feature);
    }
    xml.end().end();
}

/// A system of SensorML 1.0.1.
// [SOS1-8.3-1]
pub(crate) fn version_101(procedure: &str, series: &[Series]) -> String {
    let mut xml = Xml::new();
    xml.start("sml:SensorML").prefixes(&[
        ("sml", SML101),
        ("swe", SWE101),
        ("gml", GML31),
        ("xlink", XLINK),
    ]);
    xml.attribute("version", "1.0.1");
    xml.start("sml:member").start("sml:System");
    xml.start("sml:identification").start("sml:IdentifierList");
    xml.start("sml:identifier").attribute("name", "uniqueID");
    xml.start("sml:Term").attribute("definition", UNIQUE_ID);
    xml.leaf("sml:value", procedure);
    xml.end().end().end().end();
    if let Some(place) = series.iter().find_map(|own| own.place) {
        position(
            &[
                ("latitude", "y", place.latitude),
                ("longitude", "x", place.longitude),
            ],
            &mut xml,
        );
    }
    outputs(series, &mut xml);
    xml.finish()
}

fn position(axes: &[(&str, &str, f64)], xml: &mut Xml) {
    xml.start("sml:position")
        .attribute("name", "sensorPosition");
    xml.start("swe:Position")
        .attribute("referenceFrame", WGS84_URN);
    xml.start("swe:location").start("swe:Vector");
    for (name, axis, degrees) in axes {
        xml.start("swe:coordinate").attribute("name", name);
        xml.start("swe:Quantity").attribute("axisID", axis);
        xml.empty("swe:uom", "code", "deg");
        xml.leaf("swe:value", &degrees.to_string());
        xml.end().end();
    }
    xml.end().end().end().end();
}

/// The same in both versions: a component of SWE Common for each datastream.
fn outputs(series: &[Series], xml: &mut Xml) {
    if series.is_empty() {
        return;
    }
    xml.start("sml:outputs").start("sml:OutputList");
    for (number, own) in series.iter().enumerate() {
        xml.start("sml:output")
            .attribute("name", &format!("output{number}"));
        component(own, xml);
        xml.end();
    }
    xml.end().end();
}

/// What a result is, as a component of SWE Common.
pub(crate) fn component(series: &Series, xml: &mut Xml) {
    let element = match series.class.rsplit('/').next() {
        Some("OM_TruthObservation") => "swe:Boolean",
        Some("OM_TextObservation") => "swe:Text",
        _ => "swe:Quantity",
    };
    xml.start(element).attribute("definition", &series.property);
    if element == "swe:Quantity" {
        let unit = series.unit.as_deref().unwrap_or("1");
        match unit.contains([':', ' ', '\n', '\r', '\t']) {
            true => xml.empty("swe:uom", "xlink:href", unit),
            false => xml.empty("swe:uom", "code", unit),
        };
    }
    xml.end();
}

/// What a description calls its sensor: `gml:identifier` of 2.0, the Term `uniqueID` of 1.0.1.
pub(crate) fn identifier(description: &Element) -> Option<String> {
    let term = |identifier: &Element| {
        let term = identifier.child("Term")?;
        let said = term.attribute("definition").unwrap_or_default();
        let names = said.ends_with("uniqueID") || identifier.attribute("name") == Some("uniqueID");
        names.then(|| term.child("value").map(Element::text))?
    };
    let found = match description.child("identifier") {
        Some(own) if own.uri == GML32 => Some(own.text()),
        _ => description
            .find("IdentifierList")
            .and_then(|list| list.all("identifier").find_map(term)),
    };
    found.filter(|id| !id.is_empty())
}
