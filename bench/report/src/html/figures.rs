//! The figures of an experiment, and those that every run has: its distributions.

use super::markup::escaped;
use super::svg::{drawn, is_named, names, swatch};
use weir_bench_model::figure::{Axis, Figure, Form, Point, Series, Source};
use weir_bench_model::number::number;
use weir_bench_model::results::Run;

/// Contenders of a cell whose distributions share a figure.
const SERIES_MAX: usize = 8;
/// Distributions that are drawn without being asked for.
const DISTRIBUTIONS_MAX: usize = 16;
/// Metrics whose distributions are.
const DISTRIBUTED: [&str; 6] = [
    "publish_to_receive",
    "rtt",
    "t_total",
    "t_transfer",
    "acknowledgement",
    "t_transmit",
];

/// All figures; those of a group under one heading, with a switch.
pub(super) fn section(run: &Run, given: &[Figure]) -> String {
    let mut text = String::new();
    let shown: Vec<&Figure> = given
        .iter()
        .filter(|figure| figure.shows_something())
        .collect();
    let mut groups: Vec<&str> = Vec::new();
    for figure in &shown {
        match &figure.group {
            None => text += &single(figure),
            Some(group) if !groups.contains(&group.as_str()) => {
                groups.push(group);
                text += &grouped(group, &shown);
            }
            Some(_) => {}
        }
    }
    let has_distribution = shown.iter().any(|figure| figure.form == Form::Distribution);
    let own = if has_distribution {
        Vec::new()
    } else {
        distributions(run)
    };
    let own: Vec<&Figure> = own.iter().collect();
    if let Some(first) = own.first().and_then(|figure| figure.group.clone()) {
        text += &grouped(&first, &own);
    }
    text
}

fn grouped(group: &str, all: &[&Figure]) -> String {
    let members: Vec<&&Figure> = all
        .iter()
        .filter(|figure| figure.group.as_deref() == Some(group))
        .collect();
    let inside: String = members.iter().map(|figure| single(figure)).collect();
    format!(
        "<div class=\"switch\" data-label=\"{}\">\n{inside}</div>\n",
        escaped(group)
    )
}

/// One figure with legend, words and values.
fn single(figure: &Figure) -> String {
    format!(
        "<figure id=\"figure-{}\" data-title=\"{title}\"><h3>{title}</h3>\n{}{}<figcaption>{}</figcaption>\n\
         {}</figure>\n",
        escaped(&figure.name),
        legend(figure),
        drawn(figure),
        escaped(&figure.caption),
        values(figure),
        title = escaped(&figure.title),
    )
}

/// A sign of the legend, and its words.
pub(super) struct Sign {
    /// Of which series.
    pub(super) place: usize,
    pub(super) is_bar: bool,
    /// Whether it stands for what a paper printed.
    pub(super) is_published: bool,
    pub(super) words: String,
}

/// The signs that are needed to read a figure.
pub(super) fn signs(figure: &Figure) -> Vec<Sign> {
    // Points that are all of their series carry their names in the figure.
    let named = figure.form == Form::Scatter && figure.series.iter().all(|s| s.points.len() == 1);
    if figure.form == Form::Heat || named {
        return Vec::new();
    }
    let is_bar = matches!(figure.form, Form::Bars | Form::Stacked);
    let names = names(figure);
    let own = names.iter().enumerate().map(|(place, name)| Sign {
        place,
        is_bar,
        is_published: false,
        words: (*name).into(),
    });
    let mut signs: Vec<Sign> = own.filter(|_| names.len() > 1 || !is_bar).collect();
    let mut places: Vec<&str> = Vec::new();
    for series in &figure.series {
        if let Source::Published(place) = &series.source
            && !places.contains(&place.as_str())
        {
            places.push(place);
        }
    }
    signs.extend(places.iter().map(|place| Sign {
        place: 0,
        is_bar,
        is_published: true,
        words: format!("published: {place}"),
    }));
    signs
}

