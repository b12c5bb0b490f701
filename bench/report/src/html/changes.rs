//! What changed between runs, as a page: the words of `weir bench compare` with every interval drawn.

use super::markup::{cell, escaped, heads};
use super::verdicts::stroke_of;
use super::{Section, document};
use weir_bench_model::compare::{Comparison, Row, Verdict};
use weir_bench_model::number::number;

/// The page; each comparison with the names of its runs.
pub fn changes(comparisons: &[(String, Comparison)]) -> String {
    let sections: [Section; 6] = [
        ("worse", "Worse", rows(comparisons, Verdict::Worse)),
        (
            "broken",
            "Failed or lost messages",
            named(comparisons, |comparison| &comparison.broken),
        ),
        ("better", "Better", rows(comparisons, Verdict::Better)),
        (
            "inconclusive",
            "Inconclusive",
            rows(comparisons, Verdict::Inconclusive),
        ),
        ("same", "The same", rows(comparisons, Verdict::Same)),
        (
            "missing",
            "Not in both",
            named(comparisons, |comparison| &comparison.missing),
        ),
    ];
    document("What changed", &head(comparisons), &sections)
}

fn head(comparisons: &[(String, Comparison)]) -> String {
    let mut text = String::from(
        "<p class=\"kind\">weir bench compare</p>\n<h1>What changed</h1>\n<ul class=\"answer\">\n",
    );
    for (names, comparison) in comparisons {
        let count = |verdict| comparison.count(verdict);
        let [worse, better, same, open] = [
            Verdict::Worse,
            Verdict::Better,
            Verdict::Same,
            Verdict::Inconclusive,
        ]
        .map(count);
        text += &format!(
            "<li><b>{}</b>: {worse} worse, {better} better, {same} the same, {open} \
             inconclusive, of {}.</li>\n",
            escaped(names),
            comparison.rows.len()
        );
        for remark in &comparison.remarks {
            text += &format!("<li>{}.</li>\n", escaped(remark));
        }
    }
    text + "</ul>\n<p class=\"note\">Each metric of each cell and contender, rounds against rounds on a \
            logarithmic scale by Welch's t, corrected for being many (Holm). A change counts that is beyond \
            chance and beyond the threshold. Inconclusive is what too few or too different rounds leave \
            open.</p>\n"
}

/// All rows of a verdict, the greatest change first.
fn rows(comparisons: &[(String, Comparison)], verdict: Verdict) -> String {
    let of = |(names, comparison): &'_ (String, Comparison)| -> Vec<(String, Row)> {
        let rows = comparison.rows.iter().filter(|row| row.verdict == verdict);
        rows.map(|row| (names.clone(), row.clone())).collect()
    };
    let mut all: Vec<(String, Row)> = comparisons.iter().flat_map(of).collect();
    if all.is_empty() {
        return String::new();
    }
    let size = |row: &Row| row.ratio[0].ln().abs();
    all.sort_by(|(_, a), (_, b)| size(b).total_cmp(&size(a)));
    let most = all
        .iter()
        .flat_map(|(_, row)| row.ratio)
        .filter(|ratio| ratio.is_finite() && *ratio > 0.0)
        .map(|ratio| ratio.ln().abs())
        .fold(0.1, f64::max)
        .min(5.0);
    let several = comparisons.len() > 1;
    let body: String = all
        .iter()
        .map(|(names, row)| line(names, row, several, most))
        .collect();
    let names = [
        "metric",
        "contender",
        "cell",
        "before",
        "after",
        "unit",
        "ratio",
        "interval",
    ];
    let runs = several.then_some("runs");
    let heads = heads(runs.into_iter().chain(names));
    let table = format!(
        "<div class=\"scroll\"><table class=\"sortable\"><thead><tr>{heads}<th scope=\"col\">{} to {}</th>\
         </tr></thead><tbody>{body}</tbody></table></div>\n",
        number((-most).exp()),
        number(most.exp())
    );
    match verdict {
        Verdict::Worse | Verdict::Better => table,
        _ => format!(
            "<details><summary>{} rows</summary>{table}</details>\n",
            all.len()
        ),
    }
}

fn line(names: &str, row: &Row, several: bool, most: f64) -> String {
    let [ratio, low, high] = row.ratio;
    let interval = match low.is_finite() && high.is_finite() {
        true => format!("{low:.2} to {high:.2}"),
        false => "one round".into(),
    };
    let words = |text: &str| format!("<td class=\"words\">{}</td>", escaped(text));
    let mut text = String::from("<tr>");
    if several {
        text += &words(names);
    }
    text += &(words(&row.metric) + &words(&row.target));
    text += &format!("<td class=\"words cell\">{}</td>", cell(&row.cell));
    text += &format!(
        "<td>{}</td><td>{}</td>",
        number(row.before),
        number(row.after)
    );
    text += &words(&row.unit);
    text += &format!("<td>{ratio:.2}</td><td>{interval}</td>");
    text + &format!(
        "<td class=\"stroke\">{}</td></tr>\n",
        stroke_of(row.ratio, most)
    )
}

fn named(comparisons: &[(String, Comparison)], which: fn(&Comparison) -> &Vec<String>) -> String {
    let of = comparisons
        .iter()
        .flat_map(|(_, comparison)| which(comparison));
    let items: String = of
        .map(|one| format!("<li>{}</li>\n", escaped(one)))
        .collect();
    match items.is_empty() {
        true => items,
        false => format!("<ul class=\"caveats\">{items}</ul>\n"),
    }
}
