//! Axes, ticks and their words around what is drawn.

use super::super::markup::{escaped, px, short};
use super::scale::Scale;
use weir_bench_model::figure::Axis;

/// The words of an axis.
pub(super) fn words(axis: &Axis) -> String {
    let log = if axis.log { ", logarithmic" } else { "" };
    match axis.unit.is_empty() {
        true => escaped(&format!("{}{log}", axis.label)),
        false => escaped(&format!("{}, {}{log}", axis.label, axis.unit)),
    }
}

/// Text at a place; `anchor` is `start`, `middle` or `end`.
pub(super) fn text(x: f64, y: f64, anchor: &str, class: &str, words: &str) -> String {
    let (x, y) = (px(x), px(y));
    format!("<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" class=\"{class}\">{words}</text>")
}

/// A line from one place to another.
pub(super) fn line([x1, y1]: [f64; 2], [x2, y2]: [f64; 2], class: &str) -> String {
    let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(px);
    format!("<path class=\"{class}\" d=\"M{x1} {y1}L{x2} {y2}\"/>")
}

/// Lines across and their numbers at the left, for a scale that goes up.
pub(super) fn rows(scale: &Scale, [left, right]: [f64; 2], count: usize) -> String {
    let row = |tick: f64| {
        let y = scale.at(tick);
        let grid = line([left, y], [right, y], "grid");
        grid + &text(left - 6.0, y + 4.0, "end", "tick", &short(tick))
    };
    scale.ticks(count).into_iter().map(row).collect()
}

/// Lines upwards and their numbers below, for a scale that goes across.
pub(super) fn columns(scale: &Scale, [top, bottom]: [f64; 2], count: usize) -> String {
    let column = |tick: f64| {
        let x = scale.at(tick);
        let grid = line([x, top], [x, bottom], "grid");
        grid + &text(x, bottom + 15.0, "middle", "tick", &short(tick))
    };
    scale.ticks(count).into_iter().map(column).collect()
}

/// As much of a text as has room, in characters.
pub(super) fn cut(text: &str, characters: usize) -> String {
    if text.chars().count() <= characters {
        return text.into();
    }
    let kept: String = text.chars().take(characters.saturating_sub(1)).collect();
    format!("{kept}\u{2026}")
}
