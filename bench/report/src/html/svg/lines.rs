//! Lines and points over numbers, or over labels at equal distances.

use super::super::markup::{escaped, px};
use super::frame::{columns, cut, line, rows, text, words};
use super::mark::{class, dash, failed, mark};
use super::scale::Scale;
use super::{Width, is_ours, labels, place, tip};
use weir_bench_model::figure::{Figure, Form, Point, Series, X};

const TOP: f64 = 26.0;
const LEFT: f64 = 54.0;
const RIGHT: f64 = 14.0;
const BELOW: f64 = 44.0;

/// Where points stand across.
enum Across {
    Numbers(Scale),
    Labels(Vec<String>, [f64; 2]),
}

impl Across {
    fn of(figure: &Figure, ends: [f64; 2]) -> Self {
        let points = || figure.series.iter().flat_map(|series| &series.points);
        let number = |point: &Point| match point.x {
            X::Number(value) => Some(value),
            X::Label(_) => None,
        };
        let numbers: Option<Vec<f64>> = points().map(number).collect();
        match numbers {
            Some(numbers) => Self::Numbers(Scale::of(&numbers, figure.x.log, false, ends)),
            None => Self::Labels(labels(figure), ends),
        }
    }

    fn at(&self, x: &X) -> f64 {
        match (self, x) {
            (Self::Numbers(scale), X::Number(value)) => scale.at(*value),
            (Self::Labels(labels, [from, to]), x) => {
                let label = super::label(x);
                let place = labels.iter().position(|one| *one == label).unwrap_or(0);
                from + (to - from) * (place as f64 + 0.5) / labels.len().max(1) as f64
            }
            (Self::Numbers(scale), X::Label(_)) => scale.base(),
        }
    }

    fn axis(&self, [top, bottom]: [f64; 2], count: usize) -> String {
        match self {
            Self::Numbers(scale) => columns(scale, [top, bottom], count),
            Self::Labels(labels, [from, to]) => {
                let room = (to - from) / labels.len().max(1) as f64;
                let label = |label: &String| {
                    let x = self.at(&X::Label(label.clone()));
                    let shown = escaped(&cut(label, (room / 6.0) as usize));
                    text(x, bottom + 15.0, "middle", "tick", &shown)
                };
                labels.iter().map(label).collect()
            }
        }
    }
}

/// The height and the drawing.
pub(super) fn drawn(figure: &Figure, width: Width) -> (f64, String) {
    let (right, height) = match width {
        Width::Wide => (width.px() - RIGHT, 380.0),
        Width::Narrow => (width.px() - RIGHT, 300.0),
    };
    let bottom = height - BELOW;
    let across = Across::of(figure, [LEFT + 6.0, right - 6.0]);
    let up = Scale::of(&values(figure), figure.y.log, false, [bottom, TOP]);
    let ticks = if width == Width::Wide { 10 } else { 5 };
    let mut inside = rows(&up, [LEFT, right], 6);
    inside += &across.axis([TOP, bottom], ticks);
    inside += &line([LEFT, bottom], [right, bottom], "axis");
    inside += &text(LEFT - 40.0, 12.0, "start", "label", &words(&figure.y));
    inside += &text(right, height - 8.0, "end", "label", &words(&figure.x));
    for series in &figure.series {
        inside += &one(figure, series, &across, &up, bottom);
    }
    (height, inside)
}

/// All values and ends of intervals.
pub(super) fn values(figure: &Figure) -> Vec<f64> {
    let points = figure.series.iter().flat_map(|series| &series.points);
    points
        .flat_map(|point| [point.y, point.low, point.high])
        .flatten()
        .collect()
}

fn one(figure: &Figure, series: &Series, across: &Across, up: &Scale, bottom: f64) -> String {
    let place = place(figure, series);
    let mut drawn = String::new();
    if figure.form == Form::Lines {
        drawn += &path(series, across, up, place);
    }
    for point in &series.points {
        let x = across.at(&point.x);
        let shape = match point.y {
            Some(y) => {
                let mark = mark(place, x, up.at(y), !is_ours(series));
                interval(point, x, up, place) + &mark + &named(figure, series, x, up.at(y))
            }
            None => failed(x, bottom - 6.0),
        };
        let tip = tip(figure, series, point);
        drawn += &format!("<g class=\"pt\" data-tip=\"{tip}\">{shape}</g>");
    }
    drawn
}

/// A point that is all of its series carries its name.
fn named(figure: &Figure, series: &Series, x: f64, y: f64) -> String {
    let alone = figure.form == Form::Scatter && series.points.len() == 1;
    let name = || text(x + 8.0, y + 4.0, "start", "value", &escaped(&series.name));
    alone.then(name).unwrap_or_default()
}

/// The line of a series, broken where a cell failed.
fn path(series: &Series, across: &Across, up: &Scale, place: usize) -> String {
    let mut d = String::new();
    let mut begins = true;
    for point in &series.points {
        let Some(y) = point.y else {
            begins = true;
            continue;
        };
        let step = if begins { 'M' } else { 'L' };
        d += &format!("{step}{} {}", px(across.at(&point.x)), px(up.at(y)));
        begins = false;
    }
    let (kind, dash) = match is_ours(series) {
        true => ("line", dash(place)),
        false => ("line ghostline", "1 4"),
    };
    let class = class(place);
    format!("<path class=\"{kind} {class}\" stroke-dasharray=\"{dash}\" d=\"{d}\"/>")
}

fn interval(point: &Point, x: f64, up: &Scale, place: usize) -> String {
    let Some((low, high)) = point.low.zip(point.high) else {
        return String::new();
    };
    let class = format!("whisker {}", class(place));
    line([x, up.at(low)], [x, up.at(high)], &class)
}
