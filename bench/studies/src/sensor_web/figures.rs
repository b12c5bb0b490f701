//! Figures of a run: rates of inserting, the times of 52North's case beside what its user states, the latest of many
//! datastreams, and long answers with the memory that they take.

use super::cells::{LATEST_OF_ALL, SHORT_IN, SHORT_OUT, Setting, lengths, long, settings};
use super::goals::{growth, medians_ms, published_s};
use super::sample::{ACKNOWLEDGEMENT, ANSWER, RATE};
use super::servers::SERVERS;
use weir_bench_model::effort::Effort;
use weir_bench_model::figure::{Axis, Figure, Form, Point, Series};
use weir_bench_model::number::number;
use weir_bench_model::published::SOS;
use weir_bench_model::results::{CellResult, Metric, OURS, Run};

/// Bytes of a mebibyte.
pub(super) const MIB: f64 = 1_048_576.0;

/// All figures, in the order of the report.
pub(super) fn of(run: &Run) -> Vec<Figure> {
    vec![
        inserts(run),
        short(run),
        latest(run),
        rates(run),
        memory(run),
    ]
}

/// The result of a server in a cell.
pub(super) fn result<'a>(run: &'a Run, setting: &Setting, server: &str) -> Option<&'a CellResult> {
    let name = setting.name();
    let mut results = run.results.iter();
    results.find(|it| it.target == server && it.cell == name)
}

/// The distribution of a cell: until messages were answered, or answers had come.
pub(super) fn timed<'a>(setting: &Setting, result: &'a CellResult) -> Option<&'a Metric> {
    result.metric(match setting.is_read() {
        true => ANSWER,
        false => ACKNOWLEDGEMENT,
    })
}

/// A series a server of the points that it has.
fn by_server(
    run: &Run,
    settings: &[Setting],
    point: impl Fn(&Setting, &CellResult) -> Point,
) -> Vec<Series> {
    let of = |server: &'static str| {
        let found = settings
            .iter()
            .filter_map(|it| Some(point(it, result(run, it, server)?)));
        Series::here(server, found.collect())
    };
    SERVERS.iter().map(|server| of(server.name)).collect()
}

fn inserts(run: &Run) -> Figure {
    let mut settings = settings(Effort::Full);
    settings.retain(|it| it.test == "insert");
    let series = by_server(run, &settings, |setting, result| {
        let Setting {
            observations,
            connections,
            ..
        } = setting;
        let of = match observations {
            1 => "one a message".into(),
            many => format!("{} a message", number(*many as f64)),
        };
        let label = format!("{of}, {connections} connections");
        Point::of_result(label, result, RATE, 1.0)
    });
    Figure::new(Form::Bars, "inserts", "Inserts by SensorThings")
        .axes(
            Axis::new("observations and connections", ""),
            Axis::new("observations", "1/s").log(),
        )
        .caption(
            "Observations a second, each on disk before its message is answered; a connection waits for every \
             answer. The null server takes the same bytes and does nothing with them.",
        )
        .series(series)
}

fn short(run: &Run) -> Figure {
    let settings: Vec<Setting> = SHORT_IN.into_iter().chain(SHORT_OUT).collect();
    let here = by_server(run, &settings, |setting, result| {
        medians(setting.words(), setting, result)
    });
    let [_, insert] = SHORT_IN;
    let [read, ..] = SHORT_OUT;
    let printed = [("InsertResult", insert), ("GetObservation", read)];
    let printed = printed.into_iter().filter_map(|(operation, setting)| {
        Some(Point::at(setting.words(), published_s(operation)? * 1e3))
    });
    let published = Series::published("52North SOS 4.4", &SOS.cited(), printed.collect());
    Figure::new(Form::Bars, "short", "2,700 observations in and out by SOS 2.0")
        .axes(Axis::new("request", ""), Axis::new("time", "ms").log())
        .caption(
            "Mean of the rounds' medians and its 95 % interval: from a document to its answer, when all is \
             on disk, or from a request to the last byte of the answer. What stands beside is one user's \
             statement of his desktop with an SSD: 45 minutes at one a second, with eight values each \
             where ours have one.",
        )
        .series(here.into_iter().chain([published]))
}

/// The medians of rounds, milliseconds.
fn medians(label: String, setting: &Setting, result: &CellResult) -> Point {
    let estimate = timed(setting, result).and_then(medians_ms);
    match estimate {
        Some(of) if of.n > 1 => Point::at(label, of.mean).between(of.low, of.high),
        Some(of) => Point::at(label, of.mean),
        None => Point::failed(label, &result.status),
    }
}

fn latest(run: &Run) -> Figure {
    let each = LATEST_OF_ALL.iter().flat_map(|setting| {
        SERVERS.iter().filter_map(move |server| {
            let metric = timed(setting, result(run, setting, server.name)?)?;
            let format = setting.request.format;
            Series::distribution(&format!("{}, {format}", server.name), metric, 1e3)
        })
    });
    Figure::new(
        Form::Distribution,
        "latest",
        "The latest of 400 datastreams in one request",
    )
    .axes(
        Axis::new("request to the last byte", "ms").log(),
        Axis::new("share of answers", ""),
    )
    .caption(
        "All answers of all rounds, one after the other: entities whole, and by $select results and times alone. \
         The null server sends as many bytes, which say nothing.",
    )
    .series(each)
}

/// A line a form of long answers.
fn by_length(
    run: &Run,
    named: impl Fn(String) -> String,
    y: impl Fn(&Setting, &CellResult) -> Option<f64>,
) -> Vec<Series> {
    let lengths = lengths(Effort::Full);
    let names = long(0).map(|it| it.words());
    let line = |(form, name): (usize, String)| {
        let found = lengths.iter().filter_map(|&length| {
            let setting = long(length).into_iter().nth(form)?;
            let result = result(run, &setting, OURS)?;
            Some(match y(&setting, result) {
                Some(y) => Point::at(length as f64, y),
                None => Point::failed(length as f64, &result.status),
            })
        });
        Series::here(&named(name), found.collect())
    };
    names.into_iter().enumerate().map(line).collect()
}

fn rates(run: &Run) -> Figure {
    let rate = |_: &Setting, result: &CellResult| Some(result.metric(RATE)?.estimate.mean);
    Figure::new(
        Form::Lines,
        "rates-of-long-answers",
        "Long answers of SOS 2.0",
    )
    .axes(
        Axis::new("observations in an answer", "").log(),
        Axis::new("observations", "1/s").log(),
    )
    .caption("Observations a second from the gateway to one client, by the form of the answer.")
    .series(by_length(run, |name| name, rate))
}

fn memory(run: &Run) -> Figure {
    let grown = |setting: &Setting, _: &CellResult| Some(growth(run, setting)?.mean / MIB);
    let answer =
        |_: &Setting, result: &CellResult| Some(result.metric("answer_bytes")?.estimate.mean / MIB);
    let grown = by_length(run, |name| format!("growth: {name}"), grown);
    let answers = by_length(run, |name| format!("answer: {name}"), answer);
    Figure::new(
        Form::Lines,
        "memory-of-long-answers",
        "Memory of long answers of SOS 2.0",
    )
    .axes(
        Axis::new("observations in an answer", "").log(),
        Axis::new("growth at most, and answer", "MiB"),
    )
    .caption(
        "By how much the gateway's resident memory was greater at most than before the reading began, \
         mean over rounds; and how long the answer itself is, which a gateway that keeps it whole \
         would take.",
    )
    .series(grown.into_iter().chain(answers))
}
