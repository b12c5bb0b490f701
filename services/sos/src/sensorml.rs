//! Sensors described in SensorML 2.0 (OGC 12-000) and 1.0.1 (OGC 07-000), and what a description says.

use crate::inventory::Series;
use crate::names::*;
use crate::records::OwnOffering;
use weir_codec::document::{Element, Xml};
use weir_model::Time;

/// What a Term is defined as that names a sensor (OGC 07-122r2).
const UNIQUE_ID: &str = "urn:ogc:def:identifier:OGC:1.0:uniqueID";

/// What a Text is defined as that names an offering, and what the capabilities are called that have such: as 52North's
/// server has it, and clients made for that.
const OFFERING_ID: &str = "urn:ogc:def:identifier:OGC:offeringID";
const OFFERINGS: &str = "offerings";
/// What the capabilities are called that name what a system of SensorML 1.0.1 is a part of.
const PARENTS: &str = "parentProcedures";

/// While a description is valid, and its number within a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Valid {
    number: usize,
    from: Option<Time>,
    until: Option<Time>,
}

impl Valid {
    pub(crate) fn of(number: usize, from: Option<Time>, until: Option<Time>) -> Self {
        Self {
            number,
            from,
            until,
        }
    }

    /// An identifier that no other description of the document has.
    fn id(&self, name: &str) -> String {
        match self.number {
            0 => name.to_owned(),
            number => format!("{name}{number}"),
        }
    }

    /// Writes the time, unless it is valid for ever.
    pub(crate) fn write(&self, element: &str, id: &str, xml: &mut Xml) {
        if self.from.is_none() && self.until.is_none() {
            return;
        }
        xml.start(element).start("gml:TimePeriod");
        xml.attribute("gml:id", &self.id(id));
        for (name, time, open) in [
            ("gml:beginPosition", self.from, "unknown"),
            ("gml:endPosition", self.until, "now"),
        ] {
            match time {
                Some(time) => xml.leaf(name, &time.to_string()),
                None => xml.empty(name, "indeterminatePosition", open),
            };
        }
        xml.end().end();
    }
}

/// A system of SensorML 2.0; `offerings` are those that it names itself.
pub(crate) fn version_20(
    procedure: &str,
    offerings: &[OwnOffering],
    series: &[Series],
    valid: Valid,
) -> String {
    let mut xml = Xml::new();
    xml.start("sml:PhysicalSystem").prefixes(&[
        ("sml", SML20),
        ("swe", SWE20),
        ("gml", GML32),
        ("xlink", XLINK),
    ]);
    xml.attribute("gml:id", &valid.id("sensor"));
    xml.start("gml:identifier")
        .attribute("codeSpace", "uniqueID");
    xml.text(procedure).end();
    valid.write("sml:validTime", "validTime", &mut xml);
    capabilities_20(offerings, &mut xml);
    features(series, &mut xml);
    outputs(series, &mut xml);
    if let Some(place) = series.iter().find_map(|own| own.place) {
        xml.start("sml:position").start("gml:Point");
        xml.attribute("gml:id", &valid.id("position"))
            .attribute("srsName", WGS84);
        xml.leaf(
            "gml:pos",
            &format!("{} {}", place.latitude, place.longitude),
        );
        xml.end().end();
    }
    xml.finish()
}

fn capabilities_20(offerings: &[OwnOffering], xml: &mut Xml) {
    if offerings.is_empty() {
        return;
    }
    xml.start("sml:capabilities").attribute("name", OFFERINGS);
    xml.start("sml:CapabilityList");
    for (number, own) in offerings.iter().enumerate() {
        xml.start("sml:capability");
        xml.attribute("name", &format!("offering{number}"));
        xml.start("swe:Text").attribute("definition", OFFERING_ID);
        own.name.iter().for_each(|name| {
            xml.leaf("swe:label", name);
        });
        xml.leaf("swe:value", &own.id).end().end();
    }
    xml.end().end();
}

