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
use crate::experiments::{EXPERIMENTS, Experiment, wants};
use crate::journal::Journal;
use crate::report;
use crate::results::Run;
use crate::targets::{Settings, bound_to_bench};

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
    claims: usize,
    claims_held: usize,
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
        if let Err(error) = write(&entries, folder) {
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
    let has_figures = |run: &Run| run.results.iter().filter(|r| !r.metrics.is_empty()).count();
    Entry {
        experiment: experiment.name,
        about: experiment.about,
        folder: experiment.name,
        code,
        seconds: run.seconds,
        measured: has_figures(&run),
        results: run.results.len(),
        claims: run.claims.len(),
        claims_held: run.claims.iter().filter(|c| c.holds == Some(true)).count(),
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
        .args(&settings.prefix)
        .args(["run", experiment.name])
        .args(arguments.passed_on())
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

fn write(entries: &[Entry], folder: &Path) -> Result<(), String> {
    let json = serde_json::to_string_pretty(entries).map_err(|e| e.to_string())?;
    let files = [("index.json", json), ("index.html", page(entries))];
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(())
}

fn shown(entries: &[Entry]) -> String {
    let mut text = String::new();
    for entry in entries {
        let state = if entry.code == DONE { "done" } else { "failed" };
        let _ = writeln!(
            text,
            "{state:<7} {:<16} {:>5.0} s  {} of {} measured, {} of {} claims hold",
            entry.experiment,
            entry.seconds,
            entry.measured,
            entry.results,
            entry.claims_held,
            entry.claims
        );
    }
    text
}

/// Names and sentences of our own: nothing in them needs escaping.
fn page(entries: &[Entry]) -> String {
    let mut text = String::from(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>weir bench</title>\
        <style>body{font:16px sans-serif;max-width:60em;margin:2em auto}\
        td,th{padding:.3em 1em;text-align:left;border-bottom:1px solid #ccc}</style>\
        <h1>weir bench</h1><table><tr><th>experiment<th>measured<th>claims that hold<th>seconds\n",
    );
    for entry in entries {
        let failed = if entry.code == DONE { "" } else { " (failed)" };
        let _ = writeln!(
            text,
            "<tr><td><a href=\"{0}/report.html\">{0}</a>{failed}<br>{1}<td>{2} of {3}<td>{4} of {5}\
            <td>{6:.0}",
            entry.folder,
            entry.about,
            entry.measured,
            entry.results,
            entry.claims_held,
            entry.claims,
            entry.seconds
        );
    }
    text + "</table></html>\n"
}
