//! Tables 2, 3 and 4 of Tamayo et al. beside ours, row by row.

use super::{head, row, shown};
use crate::encoding::density::Category;
use crate::encoding::exificient::NAME as EXIFICIENT;
use crate::encoding::figures::{Figures, Of};
use crate::encoding::published::{FileRow, TABLES};

const KB: f64 = 1024.0;

pub(super) fn tables(figures: &Figures<'_>, text: &mut String) {
    for table in TABLES {
        *text += &format!(
            "\n## Table {} of Tamayo et al.: {}, KB\n\nPublished, then ours; `E` is EXIficient on \
             our file.\n",
            table.number,
            table.data.to_uppercase()
        );
        let mut rows = String::new();
        for published in table.rows() {
            let file = published.file.to_string();
            let of = Of::document(table.data, &file);
            if figures.size(of, "xml").is_some() {
                line(figures, of, Some(published), &mut rows);
            }
        }
        if !rows.is_empty() {
            text.push('\n');
            columns(text);
            *text += &rows;
        }
        if table.data == "io" {
            series(figures, text);
        }
        own(figures, table.data, text);
    }
    others(figures, text);
}

/// Insertions of a real series, of which the paper has none.
fn series(figures: &Figures<'_>, text: &mut String) {
    let files = figures.files("io-series");
    if files.is_empty() {
        return;
    }
    *text += "\nThe same numbers of observations with a real series in place of one row repeated, \
              beside the same published rows:\n\n";
    columns(text);
    for file in files {
        line(
            figures,
            Of::document("io-series", file),
            FileRow::of("io", file),
            text,
        );
    }
}

/// What weir's own SOS says at these sizes.
fn own(figures: &Figures<'_>, data: &str, text: &mut String) {
    let own = format!("sos-{data}");
    let files = figures.files(&own);
    if files.is_empty() {
        return;
    }
    *text +=
        "\nThe same by weir's own Sensor Observation Service, beside the same published rows:\n\n";
    columns(text);
    for file in files {
        line(
            figures,
            Of::document(&own, file),
            FileRow::of(data, file),
            text,
        );
    }
}

fn others(figures: &Figures<'_>, text: &mut String) {
    let mut rows = String::new();
    for data in ["sd", "sos-sd", "rs", "sos-rs", "a", "b", "message", "real"] {
        for file in figures.files(data) {
            let of = Of::document(data, file);
            if figures.size(of, "xml").is_some() {
                line(figures, of, None, &mut rows);
            }
        }
    }
    if !rows.is_empty() {
        *text += "\n## Documents of which no table is published, KB\n\n";
        columns(text);
        *text += &rows;
    }
}

fn columns(text: &mut String) {
    let columns = [
        "file", "XML", "CD %", "category", "JSON", "EXI", "EXI E", "EXI-C", "EXI-C E", "gzip",
        "bzip2", "zstd",
    ];
    head(&columns, text);
}

fn line(figures: &Figures<'_>, of: Of<'_>, published: Option<FileRow>, text: &mut String) {
    let kilobytes = |format: &str| figures.size(of, format).map(|bytes| bytes / KB);
    let pair = |theirs: Option<f64>, ours: Option<f64>| match theirs {
        Some(theirs) => format!("{theirs:.2} / {}", shown(ours)),
        None => shown(ours),
    };
    let both = |format: &str| {
        pair(
            published.and_then(|p| p.kilobytes(format)),
            kilobytes(format),
        )
    };
    let by_exificient = |format: &str| {
        let size = figures.metric_by(of, format, EXIFICIENT, "size");
        shown(size.map(|metric| metric.estimate.mean / KB))
    };
    let density = figures
        .metric(of, "xml", "content_density")
        .map(|(_, d)| d.estimate.mean);
    let category = figures.size(of, "xml").zip(density);
    let category = category.map(|(bytes, percent)| Category::of(bytes as usize, percent).name());
    let cells = [
        format!("{} {}", of.data, of.file),
        both("xml"),
        pair(published.map(|p| p.density_percent), density),
        category.unwrap_or("-").into(),
        both("json"),
        both("exi"),
        by_exificient("exi"),
        both("exi-c"),
        by_exificient("exi-c"),
        shown(kilobytes("xml-gzip")),
        shown(kilobytes("xml-bzip2")),
        shown(kilobytes("xml-zstd")),
    ];
    row(cells, text);
}
