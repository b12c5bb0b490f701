//! `weir bench run all`: every experiment in a folder of its own, and an index over them.
//!
//! Each is a process of its own, the same command that a person would give for it alone: what one
//! breaks, the next does not inherit. The exit code is 0 where each of them measured something.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use serde::Serialize;

use super::run::Arguments;
use super::{DONE, NO, print, usage};
use weir_bench_lab::experiment::Experiment;
use weir_bench_lab::targets::{Settings, bound_to_bench};
use weir_bench_model::effort::wants;
use weir_bench_model::journal::Journal;
use weir_bench_model::results::Run;
use weir_bench_model::tally::Tally;
use weir_bench_report::{self as report, Chapter};
use weir_bench_studies::experiments::EXPERIMENTS;

/// A line of the index.
#[derive(Serialize)]
struct Entry {
    experiment: &'static str,
    about: &'static str,
    /// Where it lies, below the index.
    folder: &'static str,
    /// The exit code of its run.
    code: i32,
    seconds: f64,
    /// Cells and contenders with a figure, and all of them.
    measured: usize,
    results: usize,
    claims: Tally,
    /// All of it, for the page.
    #[serde(skip)]
    run: Run,
}

/// Runs every experiment that has a cell asked for, and writes the index; the exit code.
pub(super) fn run(
    arguments: &Arguments,
    settings: &Settings,
    folder: &Path,
    out: &mut dyn Write,
) -> i32 {
    let asked = |experiment: &&Experiment| {
        let cells = (experiment.cells)(arguments.effort());
        cells.iter().any(|cell| wants(&arguments.only, cell))
    };
    let asked: Vec<_> = EXPERIMENTS.iter().filter(asked).collect();
    if asked.is_empty() {
        return usage(&format!("no cell contains {:?}", arguments.only));
    }
    let mut entries: Vec<Entry> = Vec::new();
    for (at, experiment) in asked.iter().enumerate() {
        eprintln!("== {} ({} of {})", experiment.name, at + 1, asked.len());
        entries.push(entry(arguments, settings, experiment, folder));
        let to_come: Vec<&str> = asked[at + 1..].iter().map(|next| next.name).collect();
        if let Err(error) = write(&entries, &to_come, folder) {
            eprintln!("{error}");
            return NO;
        }
    }
    let text = match arguments.json {
        true => serde_json::to_string(&entries).unwrap_or_default() + "\n",
        false => shown(&entries),
    };
    let printed = print(&text, out);
    eprintln!("written to {}", folder.display());
    let all_done = entries.iter().all(|entry| entry.code == DONE);
    if all_done { printed } else { NO }
}

fn entry(
    arguments: &Arguments,
    settings: &Settings,
    experiment: &'static Experiment,
    folder: &Path,
) -> Entry {
    let folder = folder.join(experiment.name);
    let code = match arguments.resume && is_whole(&folder) {
        true => DONE,
        false => child(arguments, settings, experiment, &folder).unwrap_or_else(|error| {
            eprintln!("{}: {error}", experiment.name);
            NO
        }),
    };
    let run = report::read(&folder).unwrap_or_default();
    let measured = run.results.iter().filter(|r| !r.metrics.is_empty());
    Entry {
        experiment: experiment.name,
        about: experiment.about,
        folder: experiment.name,
        code,
        seconds: run.seconds,
        measured: measured.count(),
        results: run.results.len(),
        claims: Tally::of(&run.claims),
        run,
    }
}

fn is_whole(folder: &Path) -> bool {
    folder.join("run.json").exists() && !Journal::is_in(folder)
}

fn child(
    arguments: &Arguments,
    settings: &Settings,
    experiment: &Experiment,
    folder: &Path,
) -> Result<i32, String> {
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let mut command = bound_to_bench(settings, &program)?;
    command
        .args(["run", experiment.name])
        .args(arguments.passed_on(experiment.name))
        .arg("--out")
        .arg(folder)
        .stdout(Stdio::null());
    if arguments.resume && Journal::is_in(folder) {
        command.arg("--resume");
    }
    let child = command.spawn();
    let ended = child.and_then(|mut child| child.wait());
    let ended = ended.map_err(|e| e.to_string())?;
    Ok(ended.code().unwrap_or(NO))
}

fn write(entries: &[Entry], to_come: &[&str], folder: &Path) -> Result<(), String> {
    let json = serde_json::to_string_pretty(entries).map_err(|e| e.to_string())?;
    let chapters: Vec<Chapter> = entries.iter().map(chapter).collect();
    let page = report::front(&chapters, to_come);
    for (name, text) in [("index.json", json), ("index.html", page)] {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(())
}

fn chapter(entry: &Entry) -> Chapter {
    Chapter {
        folder: entry.folder,
        about: entry.about,
        run: entry.run.clone(),
        is_done: entry.code == DONE,
    }
}

fn shown(entries: &[Entry]) -> String {
    let mut text = String::new();
    for entry in entries {
        let state = if entry.code == DONE { "done" } else { "failed" };
        let claims = entry.claims.some();
        let claims = claims.map_or(String::new(), |claims| {
            format!("; of what papers claim {claims}")
        });
        let _ = writeln!(
            text,
            "{state:<7} {:<16} {:>5.0} s  {} of {} measured{claims}",
            entry.experiment, entry.seconds, entry.measured, entry.results,
        );
    }
    text
}
