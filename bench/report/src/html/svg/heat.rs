//! Heat maps: tables whose cells are shaded by their number, which they also print.

use std::fmt::Write;

use super::super::markup::escaped;
use super::{label, labels, tip};
use weir_bench_model::figure::{Figure, Point, Series};
use weir_bench_model::number::number;

/// How far apart values are before shades follow their logarithm.
const LOG_FROM: f64 = 20.0;

/// The matrix as a table: series down, labels across.
pub(super) fn table(figure: &Figure) -> String {
    let columns = labels(figure);
    let mut text = String::from("<div class=\"scroll\"><table class=\"heat\"><thead><tr><th></th>");
    for column in &columns {
        let _ = write!(text, "<th scope=\"col\">{}</th>", escaped(column));
    }
    text += "</tr></thead><tbody>";
    let shade = Shade::of(figure);
    for series in &figure.series {
        let _ = write!(text, "<tr><th scope=\"row\">{}</th>", escaped(&series.name));
        for column in &columns {
            let point = series
                .points
                .iter()
                .find(|point| label(&point.x) == *column);
            text += &cell(figure, series, point, &shade);
        }
        text += "</tr>";
    }
    text + "</tbody></table></div>\n"
}

fn cell(figure: &Figure, series: &Series, point: Option<&Point>, shade: &Shade) -> String {
    let Some(point) = point else {
        return "<td class=\"none\"></td>".into();
    };
    let tip = tip(figure, series, point);
    match point.y {
        None => format!("<td class=\"none\" data-tip=\"{tip}\">failed</td>"),
        Some(value) => {
            let share = shade.at(value);
            let strong = if share > 0.55 {
                " class=\"strong\""
            } else {
                ""
            };
            let shown = number(value);
            format!(
                "<td{strong} style=\"--t:{:.0}%\" data-tip=\"{tip}\">{shown}</td>",
                share * 100.0
            )
        }
    }
}

/// From the least value to the greatest.
struct Shade {
    least: f64,
    greatest: f64,
    log: bool,
}

impl Shade {
    fn of(figure: &Figure) -> Self {
        let points = figure.series.iter().flat_map(|series| &series.points);
        let values: Vec<f64> = points.filter_map(|point| point.y).collect();
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self {
            least,
            greatest,
            log: least > 0.0 && greatest / least > LOG_FROM,
        }
    }

    fn at(&self, value: f64) -> f64 {
        if self.greatest <= self.least {
            return 0.0;
        }
        match self.log {
            true => (value / self.least).ln() / (self.greatest / self.least).ln(),
            false => (value - self.least) / (self.greatest - self.least),
        }
    }
}
