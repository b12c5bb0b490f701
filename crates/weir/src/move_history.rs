//! `weir move-history`.

use crate::arguments::Stored;
use crate::check;
use std::io::IsTerminal;
use weir_program::{Failure, print};

/// Moves the history; all of it is there then, or nothing.
pub(crate) fn run(asked: &Stored) -> Result<(), Failure> {
    let config = check::read_with(&asked.source, asked.data.as_deref())?;
    let watched = std::io::stderr().is_terminal();
    let told = move |count: u64| {
        if watched {
            eprint!("\r{count} observations");
        }
    };
    let moved = weir_gateway::move_history(&config, told).map_err(Failure::no)?;
    if watched {
        eprintln!();
    }
    print(format!("moved {moved} observations\n"))
}
