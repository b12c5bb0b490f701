//! Verdicts as tables: claims, goals, ratios; and the tables themselves.

use std::fmt::Write;

use super::markup::{cell, escaped, heads};
use weir_bench_model::number::number;
use weir_bench_model::results::Run;
use weir_bench_model::statistics::Estimate;

/// What stands in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    /// Words, to the left.
    Words,
    /// Numbers, to the right.
    Number,
}

/// A table that can be sorted.
pub(super) struct Table {
    columns: Vec<(&'static str, Column)>,
    rows: String,
}

impl Table {
    /// With its columns and no rows.
    pub(super) fn new(columns: &[(&'static str, Column)]) -> Self {
        Self {
            columns: columns.to_vec(),
            rows: String::new(),
        }
    }

    /// Adds a row of text; the class marks it.
    pub(super) fn row(&mut self, class: &str, fields: &[String]) {
        let _ = write!(self.rows, "<tr class=\"{class}\">");
        for (field, (name, column)) in fields.iter().zip(&self.columns) {
            if *name == "cell" {
                let _ = write!(self.rows, "<td class=\"words cell\">{}</td>", cell(field));
                continue;
            }
            let kind = if *column == Column::Words {
                " class=\"words\""
            } else {
                ""
            };
            let _ = write!(self.rows, "<td{kind}>{}</td>", escaped(field));
        }
        self.rows += "</tr>\n";
    }

    /// As HTML; nothing without rows.
    pub(super) fn html(&self) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let heads = heads(self.columns.iter().map(|(name, _)| *name));
        format!(
            "<div class=\"scroll\"><table class=\"sortable\"><thead><tr>{heads}</tr></thead><tbody>{}\
             </tbody></table></div>\n",
            self.rows
        )
    }
}

const W: Column = Column::Words;
const N: Column = Column::Number;

/// What the papers claim, those that fell first.
pub(super) fn claims(run: &Run) -> String {
    let mut table = Table::new(&[
        ("", W),
        ("claim", W),
        ("paper", W),
        ("where", W),
        ("measured here", W),
    ]);
    let verdicts = [Some(false), Some(true), None];
    for verdict in verdicts {
        for claim in run.claims.iter().filter(|claim| claim.holds == verdict) {
            let fields = [
                claim.verdict(),
                &claim.claim,
                &claim.paper,
                &claim.place,
                &claim.number,
            ];
            table.row(class(claim.holds), &fields.map(str::to_owned));
        }
    }
    let note = "<p class=\"note\">A claim is judged by the number beside it, on the systems of today; what \
                another link, phone or stack would be needed for is not comparable.</p>\n";
    with_note(note, &table)
}

/// What ours had to reach.
pub(super) fn goals(run: &Run) -> String {
    let mut table = Table::new(&[
        ("", W),
        ("cell", W),
        ("figure", W),
        ("asked", W),
        ("bound", N),
        ("measured", N),
    ]);
    for goal in &run.goals {
        let fields = [
            goal.verdict("reached").into(),
            goal.cell.clone(),
            goal.metric.clone(),
            goal.asked.clone(),
            goal.bound.map_or("-".into(), number),
            goal.measured().unwrap_or("-".into()),
        ];
        table.row(class(goal.holds), &fields);
    }
    table.html()
}

fn class(holds: Option<bool>) -> &'static str {
    match holds {
        Some(true) => "holds",
        Some(false) => "falls",
        None => "open",
    }
}

/// Ours against others, with the interval as a stroke on a common scale.
pub(super) fn ratios(run: &Run) -> String {
    if run.ratios.is_empty() {
        return String::new();
    }
    let ends = run
        .ratios
        .iter()
        .flat_map(|r| [r.estimate.low, r.estimate.high]);
    let most = ends
        .filter(|end| *end > 0.0)
        .map(|end| end.ln().abs())
        .fold(0.7, f64::max)
        .min(5.0);
    let mut rows = String::new();
    for ratio in &run.ratios {
        let texts = [&ratio.metric, &ratio.target];
        let texts: String = texts
            .map(|text| format!("<td class=\"words\">{}</td>", escaped(text)))
            .concat();
        let _ = writeln!(
            rows,
            "<tr><td class=\"words cell\">{}</td>{texts}<td>{}</td><td>{}</td><td>{}</td><td \
             class=\"stroke\">{}</td></tr>",
            cell(&ratio.cell),
            number(ratio.estimate.mean),
            escaped(&ratio.estimate.interval()),
            ratio.estimate.n,
            stroke(&ratio.estimate, most),
        );
    }
    let heads = heads(["cell", "figure", "against", "ratio", "interval", "rounds"]);
    let [least, most] = [-most, most].map(|end| number(end.exp()));
    format!(
        "<p class=\"note\">Pair by pair in interleaved rounds, on a logarithmic scale; 95 % interval by \
         Student's t. The line in the middle is 1: alike. Of rates more is better, of times less.</p>\n\
         <div class=\"scroll\"><table class=\"sortable\"><thead><tr>{heads}<th scope=\"col\">{least} to \
         {most}</th></tr></thead><tbody>{rows}</tbody></table></div>\n"
    )
}

/// An interval around 1 as a small drawing.
fn stroke(estimate: &Estimate, most: f64) -> String {
    stroke_of([estimate.mean, estimate.low, estimate.high], most)
}

/// The same of a ratio and its interval, which may have no ends.
pub(super) fn stroke_of([mean, low, high]: [f64; 3], most: f64) -> String {
    let end = |end: f64| if end.is_finite() { end } else { mean };
    let at = |ratio: f64| {
        let log = if ratio > 0.0 { ratio.ln() } else { -most };
        60.0 + (log / most).clamp(-1.0, 1.0) * 56.0
    };
    let [low, mean, high] = [end(low), mean, end(high)].map(at);
    format!(
        "<svg viewBox=\"0 0 120 14\" aria-hidden=\"true\"><path class=\"grid\" d=\"M60 0V14\"/>\
         <path class=\"whisker ink\" d=\"M{low:.1} 7H{high:.1}\"/><circle class=\"ink\" cx=\"{mean:.1}\" \
         cy=\"7\" r=\"2.6\"/></svg>"
    )
}

fn with_note(note: &str, table: &Table) -> String {
    let html = table.html();
    match html.is_empty() {
        true => html,
        false => format!("{note}{html}"),
    }
}
