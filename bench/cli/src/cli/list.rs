//! `weir bench list`: what can be measured, and on whom.
//!
//! Of every experiment it tells the factors, since its cells may be thousands; of one it tells the cells, which
//! are what `--only` chooses from.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write;

use super::{print, usage};
use weir_bench_lab::experiment::Experiment;
use weir_bench_lab::targets::list::{SERVERS, TARGETS};
use weir_bench_model::effort::Effort;
use weir_bench_studies::experiments::EXPERIMENTS;

/// Levels of a factor that are named.
const LEVELS_SHOWN: usize = 12;

/// Lists all experiments, or the cells of one; the exit code.
pub(super) fn list(named: Option<&str>, json: bool, out: &mut dyn Write) -> i32 {
    let chosen: Vec<&Experiment> = EXPERIMENTS
        .iter()
        .filter(|experiment| named.is_none_or(|name| name == experiment.name))
        .collect();
    let text = match (json, named, chosen.as_slice()) {
        (_, Some(name), []) => {
            return usage(&format!(
                "no experiment is called {name:?}; see `weir bench list`"
            ));
        }
        (true, ..) => for_programs(&chosen),
        (false, Some(_), [experiment, ..]) => cells(experiment),
        (false, ..) => for_people(&chosen),
    };
    print(&text, out)
}

fn for_programs(experiments: &[&Experiment]) -> String {
    let experiments: Vec<_> = experiments
        .iter()
        .map(|e| {
            serde_json::json!({
                "name": e.name,
                "source": e.source,
                "about": e.about,
                "cells": (e.cells)(Effort::Full),
            })
        })
        .collect();
    let targets: Vec<_> = targets()
        .map(|(name, about)| serde_json::json!({"name": name, "about": about}))
        .collect();
    let all = serde_json::json!({"experiments": experiments, "targets": targets});
    format!("{all}\n")
}

fn for_people(experiments: &[&Experiment]) -> String {
    let mut text = String::new();
    for experiment in experiments {
        let cells = (experiment.cells)(Effort::Full);
        text += &head(experiment, cells.len());
        for (factor, levels) in factors(&cells) {
            let _ = writeln!(text, "  {factor}: {}", shown(&levels));
        }
    }
    text += "targets (`weir bench targets` says which are here):\n";
    for (name, about) in targets() {
        let _ = writeln!(text, "  {name}: {about}");
    }
    text + "`weir bench list EXPERIMENT` lists its cells, of which `--only` chooses.\n"
}

/// Names of all that can be measured, each with a sentence.
fn targets() -> impl Iterator<Item = (&'static str, &'static str)> {
    let servers = SERVERS.iter().map(|it| (it.name, it.about));
    TARGETS.iter().map(|it| (it.name, it.about)).chain(servers)
}

fn cells(experiment: &Experiment) -> String {
    let cells = (experiment.cells)(Effort::Full);
    let lines = cells.iter().map(|cell| format!("  {cell}\n"));
    head(experiment, cells.len()) + &lines.collect::<String>()
}

fn head(experiment: &Experiment, cells: usize) -> String {
    let Experiment {
        name,
        source,
        about,
        ..
    } = experiment;
    format!("{name} ({source}): {about}; {cells} cells\n")
}

/// Every factor of cells with its levels, as they come.
fn factors(cells: &[String]) -> Vec<(&str, Vec<&str>)> {
    let mut factors: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut seen = BTreeSet::new();
    let parts = cells.iter().flat_map(|cell| cell.split(';'));
    for (factor, level) in parts.filter_map(|part| part.split_once('=')) {
        if !seen.insert((factor, level)) {
            continue;
        }
        match factors.iter_mut().find(|(known, _)| *known == factor) {
            Some((_, levels)) => levels.push(level),
            None => factors.push((factor, vec![level])),
        }
    }
    factors
}

fn shown(levels: &[&str]) -> String {
    let named = levels.iter().take(LEVELS_SHOWN).copied();
    let text = named.collect::<Vec<_>>().join(", ");
    match levels.len().checked_sub(LEVELS_SHOWN) {
        Some(more) if more > 0 => format!("{text} and {more} more"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_told_once_with_their_levels_in_the_order_of_the_cells() {
        let cells = ["a=2;b=x".to_owned(), "a=1;b=x;c=y=z".to_owned()];
        let told = factors(&cells);
        assert_eq!(
            told,
            [("a", vec!["2", "1"]), ("b", vec!["x"]), ("c", vec!["y=z"])]
        );
    }

    #[test]
    fn a_factor_of_many_levels_says_how_many_more() {
        let levels: Vec<String> = (0..15).map(|level| level.to_string()).collect();
        let levels: Vec<&str> = levels.iter().map(String::as_str).collect();
        assert!(shown(&levels).ends_with("11 and 3 more"));
        assert_eq!(shown(&["one"]), "one");
    }

    #[test]
    fn what_experiments_start_themselves_is_listed_with_the_targets() {
        let mut out = Vec::new();
        assert_eq!(list(None, false, &mut out), super::super::DONE);
        let text = String::from_utf8_lossy(&out);
        for name in [
            "mosquitto",
            "libcoap",
            "tornado",
            "californium",
            "cxf",
            "jersey",
        ] {
            assert!(text.contains(&format!("\n  {name}: ")), "{name}");
        }
    }

    #[test]
    fn an_experiment_that_is_not_there_is_refused() {
        let mut out = Vec::new();
        assert_eq!(list(Some("nosuch"), false, &mut out), super::super::USAGE);
        assert_eq!(list(Some("gateway"), false, &mut out), super::super::DONE);
        assert!(String::from_utf8_lossy(&out).contains("  test=ingest;"));
    }
}
