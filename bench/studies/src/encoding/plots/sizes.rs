//! Sizes: figure 1 and tables 2, 3 and 4 of paper 004, and every format on every data set.

use crate::encoding::codings::From;
use crate::encoding::figures::{Figures, Of};
use crate::encoding::published::{FileRow, TABLES, Table};
use weir_bench_model::figure::{Axis, Figure, Form, Point, Series};
use weir_bench_model::results::Run;

/// Formats of the paper and their names in it.
const FORMATS: [(&str, &str); 4] = [
    ("XML", "xml"),
    ("JSON", "json"),
    ("EXI", "exi"),
    ("EXI-C", "exi-c"),
];

/// Bytes of a KB, as the paper counts.
const KB: f64 = 1024.0;

pub(super) fn figures(run: &Run) -> Vec<Figure> {
    let figures = Figures(&run.results);
    let mut all = vec![percentages(&figures)];
    all.extend(TABLES.iter().map(|table| kilobytes(&figures, table)));
    all.extend([documents(run), observations(run)].concat());
    all.push(trade(run));
    all
}

fn label(data: &str, file: &str) -> String {
    format!("{} {file}", data.to_uppercase())
}

/// Figure 1: the size of capabilities files in percent of their XML, and their content density.
fn percentages(figures: &Figures<'_>) -> Figure {
    let table = &TABLES[0];
    let place = format!("Tamayo2012, Table {}", table.number);
    let mut series = Vec::new();
    for (name, format) in &FORMATS[1..] {
        let percent =
            |of: Of<'_>| Some(100.0 * figures.size(of, format)? / figures.size(of, "xml")?);
        series.push(Series::here(name, ours(figures, table, percent)));
        let printed = |row: &FileRow| Some(100.0 * row.kilobytes(format)? / row.xml_kb);
        series.push(Series::published(name, &place, theirs(table, printed)));
    }
    let density = |of: Of<'_>| {
        let (_, metric) = figures.metric(of, "xml", "content_density")?;
        Some(metric.estimate.mean)
    };
    let name = "content density";
    series.push(Series::here(name, ours(figures, table, density)));
    let printed = |row: &FileRow| Some(row.density_percent);
    series.push(Series::published(name, &place, theirs(table, printed)));
    Figure::new(Form::Bars, "tamayo-figure-1", "Capabilities files in percent of their XML")
        .axes(Axis::new("file", ""), Axis::new("share of the XML's bytes", "%"))
        .caption(
            "In the form of figure 1 of Tamayo et al., from the sizes of their table 2. Our files have the \
             published sizes and densities of the XML; the rest follows from the encoders. JSON cannot be \
             smaller than the content.",
        )
        .series(series)
}

fn ours(figures: &Figures<'_>, table: &Table, value: impl Fn(Of<'_>) -> Option<f64>) -> Vec<Point> {
    let files = figures.files(table.data);
    let point = |file: &str| {
        let value = value(Of::document(table.data, file))?;
        Some(Point::at(label(table.data, file), value))
    };
    files.into_iter().filter_map(point).collect()
}

fn theirs(table: &Table, value: impl Fn(&FileRow) -> Option<f64>) -> Vec<Point> {
    let point = |row: &FileRow| {
        Some(Point::at(
            label(table.data, &row.file.to_string()),
            value(row)?,
        ))
    };
    table.rows().iter().filter_map(point).collect()
}

/// A table of sizes.
fn kilobytes(figures: &Figures<'_>, table: &Table) -> Figure {
    let place = format!("Tamayo2012, Table {}", table.number);
    let series = FORMATS.iter().flat_map(|(name, format)| {
        let kilobytes = |of: Of<'_>| Some(figures.size(of, format)? / KB);
        let printed = |row: &FileRow| row.kilobytes(format);
        [
            Series::here(name, ours(figures, table, kilobytes)),
            Series::published(name, &place, theirs(table, printed)),
        ]
    });
    let number = table.number;
    Figure::new(
        Form::Bars,
        &format!("tamayo-table-{number}"),
        &format!(
            "Table {number}: sizes of {} files",
            table.data.to_uppercase()
        ),
    )
    .axes(Axis::new("file", ""), Axis::new("size", "KB").log())
    .caption(
        "KB of 1,024 bytes. EXI and EXI-C of ours; EXIficient's stand in the table of all cells.",
    )
    .series(series)
    .group("Sizes of files")
}

