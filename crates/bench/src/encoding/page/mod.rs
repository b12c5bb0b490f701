//! The page `docs/results/encoding.md`, generated from a run and from nothing else.

mod browser;
mod links;
mod observations;
mod sizes;
mod times;

use std::fmt::Write;

use super::figures::Figures;
use crate::report::{goal_rows, number, ratio_rows, run_head};
use crate::results::{CellResult, GoalResult, Run};

/// The page of a run; `folder` is where the run lies, for the command that made the page.
pub(crate) fn markdown(run: &Run, folder: &str) -> String {
    let mut text = String::from("# Encodings\n\n");
    let _ = writeln!(
        text,
        "This page is generated: `{}`, then `weir bench report {folder} --markdown`. How it was \
         measured and what the words mean is told in \
         [concepts/measuring-encodings.md](../concepts/measuring-encodings.md).\n",
        run.command
    );
    run_head(run, &mut text);
    if run.effort == "quick" {
        text += QUICK;
    }
    let figures = Figures(&run.results);
    goals(run, &mut text);
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

fn goals(run: &Run, text: &mut String) {
    *text += "\n## Goals\n\nRates of the XML's bytes, or of observations, by the medians of each \
              round.\n\n| cell | figure | asked | bound | measured | |\n\
              |---|---|---|---:|---:|---|\n";
    goal_rows(run, verdict, text);
    *text += "\n## Ours divided by theirs\n\nPair by pair in interleaved rounds; 95 % interval by \
              Student's t.\n\n| cell | figure | against | ratio | interval | rounds |\n\
              |---|---|---|---:|---:|---:|\n";
    ratio_rows(run, text);
}

fn verdict(goal: &GoalResult) -> &'static str {
    match goal.holds {
        Some(true) => "reached",
        Some(false) => "falls short",
        None => "not measured",
    }
}

fn claims(run: &Run, text: &mut String) {
    *text += "\n## What the papers claim\n\n| paper | where | claim | | measured |\n\
              |---|---|---|---|---|\n";
    for claim in &run.claims {
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

/// A row of a table.
fn row(cells: impl IntoIterator<Item = String>, text: &mut String) {
    for cell in cells {
        let _ = write!(text, "| {cell} ");
    }
    *text += "|\n";
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
