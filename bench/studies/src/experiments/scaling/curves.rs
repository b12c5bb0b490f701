//! The points of a curve in a run, what is laid through them, and its figure.

use super::fit::{Fit, Form};
use super::list::CURVES;
use weir_bench_model::figure::slice::{Slice, level};
use weir_bench_model::figure::{self, Axis, Figure, Point, Series};
use weir_bench_model::results::{CellResult, Figures, Run};

/// What a curve is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Memory,
    Cpu,
    Latency,
}

/// One quantity over one factor.
pub(super) struct Curve {
    /// Name of its figure.
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// Level of the factor `test`.
    pub(super) test: &'static str,
    /// What grows.
    pub(super) over: &'static str,
    pub(super) metric: &'static str,
    pub(super) kind: Kind,
    /// Where the metric is for each of what grows, and the curve is of all.
    pub(super) is_each: bool,
    pub(super) figure: fn(&Figures) -> f64,
    pub(super) unit: &'static str,
    /// What is to be expected of it.
    pub(super) form: Form,
}

/// The points of a delivery scheme, or of all where there is none.
pub(super) struct Course {
    pub(super) delivery: String,
    /// One a round, in the order of what grows.
    pub(super) points: Vec<(f64, f64)>,
}

/// The mean of a round.
pub(super) const MEAN: fn(&Figures) -> f64 = |figures| figures.mean;
/// Its median.
pub(super) const P50: fn(&Figures) -> f64 = |figures| figures.p50;
/// Its 99th percentile.
pub(super) const P99: fn(&Figures) -> f64 = |figures| figures.p99;

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
        let results = slice.results().iter();
        let mut points: Vec<_> = results.flat_map(|it| self.points(it)).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let delivery = delivery.to_owned();
        Course { delivery, points }
    }

    fn points(&self, result: &CellResult) -> Vec<(f64, f64)> {
        let x = level(&result.cell, self.over).and_then(|level| level.parse::<f64>().ok());
        let Some((x, metric)) = x.zip(result.metric(self.metric)) else {
            return Vec::new();
        };
        let of_round = |figures: &Figures| {
            let y = (self.figure)(figures);
            (x, if self.is_each { x * y } else { y })
        };
        metric.rounds.iter().map(of_round).collect()
    }

    /// What it is of.
    pub(super) fn about(&self, course: &Course) -> String {
        match course.delivery.as_str() {
            "" => self.title.into(),
            delivery => format!("{}, {delivery}", self.title),
        }
    }

    /// What is laid through a course.
    pub(super) fn fit(&self, course: &Course) -> Option<Fit> {
        Fit::through(self.form, &course.points)
    }

    fn figure(&self, run: &Run) -> Figure {
        let courses = self.courses(run);
        let series = courses.iter().flat_map(|course| {
            let name = match course.delivery.as_str() {
                "" => "weir",
                delivery => delivery,
            };
            let measured = Series::here(name, points(course.levels()));
            let laid = self.fit(course).map(|fit| {
                let at = |(x, _): (f64, f64)| (x, fit.at(x));
                let line = course.levels().into_iter().map(at);
                Series::here(&format!("{name}, fit"), points(line.collect()))
            });
            [Some(measured), laid].into_iter().flatten()
        });
        let axes = (
            Axis::new(self.over, "").log(),
            Axis::new(self.title, self.unit).log(),
        );
        Figure::new(figure::Form::Lines, self.name, self.title)
            .axes(axes.0, axes.1)
            .caption(
                "Both axes are logarithmic: what is in proportion rises by one for one. The fit is by least squares \
                 over all rounds, where the axes are not logarithmic unless it is a power.",
            )
            .series(series)
    }
}

/// A logarithmic axis has no place for what is not greater than nothing.
fn points(of: Vec<(f64, f64)>) -> Vec<Point> {
    let point = |(x, y): (f64, f64)| match y > 0.0 {
        true => Point::at(x, y),
        false => Point::failed(
            x,
            &format!("{y:.3}, which a logarithmic axis does not show"),
        ),
    };
    of.into_iter().map(point).collect()
}

impl Course {
    /// The mean of all rounds at each level.
    pub(super) fn levels(&self) -> Vec<(f64, f64)> {
        let same = |a: &(f64, f64), b: &(f64, f64)| a.0 == b.0;
        let mean = |rounds: &[(f64, f64)]| {
            let sum: f64 = rounds.iter().map(|(_, y)| y).sum();
            (rounds[0].0, sum / rounds.len() as f64)
        };
        self.points.chunk_by(same).map(mean).collect()
    }
}

/// A figure a curve.
pub(super) fn figures(run: &Run) -> Vec<Figure> {
    CURVES.iter().map(|curve| curve.figure(run)).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use weir_bench_model::results::{Metric, single};

    /// Three levels of subscribers by one scheme, two rounds of each: 2 cpus a thousand and half a cpu, less and more
    /// by a tenth.
    fn run() -> Run {
        let of = |subscribers: f64| {
            let cpus = 0.5 + subscribers * 2e-3;
            let mut metric: Metric = single("server_cpu", "cpus", cpus);
            let of_round = |by: f64| Figures {
                mean: cpus + by,
                ..metric.rounds[0]
            };
            metric.rounds = [-0.1, 0.1].map(of_round).into();
            CellResult {
                cell: format!("test=subscribers;delivery=sse;subscribers={subscribers}"),
                target: "weir".into(),
                status: "ok".into(),
                metrics: vec![metric],
                ..CellResult::default()
            }
        };
        Run {
            results: [1000.0, 10.0, 100.0].map(of).into(),
            ..Run::default()
        }
    }

    fn named(name: &str) -> &'static Curve {
        CURVES.iter().find(|curve| curve.name == name).unwrap()
    }

    #[test]
    fn every_round_is_a_point_and_a_level_is_their_mean() {
        let curve = named("cpu-subscribers");
        let courses = curve.courses(&run());
        assert_eq!(courses.len(), 1);
        assert_eq!(
            (courses[0].delivery.as_str(), courses[0].points.len()),
            ("sse", 6)
        );
        let levels = courses[0].levels();
        let means: Vec<_> = levels
            .iter()
            .map(|(x, y)| (*x, (y * 1e6).round()))
            .collect();
        assert_eq!(
            means,
            [(10.0, 520_000.0), (100.0, 700_000.0), (1000.0, 2_500_000.0)]
        );
        let fit = curve.fit(&courses[0]).unwrap();
        assert!((fit.at(1e6) - 2000.5).abs() < 1e-6);
        assert_eq!(fit.explains().1, 6);
    }

    #[test]
    fn what_is_for_each_is_a_curve_of_all() {
        let curve = named("memory-topics");
        let result = CellResult {
            cell: "test=topics;topics=1000".into(),
            metrics: vec![single("server_memory_per_topic", "bytes", 500.0)],
            ..CellResult::default()
        };
        assert_eq!(curve.points(&result), [(1000.0, 500_000.0)]);
    }

    #[test]
    fn a_figure_has_what_was_measured_and_what_was_laid_through_it() {
        let figure = named("cpu-subscribers").figure(&run());
        let names: Vec<_> = figure.series.iter().map(|series| &series.name).collect();
        assert_eq!(names, ["sse", "sse, fit"]);
        assert!(figure.shows_something());
        assert!(!named("cpu-rate").figure(&run()).shows_something());
    }
}
