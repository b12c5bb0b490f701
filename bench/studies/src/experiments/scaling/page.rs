//! The page of the documentation: curves, what was laid through them, and what that says about more than one
//! machine holds.

use super::curves::{Course, Curve, Kind};
use super::fit::{Fit, Form, digits};
use super::further::{CLIENTS, HEARD, clients};
use super::list::CURVES;
use super::{RATE_OF_PROBE, RATE_TO_ALL};
use weir_bench_model::limits::{CONNECTIONS_A_LOAD_MAX, FILES_RESERVED};
use weir_bench_model::number::number;
use weir_bench_model::results::Run;
use weir_bench_report::page;

const QUICK: &str = "
A quick run has three levels of each list, one short round of each, and no heartbeat of a connection that rests: it
shows that the experiment works, and no line worth following.
";

const FITS: &str = "
Ordinary least squares over all rounds of all levels. `a thousand` is what a thousand more cost, with the 95 % interval
of that slope by Student's t; where the interval contains 0 no dependence is seen. The residual is the standard
deviation of the points around the curve; `r2` the share of their spread that it explains. A power is a line of the
logarithms: exponent 1 is in proportion, less is cheaper by the dozen. Levels are over decades, so the greatest decide a
line; what it says at none is no measurement. Small levels and short times scatter more than the interval, which takes
all points to scatter alike, admits.
";

