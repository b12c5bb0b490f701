//! The figures of paper 000, from a run.
//!
//! Figure 4 (one and five nodes, times by protocol and encoding, stacked), figure 7 (sizes by encoding)
//! and figure 8 (the best combination). Figures 5 and 6 are of Flash and Silverlight, which are dead:
//! what they published stands beside the encodings and schemes that live on. The paper's figures reach
//! us as captions; every ghost is of its tables.

use super::cells::{CHIEF, DELIVERIES, FORMATS, Setting};
use crate::experiments::Effort;
use crate::figure::{Axis, Figure, Form, Point, Series, X};
use crate::link::LOCAL;
use crate::published::{FLASH, HTML5, Row, SILVERLIGHT, Table};
use crate::results::{CellResult, Metric, OURS, Run};

/// Times that a total is made of, and the columns of the paper's tables.
const PARTS: [(&str, &str, Option<&str>); 4] = [
    ("t_transmit", "T transmit", Some("transmit_ms")),
    ("t_decode", "T decode", Some("decode_ms")),
    ("t_process", "T process", None),
    ("t_draw", "T render, until drawn", Some("render_ms")),
];

/// Results of a run by setting.
pub(super) struct Figures<'a>(pub(super) &'a [CellResult]);

impl Figures<'_> {
    pub(super) fn result(&self, setting: &Setting) -> Option<&CellResult> {
        let name = setting.name();
        self.0
            .iter()
            .find(|result| result.cell == name && result.target == OURS)
    }

    pub(super) fn metric(&self, setting: &Setting, metric: &str) -> Option<&Metric> {
        self.result(setting)?.metric(metric)
    }

    /// A mean: what the paper's tables give.
    pub(super) fn mean(&self, setting: &Setting, metric: &str) -> Option<f64> {
        self.metric(setting, metric)
            .map(|metric| metric.estimate.mean)
    }

    /// Number of nodes that were measured here, of the machine as it is.
    pub(super) fn nodes(&self) -> Vec<usize> {
        let all = super::cells::settings(Effort::Full);
        let mut nodes: Vec<usize> = all
            .iter()
            .filter(|it| {
                it.link == LOCAL && it.cpu == 1 && it.flood.is_none() && self.result(it).is_some()
            })
            .map(|it| it.nodes)
            .collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }
}

/// A cell of this machine, at full speed.
pub(super) fn here(delivery: &'static str, format: &'static str, nodes: usize) -> Setting {
    Setting {
        link: LOCAL,
        cpu: 1,
        nodes,
        delivery,
        format,
        flood: None,
    }
}

/// A row of the paper's tables as delivery and format, where both live on.
pub(super) fn lives_on(row: &Row) -> Option<(&'static str, &'static str)> {
    let delivery = match row.text("protocol") {
        "long-polling" => "long-polling",
        "websocket" | "socket" => "websocket",
        "http-streaming" => "streaming",
        _ => return None,
    };
    let format = match row.text("encoding") {
        "XML" => "xml",
        "JSON" => "json",
        "GWT-SER" => "gwt",
        "PBF" => "protobuf",
        "PBF-STR" => "pbf-string",
        "AMF" => "amf3",
        _ => return None,
    };
    Some((delivery, format))
}

/// All figures of a run.
pub(crate) fn figures(run: &Run) -> Vec<Figure> {
    let figures = Figures(&run.results);
    let mut all = Vec::new();
    for nodes in figures.nodes() {
        all.push(stacked(&figures, nodes));
    }
    all.push(sizes(&figures));
    for (metric, title) in [
        ("t_total_drawn", "T total, until drawn"),
        ("t_total", "T total, until on the screen"),
        ("t_decode", "T decode"),
    ] {
        for nodes in figures.nodes() {
            all.push(heat(&figures, metric, title, nodes));
        }
    }
    all.push(slowed(&figures));
    all.push(paced(&figures));
    all
}

/// As figure 4: a bar a combination, its parts on each other.
fn stacked(figures: &Figures<'_>, nodes: usize) -> Figure {
    let series = PARTS.iter().flat_map(|&(metric, name, column)| {
        let points = combinations(figures, nodes).map(|(delivery, format)| {
            let x = format!("{delivery} {format}");
            match figures.result(&here(delivery, format, nodes)) {
                Some(result) => Point::of_result(x, result, metric, 1000.0),
                None => Point::failed(x, "not measured"),
            }
        });
        let ours = Series::here(name, points.collect::<Vec<_>>());
        let published = column.map(|column| published(&HTML5, name, column, nodes));
        [Some(ours), published].into_iter().flatten()
    });
    Figure::new(
        Form::Stacked,
        &format!("babovic-figure-4-nodes-{nodes}"),
        &format!("Where the time goes, messages of {nodes} nodes"),
    )
    .axes(Axis::new("delivery and format", ""), Axis::new("time", "ms"))
    .caption(
        "As figure 4 of the paper, where T_render ends with the canvas drawn. Published means are of \
         Table 2, where T_process was left out.",
    )
    .series(series.collect::<Vec<_>>())
}

/// Combinations that were tried, in the order of the grid.
fn combinations<'a>(
    figures: &'a Figures<'_>,
    nodes: usize,
) -> impl Iterator<Item = (&'static str, &'static str)> + 'a {
    let all = DELIVERIES
        .into_iter()
        .flat_map(|delivery| FORMATS.into_iter().map(move |format| (delivery, format)));
    all.filter(move |&(delivery, format)| figures.result(&here(delivery, format, nodes)).is_some())
}

