//! The program `weir-bench`: plan, run, measure, report.
//!
//! What it is made of stands in crates of its own, each of which knows those before it: `weir-bench-model`,
//! `weir-bench-load`, `weir-bench-peers`, `weir-bench-lab`, `weir-bench-report` (which knows the model alone) and
//! `weir-bench-studies`.

// The bench measures real time, real processes and real files; the bans guard deterministic code.
#![allow(clippy::disallowed_methods)]
// What is printed goes where the caller says: a reader that is gone is no panic.
#![deny(clippy::print_stdout)]

mod advise;
mod cli;
mod join;

use std::process::ExitCode;

use weir_program::Standard;

use weir_bench_lab::targets;
use weir_bench_load::{load, null};
use weir_bench_studies::{encoding, experiments, link_efficiency};

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
