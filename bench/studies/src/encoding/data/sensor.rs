//! SD and RS: a sensor described in SensorML 1.0.1, to be read or to be registered.
//!
//! The paper prints no sizes of these two: it says that its results of SD were much like those of the
//! small files of CAPS, and those of RS like the small files of IO. The shapes here are such.

use super::draft::{Draft, Shape, words};
use weir_bench_model::random::Random;

const NAMESPACES: &[(&str, &str)] = &[
    ("xmlns:sml", "http://www.opengis.net/sensorML/1.0.1"),
    ("xmlns:swe", "http://www.opengis.net/swe/1.0.1"),
    ("xmlns:gml", "http://www.opengis.net/gml"),
    ("xmlns:xlink", "http://www.w3.org/1999/xlink"),
    ("version", "1.0.1"),
];

/// Bytes that must be left for what closes a description.
const TAIL_BYTES: usize = 500;

/// A SensorML document of a shape.
pub(super) fn description(shape: &Shape, random: &mut Random) -> String {
    let mut draft = Draft::new();
    draft.start("sml:SensorML", NAMESPACES);
    draft.start("sml:member", &[]);
    system(&mut draft, shape, random);
    draft.finish()
}

/// A RegisterSensor request of a shape.
pub(super) fn registration(shape: &Shape, random: &mut Random) -> String {
    let mut draft = Draft::new();
    let request = [
        ("service", "SOS"),
        ("version", "1.0.0"),
        ("xmlns", "http://www.opengis.net/sos/1.0"),
        ("xmlns:om", "http://www.opengis.net/om/1.0"),
    ];
    draft.start("RegisterSensor", &[&request, &NAMESPACES[..4]].concat());
    draft.start("SensorDescription", &[]);
    system(&mut draft, shape, random);
    draft.finish()
}

fn system(draft: &mut Draft, shape: &Shape, random: &mut Random) {
    draft.start("sml:System", &[]);
    draft.leaf("gml:description", &[], &words(40, random));
    draft.start("sml:position", &[("name", "sensorPosition")]);
    draft.start(
        "swe:Position",
        &[("referenceFrame", "urn:ogc:def:crs:EPSG::4326")],
    );
    draft.start("swe:location", &[]);
    draft.start("swe:Vector", &[]);
    for (name, axis, value) in [("easting", "x", 4.0), ("northing", "y", 40.0)] {
        draft.start("swe:coordinate", &[("name", name)]);
        draft.start("swe:Quantity", &[("axisID", axis)]);
        draft.empty("swe:uom", &[("code", "deg")]);
        draft.leaf("swe:value", &[], &format!("{:.4}", value + random.unit()));
        draft.end();
        draft.end();
    }
    draft.end();
    draft.end();
    draft.end();
    draft.end();
    members(draft, shape, random);
    draft.fill("gml:remarks", shape, random, |draft| {
        draft.empty("sml:keywords", &[])
    });
}

/// Identifiers, classifiers, inputs and outputs, each chosen by what the density lacks.
fn members(draft: &mut Draft, shape: &Shape, random: &mut Random) {
    let mut number = 0;
    while draft.room(shape) > TAIL_BYTES {
        number += 1;
        match draft.wants_data(shape) {
            true => identifier(draft, number, random),
            false => output(draft, number, random),
        }
    }
}

fn identifier(draft: &mut Draft, number: usize, random: &mut Random) {
    let definition = "urn:ogc:def:identifier:OGC:1.0:uniqueIDofTheSensorWithinItsNetwork";
    let value = format!(
        "urn:ogc:object:feature:Sensor:{}:{number}",
        words(24, random)
    );
    draft.start("sml:identifier", &[("name", "uniqueID")]);
    draft.start("sml:Term", &[("definition", definition)]);
    draft.leaf("sml:value", &[], &value);
    draft.end();
    draft.end();
}

fn output(draft: &mut Draft, number: usize, random: &mut Random) {
    let name = random.one_of(&["temperature", "pressure", "salinity", "depth"]);
    draft.start("sml:output", &[("name", name)]);
    draft.start(
        "swe:Quantity",
        &[("definition", &format!("urn:x:{number}"))],
    );
    draft.empty("swe:uom", &[("code", "Cel")]);
    draft.start("swe:constraint", &[]);
    draft.start("swe:AllowedValues", &[]);
    draft.leaf("swe:interval", &[], "-5 40");
    draft.end();
    draft.end();
    draft.end();
    draft.end();
}
