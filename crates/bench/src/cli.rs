//! The command line of the bench: list, run, report.

use std::fmt::Write as _;
use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::compare::{self, Comparison};
use crate::experiments::{EXPERIMENTS, Effort, Experiment, Order, wants};
use crate::report;
use crate::results::Run;
use crate::targets::{Settings, TARGETS};

/// Measures what each protocol, encoding and delivery scheme costs.
#[derive(Parser)]
#[command(name = "weir bench", no_binary_name = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the experiments, their cells and the targets
    List {
        /// Machine output
        #[arg(long)]
        json: bool,
    },
    /// Run an experiment
    Run(RunArguments),
    /// Print the report of a run again
    Report {
        /// The run's folder
        folder: PathBuf,
        /// As the experiment's page of the documentation
        #[arg(long, conflicts_with = "json")]
        markdown: bool,
        /// Machine output
        #[arg(long)]
        json: bool,
    },
    /// Say what changed between two runs beyond noise; exit code 1 where anything became worse
    Compare {
        /// Folder of the run before
        before: PathBuf,
        /// Folder of the run after
        after: PathBuf,
        /// From which share on a change matters
        #[arg(long, default_value_t = 0.05, value_name = "SHARE")]
        threshold: f64,
        /// What stayed the same and what is inconclusive, too
        #[arg(long)]
        all: bool,
        /// Machine output
        #[arg(long)]
        json: bool,
    },
}

#[derive(clap::Args)]
struct RunArguments {
    /// The experiment
    experiment: String,
    /// The chief cells with short steps: minutes, of `encoding` about five
    #[arg(long)]
    quick: bool,
    /// Only cells whose name contains this
    #[arg(long, value_name = "CELL", default_value = "")]
    only: String,
    /// Orders cells and contenders
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where the run is written [default: runs/<time>]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Machine output
    #[arg(long)]
    json: bool,
    /// The gateway's program [default: this one]
    #[arg(long, value_name = "PATH")]
    weir: Option<PathBuf>,
    /// A gateway that runs already, as http://127.0.0.1:8080
    #[arg(long, value_name = "URL", conflicts_with = "weir")]
    url: Option<String>,
}

/// Exit codes, as everywhere in `weir`.
const DONE: i32 = 0;
const NO: i32 = 1;
const USAGE: i32 = 2;

/// Reads the arguments behind `weir bench` and acts; the exit code.
pub(crate) fn main(arguments: &[String], out: &mut dyn Write) -> i32 {
    let parsed = match Arguments::try_parse_from(arguments) {
        Ok(parsed) => parsed,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { USAGE } else { DONE };
        }
    };
    match parsed.command {
        Command::List { json } => print(&list(json), out),
        Command::Run(run) => self::run(&run, arguments, out),
        Command::Report {
            folder,
            markdown,
            json,
        } => report(&folder, markdown, json, out),
        Command::Compare {
            before,
            after,
            threshold,
            all,
            json,
        } => {
            let runs = [&before, &after].map(|folder| report::read(folder));
            compare(runs, threshold, all, json, out)
        }
    }
}

fn compare(
    runs: [Result<Run, String>; 2],
    threshold: f64,
    all: bool,
    json: bool,
    out: &mut dyn Write,
) -> i32 {
    let (before, after) = match runs {
        [Ok(before), Ok(after)] => (before, after),
        [Err(error), _] | [_, Err(error)] => return usage(&error),
    };
    let comparison = Comparison::of(&before, &after, threshold);
    let text = match json {
        true => compare::json(&comparison),
        false => compare::text(&comparison, all),
    };
    let shown = print(&text, out);
    shown.max(i32::from(comparison.has_regression()))
}

/// Writes what was asked for.
fn print(text: &str, out: &mut dyn Write) -> i32 {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => DONE,
        Err(error) => {
            eprintln!("standard output: {error}");
            NO
        }
    }
}

fn list(json: bool) -> String {
    if json {
        list_for_programs()
    } else {
        list_for_people()
    }
}

fn list_for_programs() -> String {
    let experiments: Vec<_> = EXPERIMENTS
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
    let targets: Vec<_> = TARGETS
        .iter()
        .map(|t| serde_json::json!({"name": t.name, "about": t.about}))
        .collect();
    let all = serde_json::json!({"experiments": experiments, "targets": targets});
    format!("{all}\n")
}

