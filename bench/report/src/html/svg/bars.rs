//! Bars that lie: side by side with their values, or on each other as parts of a whole.

use super::super::markup::{escaped, px, short};
use super::frame::{columns, cut, line, text, words};
use super::mark::{class, failed, hatch};
use super::scale::Scale;
use super::{Width, is_ours, labels, place, tip};
use weir_bench_model::figure::{Figure, Point, Series};
use weir_bench_model::number::number;

const TOP: f64 = 26.0;
const BELOW: f64 = 40.0;
/// Height of one bar.
const BAR: f64 = 13.0;
/// Room between labels.
const GAP: f64 = 9.0;
/// Pixels of a character of a tick.
const CHARACTER: f64 = 6.4;

/// Where bars begin and end across.
struct Room {
    left: f64,
    right: f64,
    height: f64,
}

impl Room {
    /// `bars` of a label lie below each other.
    fn of(figure: &Figure, width: Width, bars: usize) -> Self {
        let longest = labels(figure).iter().map(|l| l.chars().count()).max();
        let most = if width == Width::Wide { 260.0 } else { 120.0 };
        let left = (longest.unwrap_or(0) as f64 * CHARACTER + 14.0).min(most);
        let values = if bars > 0 { 62.0 } else { 16.0 };
        let rows = labels(figure).len() as f64;
        Self {
            left,
            right: width.px() - values,
            height: TOP + rows * (bars.max(1) as f64 * BAR + GAP) + BELOW,
        }
    }

    fn label(&self, label: &str, y: f64) -> String {
        let shown = escaped(&cut(label, (self.left / CHARACTER) as usize - 1));
        let tip = escaped(label);
        let text = text(self.left - 7.0, y + 4.0, "end", "tick", &shown);
        format!("<g data-tip=\"{tip}\">{text}</g>")
    }

    fn axes(&self, figure: &Figure, scale: &Scale, ticks: usize) -> String {
        let bottom = self.height - BELOW;
        let mut axes = columns(scale, [TOP, bottom], ticks);
        axes += &line([self.left, TOP], [self.left, bottom], "axis");
        axes + &text(
            self.right,
            self.height - 6.0,
            "end",
            "label",
            &words(&figure.y),
        )
    }
}

/// The height and the drawing.
pub(super) fn side_by_side(figure: &Figure, width: Width) -> (f64, String) {
    let ours: Vec<&Series> = rows_of(figure);
    let room = Room::of(figure, width, ours.len());
    let scale = Scale::of(
        &super::lines::values(figure),
        figure.y.log,
        !figure.y.log,
        [room.left, room.right],
    );
    let ticks = if width == Width::Wide { 8 } else { 4 };
    let mut inside = room.axes(figure, &scale, ticks);
    let group = ours.len().max(1) as f64 * BAR;
    for (at, label) in labels(figure).iter().enumerate() {
        let top = TOP + at as f64 * (group + GAP) + GAP / 2.0;
        inside += &room.label(label, top + group / 2.0);
        for (row, series) in ours.iter().enumerate() {
            let y = top + row as f64 * BAR;
            inside += &bar_and_ghosts(figure, series, label, &scale, y);
        }
    }
    (room.height, inside)
}

/// One series a name: ours, or a published one that has none of ours beside it.
fn rows_of(figure: &Figure) -> Vec<&Series> {
    let mut rows: Vec<&Series> = Vec::new();
    for series in &figure.series {
        match rows.iter_mut().find(|row| row.name == series.name) {
            Some(row) if is_ours(series) && !is_ours(row) => *row = series,
            Some(_) => {}
            None => rows.push(series),
        }
    }
    rows
}

/// Bars first, published values over them, and numbers over both.
fn bar_and_ghosts(figure: &Figure, series: &Series, label: &str, scale: &Scale, y: f64) -> String {
    let same = figure.series.iter().filter(|one| one.name == series.name);
    let points = same.filter_map(|one| Some((one, point_of(one, label)?)));
    let (ours, published): (Vec<_>, Vec<_>) = points.partition(|(one, _)| is_ours(one));
    let bars = ours
        .iter()
        .map(|(one, point)| bar(figure, one, point, scale, y));
    let ghosts = published
        .iter()
        .map(|(one, point)| ghost(figure, one, point, scale, y));
    let values = ours.iter().map(|(_, point)| value(point, scale, y));
    bars.chain(ghosts).chain(values).collect()
}

fn point_of<'a>(series: &'a Series, label: &str) -> Option<&'a Point> {
    series
        .points
        .iter()
        .find(|point| super::label(&point.x) == label)
}

