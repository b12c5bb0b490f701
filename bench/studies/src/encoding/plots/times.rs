//! Times: figures 2, 3, 7 and 10 of paper 004, over the size of the XML.

use crate::encoding::cells::{Place, SLOWDOWNS};
use crate::encoding::exificient::NAME as EXIFICIENT;
use crate::encoding::figures::{Figures, Of};
use crate::encoding::task::Task;
use weir_bench_model::figure::{Axis, Figure, Form, Point, Series};
use weir_bench_model::results::{Metric, OURS, Run};

/// Series: name, format, by whom.
const CONTENDERS: [(&str, &str, &str); 6] = [
    ("XML", "xml", OURS),
    ("JSON", "json", "serde_json"),
    ("EXI", "exi", OURS),
    ("EXI-C", "exi-c", OURS),
    ("EXI by EXIficient", "exi", EXIFICIENT),
    ("EXI-C by EXIficient", "exi-c", EXIFICIENT),
];

/// Figures: number in the paper, data set, task, title.
const NATIVE: [(u32, &str, Task, &str); 3] = [
    (2, "caps", Task::Parse, "Parsing capabilities files"),
    (7, "obs", Task::Parse, "Parsing observation files"),
    (10, "io", Task::Serialize, "Serializing insertions"),
];

pub(super) fn figures(run: &Run) -> Vec<Figure> {
    let figures = Figures(&run.results);
    let mut all: Vec<Figure> = NATIVE.iter().map(|of| native(&figures, of)).collect();
    all.extend(
        [("caps", 3, "capabilities"), ("obs", 7, "observation")].map(|of| in_browser(&figures, of)),
    );
    all
}

fn axes() -> (Axis, Axis) {
    (
        Axis::new("size of the XML", "KB").log(),
        Axis::new("time", "ms").log(),
    )
}

fn native(figures: &Figures<'_>, (number, data, task, title): &(u32, &str, Task, &str)) -> Figure {
    let series = CONTENDERS.map(|(name, format, by)| {
        let metric = |of: Of<'_>| figures.metric_by(of, format, by, task.time());
        Series::here(name, line(figures, data, metric))
    });
    let (x, y) = axes();
    Figure::new(Form::Lines, &format!("tamayo-figure-{number}"), title)
        .axes(x, y)
        .caption(&format!(
            "In the form of figure {number} of Tamayo et al., on this machine and not on a phone: from memory, \
             one thread, the mean of k = 10 consecutive measurements in the steady state (COV below 0.05) and \
             its 95 % interval. EXIficient is the paper's own EXI."
        ))
        .series(series)
}

/// The phones of the paper: a browser, slowed.
fn in_browser(figures: &Figures<'_>, (data, number, words): (&str, u32, &str)) -> Figure {
    let formats = [
        ("XML", "xml"),
        ("JSON", "json"),
        ("EXI", "exi"),
        ("EXI-C", "exi-c"),
    ];
    let series = SLOWDOWNS.iter().flat_map(|&times| {
        formats.map(|(name, format)| {
            let place = Place::Browser(times);
            let metric =
                |of: Of<'_>| Some(figures.metric(of.at(place), format, Task::Parse.time())?.1);
            let slowed = if times == 1 {
                String::new()
            } else {
                format!(", slowed {times} times")
            };
            Series::here(&format!("{name}{slowed}"), line(figures, data, metric))
        })
    });
    let (x, y) = axes();
    Figure::new(
        Form::Lines,
        &format!("tamayo-figure-{number}-browser"),
        &format!("Parsing {words} files in a browser"),
    )
    .axes(x, y)
    .caption(&format!(
        "After figure {number} of Tamayo et al.: Chromium, slowed 4 and 6 times, stands for phones of 2010 and \
         2011. The paper calls up to 150 ms crisp, up to 1 s noticeable, up to 5 s annoying."
    ))
    .series(series)
}

/// A metric over the sizes of a data set's files, ms.
fn line<'a>(
    figures: &Figures<'_>,
    data: &str,
    metric: impl Fn(Of<'_>) -> Option<&'a Metric>,
) -> Vec<Point> {
    let point = |file: &str| {
        let of = Of::document(data, file);
        let kilobytes = figures.size(of, "xml")? / 1024.0;
        let point = Point::of_metric(kilobytes, metric(of)?, 1000.0);
        Some((kilobytes, point.note(&format!("{data} {file}"))))
    };
    let mut points: Vec<(f64, Point)> = figures.files(data).into_iter().filter_map(point).collect();
    points.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    points.into_iter().map(|(_, point)| point).collect()
}