const FURTHER: &str = "
Not measured. Every number is a slope times a number of clients, with the slope's interval, and the interval says how
well the slope is known where it was measured and nothing of what lies beyond: a limit that is met only there (the
kernel's tables, a network card, a bus, a lock that few share) is in none of them. A million is tens of times the
greatest level here and a hundred million thousands of times. So read them as what must be bought at the least, and
measure again at the size that is to be run.
";

const WHAT_IS_LEFT_OUT: &str = "
Memory is the gateway's, and half of what the kernel keeps for both ends of a connection, as both are here. Gateways are
machines of this one's size filled to the brim: twice as many have room for a day's peak and for one that fails. The
load, which takes much of this machine, would run elsewhere. Two costs are in no row. Several gateways
([guide](../guides/cluster.md)) share a log, each takes every message that is published: the curve over rates says what
that costs each of them, whatever the clients. And a topic that all hear is the cheapest: a message is encoded once, and
where each client hears other topics, that and the finding of who hears is paid more often. Latency is not followed: a
tail a hundred times as far out would be that of a machine which nobody would run.
";

const DATASTREAMS: &str = "
Datastreams, of which one gateway knows a million at most (a log that several share has as many):

";

const HOW: &str = "
## How to read it

Server and load share the machine. Memory is the growth of the server's proportional resident memory from before the
first connection, datastream or observer; over subscribers and rates it is its greatest resident memory, the program's
own in it. Topics are like `bench/building-1234/sensor-56/temperature`, each with one observation, published a
thousand a message; a gateway knows a million datastreams and refuses the next. Observers by CoAP register from an
address of 127.0.0.0/8 each, by requests that are not confirmable, and are told of one change when memory has been
read: `notified` in the results counts whom it reached, and the latency of each counts from the change.
";

/// All of it.
pub(super) fn of(run: &Run, folder: &str) -> String {
    let mut text = page::begin("Scaling", run, folder, QUICK);
    text += &limits(run);
    fits(run, &mut text);
    further(run, &mut text);
    for curve in &CURVES {
        measured(curve, run, &mut text);
    }
    page::absent(run, &mut text);
    text + HOW + &beside()
}

/// What this machine lets one gateway and its load have.
fn limits(run: &Run) -> String {
    let files = run.environment.open_files;
    let most = files.saturating_sub(FILES_RESERVED as u64);
    format!(
        "\n## What this machine allows\n\nA process may open {} files here. A gateway is one process: with {} left for \
         its log and its listeners it holds up to {} connections, whatever the memory; more levels are refused, which \
         stands below. Whoever may raise the limit (`LimitNOFILE` of the systemd unit) has a gateway take 200,000. The \
         load is a process for every {} connections, which leave from addresses of 127.0.0.0/8, so that ports do not \
         run out. Observers by CoAP take no files.\n",
        number(files as f64),
        number(FILES_RESERVED as f64),
        number(most as f64),
        number(CONNECTIONS_A_LOAD_MAX as f64),
    )
}

fn beside() -> String {
    format!(
        "\nBeside connections and datastreams that rest, one publisher sends {RATE_OF_PROBE} messages a second to one \
         subscriber of the same delivery (server-sent events beside datastreams): processors and latency are those of \
         this traffic together with what all others cost, which is what grows. In a full run it lasts a beat of \
         heartbeats, 15 s, from the first one on, in which each connection by SSE or WebSocket has one; MQTT's \
         keep-alive is off. To subscribers {RATE_TO_ALL} messages a second are published, each of which reaches all.\n"
    )
}

/// Each course with its curve and what is laid through it.
fn with_fits(run: &Run) -> impl Iterator<Item = (&'static Curve, Course, Fit)> {
    CURVES.iter().flat_map(|curve| {
        let courses = curve.courses(run).into_iter();
        courses.filter_map(move |course| {
            let fit = curve.fit(&course)?;
            Some((curve, course, fit))
        })
    })
}

fn fits(run: &Run, text: &mut String) {
    *text += "\n## The fits\n";
    *text += FITS;
    *text += "\n";
    let heads = [
        "what",
        "over",
        "points",
        "fit",
        "a thousand, 95 %",
        "residual",
        "unit",
        "r2",
    ];
    page::head(&heads, text);
    for (curve, course, fit) in with_fits(run) {
        let (r2, points) = fit.explains();
        let cells = [
            curve.about(&course),
            curve.over.into(),
            points.to_string(),
            fit.formula(),
            fit.interval(),
            fit.residual(),
            curve.unit.into(),
            format!("{r2:.4}"),
        ];
        page::row(cells, text);
    }
}

/// The same far beyond what was measured, and said to be so.
fn further(run: &Run, text: &mut String) {
    *text += "\n## A million clients, and a hundred million\n";
    *text += FURTHER;
    *text += "\n";
    let heads = [
        "clients",
        "delivery",
        "each hears",
        "memory, GB",
        "processors busy",
        "gateways of this size",
        "run out of",
    ];
    page::head(&heads, text);
    let clients = clients(run);
    for count in CLIENTS {
        for client in &clients {
            for (heard, words) in HEARD {
                let need = client.need(count, heard, &run.environment);
                let cells = [number(count), client.delivery.clone(), words.into()];
                page::row(cells.into_iter().chain(need.cells()), text);
            }
        }
    }
    *text += WHAT_IS_LEFT_OUT;
    datastreams(run, text);
}

/// As many datastreams as clients: no gateway knows so many, and what they would take.
fn datastreams(run: &Run, text: &mut String) {
    *text += DATASTREAMS;
    page::head(&["what", "a million", "a hundred million", "unit"], text);
    let of_topics = |curve: &Curve| {
        let is_cost = curve.kind != Kind::Latency && curve.form == Form::Line;
        curve.over == "topics" && is_cost
    };
    for (curve, course, fit) in with_fits(run).filter(|(curve, ..)| of_topics(curve)) {
        let Fit::Line(line) = fit else {
            continue;
        };
        let [million, more] = CLIENTS.map(|count| {
            let (low, high) = line.between(count);
            let [middle, low, high] = [line.at(count), low, high].map(digits);
            format!("{middle} ({low} to {high})")
        });
        page::row(
            [curve.about(&course), million, more, curve.unit.into()],
            text,
        );
    }
}

fn measured(curve: &Curve, run: &Run, text: &mut String) {
    for course in curve.courses(run) {
        *text += &format!("\n## {}\n\n", curve.about(&course));
        let fit = curve.fit(&course);
        page::head(&[curve.over, curve.unit, "the fit there"], text);
        for (x, y) in course.levels() {
            let laid = fit.as_ref().map_or(String::new(), |fit| digits(fit.at(x)));
            page::row([number(x), digits(y), laid], text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_bench_model::environment::Environment;
    use weir_bench_model::results::{CellResult, single};

    fn result(cell: String, values: &[(&str, f64)]) -> CellResult {
        let metrics = values.iter().map(|(name, value)| single(name, "", *value));
        CellResult {
            cell,
            target: "weir".into(),
            status: "ok".into(),
            metrics: metrics.collect(),
            ..CellResult::default()
        }
    }

    fn run() -> Run {
        let of = |n: f64| {
            let idle = format!("test=idle;delivery=mqtt;connections={n}");
            let all = format!("test=subscribers;delivery=mqtt;subscribers={n};rate=10");
            let topics = format!("test=topics;topics={n}");
            let rest = [
                ("server_memory_per_connection", 1100.0),
                ("server_cpu", 0.1 + n * 1.2e-6),
            ];
            [
                result(idle, &rest),
                result(all, &[("server_cpu", 0.1 + n * 2e-5)]),
                result(topics, &[("server_memory_per_topic", 500.0)]),
            ]
        };
        let refused = "a target is one process, which may open 20000 files here";
        let more = CellResult::absent("test=idle;delivery=mqtt;connections=50000", "weir", refused);
        let results = [100.0, 1000.0, 5000.0].into_iter().flat_map(of);
        Run {
            effort: "full".into(),
            results: results.chain([more]).collect(),
            environment: Environment {
                cpus: 2,
                memory_bytes: 16_000_000_000,
                open_files: 20_000,
                ..Environment::default()
            },
            ..Run::default()
        }
    }

    #[test]
    fn the_page_says_what_the_machine_allows_and_what_was_refused() {
        let page = of(&run(), "runs/x");
        assert!(
            page.contains("A process may open 20,000 files here"),
            "{page}"
        );
        assert!(page.contains("up to 19,500 connections"), "{page}");
        assert!(
            page.contains("may open 20000 files here: `test=idle"),
            "{page}"
        );
    }

    #[test]
    fn a_million_and_a_hundred_million_are_told_in_gateways_with_what_runs_out() {
        let page = of(&run(), "runs/x");
        // 1.1 kB each, 1.2e-6 processors at rest and 2e-6 seconds a message.
        let silent = "| 1,000,000 | mqtt | nothing | 1.10 | 1.20 | 52 | open files |";
        assert!(page.contains(silent), "{page}");
        let busy = "| 100,000,000 | mqtt | ten a second | 110 | 2,120 | 5,129 | open files |";
        assert!(page.contains(busy), "{page}");
        assert!(
            page.contains("Not measured. Every number is a slope"),
            "{page}"
        );
    }

    #[test]
    fn every_fit_has_its_interval_and_its_residual() {
        let page = of(&run(), "runs/x");
        let of = "| Processors, ten messages a second to all, mqtt | subscribers | 3 |";
        let line = format!("{of} 0.100 + 0.020 a thousand |");
        assert!(page.contains(&line), "{page}");
        let head = "| what | over | points | fit | a thousand, 95 % | residual | unit | r2 |";
        assert!(page.contains(head), "{page}");
    }
}
