//! Figures as static SVG: the same numbers as the tables, readable without colour and without script.
//!
//! Each series has a colour, a mark and a dash or a hatching of its own; values published in papers are
//! hollow and dashed. Deliberately no axes that break and no third dimension. The decision worth
//! arguing: bars lie, with their values printed at their ends, so that names of cells can be read.

mod bars;
mod distribution;
mod frame;
mod heat;
mod lines;
mod mark;
mod scale;

use super::markup::escaped;
use weir_bench_model::figure::{Figure, Form, Point, Series, Source, X};
use weir_bench_model::number::number;

pub(super) use distribution::is_named;
pub(super) use mark::{HATCHES, swatch};

/// For which window a figure is drawn: text keeps its size, so a phone gets a drawing of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// A page.
    Wide,
    /// A phone.
    Narrow,
}

impl Width {
    pub(super) fn px(self) -> f64 {
        match self {
            Self::Wide => 760.0,
            Self::Narrow => 380.0,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Wide => "wide",
            Self::Narrow => "narrow",
        }
    }
}

/// A figure as SVG for both windows; of a heat map a table.
pub(super) fn drawn(figure: &Figure) -> String {
    if figure.form == Form::Heat {
        return heat::table(figure);
    }
    [Width::Wide, Width::Narrow]
        .map(|width| svg(figure, width))
        .concat()
}

/// What is within a figure's SVG, behind its height.
pub(super) fn inside(figure: &Figure, width: Width) -> (f64, String) {
    match figure.form {
        Form::Bars => bars::side_by_side(figure, width),
        Form::Stacked => bars::stacked(figure, width),
        Form::Distribution => distribution::drawn(figure, width),
        Form::Lines | Form::Scatter | Form::Heat => lines::drawn(figure, width),
    }
}

fn svg(figure: &Figure, width: Width) -> String {
    let (height, inside) = inside(figure, width);
    let id = format!("{}-{}", figure.name, width.name());
    format!(
        "<svg class=\"plot {}\" viewBox=\"0 0 {} {}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\">\
         <title id=\"{id}-t\">{}</title><desc id=\"{id}-d\">{}</desc>{inside}</svg>\n",
        width.name(),
        width.px(),
        height.round(),
        escaped(&figure.title),
        escaped(&described(figure)),
    )
}

/// What somebody who cannot see the figure is told first; the values follow as a table.
fn described(figure: &Figure) -> String {
    let names: Vec<&str> = names(figure);
    let axis = |axis: &weir_bench_model::figure::Axis| match axis.unit.is_empty() {
        true => axis.label.clone(),
        false => format!("{} in {}", axis.label, axis.unit),
    };
    format!(
        "{} over {}, of {}. The values stand in the table below the figure.",
        axis(&figure.y),
        axis(&figure.x),
        names.join(", ")
    )
}

/// The names of its series, each once: a published series shares name and colour with ours.
pub(super) fn names(figure: &Figure) -> Vec<&str> {
    let mut names = Vec::new();
    for series in &figure.series {
        if !names.contains(&series.name.as_str()) {
            names.push(&series.name);
        }
    }
    names
}

fn place(figure: &Figure, series: &Series) -> usize {
    let names = names(figure);
    let place = names.iter().position(|name| *name == series.name);
    place.unwrap_or(0)
}

/// The labels on the x axis, in the order in which they first occur.
fn labels(figure: &Figure) -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    for point in figure.series.iter().flat_map(|series| &series.points) {
        let label = label(&point.x);
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    labels
}

fn label(x: &X) -> String {
    match x {
        X::Number(value) => super::markup::short(*value),
        X::Label(label) => label.clone(),
    }
}

/// What a pointer over a point tells.
fn tip(figure: &Figure, series: &Series, point: &Point) -> String {
    let unit = &figure.y.unit;
    let mut text = format!("{}, {}: ", series.name, label(&point.x));
    match (point.y, point.low.zip(point.high)) {
        (Some(y), Some((low, high))) => {
            let [y, low, high] = [y, low, high].map(number);
            text += &format!("{y} {unit} ({low} to {high})");
        }
        (Some(y), None) => text += &format!("{} {unit}", number(y)),
        (None, _) => text += "no value",
    }
    if let Source::Published(place) = &series.source {
        text += &format!(", published in {place}");
    }
    if !point.note.is_empty() {
        text += &format!("; {}", point.note);
    }
    escaped(&text)
}

fn is_ours(series: &Series) -> bool {
    series.source == Source::Here
}
