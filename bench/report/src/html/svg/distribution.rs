//! Distributions as percentiles: each further nine takes as much room as the one before it, so that a
//! tail is seen and not squeezed into the last pixel.

use super::super::markup::px;
use super::frame::{line, rows, text, words};
use super::mark::{class, dash, mark};
use super::scale::Scale;
use super::{Width, is_ours, place, tip};
use weir_bench_model::figure::{Figure, Point, Series, X};

const TOP: f64 = 26.0;
const LEFT: f64 = 54.0;
const RIGHT: f64 = 24.0;
const BELOW: f64 = 44.0;

/// Shares on the axis, which have names and marks.
const TICKS: [(&str, f64); 6] = [
    ("0", 0.0),
    ("50 %", 0.5),
    ("90 %", 0.9),
    ("99 %", 0.99),
    ("99.9 %", 0.999),
    ("99.99 %", 0.9999),
];
/// The greatest sample stands so many nines behind the last share that its distribution speaks of.
const GREATEST: f64 = 0.3;

/// Whether a share has a name: the median, nines, all.
pub(in super::super) fn is_named(share: f64) -> bool {
    share >= 1.0 || TICKS[1..].iter().any(|(_, named)| *named == share)
}

/// The nines of a share: 0.99 has two.
fn nines(share: f64) -> f64 {
    -(1.0 - share).log10()
}

/// Points of a series with their places across, in nines, and their values.
fn places(series: &Series) -> impl Iterator<Item = (&Point, f64, f64)> {
    let below_all = |point: &Point| point.y.filter(|share| *share < 1.0).map(nines);
    let last = series
        .points
        .iter()
        .filter_map(below_all)
        .fold(0.0, f64::max);
    series.points.iter().filter_map(move |point| {
        let nines = match point.y? < 1.0 {
            true => nines(point.y?),
            false => last + GREATEST,
        };
        Some((point, nines, value(point)?))
    })
}

/// The height and the drawing.
pub(super) fn drawn(figure: &Figure, width: Width) -> (f64, String) {
    let (right, height) = match width {
        Width::Wide => (width.px() - RIGHT, 360.0),
        Width::Narrow => (width.px() - RIGHT, 300.0),
    };
    let bottom = height - BELOW;
    let all = || figure.series.iter().flat_map(places);
    let values: Vec<f64> = all().map(|(.., value)| value).collect();
    let up = Scale::of(&values, true, false, [bottom, TOP]);
    let first = all().map(|(_, nines, _)| nines).fold(nines(0.5), f64::min);
    let last = all().map(|(_, nines, _)| nines).fold(1.0, f64::max);
    let across = |nines: f64| {
        let part = (nines - first) / (last - first);
        LEFT + 10.0 + part * (right - LEFT - 10.0)
    };
    let mut inside = rows(&up, [LEFT, right], 6);
    let on_axis = |nines: f64| (first..=last).contains(&nines);
    for (name, nines) in TICKS.map(|(name, share)| (name, nines(share))) {
        if on_axis(nines) {
            let x = across(nines);
            inside += &line([x, TOP], [x, bottom], "grid");
            inside += &text(x, bottom + 15.0, "middle", "tick", name);
        }
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
    let mut d = String::new();
    let mut marks = String::new();
    for (point, nines, value) in places(series) {
        let (x, y) = (across(nines), up.at(value));
        let step = if d.is_empty() { 'M' } else { 'L' };
        d += &format!("{step}{} {}", px(x), px(y));
        if point.y.is_some_and(is_named) {
            let shape = mark(place, x, y, !is_ours(series));
            let tip = said(figure, series, point);
            marks += &format!("<g class=\"pt\" data-tip=\"{tip}\">{shape}</g>");
        }
    }
    format!(
        "<path class=\"line {}\" stroke-dasharray=\"{}\" d=\"{d}\"/>{marks}",
        class(place),
        dash(place)
    )
}

/// Here the sample is what is read and the share where.
fn said(figure: &Figure, series: &Series, point: &Point) -> String {
    // Rounded: 99.9 % is not 99.90000000000001 %.
    let share = (point.y.unwrap_or(0.0) * 1e6).round() / 1e4;
    let turned = Point {
        x: X::Label(format!("{share} %")),
        y: value(point),
        ..point.clone()
    };
    let mut axes = figure.clone();
    axes.y = figure.x.clone();
    tip(&axes, series, &turned)
}
