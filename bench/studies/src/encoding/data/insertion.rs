//! IO: an InsertObservation request of SOS 1.0.
//!
//! In table 4 each further observation costs 35 bytes of XML, of JSON and of EXI alike, and a tenth
//! of a byte of EXI-C: the paper's "synthetic values" were one row over and over. [`Rows::Same`] is
//! that, for the comparison; [`Rows::Series`] is what a sensor would send.

use super::draft::{Draft, Shape};
use super::series::{Precision, Series, temperatures};
use weir_bench_model::random::Random;
use weir_model::Time;

/// What the rows say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rows {
    /// One row over and over.
    Same,
    /// A series.
    Series,
}

const NAMESPACES: &[(&str, &str)] = &[
    ("xmlns", "http://www.opengis.net/sos/1.0"),
    ("xmlns:om", "http://www.opengis.net/om/1.0"),
    ("xmlns:gml", "http://www.opengis.net/gml"),
    ("xmlns:swe", "http://www.opengis.net/swe/1.0.1"),
    ("xmlns:xlink", "http://www.w3.org/1999/xlink"),
    ("service", "SOS"),
    ("version", "1.0.0"),
];

/// A request of a shape with so many observations.
pub(super) fn document(
    shape: &Shape,
    count: usize,
    rows: Rows,
    random: &mut Random,
) -> (String, Vec<Series>) {
    let series = series(count, rows, random);
    let mut draft = Draft::new();
    draft.start("InsertObservation", NAMESPACES);
    let sensor = series.first().map_or("", |one| one.sensor.as_str());
    draft.leaf("AssignedSensorId", &[], sensor);
    draft.start("om:Observation", &[]);
    draft.start("om:samplingTime", &[]);
    draft.start("gml:TimePeriod", &[]);
    draft.leaf("gml:beginPosition", &[], "2010-01-01T00:00:00Z");
    draft.leaf("gml:endPosition", &[], "2010-02-01T00:00:00Z");
    draft.end();
    draft.end();
    draft.empty("om:procedure", &[("xlink:href", sensor)]);
    draft.empty(
        "om:observedProperty",
        &[("xlink:href", "urn:ogc:def:property:OGC::Temp")],
    );
    draft.empty(
        "om:featureOfInterest",
        &[("xlink:href", "urn:ogc:object:feature:station-1")],
    );
    draft.start("om:result", &[]);
    draft.start("swe:DataArray", &[]);
    draft.start("swe:elementType", &[("name", "Components")]);
    draft.start("swe:DataRecord", &[]);
    for name in ["Time", "Temp"] {
        draft.start("swe:field", &[("name", name)]);
        draft.empty("swe:Quantity", &[("definition", "urn:ogc:data:f")]);
        draft.end();
    }
    draft.end();
    draft.end();
    draft.empty(
        "swe:TextBlock",
        &[("tokenSeparator", ","), ("blockSeparator", ";")],
    );
    finish(draft, shape, &series, random)
}

/// Meets the shape and adds the rows.
fn finish(
    mut draft: Draft,
    shape: &Shape,
    series: &[Series],
    random: &mut Random,
) -> (String, Vec<Series>) {
    let rows: Vec<String> = series.iter().flat_map(rows_of).collect();
    let block =
        rows.iter().map(String::len).sum::<usize>() + "<swe:values></swe:values>".len() + 10;
    // Of the head alone: what is left of the data when the rows are taken out.
    let bytes = shape.bytes.saturating_sub(block);
    let data = (shape.bytes - shape.structure()).saturating_sub(block);
    let head = Shape {
        bytes,
        density_percent: data as f64 * 100.0 / bytes.max(1) as f64,
    };
    draft.fill("gml:description", &head, random, |draft| {
        draft.empty("gml:metaDataProperty", &[])
    });
    draft.start_text("swe:values");
    rows.iter().for_each(|row| draft.write(row));
    draft.end_text();
    (draft.finish(), series.to_vec())
}

fn series(count: usize, rows: Rows, random: &mut Random) -> Vec<Series> {
    let mut series = temperatures(count, 1, Precision::Hundredths, random);
    if rows == Rows::Same {
        let first = series.first().and_then(|one| one.points.first()).copied();
        for one in &mut series {
            one.points
                .iter_mut()
                .for_each(|point| *point = first.unwrap_or(*point));
        }
    }
    series
}

/// 35 bytes each: an instant of 28, a comma, a number of five, a semicolon.
fn rows_of(one: &Series) -> Vec<String> {
    let row = |&(time, value): &(Time, f64)| format!("{},{value:05.2};", instant(time));
    one.points.iter().map(row).collect()
}

fn instant(time: Time) -> String {
    let mut text = Vec::new();
    time.plus_nanos(7_200_000_000_000).write_rfc3339(&mut text);
    let text = String::from_utf8(text).unwrap_or_default();
    format!("{}.000+0200", text.get(..19).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_observation_takes_35_bytes() {
        for rows in [Rows::Same, Rows::Series] {
            let series = series(2000, rows, &mut Random::new(1, "io"));
            assert!(series.iter().flat_map(rows_of).all(|row| row.len() == 35));
        }
    }
}
