//! Figures of a run as plain data: what an experiment wants to be drawn, and nothing of how.
//!
//! An experiment gives figures in the form of its paper's, with published values as series of their
//! own; the report draws them, prints them as tables and ships them as JSON. Deliberately no colours,
//! sizes or positions here. The decision worth arguing: a point that failed stays in its series, with
//! the reason, so that a gap in a line is told from a level nobody tried.

pub mod slice;

use serde::{Deserialize, Serialize};

use crate::results::{CellResult, Metric};

/// One figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Its name among the figures of its run, in kebab case: `tamayo-figure-3`.
    pub name: String,
    /// What it shows, as a heading.
    pub title: String,
    /// What a reader must know: the paper's figure that it follows, units, what stands for what.
    pub caption: String,
    /// How it is drawn.
    pub form: Form,
    /// What is varied.
    pub x: Axis,
    /// What was measured; of a heat map the metric, of a distribution the share of samples.
    pub y: Axis,
    /// What is compared; of a heat map its rows.
    pub series: Vec<Series>,
    /// Figures of one group share a place, and a switch picks one: heat maps by metric.
    pub group: Option<String>,
}

/// How a figure is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Lines over numbers.
    Lines,
    /// Bars side by side over labels.
    Bars,
    /// Bars on each other over labels: parts of a whole.
    Stacked,
    /// A matrix of labels by series.
    Heat,
    /// Cumulative distributions: x is the sample, y the share of samples up to it, 0 to 1.
    Distribution,
    /// Points over numbers.
    Scatter,
}

/// An axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// What it shows.
    pub label: String,
    /// In which unit; empty of a share or a name.
    pub unit: String,
    /// Whether it is logarithmic.
    pub log: bool,
}

/// What is compared: one line, one colour of bars, one row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Its name; a published one has the same as ours that it stands beside.
    pub name: String,
    /// Whose values they are.
    pub source: Source,
    /// Its values.
    pub points: Vec<Point>,
}

/// Whose values a series has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Measured in this run.
    Here,
    /// Printed in a paper, and where: drawn as ghosts, never ranked.
    Published(String),
}

/// One value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Where.
    pub x: X,
    /// How much; nothing where the cell failed.
    pub y: Option<f64>,
    /// Lower end of its interval, where there is one.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Why it failed, or what must be known of it; empty of a plain value.
    pub note: String,
}

/// Where a point stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum X {
    /// On a scale.
    Number(f64),
    /// At a name, in the order in which names first occur.
    Label(String),
}

impl From<f64> for X {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for X {
    fn from(label: &str) -> Self {
        Self::Label(label.into())
    }
}

impl From<String> for X {
    fn from(label: String) -> Self {
        Self::Label(label)
    }
}

impl Figure {
    /// A figure without axes, words or series.
    pub fn new(form: Form, name: &str, title: &str) -> Self {
        Self {
            name: name.into(),
            title: title.into(),
            caption: String::new(),
            form,
            x: Axis::new("", ""),
            y: Axis::new("", ""),
            series: Vec::new(),
            group: None,
        }
    }

    /// With its axes.
    pub fn axes(self, x: Axis, y: Axis) -> Self {
        Self { x, y, ..self }
    }

    /// With its words.
    pub fn caption(self, caption: &str) -> Self {
        let caption = caption.into();
        Self { caption, ..self }
    }

    /// In a group.
    pub fn group(self, group: &str) -> Self {
        let group = Some(group.into());
        Self { group, ..self }
    }

    /// With those series that have points.
    pub fn series(self, series: impl IntoIterator<Item = Series>) -> Self {
        let with_points = series.into_iter().filter(|one| !one.points.is_empty());
        let series = with_points.collect();
        Self { series, ..self }
    }

    /// Whether anything measured here would be seen: published values alone are no figure of a run, and a line of
    /// one place is a dot.
    pub fn shows_something(&self) -> bool {
        let ours = self.series.iter().filter(|one| one.source == Source::Here);
        let points = ours.flat_map(|one| &one.points);
        let mut places = points
            .filter(|point| point.y.is_some())
            .map(|point| &point.x);
        let Some(first) = places.next() else {
            return false;
        };
        self.form != Form::Lines || places.any(|place| place != first)
    }
}

impl Axis {
    /// A linear axis.
    pub fn new(label: &str, unit: &str) -> Self {
        Self {
            label: label.into(),
            unit: unit.into(),
            log: false,
        }
    }

    /// Logarithmic.
    pub fn log(self) -> Self {
        Self { log: true, ..self }
    }
}

impl Series {
    /// Measured here.
    pub fn here(name: &str, points: Vec<Point>) -> Self {
        Self {
            name: name.into(),
            source: Source::Here,
            points,
        }
    }

