//! `weir doctor`: what of this machine and configuration would hurt a gateway, before it does.
//!
//! What it deliberately does not do: mend anything, or ask a gateway that runs (its `/metrics` do). It writes
//! one small file beside the data to see how long the disk takes, and takes it away again; it listens at each
//! address for an instant; it connects to what the gateway would connect to, and logs in where the gateway would,
//! to the bus and to the store, where it changes nothing.

mod configuration;
mod disk;
mod elsewhere;
mod finding;
mod machine;
mod ports;

use crate::arguments::Serve;
use crate::check;
use finding::{Finding, Level};
use std::fmt::Write;
use std::path::PathBuf;
use weir_program::{Failure, print};

/// Prints what it finds, a line each; ends with 1 where something is bad.
pub(crate) fn run(serve: &Serve) -> Result<(), Failure> {
    let config = check::read_for(serve)?;
    let data = PathBuf::from(config.text("data", "dir").unwrap_or("weir-data"));
    let runs = disk::is_in_use(&data);
    let mut found = configuration::look(&config, serve.open);
    found.extend(ports::look(&config, serve.open, runs));
    found.extend(elsewhere::look(&config));
    found.extend(disk::look(&config, &data));
    found.extend(machine::look(&data));
    report(&found)
}

fn report(found: &[Finding]) -> Result<(), Failure> {
    let mut text = String::new();
    for Finding { level, sentence } in found {
        let level = match level {
            Level::Good => "good",
            Level::Look => "LOOK",
            Level::Bad => "BAD ",
        };
        let _infallible = writeln!(text, "{level}  {sentence}");
    }
    print(text)?;
    match found.iter().filter(|it| it.level == Level::Bad).count() {
        0 => Ok(()),
        bad => Err(Failure::no(format!("{bad} of {} are bad", found.len()))),
    }
}
