//! The bench: plan, run, measure, report.
//!
//! An experiment is data (its cells), a target is a file that says how it is started and which
//! bytes speak to it, and one load generator, a process of its own, drives them all in open loops.
//! Where rates are measured it deliberately uses no client library, not even ours: what it measures
//! with must cost next to nothing and must be the same for every system. (A browser is told what to
//! do by a client of ours; what it measures it measures itself. The device that waits for its echoes
//! drives the machines of our protocols, against every server alike.) The decision worth arguing: it
//! speaks HTTP, SSE, WebSocket and MQTT by canned bytes and a search for one marker.
//!
//! Modules stand in levels, and know those of their own level and of the levels before it:
//!
//! 1. the model, which starts nothing: `cell`, `results`, `journal`, `statistics`, `verdict` and their like;
//! 2. clients, which measure: `sockets`, `load` and `null`, then `device`;
//! 3. the laboratory, which starts and watches: `targets`, `link`, `devtools`, `agent`, `worker`, `run`;
//! 4. `report`, which knows the model alone;
//! 5. the experiments, a folder each, and their list `experiments`;
//! 6. `cli`.

// The bench measures real time, real processes and real files; the bans guard deterministic code.
#![allow(clippy::disallowed_methods)]
// What is printed goes where the caller says: a reader that is gone is no panic.
#![deny(clippy::print_stdout)]

mod advise;
mod agent;
mod alone;
mod body;
mod budget;
mod calendar;
mod cell;
mod claims;
mod cli;
mod clock;
mod compare;
mod configuration;
mod device;
mod devtools;
mod effort;
mod encoding;
mod environment;
mod experiment;
mod experiments;
mod figure;
mod guest;
mod join;
mod journal;
mod latency;
mod limits;
mod link;
mod link_efficiency;
mod link_used;
mod load;
mod merge;
mod messaging;
mod meter;
mod notification;
mod null;
mod number;
mod opened;
mod order;
mod own;
mod pace;
mod plan;
mod planfile;
mod process;
mod progress;
mod published;
mod quantiles;
mod random;
mod ratios;
mod report;
mod results;
mod rounds;
mod run;
mod sample;
mod samples;
mod sensor_web;
mod services;
mod side_by_side;
mod sockets;
mod started;
mod statistics;
mod steadiness;
mod tally;
mod targets;
mod verdict;
mod web_delivery;
mod worker;

use std::process::ExitCode;

use weir_program::Standard;

pub use cell::{Cell, Scheme};
pub use effort::Effort;
pub use experiment::Experiment;
pub use experiments::EXPERIMENTS;
pub use targets::Target;
pub use targets::list::TARGETS;

/// The program `weir-bench`; its exit code: 0 done, 1 the answer is no, 2 usage.
///
/// It starts itself again as the load, as the null server, and to be bound to what it starts.
pub fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let behind = arguments.get(1..).unwrap_or_default();
    let code = match arguments.first().map(String::as_str) {
        Some(load::SUBCOMMAND) => load::main(&experiments::TASKS),
        Some(targets::SUBCOMMAND) => targets::exec(behind),
        Some(null::SUBCOMMAND) => null::main(behind),
        Some(encoding::over_link::server::SUBCOMMAND) => encoding::over_link::server::main(behind),
        Some(link_efficiency::echo::SUBCOMMAND) => link_efficiency::echo::main(behind),
        _ => return cli::main(&arguments, &mut Standard::default()),
    };
    cli::exit(code)
}
