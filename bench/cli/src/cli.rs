//! The command line of the bench: list, targets, run, report, compare; link, sim, board.

mod all;
mod board;
mod compare;
mod join;
mod link;
mod list;
mod reference;
mod report;
mod run;
mod sim;

use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use weir_program::Failure;

use weir_bench_lab::targets::Settings;
use weir_bench_lab::targets::list::inventory;

/// Measures what each protocol, encoding and delivery scheme costs.
#[derive(Parser)]
#[command(
    name = "weir bench",
    bin_name = "weir bench",
    version,
    no_binary_name = true,
    arg_required_else_help = true
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the experiments, their factors and the targets; of one experiment, its cells
    List {
        /// The experiment whose cells are listed
        experiment: Option<String>,
        /// Machine output
        #[arg(long)]
        json: bool,
    },
    /// Say which targets are here, and what brings those that are not
    Targets {
        /// Machine output
        #[arg(long)]
        json: bool,
    },
    /// Lend this machine's load to a run elsewhere (`run --agents`)
    Agent {
        /// Where to listen; beyond loopback both sides need WEIR_BENCH_TOKEN
        #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
        listen: std::net::SocketAddr,
    },
    /// Run an experiment, a plan of your own, or `all`
    #[command(after_help = run::EXAMPLES)]
    Run(run::Arguments),
    /// Print the report of a run again, or of every run in a folder
    Report(report::Arguments),
    /// Write the reference that `weir advise` ships from runs
    Reference(reference::Arguments),
    /// Make one run of runs that each measured a part of an experiment
    Join(join::Arguments),
    /// Say what changed between runs beyond noise; exit code 1 where anything became worse
    Compare(compare::Arguments),
    /// Run a command behind an emulated link (`weir link`)
    Link(Box<link::Link>),
    /// Run an experiment in virtual time (`weir sim`)
    Sim(Box<sim::Sim>),
    /// Run the device's image on an emulated board, and open its page to this machine (`weir board`)
    Board(board::Board),
}

/// Exit codes, as everywhere in `weir`.
const DONE: i32 = 0;
const NO: i32 = 1;
const USAGE: i32 = 2;

/// Reads the arguments and acts; the exit code.
pub(crate) fn main(arguments: &[String], out: &mut dyn Write) -> ExitCode {
    let parsed = match Arguments::try_parse_from(arguments) {
        Ok(parsed) => parsed,
        Err(error) => {
            let _ = error.print();
            return exit(if error.use_stderr() { USAGE } else { DONE });
        }
    };
    exit(match parsed.command {
        Command::List { experiment, json } => list::list(experiment.as_deref(), json, out),
        Command::Targets { json } => print(&targets(json), out),
        Command::Agent { listen } => run::agent(listen),
        Command::Run(run) => run::run(&run, arguments, out),
        Command::Report(asked) => report::report(&asked, out),
        Command::Reference(asked) => reference::reference(&asked, out),
        Command::Join(asked) => join::join(&asked, run::command_line(arguments), out),
        Command::Compare(arguments) => compare::compare(&arguments, out),
        Command::Link(link) => return ended(link::run(&link)),
        Command::Sim(sim) => return ended(sim::run(&sim).map(|()| ExitCode::SUCCESS)),
        Command::Board(board) => return ended(board::run(&board)),
    })
}

/// The exit code of the process.
pub(crate) fn exit(code: i32) -> ExitCode {
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

fn ended(done: Result<ExitCode, Failure>) -> ExitCode {
    done.unwrap_or_else(|failure| failure.told("weir-bench"))
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

fn targets(json: bool) -> String {
    let found = inventory(&Settings::default());
    if json {
        return serde_json::to_string(&found).unwrap_or_default() + "\n";
    }
    found.iter().map(|found| found.line() + "\n").collect()
}

fn shown(run: &weir_bench_model::results::Run, json: bool) -> String {
    if json {
        serde_json::to_string(run).unwrap_or_default() + "\n"
    } else {
        weir_bench_report::table(run)
    }
}

fn usage(error: &str) -> i32 {
    eprintln!("{error}");
    USAGE
}