fn legend(figure: &Figure) -> String {
    let item = |sign: &Sign| {
        let class = match sign.is_published {
            true => " class=\"published\"",
            false => "",
        };
        let swatch = swatch(sign.place, sign.is_bar, sign.is_published);
        format!("<li{class}>{swatch}{}</li>", escaped(&sign.words))
    };
    let items: String = signs(figure).iter().map(item).collect();
    match items.is_empty() {
        true => items,
        false => format!("<ul class=\"legend\">{items}</ul>\n"),
    }
}

/// The same numbers as a table; a heat map is one already.
fn values(figure: &Figure) -> String {
    if figure.form == Form::Heat {
        return String::new();
    }
    let mut rows = String::new();
    for series in &figure.series {
        let source = match &series.source {
            Source::Here => "here",
            Source::Published(place) => place,
        };
        for point in series.points.iter().filter(|point| is_told(figure, point)) {
            let x = match &point.x {
                weir_bench_model::figure::X::Number(value) => number(*value),
                weir_bench_model::figure::X::Label(label) => label.clone(),
            };
            let shown = |value: Option<f64>| value.map_or("-".into(), number);
            let interval = point.low.zip(point.high);
            let interval =
                interval.map(|(low, high)| format!("{} to {}", number(low), number(high)));
            let fields = [
                &series.name,
                &x,
                &shown(point.y),
                &interval.unwrap_or_default(),
            ];
            let fields: String = fields.map(|f| format!("<td>{}</td>", escaped(f))).concat();
            rows += &format!(
                "<tr>{fields}<td>{}</td><td>{}</td></tr>",
                escaped(source),
                escaped(&point.note)
            );
        }
    }
    format!(
        "<details><summary>Values</summary><div class=\"scroll\"><table class=\"values\"><thead><tr>\
         <th>series</th><th>{}</th><th>{}</th><th>interval</th><th>from</th><th>note</th></tr></thead>\
         <tbody>{rows}</tbody></table></div></details>\n",
        escaped(&figure.x.label),
        escaped(&figure.y.label)
    )
}

/// Whether a table has a point: of a distribution it has the shares that have a name.
fn is_told(figure: &Figure, point: &Point) -> bool {
    figure.form != Form::Distribution || point.y.is_none_or(is_named)
}

/// Distributions of cells with more than one contender first, by chief metric.
fn distributions(run: &Run) -> Vec<Figure> {
    let mut figures = Vec::new();
    for metric in DISTRIBUTED {
        let mut cells: Vec<&str> = Vec::new();
        for result in run
            .results
            .iter()
            .filter(|result| result.metric(metric).is_some())
        {
            if !cells.contains(&result.cell.as_str()) {
                cells.push(&result.cell);
            }
        }
        figures.extend(
            cells
                .iter()
                .filter_map(|cell| distribution(run, cell, metric)),
        );
    }
    figures.truncate(DISTRIBUTIONS_MAX);
    figures
}

fn distribution(run: &Run, cell: &str, metric: &str) -> Option<Figure> {
    let of_cell = run.results.iter().filter(|result| result.cell == cell);
    let series: Vec<Series> = of_cell
        .filter_map(|result| {
            let metric = result.metric(metric)?;
            let has_enough = metric.percentiles.as_ref()?.n >= 20;
            has_enough.then(|| Series::distribution(&result.target, metric, 1.0))?
        })
        .take(SERIES_MAX)
        .collect();
    if series.is_empty() {
        return None;
    }
    let words = metric.replace('_', " ");
    let name = format!("distribution-{metric}-{cell}").replace(['=', ';', '.'], "-");
    let axes = (
        Axis::new(&words, "us").log(),
        Axis::new("share of samples", ""),
    );
    Some(
        Figure::new(Form::Distribution, &name, &format!("{words}: {cell}"))
            .axes(axes.0, axes.1)
            .caption(
                "All samples of all rounds in their order; the axis gives each further nine the same room, and \
                 the last mark of a line is its greatest sample. Where rates are offered a latency counts from \
                 when its message was due.",
            )
            .series(series)
            .group("Distribution"),
    )
}
