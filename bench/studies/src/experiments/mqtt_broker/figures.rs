//! Figures of the broker beside Mosquitto.

use crate::experiments::gateway::figures::{latencies, memory};
use weir_bench_model::figure::slice::{Slice, words};
use weir_bench_model::figure::{Axis, Figure, Form, Point, Series};
use weir_bench_model::results::{CellResult, Run};

/// All of them.
pub(super) fn of(run: &Run) -> Vec<Figure> {
    let all = Slice::of(run);
    let mut figures = percentiles(&all);
    figures.extend(latencies(&all));
    figures.push(rates(&all));
    figures.push(memory(&all));
    figures
}

/// Medians and tails of all latency cells beside each other.
fn percentiles(all: &Slice<'_>) -> Vec<Figure> {
    let of_test = all.with("test", "latency");
    let quantiles: [(&str, &str, Quantile); 2] = [
        ("p50", "Median latency", |rounds| rounds.p50),
        ("p99", "99th percentile of latency", |rounds| rounds.p99),
    ];
    let figure = |(name, title, quantile): (&str, &str, Quantile)| {
        let series = of_test.targets().into_iter().map(|target| {
            let own = of_test.by(target);
            let points = own.results().iter().map(|result| point(result, quantile));
            Series::here(target, points.collect())
        });
        let axes = (
            Axis::new("delivery and rate", ""),
            Axis::new("publish to receive", "us"),
        );
        Figure::new(Form::Bars, &format!("latency-{name}"), title)
            .axes(axes.0, axes.1)
            .caption(
                "Mean over rounds of each round's percentile and its 95 % interval. At quality of service 1 \
                 ours acknowledges what is on disk, Mosquitto what it has in memory.",
            )
            .series(series)
    };
    quantiles.map(figure).into()
}

type Quantile = fn(&weir_bench_model::results::Figures) -> f64;

fn point(result: &CellResult, quantile: Quantile) -> Point {
    let label = words(&result.cell, &["delivery", "rate"]) + " a second";
    let Some(metric) = result.metric("publish_to_receive") else {
        return Point::failed(label, &result.status);
    };
    let values: Vec<f64> = metric.rounds.iter().map(quantile).collect();
    match weir_bench_model::statistics::Estimate::of(&values) {
        Some(of) if of.n > 1 => Point::at(label, of.mean).between(of.low, of.high),
        Some(of) => Point::at(label, of.mean),
        None => Point::failed(label, "no round"),
    }
}

fn rates(all: &Slice<'_>) -> Figure {
    let fan_out = all.with("test", "fan-out");
    let publish = all.with("test", "publish");
    let label = |cell: &str| match words(cell, &["test"]).as_str() {
        "publish" => "published at QoS 1".into(),
        _ => format!("delivered to {} at QoS 0", words(cell, &["subscribers"])),
    };
    let of = |slice: &Slice<'_>, metric: &str| slice.bars(label, metric, 1.0);
    let mut series = of(&fan_out, "deliveries");
    for more in of(&publish, "messages") {
        match series.iter_mut().find(|one| one.name == more.name) {
            Some(one) => one.points.extend(more.points),
            None => series.push(more),
        }
    }
    let axes = (Axis::new("what", ""), Axis::new("messages", "1/s").log());
    Figure::new(Form::Bars, "rates", "Rates")
        .axes(axes.0, axes.1)
        .caption(
            "Deliveries: the highest rate at which p99 stays under 50 ms and nothing is lost. Published: \
             acknowledged with a window of 20 on each of 100 connections; ours are on disk then.",
        )
        .series(series)
}