fn features(series: &[Series], xml: &mut Xml) {
    let all = crate::inventory::distinct(series.iter().flat_map(Series::features));
    if all.is_empty() {
        return;
    }
    xml.start("sml:featuresOfInterest").start("sml:FeatureList");
    for feature in all {
        xml.empty("sml:feature", "xlink:href", feature);
    }
    xml.end().end();
}

/// A system of SensorML 1.0.1; `offerings` are those that it names itself.
// [SOS1-8.3-1]
pub(crate) fn version_101(
    procedure: &str,
    offerings: &[OwnOffering],
    series: &[Series],
    valid: Valid,
) -> String {
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
    valid.write("sml:validTime", "validTime", &mut xml);
    capabilities_101(offerings, &mut xml);
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

fn capabilities_101(offerings: &[OwnOffering], xml: &mut Xml) {
    if offerings.is_empty() {
        return;
    }
    xml.start("sml:capabilities").attribute("name", OFFERINGS);
    xml.start("swe:SimpleDataRecord");
    for (number, own) in offerings.iter().enumerate() {
        xml.start("swe:field");
        xml.attribute("name", &format!("offering{number}"));
        xml.start("swe:Text").attribute("definition", OFFERING_ID);
        own.name.iter().for_each(|name| {
            xml.leaf("gml:name", name);
        });
        xml.leaf("swe:value", &own.id).end().end();
    }
    xml.end().end();
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
        if unit.contains([':', ' ', '\n', '\r', '\t']) {
            xml.empty("swe:uom", "xlink:href", unit)
        } else {
            xml.empty("swe:uom", "code", unit)
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

/// The offerings that a description names: the texts of its capabilities `offerings`, with their labels (2.0), or their
/// names or those of their fields (1.0.1).
pub(crate) fn offerings(description: &Element) -> Vec<OwnOffering> {
    let mut all: Vec<OwnOffering> = Vec::new();
    for (text, field) in capability_texts(description, OFFERINGS) {
        let said = |name: &str| text.child(name).map(Element::text);
        let name = said("label").or_else(|| said("name")).or(field);
        let id = said("value").unwrap_or_default();
        if !id.is_empty() && all.iter().all(|own| own.id != id) {
            all.push(OwnOffering {
                id,
                name: name.filter(|name| !name.is_empty()),
            });
        }
    }
    all
}

/// The procedures that a description says its own is a part of: `attachedTo` of 2.0, the capabilities
/// `parentProcedures` of 1.0.1.
pub(crate) fn attached_to(description: &Element) -> Vec<String> {
    let attached = described(description).all("attachedTo").filter_map(|own| {
        let said = own.attribute("href").or_else(|| own.attribute("title"));
        said.map(str::to_owned)
    });
    let parents = capability_texts(description, PARENTS)
        .into_iter()
        .filter_map(|(text, _)| text.child("value").map(Element::text));
    attached
        .chain(parents)
        .filter(|id| !id.is_empty())
        .collect()
}

/// The process itself: of 1.0.1 the first member.
fn described(description: &Element) -> &Element {
    let member = description.child("member").and_then(Element::first);
    member.unwrap_or(description)
}

/// The texts of a process's capabilities of a name; of 1.0.1 with the names of their fields, which are people's.
fn capability_texts<'e>(
    description: &'e Element,
    name: &str,
) -> Vec<(&'e Element, Option<String>)> {
    let process = described(description);
    let lists = process.all("capabilities");
    let lists = lists.filter(|own| own.attribute("name") == Some(name));
    let fields = lists.filter_map(Element::first).flat_map(Element::elements);
    let texts = fields.filter_map(|field| {
        let is_persons = field.local == "field";
        let name = field.attribute("name").filter(|_| is_persons);
        Some((field.child("Text")?, name.map(str::to_owned)))
    });
    texts.collect()
}
