//! Runs that each measured a part of an experiment, as one run: so that what takes a day is measured in
//! pieces, and claims are judged by all of it.
//!
//! What it deliberately does not do: mix figures. A cell's result is of one run as it stands, ratios are of
//! pairs of one run; what two runs measured both is refused, as are runs of other machines or of another
//! effort.

use std::collections::BTreeSet;

use weir_bench_lab::targets::list;
use weir_bench_model::configuration::Starts;
use weir_bench_model::effort::Effort;
use weir_bench_model::results::{CellResult, GoalResult, Part, Run};
use weir_bench_studies::experiments;

/// Runs that were joined so far.
#[derive(Default)]
pub(crate) struct Joined {
    whole: Option<Run>,
}

impl Joined {
    /// Takes in a run, or says why it does not belong to those before it.
    pub(crate) fn add(&mut self, run: Run) -> Result<(), String> {
        let Some(whole) = &mut self.whole else {
            self.whole = Some(Run {
                parts: parts_of(&run),
                ..run
            });
            return Ok(());
        };
        fits(whole, &run)?;
        whole.parts.extend(parts_of(&run));
        whole.seconds += run.seconds;
        let load = whole
            .environment
            .load_before
            .max(run.environment.load_before);
        whole.environment.load_before = load;
        for (name, version) in run.targets {
            let known = whole.targets.entry(name).or_default();
            if !is_here(known) {
                *known = version;
            }
        }
        if !whole.build.contains(&run.build) {
            whole.build += &format!(", {}", run.build);
        }
        let starts = Starts::default();
        starts.extend(std::mem::take(&mut whole.configurations));
        starts.extend(run.configurations);
        whole.configurations = starts.all();
        whole.links.extend(run.links);
        whole.results.extend(run.results);
        whole.left_out.extend(run.left_out);
        whole.ratios.extend(run.ratios);
        for goal in run.goals {
            add_goal(&mut whole.goals, goal);
        }
        Ok(())
    }

    /// The whole, in the experiment's order, its claims judged anew.
    pub(crate) fn finish(self, command: String) -> Run {
        let mut run = self.whole.unwrap_or_default();
        run.command = command;
        if let Some(experiment) = experiments::named(&run.experiment) {
            let effort = [Effort::Quick, Effort::Full];
            let effort = effort.into_iter().find(|e| e.name() == run.effort);
            let mut cells = (experiment.cells)(effort.unwrap_or(Effort::Full));
            // Cells at a rate of the reader's own.
            cells.extend(run.results.iter().map(|result| result.cell.clone()));
            run.sort(&cells, list::place);
            let measured: BTreeSet<&String> = run.results.iter().map(|r| &r.cell).collect();
            let missing = run.left_out.iter().filter(|cell| !measured.contains(cell));
            run.left_out = missing.cloned().collect();
            run.claims = (experiment.claims)(&run);
        }
        run
    }
}

/// Every run has all goals of its cells; the one that could be judged counts.
fn add_goal(goals: &mut Vec<GoalResult>, goal: GoalResult) {
    let is_same = |other: &&mut GoalResult| key(other) == key(&goal);
    match goals.iter_mut().find(is_same) {
        Some(other) if other.holds.is_none() => *other = goal,
        Some(_) => {}
        None => goals.push(goal),
    }
}

/// What tells goals apart: of one figure more than one thing may be asked.
fn key(goal: &GoalResult) -> [&String; 3] {
    [&goal.cell, &goal.metric, &goal.asked]
}

/// What is kept of a run, which may itself be joined.
fn parts_of(run: &Run) -> Vec<Part> {
    if !run.parts.is_empty() {
        return run.parts.clone();
    }
    vec![Part {
        command: run.command.clone(),
        started: run.started.clone(),
        seconds: run.seconds,
        load_before: run.environment.load_before,
        results: run.results.len(),
    }]
}

