//! What the pages of the documentation share: how they begin, and the tables that every one has.
//!
//! What it deliberately does not do: say what a page is about; that stands with its experiment.

use std::collections::BTreeMap;
use std::fmt::Write;

use weir_bench_model::number::number;
use weir_bench_model::results::{GoalResult, Run};

/// A page's title, the commands that made it, when and where its run was, and of a quick run what must be
/// known of it. `folder` is where the run lies.
pub fn begin(title: &str, run: &Run, folder: &str, of_quick: &str) -> String {
    let mut text = format!(
        "# {title}\n\nThis page is generated: `{}`, then \
         `weir bench report {folder} --markdown`.\n\n",
        run.commands().join("`, `")
    );
    run_head(run, &mut text);
    if run.effort == "quick" {
        text += of_quick;
        text += &left_out(run);
    }
    text
}

/// The cells for which a quick run had no time.
fn left_out(run: &Run) -> String {
    if run.left_out.is_empty() {
        return String::new();
    }
    let cells = run.left_out.iter().map(|cell| format!("- `{cell}`\n"));
    format!(
        "\nIts time was over before these cells, which a full run has:\n\n{}",
        cells.collect::<String>()
    )
}

/// When and where a run was, and against what.
fn run_head(run: &Run, text: &mut String) {
    let _ = writeln!(
        text,
        "Run of {}, {}, seed {}, {:.0} s.\n",
        run.started, run.effort, run.seed, run.seconds
    );
    for part in &run.parts {
        let _ = writeln!(text, "- part {part}");
    }
    for line in run.environment.lines() {
        let _ = writeln!(text, "- {line}");
    }
    for agent in &run.agents {
        let _ = writeln!(text, "- load by {agent}");
    }
    for (target, version) in &run.targets {
        let _ = writeln!(text, "- {target}: {version}");
    }
}

/// A row of a table, as wide as the one above it: a ragged table is a fault of the program, which no test lets pass,
/// and which costs nobody a run.
pub fn row(cells: impl IntoIterator<Item = String>, text: &mut String) {
    let above = text.lines().next_back().and_then(width);
    let begin = text.len();
    for cell in cells {
        let _ = write!(text, "| {} ", cell.replace('|', "\\|"));
    }
    *text += "|";
    let is_even = above.is_none_or(|above| Some(above) == width(&text[begin..]));
    assert!(
        is_even || !cfg!(test),
        "a table of {above:?} columns has the row {}",
        &text[begin..]
    );
    *text += "\n";
}

/// How many cells a line of a table has; nothing of another line.
pub fn width(line: &str) -> Option<usize> {
    let bars = line.matches('|').count() - line.matches("\\|").count();
    line.starts_with('|').then(|| bars.saturating_sub(1))
}

/// The head of a table.
pub fn head(columns: &[&str], text: &mut String) {
    row(columns.iter().map(|column| (*column).to_string()), text);
    row(columns.iter().map(|_| "---".to_string()), text);
}

/// What the paper claims, each judged; `about` is a paragraph before them, or nothing.
pub fn claims(run: &Run, about: &str, text: &mut String) {
    *text += "\n## What the paper claims\n\n";
    *text += about;
    head(&["where", "claim", "", "measured"], text);
    for claim in &run.claims {
        let verdict = claim.verdict().to_string();
        let cells = [&claim.place, &claim.claim, &verdict, &claim.number];
        row(cells.map(Clone::clone), text);
    }
}

/// What ours had to reach; `about` is a paragraph before it, or nothing. Goals of cells that the run left out are
/// none of its.
pub fn goals(run: &Run, about: &str, verdict: fn(&GoalResult) -> &'static str, text: &mut String) {
    *text += "\n## Goals\n\n";
    *text += about;
    *text += "| cell | figure | asked | bound | measured | |\n|---|---|---|---:|---:|---|\n";
    let has = |cell: &str| run.results.iter().any(|result| result.cell == cell);
    let is_here = |goal: &&GoalResult| goal.measured.is_some() || has(&goal.cell);
    for goal in run.goals.iter().filter(is_here) {
        let cells = [
            goal.cell.clone(),
            goal.metric.clone(),
            goal.asked.clone(),
            goal.bound.map_or("unknown".into(), number),
            goal.measured().unwrap_or("unknown".into()),
            verdict(goal).into(),
        ];
        row(cells, text);
    }
}

/// Whether a goal was reached, in words.
pub fn reached(goal: &GoalResult) -> &'static str {
    goal.verdict("reached")
}

/// A row a ratio.
pub fn ratios(run: &Run, text: &mut String) {
    *text += "\n## Ours divided by theirs\n\nPair by pair in interleaved rounds; 95 % interval by \
              Student's t.\n\n| cell | figure | against | ratio | interval | rounds |\n\
              |---|---|---|---:|---:|---:|\n";
    for ratio in &run.ratios {
        let cells = [
            ratio.cell.clone(),
            ratio.metric.clone(),
            ratio.target.clone(),
            number(ratio.estimate.mean),
            ratio.estimate.interval(),
            ratio.estimate.n.to_string(),
        ];
        row(cells, text);
    }
}

/// What a run could not measure, each target and reason once.
pub fn absent(run: &Run, text: &mut String) {
    let mut reasons = BTreeMap::<(&str, &str), Vec<&str>>::new();
    for result in run.results.iter().filter(|it| it.metrics.is_empty()) {
        let key = (result.target.as_str(), result.status.as_str());
        reasons.entry(key).or_default().push(&result.cell);
    }
    if reasons.is_empty() {
        return;
    }
    *text += "\n## Not measured\n\n";
    for ((target, reason), cells) in reasons {
        let reason = reason.replace('\n', " ");
        let _ = match cells.as_slice() {
            [one] => writeln!(text, "- {target}: {reason}: `{one}`"),
            [first, ..] => {
                let count = cells.len();
                writeln!(
                    text,
                    "- {target}: {reason}: {count} cells, the first `{first}`"
                )
            }
            [] => Ok(()),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_bench_model::results::CellResult;

    #[test]
    fn what_is_absent_stands_once_with_its_reason_on_one_line() {
        let absent_in = |cell: &str| CellResult::absent(cell, "tornado", "absent:\nno Tornado");
        let run = Run {
            results: vec![absent_in("a=1"), absent_in("a=2")],
            ..Run::default()
        };
        let mut text = String::new();
        absent(&run, &mut text);
        let line = "- tornado: absent: no Tornado: 2 cells, the first `a=1`\n";
        assert!(text.ends_with(line), "{text}");
        assert_eq!(text.matches("tornado").count(), 1);
    }

    #[test]
    #[should_panic(expected = "a table of Some(2) columns has the row | x |")]
    fn a_row_that_is_not_as_wide_as_its_head_is_a_fault() {
        let mut text = String::new();
        head(&["a", "b"], &mut text);
        row(["x|y", "z"].map(String::from), &mut text);
        row(["x".to_owned()], &mut text);
    }

    #[test]
    fn only_a_quick_run_says_that_it_is_one() {
        let of = |effort: &str| Run {
            effort: effort.into(),
            command: "weir bench run x".into(),
            ..Run::default()
        };
        let page = |effort| begin("Title", &of(effort), "folder", "\nno more than a glance\n");
        assert!(page("quick").contains("no more than a glance"));
        assert!(!page("full").contains("no more than a glance"));
        assert!(page("full").starts_with("# Title\n\nThis page is generated: `weir bench run x`"));
    }
}