fn rect(from: f64, to: f64, y: f64, height: f64, how: &str) -> String {
    let (x, width) = (from.min(to), (to - from).abs().max(0.5));
    let [x, y, width, height] = [x, y, width, height].map(px);
    format!("<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" {how}/>")
}

fn bar(figure: &Figure, series: &Series, point: &Point, scale: &Scale, y: f64) -> String {
    let place = place(figure, series);
    let tip = tip(figure, series, point);
    let middle = y + BAR / 2.0;
    let Some(value) = point.y else {
        let cross = failed(scale.base() + 8.0, middle);
        let why = text(
            scale.base() + 18.0,
            middle + 4.0,
            "start",
            "value",
            "failed",
        );
        return format!("<g class=\"pt\" data-tip=\"{tip}\">{cross}{why}</g>");
    };
    let (from, to) = (scale.base(), scale.at(value));
    let mut drawn = rect(
        from,
        to,
        y,
        BAR - 2.0,
        &format!("class=\"bar {}\"", class(place)),
    );
    if let Some(hatch) = hatch(place) {
        drawn += &rect(from, to, y, BAR - 2.0, &format!("fill=\"{hatch}\""));
    }
    if let Some((low, high)) = point.low.zip(point.high) {
        let (low, high) = (scale.at(low), scale.at(high));
        drawn += &line([low, middle - 1.0], [high, middle - 1.0], "whisker ink");
    }
    format!("<g class=\"pt\" data-tip=\"{tip}\">{drawn}</g>")
}

/// The number behind a bar and its interval; a star says that something must be known of it.
fn value(point: &Point, scale: &Scale, y: f64) -> String {
    let Some(value) = point.y else {
        return String::new();
    };
    let ends = [value, point.high.unwrap_or(value)].map(|end| scale.at(end));
    let note = if point.note.is_empty() { "" } else { " *" };
    let shown = format!("{}{note}", number(value));
    let x = ends[0].max(ends[1]) + 4.0;
    text(x, y + BAR / 2.0 + 3.0, "start", "value", &shown)
}

/// A published value: a dashed outline over the bar, with a stronger end.
fn ghost(figure: &Figure, series: &Series, point: &Point, scale: &Scale, y: f64) -> String {
    let Some(value) = point.y else {
        return String::new();
    };
    let (from, to) = (scale.base(), scale.at(value));
    let outline = rect(from, to, y - 0.5, BAR - 1.0, "class=\"ghostbar\"");
    let end = line([to, y - 1.5], [to, y + BAR - 0.5], "ghostend");
    let tip = tip(figure, series, point);
    format!("<g class=\"pt\" data-tip=\"{tip}\">{outline}{end}</g>")
}

/// The height and the drawing of parts of a whole; published wholes get a bar of their own.
pub(super) fn stacked(figure: &Figure, width: Width) -> (f64, String) {
    let sources = sources(figure);
    let room = Room::of(figure, width, sources.len());
    let sum = |label: &str, source: &str| -> f64 {
        let parts = figure.series.iter().filter(|s| source_of(s) == source);
        parts.filter_map(|s| point_of(s, label)?.y).sum()
    };
    let labels = labels(figure);
    let sums: Vec<f64> = labels
        .iter()
        .flat_map(|label| sources.iter().map(|source| sum(label, source)))
        .collect();
    let scale = Scale::of(&sums, false, true, [room.left, room.right]);
    let mut inside = room.axes(figure, &scale, if width == Width::Wide { 8 } else { 4 });
    let group = sources.len().max(1) as f64 * BAR;
    for (at, label) in labels.iter().enumerate() {
        let top = TOP + at as f64 * (group + GAP) + GAP / 2.0;
        inside += &room.label(label, top + group / 2.0);
        for (row, source) in sources.iter().enumerate() {
            let y = top + row as f64 * BAR;
            inside += &stack(figure, label, source, &scale, y);
            let whole = sum(label, source);
            if whole > 0.0 {
                let x = scale.at(whole) + 4.0;
                inside += &text(x, y + BAR / 2.0 + 3.0, "start", "value", &short_sum(whole));
            }
        }
    }
    (room.height, inside)
}

fn short_sum(value: f64) -> String {
    match value >= 100_000.0 {
        true => short(value.round()),
        false => number(value),
    }
}

/// Ours is the empty one and comes first.
fn sources(figure: &Figure) -> Vec<&str> {
    let mut sources: Vec<&str> = figure.series.iter().map(source_of).collect();
    sources.sort_unstable();
    sources.dedup();
    sources
}

fn source_of(series: &Series) -> &str {
    match &series.source {
        weir_bench_model::figure::Source::Here => "",
        weir_bench_model::figure::Source::Published(place) => place,
    }
}

fn stack(figure: &Figure, label: &str, source: &str, scale: &Scale, y: f64) -> String {
    let mut from = 0.0;
    let mut drawn = String::new();
    for series in figure.series.iter().filter(|s| source_of(s) == source) {
        let Some(point) = point_of(series, label) else {
            continue;
        };
        let Some(value) = point.y else { continue };
        let (left, right) = (scale.at(from), scale.at(from + value));
        from += value;
        let place = place(figure, series);
        let faint = if source.is_empty() { "" } else { " faint" };
        let mut part = rect(
            left,
            right,
            y,
            BAR - 2.0,
            &format!("class=\"bar {}{faint}\"", class(place)),
        );
        if let Some(hatch) = hatch(place) {
            part += &rect(left, right, y, BAR - 2.0, &format!("fill=\"{hatch}\""));
        }
        let tip = tip(figure, series, point);
        drawn += &format!("<g class=\"pt\" data-tip=\"{tip}\">{part}</g>");
    }
    drawn
}
