//! The figures of paper 000, from a run.
//!
//! Figure 4 (one and five nodes, times by protocol and encoding, stacked), figure 5 (the same of what Flash
//! spoke and lives on), figure 7 (sizes by encoding) and figure 8 (the best combination). Figure 6 is of
//! Silverlight, of which only the size of a SOAP message can be set beside anything. The paper's figures
//! reach us as captions; every ghost is of its tables.

use super::cells::{DELIVERIES, FORMATS};
use super::figures::{Figures, here, lives_on};
use weir_bench_model::figure::{Axis, Figure, Form, Point, Series};
use weir_bench_model::published::{FLASH, HTML5, Row, SILVERLIGHT, Table};

/// Times that a total is made of, and the columns of the paper's tables.
const PARTS: [(&str, &str, Option<&str>); 4] = [
    ("t_transmit", "T transmit", Some("transmit_ms")),
    ("t_decode", "T decode", Some("decode_ms")),
    ("t_process", "T process", None),
    ("t_draw", "T render, until drawn", Some("render_ms")),
];

/// What the paper's tables are of.
const PLATFORMS: [&str; 3] = ["HTML5", "Flash", "Silverlight"];
const TOTAL: &str = "T total";

type Combination = (&'static str, &'static str);

/// A figure of stacked times.
struct Stack<'a> {
    name: &'a str,
    title: &'a str,
    caption: &'a str,
    /// What is printed beside it.
    table: Option<Table>,
    combinations: Vec<Combination>,
}

/// All of them.
pub(super) fn of_paper(figures: &Figures<'_>) -> Vec<Figure> {
    let mut all = Vec::new();
    for nodes in figures.nodes() {
        all.push(html5(figures, nodes));
        all.push(flash(figures, nodes));
    }
    all.push(sizes(figures));
    all.push(best(figures));
    for nodes in figures.nodes() {
        all.push(every(figures, nodes));
    }
    for (metric, title) in [
        ("t_total_drawn", "T total, until drawn"),
        ("t_total", "T total, until on the screen"),
        ("t_decode", "T decode"),
    ] {
        for nodes in figures.nodes() {
            all.push(heat(figures, metric, title, nodes));
        }
    }
    all
}

/// As figure 4.
fn html5(figures: &Figures<'_>, nodes: usize) -> Figure {
    let stack = Stack {
        name: "babovic-figure-4",
        title: "What the paper's HTML5 application spoke",
        caption: "As figure 4 of the paper, where T_render ends with the canvas drawn. Published means are of \
                  Table 2, where T_process was left out.",
        table: Some(HTML5),
        combinations: printed(&HTML5),
    };
    stacked(figures, &stack, nodes)
}

/// As figure 5, as far as it lives on: a socket of Flash is a WebSocket here, RTMP is dead.
fn flash(figures: &Figures<'_>, nodes: usize) -> Figure {
    let stack = Stack {
        name: "babovic-figure-5",
        title: "What the paper's Flash application spoke",
        caption: "As figure 5 of the paper: AMF 3 and XML by long polling, a socket (here a WebSocket) and HTTP \
                  streaming. Published means are of Table 3, by a Flash player that is dead.",
        table: Some(FLASH),
        combinations: printed(&FLASH),
    };
    stacked(figures, &stack, nodes)
}

/// All that was measured.
fn every(figures: &Figures<'_>, nodes: usize) -> Figure {
    let stack = Stack {
        name: "where-the-time-goes",
        title: "Where the time goes, every delivery in every format",
        caption: "The parts of T total, until the canvas is drawn. Polling waits for half its interval besides, by \
                  its nature.",
        table: None,
        combinations: combinations(figures, nodes),
    };
    stacked(figures, &stack, nodes)
}

