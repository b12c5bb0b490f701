//! Documents over emulated links: figures 4, 5, 8 and 11 of paper 004 over the size of the XML, and
//! figure 9 as a stack of what the time is spent on.

use weir_bench_model::figure::slice::{Slice, level, words};
use weir_bench_model::figure::{Axis, Figure, Form, Point, Series};
use weir_bench_model::results::{CellResult, Run};

/// Formats and their names in the paper.
const FORMATS: [(&str, &str); 5] = [
    ("XML", "xml"),
    ("JSON", "json"),
    ("EXI", "exi"),
    ("EXI-C", "exi-c"),
    ("gzipped XML", "xml-gzip"),
];

/// Links by name.
const LINKS: [(&str, &str); 2] = [("wifi", "Wi-Fi"), ("3g", "3G")];

/// Data sets: name, what is done with it, and the paper's figures over Wi-Fi and 3G.
const DATA: [(&str, &str, [u32; 2]); 3] = [
    ("caps", "Downloading and parsing capabilities files", [4, 5]),
    ("obs", "Downloading and parsing observation files", [8, 8]),
    ("io", "Building and sending insertions", [11, 11]),
];

pub(super) fn figures(run: &Run) -> Vec<Figure> {
    let native = Slice::of(run).with("place", "native");
    let mut figures = Vec::new();
    for (data, title, numbers) in DATA {
        for ((link, name), number) in LINKS.into_iter().zip(numbers) {
            let on = native.with("link", link).with("data", data);
            figures.push(overall(&on, &format!("{title} over {name}"), number, link));
        }
    }
    for (link, name) in LINKS {
        figures.push(parts(&native.with("link", link), link, name));
    }
    figures
}

fn overall(on: &Slice<'_>, title: &str, number: u32, link: &str) -> Figure {
    let series = FORMATS.map(|(name, format)| {
        let of_format = on.with("format", format);
        let point = |result: &&CellResult| {
            let kilobytes = xml_kilobytes(on, &result.cell)?;
            let file = words(&result.cell, &["data", "file"]);
            Some((
                kilobytes,
                Point::of_result(kilobytes, result, "t_total", 1000.0).note(&file),
            ))
        };
        let mut points: Vec<(f64, Point)> = of_format.results().iter().filter_map(point).collect();
        points.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        Series::here(name, points.into_iter().map(|(_, point)| point).collect())
    });
    Figure::new(Form::Lines, &format!("tamayo-figure-{number}-{link}"), title)
        .axes(Axis::new("size of the XML", "KB").log(), Axis::new("t_total", "ms").log())
        .caption(&format!(
            "In the form of figure {number} of Tamayo et al.: communication and processing together, a \
             connection an exchange, on an emulated link and this machine's processor. The paper calls up to \
             150 ms crisp, up to 1 s noticeable, up to 5 s annoying."
        ))
        .series(series)
        .group("Over links")
}

/// The size of the same document as XML.
fn xml_kilobytes(on: &Slice<'_>, cell: &str) -> Option<f64> {
    let file = level(cell, "file")?;
    let xml = on.with("file", file).with("format", "xml");
    let size = xml.results().first()?.metric("size")?;
    Some(size.estimate.mean / 1024.0)
}

/// What the time is spent on, of every document and format.
fn parts(on: &Slice<'_>, link: &str, name: &str) -> Figure {
    let parts = [
        ("communication", "t_transmit"),
        ("parsing", "parse"),
        ("serializing", "serialize"),
    ];
    let series = parts.map(|(name, metric)| {
        let point = |result: &&CellResult| {
            result.metric(metric)?;
            let label = words(&result.cell, &["data", "file", "format"]).replace(", ", " ");
            Some(Point::of_result(label, result, metric, 1000.0))
        };
        Series::here(name, on.results().iter().filter_map(point).collect())
    });
    Figure::new(
        Form::Stacked,
        &format!("tamayo-figure-9-{link}"),
        &format!("Where the time goes over {name}"),
    )
    .axes(
        Axis::new("document and format", ""),
        Axis::new("time", "ms"),
    )
    .caption(
        "After figure 9 of Tamayo et al., for all data sets: communication includes the handshake, \
             insertions are built and sent, all others fetched and parsed.",
    )
    .series(series)
    .group("Where the time goes")
}
