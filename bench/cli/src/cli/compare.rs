//! `weir bench compare`: two runs or more, the first being what the others are set against.

use std::io::Write;
use std::path::{Path, PathBuf};

use weir_bench_model::compare::{self, Comparison};
use weir_bench_report as report;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Folders of runs; the first is before, each other one after
    #[arg(num_args = 2.., required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// From which share on a change matters
    #[arg(long, default_value_t = 0.05, value_name = "SHARE")]
    threshold: f64,
    /// What stayed the same and what is inconclusive, too
    #[arg(long)]
    all: bool,
    /// Machine output
    #[arg(long)]
    json: bool,
    /// Also as a page, into this file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// Compares and prints; 1 where anything became worse in any of the later runs.
pub(super) fn compare(arguments: &Arguments, out: &mut dyn Write) -> i32 {
    let comparisons = match comparisons(arguments) {
        Ok(comparisons) => comparisons,
        Err(error) => return super::usage(&error),
    };
    if let Some(file) = &arguments.html
        && let Err(error) = std::fs::write(file, report::changes(&comparisons))
    {
        return super::usage(&format!("{}: {error}", file.display()));
    }
    let text = match arguments.json {
        true => json(&comparisons),
        false => text(&comparisons, arguments.all),
    };
    let shown = super::print(&text, out);
    let worse = comparisons.iter().any(|(_, one)| one.has_regression());
    shown.max(i32::from(worse))
}

/// A later run's name, and what changed in it.
type Named = (String, Comparison);

fn comparisons(arguments: &Arguments) -> Result<Vec<Named>, String> {
    let [first, later @ ..] = arguments.runs.as_slice() else {
        return Err("give two runs or more".into());
    };
    let before = report::read(first)?;
    let of = |folder: &PathBuf| {
        let after = report::read(folder)?;
        let comparison = Comparison::of(&before, &after, arguments.threshold);
        Ok((names(first, folder), comparison))
    };
    later.iter().map(of).collect()
}

fn names(before: &Path, after: &Path) -> String {
    format!("{} to {}", before.display(), after.display())
}

fn json(comparisons: &[Named]) -> String {
    match comparisons {
        [(_, only)] => compare::json(only),
        all => {
            let all: Vec<&Comparison> = all.iter().map(|(_, one)| one).collect();
            serde_json::to_string(&all).unwrap_or_default() + "\n"
        }
    }
}

fn text(comparisons: &[Named], all: bool) -> String {
    match comparisons {
        [(_, only)] => compare::text(only, all),
        several => several
            .iter()
            .map(|(names, one)| format!("{names}: {}\n", compare::text(one, all)))
            .collect(),
    }
}
