//! The page `docs/results/encoding.md`, generated from a run and from nothing else.

mod browser;
mod links;
mod observations;
mod sizes;
mod times;

use std::fmt::Write;

use super::figures::Figures;
use weir_bench_model::claims::NOT_MEASURED;
use weir_bench_model::number::number;
use weir_bench_model::results::{CellResult, Run};
use weir_bench_report::page::{self, row};

/// The page of a run; `folder` is where the run lies, for the command that made the page.
pub(super) fn markdown(run: &Run, folder: &str) -> String {
    let mut text = page::begin("Encodings", run, folder, QUICK);
    text += HOW;
    let figures = Figures(&run.results);
    page::goals(run, OF_GOALS, page::reached, &mut text);
    page::ratios(run, &mut text);
    claims(run, &mut text);
    sizes::tables(&figures, &mut text);
    times::tables(&figures, &mut text);
    observations::tables(&figures, &mut text);
    browser::tables(&figures, &mut text);
    links::tables(run, &mut text);
    absent(run, &mut text);
    text
}

const QUICK: &str = "\nA quick run shows orders of magnitude; do not quote such figures.\n";

const HOW: &str = "\nHow it was measured and what the words mean is told in \
                   [concepts/measuring-encodings.md](../concepts/measuring-encodings.md).\n";

const OF_GOALS: &str =
    "Rates of the XML's bytes, or of observations, by the medians of each round.\n\n";

/// What was judged; a part of the experiment decides few of them.
fn claims(run: &Run, text: &mut String) {
    let measured = run.claims.iter().filter(|own| own.number != NOT_MEASURED);
    let measured: Vec<_> = measured.collect();
    let others = run.claims.len() - measured.len();
    *text += "\n## What the papers claim\n";
    if others > 0 {
        let _ = writeln!(text, "\nThis run has no cells of {others} claims.");
    }
    if !measured.is_empty() {
        *text += "\n| paper | where | claim | | measured |\n|---|---|---|---|---|\n";
    }
    for claim in measured {
        let verdict = claim.verdict();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {verdict} | {} |",
            claim.paper, claim.place, claim.claim, claim.number
        );
    }
}

/// What a run could not measure, each reason once.
fn absent(run: &Run, text: &mut String) {
    let mut reasons = std::collections::BTreeMap::<&str, Vec<&str>>::new();
    for result in &run.results {
        if let Some(reason) = why_absent(result) {
            reasons.entry(reason).or_default().push(&result.cell);
        }
    }
    if reasons.is_empty() {
        return;
    }
    *text += "\n## Not measured\n\n";
    for (reason, cells) in reasons {
        let _ = match cells.as_slice() {
            [one] => writeln!(text, "- `{one}`: {reason}"),
            [first, others @ ..] => {
                writeln!(text, "- `{first}` and {} more: {reason}", others.len())
            }
            [] => Ok(()),
        };
    }
}

/// Why a result has no time; nothing where it has one, or is none of time.
fn why_absent(result: &CellResult) -> Option<&str> {
    if result.metrics.is_empty() {
        return Some(&result.status);
    }
    let of_parsing = |remark: &&String| remark.starts_with("parse: ");
    let fault = result.remarks.iter().find(of_parsing);
    // The lines behind it say where in the page's program.
    fault
        .filter(|_| result.metric("parse").is_none())
        .and_then(|fault| fault.lines().next())
}

/// The head of a table: the first column is words, the rest are numbers.
fn head(columns: &[&str], text: &mut String) {
    row(columns.iter().map(|column| (*column).to_string()), text);
    let rules = (0..columns.len()).map(|i| if i == 0 { "---".into() } else { "---:".into() });
    row(rules, text);
}

/// A number, or a dash.
fn shown(value: Option<f64>) -> String {
    value.map_or("-".into(), number)
}
