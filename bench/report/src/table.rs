//! The table that a run prints: cells and contenders, then ratios, then goals.

use std::fmt::Write;

use weir_bench_model::number::number;
use weir_bench_model::results::{CellResult, ClaimResult, GoalResult, Ratio, Run};
use weir_bench_model::steadiness::State;

/// The whole report as text of fixed width.
pub fn table(run: &Run) -> String {
    let mut text = format!(
        "{} ({}), {}, seed {}, {} s\ncommand: {}\n",
        run.heading(),
        run.effort,
        run.started,
        run.seed,
        run.seconds.round(),
        run.command
    );
    for part in &run.parts {
        let _ = writeln!(text, "part {part}");
    }
    for line in run.environment.lines() {
        let _ = writeln!(text, "{line}");
    }
    for agent in &run.agents {
        let _ = writeln!(text, "load by {agent}");
    }
    for (target, version) in &run.targets {
        let _ = writeln!(text, "{target}: {version}");
    }
    for (link, used) in &run.links {
        let _ = writeln!(text, "link {link}: {used}");
    }
    results(run, &mut text);
    if !run.ratios.is_empty() {
        text += "\nOurs divided by theirs, pair by pair (95 % interval):\n";
        run.ratios
            .iter()
            .for_each(|ratio| ratio_line(ratio, &mut text));
    }
    if !run.goals.is_empty() {
        text += "\nGoals:\n";
        run.goals.iter().for_each(|goal| goal_line(goal, &mut text));
    }
    if !run.claims.is_empty() {
        text += "\nClaims:\n";
        run.claims
            .iter()
            .for_each(|claim| claim_line(claim, &mut text));
    }
    text
}

fn results(run: &Run, text: &mut String) {
    let mut cell = "";
    for result in &run.results {
        if result.cell != cell {
            cell = &result.cell;
            let _ = writeln!(text, "\n{cell}");
        }
        let _ = writeln!(text, "  {:<16} {}", result.target, result_line(result));
        for remark in &result.remarks {
            let _ = writeln!(text, "  {:<16}   {remark}", "");
        }
    }
}

/// The chief figures of a result in one line.
pub(super) fn result_line(result: &CellResult) -> String {
    if result.metrics.is_empty() {
        return format!("- ({})", result.status);
    }
    let mut parts = Vec::new();
    let mut lost = 0;
    for metric in &result.metrics {
        lost += metric.lost;
        if let Some(p) = &metric.percentiles {
            let quantiles = [p.p50, p.p90, p.p99, p.p999, p.max].map(number).join(" / ");
            let (name, unit) = (words(&metric.metric), &metric.unit);
            let state = metric.state.filter(|state| *state != State::Steady);
            let state = state.map_or(String::new(), |state| format!(" ({})", state.name()));
            parts.push(format!("{name} {quantiles} {unit}{state}"));
        }
    }
    for (name, unit) in [
        ("size", "bytes"),
        ("eta", "protocol efficiency"),
        ("transport_bytes", "bytes an exchange"),
        ("parse_rate", "MB of XML/s parsed"),
        ("serialize_rate", "MB of XML/s serialized"),
        ("from_xml_rate", "MB of XML/s from XML"),
        ("observations", "observations/s"),
        ("deliveries", "deliveries/s"),
        ("observations_of_ceiling", "% of the null server's"),
        ("deliveries_of_ceiling", "% of the null server's"),
        (
            "server_memory_per_connection",
            "B server memory a connection",
        ),
        (
            "kernel_slab_per_connection",
            "B kernel slab a connection, both ends",
        ),
        ("server_cpu", "cpus server"),
        ("load_cpu", "cpus load"),
        ("clock_bound", "us that clocks may be apart"),
    ] {
        if let Some(metric) = result.metric(name) {
            parts.push(format!("{} {unit}", number(metric.estimate.mean)));
        }
    }
    if let Some(peak) = result.metric("server_memory_peak") {
        parts.push(format!("{} MB peak", number(peak.estimate.mean / 1e6)));
    }
    if lost > 0 {
        parts.push(format!("{lost} lost"));
    }
    if result.status != "ok" {
        parts.push(format!("[{}]", result.status));
    }
    parts.join(", ")
}

fn words(name: &str) -> String {
    name.replace('_', " ")
}

fn ratio_line(ratio: &Ratio, text: &mut String) {
    let _ = writeln!(
        text,
        "  {}  {} / {}: {} ({}, n={})",
        ratio.cell,
        words(&ratio.metric),
        ratio.target,
        number(ratio.estimate.mean),
        ratio.estimate.interval(),
        ratio.estimate.n
    );
}

fn goal_line(goal: &GoalResult, text: &mut String) {
    let verdict = verdict(goal);
    let unknown = || "unknown".to_owned();
    let _ = writeln!(
        text,
        "  {verdict:<14} {}  {}: {} (asked {}, that is {})",
        goal.cell,
        words(&goal.metric),
        goal.measured().unwrap_or_else(unknown),
        goal.asked,
        goal.bound.map_or_else(unknown, number)
    );
}

fn claim_line(claim: &ClaimResult, text: &mut String) {
    let verdict = claim.verdict();
    let _ = writeln!(
        text,
        "  {verdict:<14} {} {}: {}: {}",
        claim.paper, claim.place, claim.claim, claim.number
    );
}

/// The verdict on a goal in words.
pub(super) fn verdict(goal: &GoalResult) -> &'static str {
    goal.verdict("holds")
}
