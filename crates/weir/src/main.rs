//! `weir`: the command line, nothing else.
//!
//! Exit codes: 0 done, 1 the answer is no, 2 usage. What a person reads goes to stderr, what a program
//! reads to stdout.
#![forbid(unsafe_code)]
// `println!` panics where its reader is gone: see `weir_program::print`.
#![deny(clippy::print_stdout)]
#![allow(
    clippy::disallowed_methods,
    reason = "arguments, environment and exit codes end here"
)]

mod account;
mod advise;
mod arguments;
mod backup;
mod beside;
mod check;
mod command;
mod convert;
mod demo;
mod doctor;
mod exi;
mod help;
mod history;
mod input;
mod move_history;
mod peer;
mod publish;
mod serve;
mod subscribe;

use clap::Parser;
use command::{Arguments, Command};
use std::process::ExitCode;
use weir_program::Failure;

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(code) => code,
        Err(failure) => failure.told("weir"),
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
        Command::Advise(advise) => return advise::run(&advise),
        Command::User { name, role } => account::user(&name, &role)?,
        Command::Token { name, role } => account::token(&name, &role)?,
        Command::Oscore { name, role, device } => account::oscore(&name, &role, &device)?,
        Command::Bench(_) => return beside::run(&[]),
        Command::Link(_) => return beside::run(&["link"]),
        Command::Sim(_) => return beside::run(&["sim"]),
        Command::Board(_) => return beside::run(&["board"]),
    }
    Ok(ExitCode::SUCCESS)
}
