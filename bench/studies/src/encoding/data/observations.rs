//! OBS, and document A: observations in O&M 1.0, values in blocks of text.

use weir_model::Time;

use super::draft::{Draft, Shape};
use super::series::{Precision, Series, temperatures};
use weir_bench_model::random::Random;

const NAMESPACES: &[(&str, &str)] = &[
    ("xmlns:om", "http://www.opengis.net/om/1.0"),
    ("xmlns:gml", "http://www.opengis.net/gml"),
    ("xmlns:swe", "http://www.opengis.net/swe/1.0.1"),
    ("xmlns:sa", "http://www.opengis.net/sampling/1.0"),
    ("xmlns:xlink", "http://www.w3.org/1999/xlink"),
    ("xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance"),
    (
        "xsi:schemaLocation",
        "http://www.opengis.net/om/1.0 http://schemas.opengis.net/om/1.0.0/om.xsd",
    ),
    ("gml:id", "oc_0"),
];

/// Bytes of a row: time, station, property, value.
const ROW_BYTES: f64 = 106.7;
/// Stations from which a document's observations come.
const STATIONS: usize = 2;

/// A document and the observations in it.
pub(super) type Observed = (String, Vec<Series>);

/// An ObservationCollection of a shape: as many members as its structure asks for, each with a block
/// of values, and as many rows as its data asks for.
pub(super) fn of_shape(shape: &Shape, random: &mut Random) -> Observed {
    let (head, member) = frame();
    let members = (shape.structure().saturating_sub(head) / member).max(1);
    let rows = shape.bytes as f64 * shape.density_percent / 100.0 / ROW_BYTES;
    let series = temperatures(rows as usize + 1, STATIONS, Precision::Hundredths, random);
    let lines: Vec<(usize, String)> = rows_of(&series);
    let mut draft = Draft::new();
    draft.start("om:ObservationCollection", NAMESPACES);
    let mut taken = 0;
    for member in 0..members {
        let last = member + 1 == members;
        let until = if last {
            lines.len()
        } else {
            lines.len() * (member + 1) / members
        };
        open_member(&mut draft, member, until - taken);
        if last {
            structure(&mut draft, shape);
        }
        taken += values(&mut draft, &lines[taken..until], shape);
        close_member(&mut draft);
    }
    (draft.finish(), first_of(series, &lines[..taken]))
}

/// Bytes of structure around members, and of a member.
fn frame() -> (usize, usize) {
    let structure_of = |members: usize| {
        let mut draft = Draft::new();
        draft.start("om:ObservationCollection", NAMESPACES);
        for member in 0..members {
            open_member(&mut draft, member, 1000);
            draft.start_text("swe:values");
            draft.end_text();
            close_member(&mut draft);
        }
        draft.end();
        draft.structure()
    };
    let head = structure_of(0);
    (head, structure_of(1) - head)
}

/// Document A: two series whole, in one member.
pub(super) fn whole(series: Vec<Series>) -> Observed {
    let lines = rows_of(&series);
    let mut draft = Draft::new();
    draft.start("om:ObservationCollection", NAMESPACES);
    open_member(&mut draft, 0, lines.len());
    let all = Shape {
        bytes: usize::MAX,
        density_percent: 100.0,
    };
    values(&mut draft, &lines, &all);
    close_member(&mut draft);
    (draft.finish(), series)
}

