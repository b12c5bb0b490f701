//! The page of the documentation, generated from a run and from nothing else.

use super::cells::{Setting, lengths, long, settings};
use super::figures::{MIB, result, timed};
use super::goals::{growth, medians_ms};
use super::sample::RATE;
use weir_bench_model::effort::Effort;
use weir_bench_model::number::number;
use weir_bench_model::results::{CEILING, CellResult, OURS, Run};
use weir_bench_report::page::{self, head, row};

/// The page of a run; `folder` is where the run lies, for the command that made the page.
pub(super) fn markdown(run: &Run, folder: &str) -> String {
    let mut text = page::begin(TITLE, run, folder, QUICK);
    page::goals(run, JUDGED, page::reached, &mut text);
    for (test, title, about) in TABLES {
        text += &format!("\n## {title}\n\n{about}\n\n");
        measured(run, test, &mut text);
    }
    memory(run, &mut text);
    spent(run, &mut text);
    page::absent(run, &mut text);
    text + HOW
}

const TITLE: &str = "SensorThings and SOS";

const QUICK: &str = "
A quick run: three rounds of half a second a cell, and no answers of a million observations. Where the load before is
not near zero or the priority is raised, other work shared the machine; do not quote such figures, run without
`--quick` on a machine that rests.
";

const JUDGED: &str = "\
Rates by the mean over rounds, times by the medians of rounds, each with its 95 % interval: a goal holds where all of
it does, falls short where none of it does, and is undecided between.

";

/// Level of the factor `test`, title, and what a reader must know.
const TABLES: [(&str, &str, &str); 4] = [
    (
        "insert",
        "Inserting by SensorThings",
        "Each message is on disk before its answer; a connection waits for every answer.",
    ),
    (
        "latest",
        "The latest of many datastreams",
        "One request for the latest Observation of every Datastream, by `$expand` with `$top=1`.",
    ),
    (
        "short",
        "2,700 observations by SOS 2.0",
        "The case of [52North/SOS#825](https://github.com/52North/SOS/issues/825), whose author states 2 minutes for \
         inserting (InsertResult) and 12 s for reading (GetObservation), on a desktop with an SSD; his observations \
         have eight values each, ours one.",
    ),
    (
        "long",
        "Long answers of SOS 2.0",
        "All that there is, in one answer, which is read as it comes.",
    ),
];

const HOW: &str = "\n## How it was measured

`weir serve` on a fresh folder of this disk, started for each cell and kept over its rounds; the load is one process
with one thread on the same machine and speaks HTTP/1.1 to it. `null_coalescing` is one thread that answers at once:
it takes the same messages and drops them, and gives lines of as many bytes as an observation has in the gateway's
answers. What comes within 20 % of its rate is marked `ceiling`: there load and machine are measured, not the
gateway.

**Inserting** is a closed loop: every connection has one message under way. All go to one Datastream; every
observation has a time of its own, a microsecond after the one before. `data-array` is CreateObservations, `json`
one Observation a POST. **SOS** has one sensor, inserted by InsertSensor; `insert-observation` is O&M 2.0,
`insert-result` rows of text by a template.

**Reading** is one client that asks again when it has the last byte of the answer before; an answer with another
number of observations than there are ends the cell. What is read was inserted by the service itself before. 2,700
observations are a tenth of what is there, found by a period; long answers are all that there is. GetObservation
comes in O&M 2.0 and in SWE text, GetResult as rows.

**Memory** is the gateway's greatest resident memory while it is read from, less that before the first of these
requests, as the kernel tells both. An answer that was kept whole would take its own bytes at the least, which stand
beside it.
";

/// A row a setting of a test, ours with the null server beside it.
fn measured(run: &Run, test: &str, text: &mut String) {
    let columns = [
        "request",
        "form",
        "observations",
        "connections",
        "observations a second",
        "median, ms",
        "interval, ms",
        "p99, ms",
        "null, ms",
        "of the null's rate, %",
        "",
    ];
    head(&columns, text);
    let all = settings(Effort::Full).into_iter();
    for setting in all.filter(|it| it.test == test) {
        let Some(ours) = result(run, &setting, OURS).filter(|it| !it.metrics.is_empty()) else {
            continue;
        };
        row(cells(run, &setting, ours), text);
    }
}

fn cells(run: &Run, setting: &Setting, ours: &CellResult) -> Vec<String> {
    let absent = || "-".to_owned();
    let mean = |name: &str| Some(number(ours.metric(name)?.estimate.mean));
    let times = timed(setting, ours);
    let medians = times.and_then(medians_ms);
    let p99 = times.and_then(|it| Some(number(it.percentiles?.p99 / 1e3)));
    let null = result(run, setting, CEILING).and_then(|it| medians_ms(timed(setting, it)?));
    let status = if ours.status == "ok" {
        ""
    } else {
        &ours.status
    };
    vec![
        setting.request.name.into(),
        setting.request.format.into(),
        number(setting.observations as f64),
        setting.connections.to_string(),
        mean(RATE).unwrap_or_else(absent),
        medians.map_or_else(absent, |it| number(it.mean)),
        medians.map_or_else(absent, |it| it.interval()),
        p99.unwrap_or_else(absent),
        null.map_or_else(absent, |it| number(it.mean)),
        mean("observations_of_ceiling").unwrap_or_else(absent),
        status.into(),
    ]
}

/// A row a form: growth by the length of the answer, and the bytes of that answer.
fn memory(run: &Run, text: &mut String) {
    *text += "\n## Memory of long answers\n\nBy how much it grew at most, mean over rounds, MiB, and in brackets the \
              bytes of the answer, MiB.\n\n";
    let lengths = lengths(Effort::Full);
    let titles = lengths.iter().map(|&length| number(length as f64));
    let titles: Vec<String> = ["answer".to_owned()].into_iter().chain(titles).collect();
    head(&titles.iter().map(String::as_str).collect::<Vec<_>>(), text);
    for (form, name) in long(0).map(|it| it.words()).into_iter().enumerate() {
        let grown = lengths.iter().map(|&length| {
            let setting = long(length).into_iter().nth(form)?;
            let grown = growth(run, &setting)?;
            let answer = result(run, &setting, OURS)?.metric("answer_bytes")?;
            let of = number(answer.estimate.mean / MIB);
            Some(format!("{} ({of})", number(grown.mean / MIB)))
        });
        let grown = grown.map(|it| it.unwrap_or("-".into()));
        row([name].into_iter().chain(grown), text);
    }
}

/// Processors and memory of both sides.
fn spent(run: &Run, text: &mut String) {
    *text += "\n## What both sides spend\n\nProcessors kept busy, the gateway's processor time an observation, and \
              peak resident memory.\n\n";
    let columns = [
        "cell",
        "server cpus",
        "server us an observation",
        "server MiB",
        "load cpus",
        "load MiB",
    ];
    head(&columns, text);
    for ours in run.results.iter().filter(|it| it.target == OURS) {
        let of = |name: &str| Some(ours.metric(name)?.estimate.mean);
        let Some(cpus) = of("server_cpu") else {
            continue;
        };
        let each = of(RATE).map(|rate| cpus / rate * 1e6);
        let memory = |name| of(name).map(|bytes| bytes / MIB);
        let figures = [
            Some(cpus),
            each,
            memory("server_memory_peak"),
            of("load_cpu"),
            memory("load_memory_peak"),
        ];
        let shown = figures.map(|it| it.map_or("-".into(), number));
        row([ours.cell.clone()].into_iter().chain(shown), text);
    }
}