/// Whole documents: formats by the largest file of each data set.
fn documents(run: &Run) -> Vec<Figure> {
    let columns = [
        ("CAPS 10", "caps", "10"),
        ("SD", "sd", "0"),
        ("OBS 4", "obs", "4"),
        ("OBS 8", "obs", "8"),
        ("RS", "rs", "0"),
        ("IO 6", "io", "6"),
        ("IO series 6", "io-series", "6"),
    ];
    let metrics = [
        (
            "size_of_xml",
            "Whole documents: size",
            "share of the XML's bytes",
            "%",
        ),
        (
            "parse_rate",
            "Whole documents: parsing",
            "rate of the XML's bytes",
            "MB/s",
        ),
        (
            "serialize_rate",
            "Whole documents: serializing",
            "rate of the XML's bytes",
            "MB/s",
        ),
    ];
    matrix(run, From::Document, &columns, &metrics)
}

/// Observations: formats by messages and series.
fn observations(run: &Run) -> Vec<Figure> {
    let columns = [
        ("message, 1 node", "message", "1"),
        ("message, 5 nodes", "message", "5"),
        ("18,500 observations", "a", "block"),
        ("2,278 observations", "b", "elements"),
        ("20,000 of one sensor", "io-series", "6"),
    ];
    let metrics = [
        ("size", "Observations: size", "size", "bytes"),
        (
            "parse_observations",
            "Observations: parsing",
            "rate",
            "observations/s",
        ),
        (
            "serialize_observations",
            "Observations: serializing",
            "rate",
            "observations/s",
        ),
    ];
    matrix(run, From::Observations, &columns, &metrics)
}

/// What a format's size costs: each format once, at the 18,500 observations of document A.
fn trade(run: &Run) -> Figure {
    let figures = Figures(&run.results);
    let of = Of::observations("a", "block");
    let series = formats(run, From::Observations).into_iter().map(|format| {
        let rate = figures.metric(of, format, "parse_observations");
        let point = figures
            .size(of, format)
            .zip(rate)
            .map(|(size, (by, rate))| {
                Point::of_metric(size / KB, rate, 1e6).note(&format!("by {by}"))
            });
        Series::here(format, Vec::from_iter(point))
    });
    Figure::new(
        Form::Scatter,
        "size-against-time",
        "Size against parsing: 18,500 observations",
    )
    .axes(
        Axis::new("size", "KB").log(),
        Axis::new("parsed", "million observations/s").log(),
    )
    .caption(
        "A format that has another one to its left and above it is beaten in both. Native, one \
             thread, in the steady state.",
    )
    .series(series)
}

type Column<'a> = (&'a str, &'a str, &'a str);

/// A heat map a metric, formats down.
fn matrix(
    run: &Run,
    from: From,
    columns: &[Column<'_>],
    metrics: &[(&str, &str, &str, &str)],
) -> Vec<Figure> {
    let figures = Figures(&run.results);
    let formats = formats(run, from);
    let heat = |&(metric, title, y, unit): &(&str, &str, &str, &str)| {
        let row = |format: &&str| {
            let point = |(name, data, file): &Column<'_>| {
                let of = Of {
                    from,
                    ..Of::document(data, file)
                };
                let (by, found) = figures.metric(of, format, metric)?;
                Some(Point::of_metric(*name, found, 1.0).note(&format!("by {by}")))
            };
            Series::here(format, columns.iter().filter_map(point).collect())
        };
        Figure::new(Form::Heat, &format!("matrix-{}-{metric}", from.name()), title)
            .axes(Axis::new("data", ""), Axis::new(y, unit))
            .caption(
                "Native, one thread, in the steady state. Each format by the implementation that stands for \
                 it: ours where there is one. The darker, the more.",
            )
            .series(formats.iter().map(row))
            .group(match from {
                From::Document => "Formats of documents",
                From::Observations => "Formats of observations",
            })
    };
    metrics.iter().map(heat).collect()
}

/// Formats in the order of the run.
fn formats(run: &Run, from: From) -> Vec<&str> {
    use weir_bench_model::figure::slice::Slice;
    let slice = Slice::of(run)
        .with_or_without("link", "local")
        .with("place", "native")
        .with("from", from.name());
    slice.levels("format")
}