fn open_member(draft: &mut Draft, member: usize, rows: usize) {
    draft.start("om:member", &[]);
    draft.start("om:Observation", &[("gml:id", &format!("o_{member}"))]);
    draft.start("om:samplingTime", &[]);
    draft.start("gml:TimePeriod", &[("xsi:type", "gml:TimePeriodType")]);
    draft.leaf("gml:beginPosition", &[], "2010-01-01T00:00:00Z");
    draft.leaf("gml:endPosition", &[], "2010-03-01T00:00:00Z");
    draft.end();
    draft.end();
    draft.empty("om:procedure", &[("xlink:href", "urn:ogc:object:Sensor:1")]);
    draft.start("om:observedProperty", &[]);
    draft.start(
        "swe:CompositePhenomenon",
        &[("gml:id", "cp0"), ("dimension", "2")],
    );
    draft.leaf("gml:name", &[], "resultComponents");
    draft.empty(
        "swe:component",
        &[("xlink:href", "urn:ogc:data:time:iso8601")],
    );
    draft.end();
    draft.end();
    draft.start("om:featureOfInterest", &[]);
    draft.start("gml:FeatureCollection", &[]);
    draft.start("gml:featureMember", &[]);
    draft.start("sa:SamplingPoint", &[("gml:id", "station-1")]);
    draft.empty("sa:sampledFeature", &[("xlink:href", "")]);
    draft.start("sa:position", &[]);
    draft.start("gml:Point", &[]);
    draft.leaf("gml:pos", &[], "39.98 0.07");
    (0..6).for_each(|_| draft.end());
    draft.start("om:result", &[]);
    draft.start("swe:DataArray", &[]);
    draft.start("swe:elementCount", &[]);
    draft.start("swe:Count", &[]);
    draft.leaf("swe:value", &[], &rows.to_string());
    draft.end();
    draft.end();
    draft.start("swe:elementType", &[("name", "Components")]);
    draft.start("swe:DataRecord", &[]);
    for (name, kind) in [
        ("Time", "swe:Time"),
        ("feature", "swe:Text"),
        ("Temp", "swe:Quantity"),
    ] {
        draft.start("swe:field", &[("name", name)]);
        draft.empty(kind, &[("definition", "urn:ogc:data:f")]);
        draft.end();
    }
    draft.end();
    draft.end();
    draft.start("swe:encoding", &[]);
    let separators = [
        ("decimalSeparator", "."),
        ("tokenSeparator", ","),
        ("blockSeparator", ";"),
    ];
    draft.empty("swe:TextBlock", &separators);
    draft.end();
}

fn close_member(draft: &mut Draft) {
    (0..4).for_each(|_| draft.end());
}

/// Fills up what the structure lacks, with empty metadata.
fn structure(draft: &mut Draft, shape: &Shape) {
    // What still follows: the tags of the values and all that is open.
    let tail = shape
        .bytes
        .saturating_sub(draft.room(shape) + draft.data() + draft.structure());
    while draft.structure() + tail + 60 < shape.structure() {
        draft.empty("gml:metaDataProperty", &[]);
    }
}

/// Writes rows as long as there is room; how many there were.
fn values(draft: &mut Draft, rows: &[(usize, String)], shape: &Shape) -> usize {
    draft.start_text("swe:values");
    let mut written = 0;
    for (_, row) in rows {
        if draft.room(shape) < row.len() {
            break;
        }
        draft.write(row);
        written += 1;
    }
    draft.end_text();
    written
}

/// A row for each observation, with the number of its series.
fn rows_of(series: &[Series]) -> Vec<(usize, String)> {
    let row = |one: &Series, time: Time, value: f64| {
        format!("{},{},{},{value};", instant(time), one.sensor, one.property)
    };
    let of = |(index, one): (usize, &Series)| {
        let rows = one
            .points
            .iter()
            .map(|&(time, value)| (index, row(one, time, value)));
        rows.collect::<Vec<_>>()
    };
    series.iter().enumerate().flat_map(of).collect()
}

/// Keeps of each series what was written.
fn first_of(mut series: Vec<Series>, rows: &[(usize, String)]) -> Vec<Series> {
    for (index, one) in series.iter_mut().enumerate() {
        one.points
            .truncate(rows.iter().filter(|row| row.0 == index).count());
    }
    series
}

/// As services of that time wrote instants: milliseconds and an offset from UTC.
fn instant(time: Time) -> String {
    let mut text = Vec::new();
    time.plus_nanos(3_600_000_000_000).write_rfc3339(&mut text);
    let text = String::from_utf8(text).unwrap_or_default();
    format!("{}.000+01:00", text.get(..19).unwrap_or_default())
}
