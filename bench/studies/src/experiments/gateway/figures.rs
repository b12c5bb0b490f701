//! Figures of the gateway's own experiment: rates, latencies, memory.

use weir_bench_model::figure::slice::{Slice, words};
use weir_bench_model::figure::{Axis, Figure, Form, Point, Series};
use weir_bench_model::pace::Trial;
use weir_bench_model::results::{CellResult, Run};

/// All of them.
pub(crate) fn of(run: &Run) -> Vec<Figure> {
    let all = Slice::of(run);
    let mut figures = vec![ingest(&all)];
    figures.extend(fan_out(&all));
    figures.extend(searches(&all));
    figures.extend(latencies(&all));
    figures.push(memory(&all));
    figures.push(replay(&all));
    figures
}

fn ingest(all: &Slice<'_>) -> Figure {
    let label = |cell: &str| words(cell, &["message", "load"]);
    let axes = (
        Axis::new("message and load", ""),
        Axis::new("observations", "1/s").log(),
    );
    Figure::new(Form::Bars, "ingest", "Durable ingest")
        .axes(axes.0, axes.1)
        .caption(
            "Observations acknowledged a second; of ours each is on disk then. The null server answers and \
             keeps nothing: the ceiling of load and machine.",
        )
        .series(all.with("test", "ingest").bars(label, "observations", 1.0))
}

/// A figure a delivery scheme.
fn fan_out(all: &Slice<'_>) -> Vec<Figure> {
    let of_test = all.with("test", "fan-out");
    let figure = |delivery: &&str| {
        let of = of_test.with("delivery", delivery);
        let axes = (
            Axis::new("subscribers", "").log(),
            Axis::new("deliveries", "1/s").log(),
        );
        Figure::new(Form::Lines, &format!("fan-out-{delivery}"), &format!("Fan-out by {delivery}"))
            .axes(axes.0, axes.1)
            .caption(
                "The highest rate at which p99 stays under its limit and nothing is lost, found by a search \
                 and confirmed by a longer step. Whiskers are the interval over rounds. Mosquitto is \
                 measured by MQTT at quality of service 0 and stands beside SSE.",
            )
            .series(of.lines("subscribers", "deliveries", 1.0))
            .group("Fan-out by delivery scheme")
    };
    of_test.levels("delivery").iter().map(figure).collect()
}

/// What the search for a rate saw at each that it tried; of the cells whose rate is a goal.
fn searches(all: &Slice<'_>) -> Vec<Figure> {
    let of_test = all.with("test", "fan-out").with("subscribers", "1000");
    let figure = |delivery: &&str| {
        let of = of_test.with("delivery", delivery);
        let axes = (
            Axis::new("rate offered", "messages/s").log(),
            Axis::new("99th of 100 deliveries", "ms").log(),
        );
        let title = format!("How the rate by {delivery} was found");
        let series = of.results().iter().map(|result| trials(result));
        Figure::new(Form::Scatter, &format!("search-{delivery}-1000"), &title)
            .axes(axes.0, axes.1)
            .caption(
                "Each step of every round's search, to 1,000 subscribers: the limit is 50 ms. A server that \
                 coalesces keeps one latency over many rates; where that is near the limit, the rate found \
                 hangs on little.",
            )
            .series(series)
            .group("Search for the highest rate")
    };
    of_test.levels("delivery").iter().map(figure).collect()
}

/// A point a step of the searches of a cell.
fn trials(result: &CellResult) -> Series {
    let point = |trial: &Trial| {
        let at = Point::at(trial.rate, trial.p99_ms);
        match trial.lost {
            0 => at,
            lost => at.note(&format!("{lost} lost")),
        }
    };
    let trials = result.trials.iter().flatten();
    Series::here(&result.target, trials.map(point).collect())
}

/// Percentiles of every latency cell.
pub(crate) fn latencies(all: &Slice<'_>) -> Vec<Figure> {
    let of_test = all.with("test", "latency");
    let mut cells: Vec<&str> = Vec::new();
    for result in of_test.results() {
        if !cells.contains(&result.cell.as_str()) {
            cells.push(&result.cell);
        }
    }
    cells
        .into_iter()
        .map(|cell| latency(&of_test, cell))
        .collect()
}

