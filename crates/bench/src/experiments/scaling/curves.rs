//! The curves as data: what is measured over what, and the line through it.

use crate::figure::slice::{Slice, level};
use crate::figure::{Axis, Figure, Form, Point, Series};
use crate::results::{CellResult, Metric, Run};
use crate::statistics::line::Line;

/// One quantity over one factor.
pub(super) struct Curve {
    /// Name of its figure.
    name: &'static str,
    pub(super) title: &'static str,
    /// Level of the factor `test`.
    pub(super) test: &'static str,
    /// What grows.
    pub(super) over: &'static str,
    metric: &'static str,
    /// Where the metric is for each of what grows, and the curve is of all.
    is_each: bool,
    figure: fn(&Metric) -> f64,
    pub(super) unit: &'static str,
    /// Whether a straight line is to be expected.
    pub(super) is_line: bool,
}

/// The points of a delivery scheme, or of all where there is none.
pub(super) struct Course {
    pub(super) delivery: String,
    pub(super) points: Vec<(f64, f64)>,
}

const MEAN: fn(&Metric) -> f64 = |metric| metric.estimate.mean;
const P50: fn(&Metric) -> f64 = |metric| mean_of(metric, |figures| figures.p50);
const P99: fn(&Metric) -> f64 = |metric| mean_of(metric, |figures| figures.p99);

/// THE list.
pub(super) const CURVES: [Curve; 8] = [
    Curve {
        name: "memory-connections",
        title: "Memory of connections that rest",
        test: "idle",
        over: "connections",
        metric: "server_memory_per_connection",
        is_each: true,
        figure: MEAN,
        unit: "bytes",
        is_line: true,
    },
    Curve {
        name: "memory-observers",
        title: "Memory of observers by CoAP",
        test: "observers",
        over: "observers",
        metric: "server_memory_per_observer",
        is_each: true,
        figure: MEAN,
        unit: "bytes",
        is_line: true,
    },
    Curve {
        name: "memory-topics",
        title: "Memory of datastreams",
        test: "topics",
        over: "topics",
        metric: "server_memory_per_topic",
        is_each: true,
        figure: MEAN,
        unit: "bytes",
        is_line: true,
    },
    Curve {
        name: "cpu-subscribers",
        title: "Processors, ten messages a second to all",
        test: "subscribers",
        over: "subscribers",
        metric: "server_cpu",
        is_each: false,
        figure: MEAN,
        unit: "cpus",
        is_line: true,
    },
    Curve {
        name: "median-subscribers",
        title: "Median of publish to receive, ten messages a second to all",
        test: "subscribers",
        over: "subscribers",
        metric: "publish_to_receive",
        is_each: false,
        figure: P50,
        unit: "us",
        is_line: true,
    },
    Curve {
        name: "tail-subscribers",
        title: "99th percentile of publish to receive, ten messages a second to all",
        test: "subscribers",
        over: "subscribers",
        metric: "publish_to_receive",
        is_each: false,
        figure: P99,
        unit: "us",
        is_line: true,
    },
    Curve {
        name: "cpu-rate",
        title: "Processors, single observations to disk",
        test: "rate",
        over: "rate",
        metric: "server_cpu",
        is_each: false,
        figure: MEAN,
        unit: "cpus",
        // Messages that come together share a commit: the more there are, the less one costs.
        is_line: false,
    },
    Curve {
        name: "tail-rate",
        title: "99th percentile of acknowledgement, single observations to disk",
        test: "rate",
        over: "rate",
        metric: "acknowledgement",
        is_each: false,
        figure: P99,
        unit: "us",
        is_line: false,
    },
];

fn mean_of(metric: &Metric, of: fn(&crate::results::Figures) -> f64) -> f64 {
    metric.rounds.iter().map(of).sum::<f64>() / metric.rounds.len().max(1) as f64
}

impl Curve {
    /// What a run gives of it, a course a delivery scheme.
    pub(super) fn courses(&self, run: &Run) -> Vec<Course> {
        let of_test = Slice::of(run).with("test", self.test);
        let deliveries = of_test.levels("delivery");
        if deliveries.is_empty() {
            return vec![self.course(&of_test, "")];
        }
        let of = |delivery: &&str| self.course(&of_test.with("delivery", delivery), delivery);
        deliveries.iter().map(of).collect()
    }

    fn course(&self, slice: &Slice<'_>, delivery: &str) -> Course {
        let mut points: Vec<_> = slice
            .results()
            .iter()
            .filter_map(|it| self.point(it))
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let delivery = delivery.to_owned();
        Course { delivery, points }
    }

    fn point(&self, result: &CellResult) -> Option<(f64, f64)> {
        let x: f64 = level(&result.cell, self.over)?.parse().ok()?;
        let y = (self.figure)(result.metric(self.metric)?);
        Some((x, if self.is_each { x * y } else { y }))
    }

    /// What it is of.
    pub(super) fn about(&self, course: &Course) -> String {
        match course.delivery.as_str() {
            "" => self.title.into(),
            delivery => format!("{}, {delivery}", self.title),
        }
    }

    fn figure(&self, run: &Run) -> Figure {
        let series = self.courses(run).into_iter().map(|course| {
            let points = course.points.iter().map(|&(x, y)| Point::at(x, y));
            let name = if course.delivery.is_empty() {
                "weir"
            } else {
                &course.delivery
            };
            Series::here(name, points.collect())
        });
        let axes = (
            Axis::new(self.over, "").log(),
            Axis::new(self.title, self.unit).log(),
        );
        Figure::new(Form::Lines, self.name, self.title)
            .axes(axes.0, axes.1)
            .caption("Both axes are logarithmic: what is in proportion rises by one for one.")
            .series(series)
    }
}

impl Course {
    /// The line through it.
    pub(super) fn line(&self) -> Option<Line> {
        Line::through(&self.points)
    }
}

/// A figure a curve.
pub(super) fn figures(run: &Run) -> Vec<Figure> {
    CURVES.iter().map(|curve| curve.figure(run)).collect()
}
