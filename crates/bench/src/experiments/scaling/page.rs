//! The page of the documentation: curves, the lines through them, and what they say about more than one
//! machine holds.

use super::RATE_TO_ALL;
use super::curves::{CURVES, Course, Curve};
use crate::report::{number, page};
use crate::results::Run;
use crate::statistics::line::Line;

const QUICK: &str = "
A quick run has the first three levels of each list, one short round of each: it shows that the experiment
works, and no line worth following.
";

const HOW: &str = "\n## How to read it

Server and load share the machine. Memory is the growth of the server's proportional resident memory from
before the first connection or datastream; what the kernel keeps of a socket is not in it (`gateway` measures
that). Lines are by least squares over the levels measured, `r2` is the share of the spread that they explain;
where a curve is no line, none is drawn. Topics are like `bench/building-1234/sensor-56/temperature`, each with
one observation, published a thousand a message; a gateway knows a million datastreams and refuses the next.
Observers by CoAP register from an address of 127.0.0.0/8 each, by requests that are not confirmable, and are told
of one change when memory has been read: `notified` in the results counts whom it reached.
";

/// How many clients are asked about.
const CLIENTS: [f64; 2] = [1e6, 1e8];

/// All of it.
pub(super) fn of(run: &Run, folder: &str) -> String {
    let mut text = page::begin("Scaling", run, folder, QUICK);
    lines(run, &mut text);
    further(run, &mut text);
    for curve in &CURVES {
        measured(curve, run, &mut text);
    }
    page::absent(run, &mut text);
    text + HOW
}

/// Each curve with its line, where it is one.
fn with_lines(run: &Run) -> impl Iterator<Item = (&'static Curve, Course, Line)> {
    let straight = CURVES.iter().filter(|curve| curve.is_line);
    straight.flat_map(|curve| {
        let courses = curve.courses(run).into_iter();
        courses.filter_map(move |course| course.line().map(|line| (curve, course, line)))
    })
}

fn lines(run: &Run, text: &mut String) {
    *text += "\n## The lines\n\n";
    page::head(
        &["what", "over", "at none", "for each thousand", "unit", "r2"],
        text,
    );
    for (curve, course, line) in with_lines(run) {
        let cells = [
            curve.about(&course),
            curve.over.into(),
            number(line.base),
            number(line.slope * 1000.0),
            curve.unit.into(),
            format!("{:.4}", line.r2),
        ];
        page::row(cells, text);
    }
}

/// The same lines far beyond what was measured, and said to be so.
fn further(run: &Run, text: &mut String) {
    *text += &format!(
        "\n## A million clients, and a hundred million\n\nNot measured: the lines above, followed. A client is a \
         connection, and hears {RATE_TO_ALL} messages a second in the rows of processors; one that hears a message \
         a minute takes a {} of that. One machine's limit is where these meet its memory, its processors, and the \
         files that a process may open; beyond it there are [several gateways](../guides/cluster.md), which share \
         a log, and each of which takes its part of the clients and all of the messages.\n\n",
        number(f64::from(RATE_TO_ALL) * 60.0) + "th"
    );
    page::head(&["what", "a million", "a hundred million"], text);
    for (curve, course, line) in with_lines(run).filter(|(curve, ..)| is_cost(curve)) {
        let [million, more] = CLIENTS.map(|clients| amount(line.at(clients), curve.unit));
        page::row([curve.about(&course), million, more], text);
    }
}

/// Latency far beyond what was measured would be that of a machine which nobody would run.
fn is_cost(curve: &Curve) -> bool {
    curve.unit != "us"
}

fn amount(value: f64, unit: &str) -> String {
    match unit {
        "bytes" => format!("{} GB", number(value / 1e9)),
        unit => format!("{} {unit}", number(value)),
    }
}

fn measured(curve: &Curve, run: &Run, text: &mut String) {
    for course in curve.courses(run) {
        *text += &format!("\n## {}\n\n", curve.about(&course));
        page::head(&[curve.over, curve.unit], text);
        for (x, y) in course.points {
            page::row([number(x), number(y)], text);
        }
    }
}