fn latency(of_test: &Slice<'_>, cell: &str) -> Figure {
    let own = of_test
        .results()
        .iter()
        .filter(|result| result.cell == cell);
    let series = own.filter_map(|result| {
        let metric = result.metric("publish_to_receive")?;
        Series::distribution(&result.target, metric, 1.0)
    });
    let rate = words(cell, &["rate"]);
    let subscribers = words(cell, &["subscribers"]);
    let to = match subscribers.as_str() {
        "" | "1" => "one subscriber".into(),
        many => format!("{many} subscribers"),
    };
    let delivery = words(cell, &["delivery"]);
    let name = format!("latency-{delivery}-{subscribers}-{rate}");
    let title = format!("{delivery}, {rate} messages a second to {to}");
    let axes = (
        Axis::new("publish to receive", "us").log(),
        Axis::new("share of deliveries", ""),
    );
    Figure::new(Form::Distribution, &name, &title)
        .axes(axes.0, axes.1)
        .caption(
            "Time from when a message was due until it is received, all samples of all rounds; open loop, so \
             a server that stalls pays for all that waited. Each further nine has the same room; the last mark of \
             a line is its greatest sample.",
        )
        .series(series)
        .group("Latency")
}

/// What a connection that rests costs, in parts.
pub(crate) fn memory(all: &Slice<'_>) -> Figure {
    let of_test = all.with("test", "idle");
    let parts = [
        ("server", "server_memory_per_connection"),
        ("kernel, slab", "kernel_slab_per_connection"),
        ("kernel, buffers", "kernel_buffers_per_connection"),
    ];
    let label = |result: &CellResult| {
        let tls = match words(&result.cell, &["tls"]).as_str() {
            "on" => " over TLS",
            _ => "",
        };
        format!(
            "{}, {}{tls}",
            result.target,
            words(&result.cell, &["delivery"])
        )
    };
    let series = parts.map(|(name, metric)| {
        let measured = of_test
            .results()
            .iter()
            .filter(|r| r.metric(metric).is_some());
        let point = |result: &&CellResult| Point::of_result(label(result), result, metric, 1.0);
        Series::here(name, measured.map(point).collect())
    });
    let axes = (
        Axis::new("contender", ""),
        Axis::new("memory a connection", "bytes"),
    );
    Figure::new(Form::Stacked, "idle-memory", "Memory of a connection that rests")
        .axes(axes.0, axes.1)
        .caption(
            "Growth of the server's proportional resident memory, and of the kernel's, whose figures count \
             both ends of each connection.",
        )
        .series(series)
}

fn replay(all: &Slice<'_>) -> Figure {
    let label = |cell: &str| words(cell, &["message", "messages"]);
    let axes = (Axis::new("messages", ""), Axis::new("observations", "1/s"));
    Figure::new(Form::Bars, "replay", "Replay")
        .axes(axes.0, axes.1)
        .caption("Observations a second that one reader gets back from a cursor.")
        .series(all.with("test", "replay").bars(label, "observations", 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_is_drawn_with_every_step_of_every_round_and_what_it_lost() {
        let trial = |rate, lost| Trial {
            rate,
            p99_ms: 40.0,
            lost,
            passed: lost == 0,
        };
        let run = Run {
            results: vec![CellResult {
                cell: "test=fan-out;delivery=sse;subscribers=1000;p99=50ms".into(),
                target: "weir".into(),
                trials: vec![vec![trial(60.0, 0), trial(120.0, 3)], vec![trial(60.0, 0)]],
                ..CellResult::default()
            }],
            ..Run::default()
        };
        let figures = of(&run);
        let search = figures.iter().find(|it| it.name == "search-sse-1000");
        let points = search.map_or(&[][..], |it| &it.series[0].points);
        assert_eq!(points.len(), 3);
        assert_eq!(points[1], Point::at(120.0, 40.0).note("3 lost"));
    }
}