/// A bar a combination, its parts on each other.
fn stacked(figures: &Figures<'_>, stack: &Stack<'_>, nodes: usize) -> Figure {
    let measured = |&(delivery, format): &Combination| {
        let result = figures.result(&here(delivery, format, nodes))?;
        Some((format!("{delivery} {format}"), result))
    };
    let series = PARTS.iter().flat_map(|&(metric, name, column)| {
        let points = stack.combinations.iter().filter_map(measured);
        let points = points.map(|(x, result)| Point::of_result(x, result, metric, 1000.0));
        let ours = Series::here(name, points.collect::<Vec<_>>());
        let printed = stack.table.zip(column);
        let printed = printed.map(|(table, column)| published(&table, name, column, nodes));
        [Some(ours), printed].into_iter().flatten()
    });
    Figure::new(
        Form::Stacked,
        &format!("{}-nodes-{nodes}", stack.name),
        &format!("{}, messages of {}", stack.title, words(nodes)),
    )
    .axes(
        Axis::new("delivery and format", ""),
        Axis::new("time", "ms"),
    )
    .caption(stack.caption)
    .series(series.collect::<Vec<_>>())
}

/// The combinations of a table, in its order, each once.
fn printed(table: &Table) -> Vec<Combination> {
    let mut all: Vec<Combination> = Vec::new();
    for combination in table.rows().iter().filter_map(lives_on) {
        if !all.contains(&combination) {
            all.push(combination);
        }
    }
    all
}

/// Combinations that were tried, in the order of the grid.
fn combinations(figures: &Figures<'_>, nodes: usize) -> Vec<Combination> {
    let all = DELIVERIES
        .into_iter()
        .flat_map(|delivery| FORMATS.into_iter().map(move |format| (delivery, format)));
    all.filter(|&(delivery, format)| figures.result(&here(delivery, format, nodes)).is_some())
        .collect()
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

/// As figure 8: the best combination of each platform, a bar each.
fn best(figures: &Figures<'_>) -> Figure {
    let mut ours = Vec::new();
    let mut printed: Vec<(Table, Vec<Point>)> = [HTML5, FLASH, SILVERLIGHT]
        .map(|table| (table, Vec::new()))
        .into();
    for nodes in figures.nodes() {
        let Some((delivery, format)) = figures.least(nodes) else {
            continue;
        };
        if let Some(result) = figures.result(&here(delivery, format, nodes)) {
            let label = format!("{}: here, {format} by {delivery}", words(nodes));
            ours.push(Point::of_result(label, result, "t_total_drawn", 1000.0));
        }
        for ((table, points), platform) in printed.iter_mut().zip(PLATFORMS) {
            let row = fastest(table, nodes);
            points.extend(row.and_then(|row| {
                let (encoding, protocol) = (row.text("encoding"), row.text("protocol"));
                let label = format!("{}: {platform}, {encoding} by {protocol}", words(nodes));
                Some(Point::at(label, row.number("total_ms")?))
            }));
        }
    }
    let published = printed.into_iter();
    let published =
        published.map(|(table, points)| Series::published(TOTAL, &table.cited(), points));
    let ours = Series::here(TOTAL, ours);
    Figure::new(
        Form::Bars,
        "babovic-figure-8",
        "The best combination of each platform",
    )
    .axes(
        Axis::new("message and platform", ""),
        Axis::new("T total, until drawn", "ms"),
    )
    .caption(
        "As figure 8 and table 6 of the paper: the fastest protocol and encoding of each platform, as printed, \
         beside the fastest here.",
    )
    .series([ours].into_iter().chain(published))
}

/// A number of nodes in words.
pub(super) fn words(nodes: usize) -> String {
    format!("{nodes} {}", if nodes == 1 { "node" } else { "nodes" })
}

/// The row of a table with the least total of a number of nodes.
pub(super) fn fastest(table: &Table, nodes: usize) -> Option<Row> {
    let rows = table.rows().into_iter();
    let of_nodes = rows.filter(|row| row.number("nodes") == Some(nodes as f64));
    let total = |row: &Row| row.number("total_ms").unwrap_or(f64::INFINITY);
    of_nodes.min_by(|a, b| total(a).total_cmp(&total(b)))
}

/// As figure 7: sizes by encoding.
fn sizes(figures: &Figures<'_>) -> Figure {
    let mut series = Vec::new();
    for nodes in figures.nodes() {
        let name = words(nodes);
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
        &format!("{title}, {}", words(nodes)),
    )
    .axes(Axis::new("format", ""), Axis::new(title, "ms"))
    .caption("Polling waits for half its interval besides, by its nature.")
    .series(rows)
    .group("delivery-by-format")
}