fn list_for_people() -> String {
    let mut text = String::new();
    for Experiment {
        name,
        source,
        about,
        cells,
        ..
    } in EXPERIMENTS
    {
        let _ = writeln!(text, "{name} ({source}): {about}");
        for cell in cells(Effort::Full) {
            let _ = writeln!(text, "  {cell}");
        }
    }
    text.push_str("targets:\n");
    for target in TARGETS {
        let _ = writeln!(text, "  {}: {}", target.name, target.about);
    }
    text
}

fn run(arguments: &RunArguments, line: &[String], out: &mut dyn Write) -> i32 {
    let Some(experiment) = Experiment::named(&arguments.experiment) else {
        let known: Vec<&str> = EXPERIMENTS.iter().map(|e| e.name).collect();
        eprintln!(
            "no experiment {:?}; there is {}",
            arguments.experiment,
            known.join(", ")
        );
        return USAGE;
    };
    let settings = match settings(arguments, line) {
        Ok(settings) => settings,
        Err(error) => return usage(&error),
    };
    let effort = if arguments.quick {
        Effort::Quick
    } else {
        Effort::Full
    };
    let cells = (experiment.cells)(effort);
    if !cells.iter().any(|cell| wants(&arguments.only, cell)) {
        return usage(&format!(
            "no cell contains {:?}; see `weir bench list`",
            arguments.only
        ));
    }
    let wanted = cells.iter().filter(|cell| wants(&arguments.only, cell));
    crate::link::prepare(wanted);
    let default = || format!("runs/{}", crate::calendar::utc_now().replace(':', "")).into();
    let folder = arguments.out.clone().unwrap_or_else(default);
    let work = folder.join("work");
    if let Err(error) = std::fs::create_dir_all(&work) {
        return usage(&format!("{}: {error}", folder.display()));
    }
    // Programs are started with paths of their own working folder.
    let work = std::fs::canonicalize(&work).unwrap_or(work);
    let run = (experiment.run)(&Order {
        experiment,
        effort,
        only: &arguments.only,
        seed: arguments.seed,
        settings: &settings,
        work: &work,
        command: command_line(line),
    });
    let _ = std::fs::remove_dir_all(&work);
    if let Err(error) = report::write(&run, &folder) {
        eprintln!("{error}");
        return NO;
    }
    let shown = print(&shown(&run, arguments.json), out);
    eprintln!("written to {}", folder.display());
    let nothing = run.results.iter().all(|result| result.metrics.is_empty());
    if nothing { NO } else { shown }
}

fn settings(arguments: &RunArguments, line: &[String]) -> Result<Settings, String> {
    let address = arguments.url.as_deref().map(parse_url).transpose()?;
    Ok(Settings {
        weir: arguments.weir.clone(),
        address,
        prefix: prefix(line),
        end: Default::default(),
    })
}

fn parse_url(url: &str) -> Result<SocketAddr, String> {
    let authority = url
        .strip_prefix("http://")
        .unwrap_or(url)
        .trim_end_matches('/');
    authority
        .parse()
        .map_err(|e| format!("--url {url}: {e}; give http://ADDRESS:PORT"))
}

/// What stands before the bench's arguments on this process's command line (`bench`, of `weir`).
fn prefix(line: &[String]) -> Vec<String> {
    let whole: Vec<String> = std::env::args().skip(1).collect();
    let own = whole.len().saturating_sub(line.len());
    whole[..own].to_vec()
}

fn command_line(line: &[String]) -> String {
    let words = ["weir", "bench"]
        .into_iter()
        .chain(line.iter().map(String::as_str));
    let quoted = words.map(|word| {
        if word.contains([' ', ';', '&', '*']) {
            format!("'{word}'")
        } else {
            word.into()
        }
    });
    quoted.collect::<Vec<String>>().join(" ")
}

fn report(folder: &std::path::Path, markdown: bool, json: bool, out: &mut dyn Write) -> i32 {
    match report::read(folder) {
        Ok(run) if markdown => {
            let page = Experiment::named(&run.experiment).map_or(report::markdown as _, |e| e.page);
            print(&page(&run, &folder.display().to_string()), out)
        }
        Ok(run) => print(&shown(&run, json), out),
        Err(error) => {
            eprintln!("{error}");
            NO
        }
    }
}

fn shown(run: &crate::results::Run, json: bool) -> String {
    if json {
        serde_json::to_string(run).unwrap_or_default() + "\n"
    } else {
        report::table(run)
    }
}

fn usage(error: &str) -> i32 {
    eprintln!("{error}");
    USAGE
}