fn fits(whole: &Run, run: &Run) -> Result<(), String> {
    let machine = |run: &Run| {
        let at = &run.environment;
        format!(
            "{} x {}, {} bytes, {}",
            at.cpus, at.cpu, at.memory_bytes, at.kernel
        )
    };
    same("experiment", &whole.experiment, &run.experiment)?;
    same("effort", &whole.effort, &run.effort)?;
    same("machine", &machine(whole), &machine(run))?;
    for (name, version) in &run.targets {
        match whole.targets.get(name) {
            Some(other) if is_here(other) && is_here(version) => same(name, other, version)?,
            _ => {}
        }
    }
    let has = |r: &&CellResult| {
        let same = |other: &CellResult| (&other.cell, &other.target) == (&r.cell, &r.target);
        whole.results.iter().any(same)
    };
    match run.results.iter().find(has) {
        None => Ok(()),
        Some(twice) => Err(format!(
            "{} of {} was measured by a run before it, too",
            twice.cell, twice.target
        )),
    }
}

/// Whether it is a version, and not why there is none.
fn is_here(version: &str) -> bool {
    !version.is_empty() && !version.starts_with("absent")
}

fn same(what: &str, before: &str, after: &str) -> Result<(), String> {
    match before == after {
        true => Ok(()),
        false => Err(format!(
            "its {what} is {after}, of the runs before it {before}"
        )),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use weir_bench_studies::experiments::EXPERIMENTS;

    fn run(cell: &str, left_out: &[&str]) -> Run {
        Run {
            experiment: EXPERIMENTS[0].name.into(),
            effort: "full".into(),
            command: format!("weir bench run gateway --only {cell}"),
            results: vec![CellResult {
                cell: cell.into(),
                target: "weir".into(),
                ..CellResult::default()
            }],
            left_out: left_out.iter().map(|cell| (*cell).into()).collect(),
            seconds: 2.0,
            ..Run::default()
        }
    }

    fn joined(runs: impl IntoIterator<Item = Run>) -> Result<Run, String> {
        let mut joined = Joined::default();
        for run in runs {
            joined.add(run)?;
        }
        Ok(joined.finish("weir bench join A B --out C".into()))
    }

    #[test]
    fn the_whole_has_the_results_of_all_in_the_order_of_the_experiment() {
        let cells = (EXPERIMENTS[0].cells)(Effort::Full);
        let [first, second] = [&cells[0], &cells[1]];
        let whole = joined([run(second, &[first]), run(first, &[])]).unwrap();
        let order: Vec<&String> = whole.results.iter().map(|result| &result.cell).collect();
        assert_eq!(order, [first, second]);
        assert_eq!((whole.parts.len(), whole.seconds), (2, 4.0));
        assert_eq!(whole.commands().len(), 3);
        assert!(whole.left_out.is_empty(), "{:?}", whole.left_out);
        let again = joined([whole, run(&cells[2], &[])]).unwrap();
        assert_eq!(again.parts.len(), 3, "parts of parts are parts");
    }

    #[test]
    fn a_cell_keeps_all_goals_of_one_figure_and_of_each_the_verdict_that_there_is() {
        let with_goals = |cell: &str, holds: [Option<bool>; 2]| {
            let asked = ["at least 1", "at least 2"].into_iter().zip(holds);
            let goals = asked.map(|(asked, holds)| GoalResult {
                cell: "a".into(),
                metric: "deliveries mean".into(),
                asked: asked.into(),
                holds,
                ..GoalResult::default()
            });
            Run {
                goals: goals.collect(),
                ..run(cell, &[])
            }
        };
        let first = with_goals("a", [Some(true), None]);
        let second = with_goals("b", [None, Some(false)]);
        let whole = joined([first, second]).unwrap();
        let holds: Vec<_> = whole.goals.iter().map(|goal| goal.holds).collect();
        assert_eq!(holds, [Some(true), Some(false)]);
    }

    #[test]
    fn what_does_not_belong_together_is_refused_and_says_why() {
        let quick = Run {
            effort: "quick".into(),
            ..run("b", &[])
        };
        let mut elsewhere = run("b", &[]);
        elsewhere.environment.cpus = 64;
        let refused = [
            (
                run("a", &[]),
                "a of weir was measured by a run before it, too",
            ),
            (quick, "its effort is quick, of the runs before it full"),
            (elsewhere, "its machine is 64 x "),
        ];
        for (second, why) in refused {
            let error = joined([run("a", &[]), second]).unwrap_err();
            assert!(error.starts_with(why), "{error}");
        }
    }
}