fn published(table: &Table, name: &str, column: &str, nodes: usize) -> Series {
    let rows = table.rows();
    let of_nodes = rows
        .iter()
        .filter(|row| row.number("nodes") == Some(nodes as f64));
    let points = of_nodes.filter_map(|row| {
        let (delivery, format) = lives_on(row)?;
        Some(Point::at(
            format!("{delivery} {format}"),
            row.number(column)?,
        ))
    });
    Series::published(name, &table.cited(), points.collect::<Vec<_>>())
}

/// As figure 7: sizes by encoding.
fn sizes(figures: &Figures<'_>) -> Figure {
    let mut series = Vec::new();
    for nodes in figures.nodes() {
        let name = format!("{nodes} nodes");
        let of = |format| {
            let found = DELIVERIES
                .iter()
                .find_map(|delivery| figures.mean(&here(delivery, format, nodes), "payload"));
            Some(Point::at(format, found?))
        };
        let points: Vec<Point> = FORMATS.into_iter().filter_map(of).collect();
        series.push(Series::here(&name, points));
        for table in [HTML5, FLASH, SILVERLIGHT] {
            let rows = table.rows();
            let of_nodes = rows
                .iter()
                .filter(|row| row.number("nodes") == Some(nodes as f64));
            let mut points: Vec<Point> = Vec::new();
            for row in of_nodes {
                let format = size_name(&table, row);
                let known = points.iter().any(|point| point.x == format.into());
                if let Some(size) = row.number("payload_chars").filter(|_| !known) {
                    points.push(Point::at(format, size));
                }
            }
            if !points.is_empty() {
                series.push(Series::published(&name, &table.cited(), points));
            }
        }
    }
    Figure::new(Form::Bars, "babovic-figure-7", "Sizes of messages")
        .axes(
            Axis::new("format", ""),
            Axis::new("payload", "characters").log(),
        )
        .caption(
            "As figure 7 and table 5 of the paper: characters of text formats, bytes of binary ones. The \
             paper's PBF travelled as text and was 3.6 times its own bytes; Silverlight's messages were \
             SOAP envelopes.",
        )
        .series(series)
}

/// What a published size is of: Silverlight's were all SOAP.
fn size_name(table: &Table, row: &Row) -> &'static str {
    match table.place == SILVERLIGHT.place {
        true => "soap",
        false => lives_on(row).map_or("amf3", |(_, format)| format),
    }
}

fn heat(figures: &Figures<'_>, metric: &str, title: &str, nodes: usize) -> Figure {
    let row = |delivery: &'static str| {
        let points = FORMATS.into_iter().filter_map(|format| {
            let result = figures.result(&here(delivery, format, nodes))?;
            Some(Point::of_result(format, result, metric, 1000.0))
        });
        Series::here(delivery, points.collect::<Vec<_>>())
    };
    let rows = DELIVERIES.into_iter().map(row).collect::<Vec<_>>();
    Figure::new(
        Form::Heat,
        &format!("{}-nodes-{nodes}", metric.replace('_', "-")),
        &format!("{title}, {nodes} nodes"),
    )
    .axes(Axis::new("format", ""), Axis::new(title, "ms"))
    .caption("Polling waits for half its interval besides, by its nature.")
    .series(rows)
    .group("delivery-by-format")
}

/// What a slower processor costs: WebSocket, five nodes.
fn slowed(figures: &Figures<'_>) -> Figure {
    let line = |format: &'static str| {
        let points = [1, 4, 6].into_iter().filter_map(|cpu| {
            let setting = Setting {
                cpu,
                ..here("websocket", format, 5)
            };
            let result = figures.result(&setting)?;
            Some(Point::of_result(f64::from(cpu), result, "t_decode", 1000.0))
        });
        Series::here(format, points.collect::<Vec<_>>())
    };
    Figure::new(
        Form::Lines,
        "slowed-decoding",
        "T decode where the browser's processor is slower",
    )
    .axes(
        Axis::new("times slower", ""),
        Axis::new("T decode", "ms").log(),
    )
    .caption("WebSocket, five nodes; 4x and 6x stand for phones.")
    .series(CHIEF.into_iter().map(line).collect::<Vec<_>>())
}

/// How old what is shown is, with and without a pace.
fn paced(figures: &Figures<'_>) -> Figure {
    let all = super::cells::settings(Effort::Full);
    let lines = all.iter().filter(|it| it.flood.is_some()).filter_map(|it| {
        let percentiles = figures.metric(it, "t_total")?.percentiles?;
        let mut line = Series::distribution(&it.name(), &percentiles);
        for point in &mut line.points {
            if let X::Number(us) = &mut point.x {
                *us /= 1000.0;
            }
        }
        Some(line)
    });
    Figure::new(
        Form::Distribution,
        "paced",
        "The age of what is shown, where more comes than the page can draw",
    )
    .axes(
        Axis::new("age when shown", "ms").log(),
        Axis::new("share of what was shown", ""),
    )
    .caption("WebSocket, JSON, a browser slowed down; with and without the page setting the pace.")
    .series(lines.collect::<Vec<_>>())
}
