//! `weir`: the command line, nothing else.
//!
//! Exit codes: 0 done, 1 the answer is no, 2 usage. What a person reads goes to stderr, what a program
//! reads to stdout.
#![forbid(unsafe_code)]
// `println!` panics where its reader is gone: see `output`.
#![deny(clippy::print_stdout)]
#![allow(
    clippy::disallowed_methods,
    reason = "arguments, environment and exit codes end here"
)]

mod account;
#[cfg(feature = "bench")]
mod advise;
mod arguments;
mod backup;
mod board;
mod check;
mod command;
mod convert;
mod demo;
mod doctor;
mod exi;
mod failure;
mod help;
mod history;
mod input;
mod link;
mod move_history;
mod output;
mod peer;
mod publish;
mod serve;
mod sim;
mod subscribe;

use clap::Parser;
use command::{Arguments, Command};
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("weir: {}", failure.sentence);
            ExitCode::from(failure.code)
        }
    }
}

fn run(command: Command) -> Result<ExitCode, Failure> {
    match command {
        Command::Serve(serve) => serve::run(&serve)?,
        Command::Demo(demo) => demo::run(&demo)?,
        Command::Check(source) => check::run(&source)?,
        Command::Doctor(serve) => doctor::run(&serve)?,
        Command::Backup(backup) => backup::save(&backup)?,
        Command::Restore(restore) => backup::restore(&restore)?,
        Command::MoveHistory(stored) => move_history::run(&stored)?,
        Command::Pub(publish) => publish::run(publish)?,
        Command::Sub(subscribe) => subscribe::run(subscribe)?,
        Command::History(history) => history::run(history)?,
        Command::Convert(convert) => convert::run(&convert)?,
        Command::Exi(exi) => exi::run(&exi)?,
        Command::Link(link) => return link::run(&link),
        Command::Sim(sim) => sim::run(&sim)?,
        Command::Board(board) => return board::run(&board),
        #[cfg(feature = "bench")]
        Command::Advise(advise) => return advise::run(&advise),
        Command::User { name, role } => account::user(&name, &role)?,
        Command::Token { name, role } => account::token(&name, &role)?,
        Command::Oscore { name, role, device } => account::oscore(&name, &role, &device)?,
        #[cfg(feature = "bench")]
        Command::Bench { arguments } => {
            let code = weir_bench::main(&arguments, &mut output::Standard::default());
            return Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)));
        }
    }
    Ok(ExitCode::SUCCESS)
}
