//! `weir bench`, `link`, `sim` and `board`: what the program `weir-bench` does.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use weir_program::{Failure, beside};

const PROGRAM: &str = "weir-bench";

/// What is typed behind such a command, which only that program reads.
#[derive(clap::Args)]
pub(crate) struct Passed {
    /// What `--help` says
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    _words: Vec<OsString>,
}

/// Becomes that program, with these words before those that were typed behind the command.
pub(crate) fn run(words: &[&str]) -> Result<ExitCode, Failure> {
    let program = beside(PROGRAM).ok_or_else(|| {
        Failure::no(format!(
            "this is done by the program {PROGRAM}, which is neither beside this one nor on the PATH; \
             `make bench` builds it, and its package has the same name"
        ))
    })?;
    let mut command = Command::new(&program);
    // As they were typed: a parser takes the first `--` away.
    let error = command.args(words).args(std::env::args_os().skip(2)).exec();
    Err(Failure::no(format!("{}: {error}", program.display())))
}
