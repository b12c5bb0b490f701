//! The page `docs/performance.md`, generated from a run and from nothing else.

use std::fmt::Write;

use super::number;
use super::table::{result_line, verdict};
use crate::results::{GoalResult, Run};

/// The page of a run; `folder` is where the run lies, for the command that made the page.
pub(crate) fn markdown(run: &Run, folder: &str) -> String {
    let mut text = String::from("# Performance\n\n");
    let _ = writeln!(
        text,
        "This page is generated: `{}`, then `weir bench report {folder} --markdown`.\n",
        run.command
    );
    run_head(run, &mut text);
    if run.effort == "quick" {
        text += QUICK;
    }
    goals(run, &mut text);
    ratios(run, &mut text);
    cells(run, &mut text);
    text += HOW;
    text
}

const QUICK: &str = "
A quick run shows orders of magnitude: steps of less than a second, one round of most cells. Where
the load before is not near zero or the priority is raised, other work shared the machine; do not
quote such figures, run without `--quick` on a machine that rests.
";

const HOW: &str = "\n## How to read it

Server and load share the machine. Rates are offered on an absolute schedule and a latency counts
from when its message was due, so a server that stalls pays for all that waited (no coordinated
omission); only `window` cells are closed loops. Latencies are p50 / p90 / p99 / p99.9 / max in
microseconds on one clock. Fan-out is the highest rate at which p99 stays under 50 ms and nothing is
lost, found by a search and confirmed by a longer step. `null` is one thread that writes each message
to each socket; `null_coalescing` sends all that is due in one write and is the ceiling of load and
machine: what comes within 20 % of it is marked `ceiling`. Memory a connection is the growth of the
server's proportional resident memory; kernel figures count both ends of each connection. Mosquitto
stands beside SSE and is measured by MQTT at quality of service 0; neither it, nor nchan, nor the
null servers write to disk.
";

/// When and where a run was, and against what.
pub(crate) fn run_head(run: &Run, text: &mut String) {
    let _ = writeln!(
        text,
        "Run of {}, {}, seed {}, {:.0} s.\n",
        run.started, run.effort, run.seed, run.seconds
    );
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

fn goals(run: &Run, text: &mut String) {
    text.push_str("\n## Goals\n\n| cell | figure | asked | bound | measured | |\n");
    text.push_str("|---|---|---|---:|---:|---|\n");
    goal_rows(run, verdict, text);
}

/// A row a goal, with the words of `verdict` at its end.
pub(crate) fn goal_rows(run: &Run, verdict: fn(&GoalResult) -> &'static str, text: &mut String) {
    for goal in &run.goals {
        let shown = |value: Option<f64>| value.map_or("unknown".into(), number);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} |",
            goal.cell,
            goal.metric,
            goal.asked,
            shown(goal.bound),
            shown(goal.measured),
            verdict(goal)
        );
    }
}

fn ratios(run: &Run, text: &mut String) {
    text.push_str("\n## Ours divided by theirs\n\n");
    text.push_str("Pair by pair in interleaved rounds; 95 % interval by Student's t.\n\n");
    text.push_str("| cell | figure | against | ratio | interval | rounds |\n");
    text.push_str("|---|---|---|---:|---:|---:|\n");
    ratio_rows(run, text);
}

/// A row a ratio.
pub(crate) fn ratio_rows(run: &Run, text: &mut String) {
    for ratio in &run.ratios {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} |",
            ratio.cell,
            ratio.metric,
            ratio.target,
            number(ratio.estimate.mean),
            ratio.estimate.interval(),
            ratio.estimate.n
        );
    }
}

fn cells(run: &Run, text: &mut String) {
    text.push_str("\n## Cells\n\n| cell | target | result |\n|---|---|---|\n");
    for result in &run.results {
        let line = result_line(result).replace('|', "\\|").replace('\n', " ");
        let _ = writeln!(text, "| {} | {} | {line} |", result.cell, result.target);
    }
}