    /// Printed in a paper; `place` is paper and table or section: `Tamayo2012, table 2`.
    pub fn published(name: &str, place: &str, points: Vec<Point>) -> Self {
        Self {
            name: name.into(),
            source: Source::Published(place.into()),
            points,
        }
    }

    /// A metric's distribution, its values divided by `scale`; of a single figure nothing. Older runs have no
    /// more of it than percentiles.
    pub fn distribution(name: &str, metric: &Metric, scale: f64) -> Option<Self> {
        let p = metric.percentiles.as_ref()?;
        let few = [
            (0.5, p.p50),
            (0.9, p.p90),
            (0.99, p.p99),
            (0.999, p.p999),
            (1.0, p.max),
        ];
        let points: Vec<(f64, f64)> = match metric.quantiles.is_empty() {
            true => few.into(),
            false => metric.quantiles.points().collect(),
        };
        let point = |(share, value): (f64, f64)| match share < 1.0 {
            true => Point::at(value / scale, share),
            false => Point::at(value / scale, share).note(&format!("the greatest of {}", p.n)),
        };
        Some(Self::here(name, points.into_iter().map(point).collect()))
    }
}

impl Point {
    /// A value without interval.
    pub fn at(x: impl Into<X>, y: f64) -> Self {
        Self {
            x: x.into(),
            y: y.is_finite().then_some(y),
            low: None,
            high: None,
            note: String::new(),
        }
    }

    /// With its interval.
    pub fn between(self, low: f64, high: f64) -> Self {
        let finite = |end: f64| end.is_finite().then_some(end);
        let (low, high) = (finite(low), finite(high));
        Self { low, high, ..self }
    }

    /// With a word about it.
    pub fn note(self, note: &str) -> Self {
        let note = note.into();
        Self { note, ..self }
    }

    /// A cell that failed, and why.
    pub fn failed(x: impl Into<X>, reason: &str) -> Self {
        Self::at(x, f64::NAN).note(reason)
    }

    /// The mean over rounds and its interval, divided by `scale`: 1000 makes milliseconds of the
    /// microseconds that distributions are kept in.
    pub fn of_metric(x: impl Into<X>, metric: &Metric, scale: f64) -> Self {
        let estimate = &metric.estimate;
        let point = Self::at(x, estimate.mean / scale);
        match estimate.n {
            0 | 1 => point,
            _ => point.between(estimate.low / scale, estimate.high / scale),
        }
    }

    /// A metric of a result: failed with the result's status where it has none.
    pub fn of_result(x: impl Into<X>, result: &CellResult, metric: &str, scale: f64) -> Self {
        match result.metric(metric) {
            Some(metric) if result.status == "ok" => Self::of_metric(x, metric, scale),
            Some(metric) => Self::of_metric(x, metric, scale).note(&result.status),
            None => Self::failed(x, &result.status),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_figure_survives_json_with_its_failed_points() {
        let points = vec![
            Point::at(1.0, 2.0).between(1.5, 2.5),
            Point::failed("50", "answered 404"),
        ];
        let axes = (Axis::new("payload", "bytes").log(), Axis::new("rtt", "ms"));
        let figure = Figure::new(Form::Lines, "rtt", "Round trips")
            .axes(axes.0, axes.1)
            .series([Series::here("CoAP", points), Series::here("none", vec![])]);
        let text = serde_json::to_string(&figure).unwrap();
        let read: Figure = serde_json::from_str(&text).unwrap();
        assert_eq!(read, figure);
        assert_eq!(read.series.len(), 1);
        assert_eq!(read.series[0].points[1].y, None);
    }

    #[test]
    fn published_values_alone_are_no_figure_of_a_run() {
        let of = |series| Figure::new(Form::Bars, "a", "A").series([series]);
        let points = || vec![Point::at("xml", 1.0)];
        assert!(!of(Series::published("size", "Tamayo2012, table 2", points())).shows_something());
        assert!(of(Series::here("size", points())).shows_something());
        assert!(!of(Series::here("size", vec![Point::failed("xml", "no")])).shows_something());
    }

    #[test]
    fn a_line_has_two_places() {
        let of = |form, points| Figure::new(form, "a", "A").series([Series::here("rtt", points)]);
        let one = || vec![Point::at(100.0, 1.0), Point::at(100.0, 2.0)];
        assert!(!of(Form::Lines, one()).shows_something());
        assert!(of(Form::Scatter, one()).shows_something());
        assert!(
            of(
                Form::Lines,
                vec![Point::at(1.0, 1.0), Point::at(100.0, 2.0)]
            )
            .shows_something()
        );
    }
}
