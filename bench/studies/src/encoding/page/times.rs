//! Times to parse and to serialize whole documents.

use super::{head, row, shown};
use crate::encoding::exificient::NAME as EXIFICIENT;
use crate::encoding::figures::{Figures, Of};
use crate::encoding::task::Task;
use weir_bench_model::results::OURS;

/// Columns: format, whose, and the head of the column.
const CONTENDERS: [(&str, &str, &str); 11] = [
    ("xml", OURS, "XML"),
    ("xml", "quick-xml", "XML quick-xml"),
    ("json", "serde_json", "JSON"),
    ("exi", OURS, "EXI"),
    ("exi", EXIFICIENT, "EXI E"),
    ("exi-c", OURS, "EXI-C"),
    ("exi-c", EXIFICIENT, "EXI-C E"),
    ("xml-gzip", "flate2", "gzip"),
    ("xml-bzip2", "bzip2", "bzip2"),
    ("xml-zstd", "zstd", "zstd"),
    ("exi-byte", OURS, "EXI byte-aligned"),
];

const DATA: [&str; 14] = [
    "caps",
    "sos-caps",
    "sd",
    "sos-sd",
    "obs",
    "sos-obs",
    "rs",
    "sos-rs",
    "io",
    "io-series",
    "sos-io",
    "a",
    "b",
    "real",
];

pub(super) fn tables(figures: &Figures<'_>, text: &mut String) {
    let tasks = [
        (
            Task::Parse,
            "Parsing, ms",
            "From bytes to events; what is compressed is unpacked first.",
        ),
        (
            Task::Serialize,
            "Serializing, ms",
            "From events or a tree at hand to bytes.",
        ),
        (Task::FromXml, "From XML, ms", "Parsing the XML included."),
    ];
    for (task, title, about) in tasks {
        let rows = rows(figures, task);
        if rows.is_empty() {
            continue;
        }
        *text += &format!("\n## {title}\n\n{about} Means in the steady state, one thread.\n\n");
        let mut columns = vec!["file"];
        columns.extend(CONTENDERS.iter().map(|contender| contender.2));
        head(&columns, text);
        *text += &rows;
    }
}

fn rows(figures: &Figures<'_>, task: Task) -> String {
    let mut rows = String::new();
    for data in DATA {
        for file in figures.files(data) {
            line(figures, Of::document(data, file), task, &mut rows);
        }
    }
    rows
}

fn line(figures: &Figures<'_>, of: Of<'_>, task: Task, text: &mut String) {
    let time = |&(format, target, _): &(&str, &str, _)| {
        figures
            .time_by(of, format, target, task)
            .map(|us| us / 1000.0)
    };
    let times: Vec<Option<f64>> = CONTENDERS.iter().map(time).collect();
    if times.iter().any(Option::is_some) {
        let name = std::iter::once(format!("{} {}", of.data, of.file));
        row(name.chain(times.into_iter().map(shown)), text);
    }
}
