//! weir's EXI against EXIficient: each document is encoded by one and decoded by the other, both ways,
//! in many combinations of options, and the infosets are compared.
//!
//! It deliberately holds no knowledge of EXI: only documents, options and a comparison. What EXIficient
//! itself cannot do is listed in `known.rs`, with the reason, and counted.
//!
//!     weir-exi-oracle [--all] [--seed N] [--documents N] [--cases N] [--only DOCUMENT]
//!                     [--keep DIR] [--corpus DIR]... [--file DOCUMENT[=SCHEMA]]... [--write PAGE]
#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    reason = "a test program: arguments, files, a process"
)]

mod arguments;
mod check;
mod coding;
mod corpus;
mod document;
mod edges;
mod free;
mod grid;
mod java;
mod known;
mod odd;
mod random;
mod suite;
mod typed;

use arguments::Arguments;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = match Arguments::read(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(unknown) => {
            eprintln!(
                "{unknown}: [--all] [--seed N] [--documents N] [--cases N] [--only DOCUMENT] \
                 [--keep DIR] [--corpus DIR] [--file DOCUMENT[=SCHEMA]] \
                 [--write PAGE]"
            );
            return ExitCode::from(2);
        }
    };
    let mut java = match java::Java::start(&arguments.oracle) {
        Ok(java) => java,
        Err(reason) => {
            eprintln!("EXIficient does not start: {reason}");
            return ExitCode::from(2);
        }
    };
    let documents = corpus::documents(&arguments);
    let tally = check::all(&documents, &arguments, &mut java);
    tally.print();
    if let Some(path) = &arguments.write {
        let own = |argument: &String| {
            !argument.contains('/') && !["--write", "--corpus"].contains(&argument.as_str())
        };
        let given: Vec<_> = std::env::args().skip(1).filter(own).collect();
        let page = tally.page(documents.len(), &given);
        if let Err(error) = std::fs::write(path, page) {
            eprintln!("{}: {error}", path.display());
            return ExitCode::from(2);
        }
    }
    if tally.failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
