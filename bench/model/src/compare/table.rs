//! A comparison in words and as a table; as JSON for programs.

use super::{Comparison, Row, Verdict};
use crate::number::number;
use std::fmt::Write;

/// The answer first, then what changed, then what is open; with `all` also what stayed the same.
pub fn text(comparison: &Comparison, all: bool) -> String {
    let mut text = answer(comparison);
    for remark in &comparison.remarks {
        let _ = writeln!(text, "note: {remark}");
    }
    let verdicts: &[Verdict] = match all {
        true => &[
            Verdict::Worse,
            Verdict::Better,
            Verdict::Inconclusive,
            Verdict::Same,
        ],
        false => &[Verdict::Worse, Verdict::Better],
    };
    for &verdict in verdicts {
        let rows: Vec<_> = comparison
            .rows
            .iter()
            .filter(|row| row.verdict == verdict)
            .collect();
        if rows.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n{}:", verdict.name());
        rows.iter().for_each(|row| line(row, &mut text));
    }
    for (title, all) in [
        ("failed or lost messages", &comparison.broken),
        ("not in both", &comparison.missing),
    ] {
        if !all.is_empty() {
            let _ = writeln!(text, "\n{title}:");
            all.iter().for_each(|one| text += &format!("  {one}\n"));
        }
    }
    text
}

fn answer(comparison: &Comparison) -> String {
    let of = |verdict| comparison.count(verdict);
    let worse = of(Verdict::Worse) + comparison.broken.len();
    let mut text = match (worse, of(Verdict::Better)) {
        (0, 0) => "nothing changed beyond noise".to_owned(),
        (0, better) => format!("nothing became worse, {better} better"),
        (worse, better) => format!("{worse} became worse, {better} better"),
    };
    let (same, open) = (of(Verdict::Same), of(Verdict::Inconclusive));
    let _ = writeln!(
        text,
        "; {same} the same, {open} inconclusive, of {}",
        comparison.rows.len()
    );
    let [meeting, all] = comparison.meeting;
    if all > 0 {
        let _ = writeln!(
            text,
            "95 % intervals of the two runs meet in {meeting} of {all} figures"
        );
    }
    text
}

fn line(row: &Row, text: &mut String) {
    let [ratio, low, high] = row.ratio;
    let interval = match low.is_nan() {
        true => "one round".to_owned(),
        false => format!("{low:.2} to {high:.2}"),
    };
    let (before, after) = (number(row.before), number(row.after));
    let _ = writeln!(
        text,
        "  {} of {}, {}: {before} to {after} {} (x {ratio:.2}; {interval})",
        row.metric, row.target, row.cell, row.unit
    );
}

/// All of it.
pub fn json(comparison: &Comparison) -> String {
    serde_json::to_string(comparison).unwrap_or_default() + "\n"
}
