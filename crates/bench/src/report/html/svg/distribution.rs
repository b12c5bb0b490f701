//! Distributions as percentiles: each further nine takes as much room as the one before it, so that a
//! tail is seen and not squeezed into the last pixel.

use super::super::markup::px;
use super::frame::{line, rows, text, words};
use super::mark::{class, dash, mark};
use super::scale::Scale;
use super::{Width, is_ours, place, tip};
use crate::figure::{Figure, Point, Series, X};

const TOP: f64 = 26.0;
const LEFT: f64 = 54.0;
const RIGHT: f64 = 24.0;
const BELOW: f64 = 44.0;

/// Percentiles on the axis, and how many nines they are.
const TICKS: [(&str, f64); 6] = [
    ("0", 0.0),
    ("50 %", 0.5),
    ("90 %", 0.9),
    ("99 %", 0.99),
    ("99.9 %", 0.999),
    ("max", 1.0),
];

/// The nines of a share: 0.99 has two; the greatest sample stands at four.
fn nines(share: f64) -> f64 {
    match share < 0.9999 {
        true => -(1.0 - share).log10(),
        false => 4.0,
    }
}

/// The height and the drawing.
pub(super) fn drawn(figure: &Figure, width: Width) -> (f64, String) {
    let (right, height) = match width {
        Width::Wide => (width.px() - RIGHT, 360.0),
        Width::Narrow => (width.px() - RIGHT, 300.0),
    };
    let bottom = height - BELOW;
    let points = || figure.series.iter().flat_map(|series| &series.points);
    let values: Vec<f64> = points().filter_map(value).collect();
    let up = Scale::of(&values, true, false, [bottom, TOP]);
    let least = points().filter_map(|point| point.y).fold(1.0, f64::min);
    let first = if least < 0.5 { 0.0 } else { nines(0.5) };
    let across = |share: f64| {
        let part = (nines(share) - first) / (4.0 - first);
        LEFT + 10.0 + part * (right - LEFT - 10.0)
    };
    let mut inside = rows(&up, [LEFT, right], 6);
    for (name, share) in TICKS.iter().filter(|(_, share)| nines(*share) >= first) {
        let x = across(*share);
        inside += &line([x, TOP], [x, bottom], "grid");
        inside += &text(x, bottom + 15.0, "middle", "tick", name);
    }
    inside += &line([LEFT, bottom], [right, bottom], "axis");
    inside += &text(LEFT - 40.0, 12.0, "start", "label", &words(&figure.x));
    inside += &text(right, height - 8.0, "end", "label", &words(&figure.y));
    for series in &figure.series {
        inside += &one(figure, series, &across, &up);
    }
    (height, inside)
}

fn value(point: &Point) -> Option<f64> {
    match point.x {
        X::Number(value) => Some(value),
        X::Label(_) => None,
    }
}

fn one(figure: &Figure, series: &Series, across: &dyn Fn(f64) -> f64, up: &Scale) -> String {
    let place = place(figure, series);
    let at = |point: &Point| Some((across(point.y?), up.at(value(point)?)));
    let places: Vec<(f64, f64)> = series.points.iter().filter_map(at).collect();
    let mut d = String::new();
    for (index, (x, y)) in places.iter().enumerate() {
        let step = if index == 0 { 'M' } else { 'L' };
        d += &format!("{step}{} {}", px(*x), px(*y));
    }
    let mut drawn = format!(
        "<path class=\"line {}\" stroke-dasharray=\"{}\" d=\"{d}\"/>",
        class(place),
        dash(place)
    );
    // Marks at every point of few, at none of many.
    let marked = series.points.len() <= 12;
    for (point, (x, y)) in series.points.iter().zip(&places).filter(|_| marked) {
        let shape = mark(place, *x, *y, !is_ours(series));
        let tip = said(figure, series, point);
        drawn += &format!("<g class=\"pt\" data-tip=\"{tip}\">{shape}</g>");
    }
    drawn
}

/// Here the sample is what is read and the share where.
fn said(figure: &Figure, series: &Series, point: &Point) -> String {
    let share = point.y.unwrap_or(0.0) * 100.0;
    let turned = Point {
        x: X::Label(format!("{share} %")),
        y: value(point),
        ..point.clone()
    };
    let mut axes = figure.clone();
    axes.y = figure.x.clone();
    tip(&axes, series, &turned)
}
