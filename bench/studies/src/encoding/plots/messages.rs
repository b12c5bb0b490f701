//! The message of paper 000: its characters (table 5, figure 7) and the time to decode it (table 2).

use crate::encoding::cells::Place;
use crate::encoding::figures::{Figures, Of};
use crate::encoding::task::Task;
use weir_bench_model::figure::{Axis, Figure, Form, Point, Series};
use weir_bench_model::published::{FLASH, HTML5, Row, SILVERLIGHT, Table};
use weir_bench_model::results::Run;

/// Format here, and table, protocol and encoding where it is printed.
const FORMATS: [(&str, Table, &str, &str); 8] = [
    ("xml", HTML5, "long-polling", "XML"),
    ("json", HTML5, "long-polling", "JSON"),
    ("gwt", HTML5, "long-polling", "GWT-SER"),
    ("protobuf", HTML5, "long-polling", "PBF"),
    ("pbf-string", HTML5, "long-polling", "PBF-STR"),
    ("amf3", FLASH, "socket", "AMF"),
    ("soap", SILVERLIGHT, "socket", "XML"),
    ("cbor", HTML5, "", ""),
];

const NODES: [&str; 2] = ["1", "5"];

pub(super) fn figures(run: &Run) -> Vec<Figure> {
    let figures = Figures(&run.results);
    vec![characters(&figures), decoding(&figures)]
}

fn nodes_named(nodes: &str) -> String {
    match nodes {
        "1" => "1 node".into(),
        nodes => format!("{nodes} nodes"),
    }
}

/// What a paper prints of a format in a column, table by table.
fn printed(nodes: &str, column: &str) -> Vec<(String, Vec<Point>)> {
    let mut of: Vec<(String, Vec<Point>)> = Vec::new();
    for (format, table, protocol, encoding) in &FORMATS {
        let is_row = |row: &Row| {
            row.text("protocol") == *protocol
                && row.text("encoding") == *encoding
                && row.text("nodes") == nodes
        };
        let rows = table.rows();
        let Some(value) = rows
            .iter()
            .find(|row| is_row(row))
            .and_then(|row| row.number(column))
        else {
            continue;
        };
        let point = Point::at(*format, value);
        match of.iter_mut().find(|(place, _)| *place == table.cited()) {
            Some((_, points)) => points.push(point),
            None => of.push((table.cited(), vec![point])),
        }
    }
    of
}

fn with_printed(nodes: &str, column: &str, points: Vec<Point>) -> Vec<Series> {
    let name = nodes_named(nodes);
    let published = printed(nodes, column);
    let published = published
        .into_iter()
        .map(|(place, points)| Series::published(&name, &place, points));
    std::iter::once(Series::here(&name, points))
        .chain(published)
        .collect()
}

fn characters(figures: &Figures<'_>) -> Figure {
    let series = NODES.iter().flat_map(|nodes| {
        let of = Of::observations("message", nodes);
        let point = |(format, ..): &(&str, Table, &str, &str)| {
            let metric = figures.metric(of, format, "characters");
            let (_, metric) = metric.or_else(|| figures.metric(of, format, "size"))?;
            Some(Point::at(*format, metric.estimate.mean))
        };
        with_printed(
            nodes,
            "payload_chars",
            FORMATS.iter().filter_map(point).collect(),
        )
    });
    Figure::new(Form::Bars, "babovic-table-5", "Size of a message")
        .axes(Axis::new("format", ""), Axis::new("size", "characters").log())
        .caption(
            "After table 5 and figure 7 of Babovic et al.: the observations of 1 and 5 nodes. Binary formats \
             are counted in bytes. The paper's Protocol Buffers travelled as text, 3.6 \
             times as long.",
        )
        .series(series)
}

fn decoding(figures: &Figures<'_>) -> Figure {
    let series = NODES.iter().flat_map(|nodes| {
        let of = Of::observations("message", nodes).at(Place::Browser(1));
        let point = |(format, ..): &(&str, Table, &str, &str)| {
            let (_, metric) = figures.metric(of, format, Task::Parse.time())?;
            Some(Point::of_metric(*format, metric, 1000.0))
        };
        with_printed(
            nodes,
            "decode_ms",
            FORMATS.iter().filter_map(point).collect(),
        )
    });
    Figure::new(Form::Bars, "babovic-decoding", "Decoding a message in a browser")
        .axes(Axis::new("format", ""), Axis::new("T_decod", "ms").log())
        .caption(
            "After table 2 of Babovic et al. (AMF: table 3, SOAP: table 4): their browser of 2016, timer of \
             1 ms; here Chromium of today, timer of 5 microseconds. Their times include frameworks of the \
             time.",
        )
        .series(series)
}
