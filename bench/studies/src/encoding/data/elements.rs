//! Document B: observations in O&M 2.0, an element with its own metadata for each.
//!
//! The same series, written so, are what section 5.2.1 of Tamayo et al. compares blocks with.

use weir_model::Time;

use super::draft::Draft;
use super::series::Series;

const NAMESPACES: &[(&str, &str)] = &[
    ("xmlns:sos", "http://www.opengis.net/sos/2.0"),
    ("xmlns:om", "http://www.opengis.net/om/2.0"),
    ("xmlns:gml", "http://www.opengis.net/gml/3.2"),
    ("xmlns:xlink", "http://www.w3.org/1999/xlink"),
    ("xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance"),
    (
        "xsi:schemaLocation",
        "http://www.opengis.net/sos/2.0 http://schemas.opengis.net/sos/2.0/sos.xsd",
    ),
];

const STATIONS: &str = "http://coast.example/stations";
const KIND: &str = "http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_Measurement";

/// A GetObservationResponse with an `om:OM_Observation` for each observation, station after station
/// in turn.
pub(super) fn document(series: &[Series]) -> String {
    let mut draft = Draft::new();
    draft.start("sos:GetObservationResponse", NAMESPACES);
    let longest = series.iter().map(|one| one.points.len()).max().unwrap_or(0);
    let mut number = 0;
    for index in 0..longest {
        for (station, one) in series.iter().enumerate() {
            if let Some(&(time, value)) = one.points.get(index) {
                number += 1;
                observation(&mut draft, number, station + 1, one, (time, value));
            }
        }
    }
    draft.finish()
}

fn observation(
    draft: &mut Draft,
    number: usize,
    station: usize,
    series: &Series,
    (time, value): (Time, f64),
) {
    let id = format!("o_{number}");
    let time_id = format!("pt_{number}");
    draft.start("sos:observationData", &[]);
    draft.start("om:OM_Observation", &[("gml:id", &id)]);
    draft.empty("om:type", &[("xlink:href", KIND)]);
    draft.start("om:phenomenonTime", &[]);
    draft.start("gml:TimeInstant", &[("gml:id", &time_id)]);
    draft.leaf("gml:timePosition", &[], &instant(time));
    draft.end();
    draft.end();
    draft.empty("om:resultTime", &[("xlink:href", &format!("#{time_id}"))]);
    reference(
        draft,
        "om:procedure",
        &series.sensor,
        &format!("Thermometer of station {station}"),
    );
    reference(
        draft,
        "om:observedProperty",
        series.property,
        "Temperature of the sea water",
    );
    let title = format!("Station {station} of the western coastal network");
    reference(
        draft,
        "om:featureOfInterest",
        &format!("{STATIONS}/{station}"),
        &title,
    );
    let kind = [("xsi:type", "gml:MeasureType"), ("uom", "Cel")];
    draft.leaf("om:result", &kind, &value.to_string());
    draft.end();
    draft.end();
}

fn reference(draft: &mut Draft, name: &str, href: &str, title: &str) {
    draft.empty(name, &[("xlink:href", href), ("xlink:title", title)]);
}

fn instant(time: Time) -> String {
    let mut text = Vec::new();
    time.write_rfc3339(&mut text);
    String::from_utf8(text).unwrap_or_default()
}
