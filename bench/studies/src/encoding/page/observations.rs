//! Formats of messages: the message of Babovic et al., and the series of documents.

use std::collections::BTreeSet;

use super::{head, row, shown};
use crate::encoding::cells::Place;
use crate::encoding::figures::{Figures, Of};
use crate::encoding::published::html5;
use crate::encoding::task::Task;

pub(super) fn tables(figures: &Figures<'_>, text: &mut String) {
    messages(figures, text);
    for (data, file, title, words) in [
        (
            "a",
            "block",
            "The 18,500 observations of document A",
            COLUMNS,
        ),
        (
            "a",
            "full-precision",
            "The same with all bits of a double",
            "",
        ),
        ("b", "elements", "The 2,278 observations of document B", ""),
        ("io-series", "6", "20,000 observations of one sensor", ""),
    ] {
        series(figures, Of::observations(data, file), title, words, text);
    }
}

/// What the contenders of document A are that look alike.
const COLUMNS: &str = " `block` is the format as a whole, from a batch to a message with the names of both \
                       datastreams and back to a batch. `columns` are its times and numbers alone, from \
                       slices to the same chunks, heads and checksums with them, and back to slices; by \
                       pco likewise, its times in milliseconds. Other sizes of the same series, in \
                       nanoseconds and inside other formats, are in \
                       [reference/block.md](../reference/block.md#what-it-costs).";

/// Formats and targets that have figures of observations, in the order of `FORMATS`.
fn contenders(figures: &Figures<'_>, of: Of<'_>) -> Vec<(String, String)> {
    let start = format!(
        "place=native;data={};file={};from=observations;format=",
        of.data, of.file
    );
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for result in figures.0.iter().filter(|result| !result.metrics.is_empty()) {
        let Some(format) = result.cell.strip_prefix(&start) else {
            continue;
        };
        let contender = (format.to_string(), result.target.clone());
        if seen.insert(contender.clone()) {
            all.push(contender);
        }
    }
    all
}

/// The paper's name of a format.
fn published_name(format: &str) -> Option<&'static str> {
    Some(match format {
        "xml" => "XML",
        "json" => "JSON",
        "gwt" => "GWT-SER",
        "protobuf" => "PBF",
        "pbf-string" => "PBF-STR",
        _ => return None,
    })
}

fn messages(figures: &Figures<'_>, text: &mut String) {
    *text += "\n## The message of Babovic et al., table 2\n\nCharacters as published (of long \
              polling, then WebSocket where it has another), then ours; binary formats are counted \
              in bytes. Decoding in the browser as published, then ours, ms.\n\n";
    let columns = [
        "format",
        "by",
        "1 node",
        "5 nodes",
        "parse 1, us",
        "parse 5, us",
        "serialize 1, us",
        "serialize 5, us",
        "browser 1, ms",
        "browser 5, ms",
    ];
    head(&columns, text);
    for (format, target) in contenders(figures, Of::observations("message", "5")) {
        let size = |nodes| size(figures, nodes, &format, &target);
        let time = |nodes, task| {
            shown(figures.time_by(Of::observations("message", nodes), &format, &target, task))
        };
        let browser = |nodes| decode(figures, nodes, &format);
        row(
            [
                format.clone(),
                target.clone(),
                size("1"),
                size("5"),
                time("1", Task::Parse),
                time("5", Task::Parse),
                time("1", Task::Serialize),
                time("5", Task::Serialize),
                browser("1"),
                browser("5"),
            ],
            text,
        );
    }
}

fn size(figures: &Figures<'_>, nodes: &str, format: &str, target: &str) -> String {
    let of = Of::observations("message", nodes);
    let metric = |name| {
        figures
            .metric_by(of, format, target, name)
            .map(|m| m.estimate.mean)
    };
    let ours = shown(metric("characters").or(metric("size")));
    let published = html5().into_iter().find(|row| {
        Some(row.encoding.as_str()) == published_name(format) && row.nodes.to_string() == nodes
    });
    match published {
        Some(published) => format!("{} / {ours}", published.characters),
        None => ours,
    }
}

fn decode(figures: &Figures<'_>, nodes: &str, format: &str) -> String {
    let of = Of::observations("message", nodes).at(Place::Browser(1));
    let ours = figures
        .time(of, format, Task::Parse)
        .map(|us| format!("{:.4}", us / 1000.0));
    let ours = ours.unwrap_or_else(|| "-".into());
    let published: Vec<String> = html5()
        .iter()
        .filter(|row| Some(row.encoding.as_str()) == published_name(format))
        .filter(|row| row.nodes.to_string() == nodes)
        .map(|row| row.decode_ms.to_string())
        .collect();
    match published.is_empty() {
        true => ours,
        false => format!("{} / {ours}", published.join(", ")),
    }
}

fn series(figures: &Figures<'_>, of: Of<'_>, title: &str, words: &str, text: &mut String) {
    let contenders = contenders(figures, of);
    if contenders.is_empty() {
        return;
    }
    *text += &format!("\n## {title}\n\nMillions of observations a second.{words}\n\n");
    head(
        &[
            "format",
            "by",
            "bytes",
            "% of the XML",
            "parse",
            "serialize",
        ],
        text,
    );
    for (format, target) in contenders {
        let metric = |name| {
            figures
                .metric_by(of, &format, &target, name)
                .map(|m| m.estimate.mean)
        };
        let millions = |name| shown(metric(name).map(|rate| rate / 1e6));
        row(
            [
                format.clone(),
                target.clone(),
                shown(metric("size")),
                shown(metric("size_of_xml")),
                millions("parse_observations"),
                millions("serialize_observations"),
            ],
            text,
        );
    }
}
