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

mod check;
mod coding;
mod corpus;
mod edges;
mod free;
mod grid;
mod java;
mod known;
mod odd;
mod random;
mod suite;
mod typed;

use std::path::PathBuf;
use std::process::ExitCode;

/// What was asked for.
struct Arguments {
    all: bool,
    seed: u64,
    documents: usize,
    cases: usize,
    keep: Option<PathBuf>,
    /// Where to write a page of the counts.
    write: Option<PathBuf>,
    /// Only the document of this name.
    only: Option<String>,
    corpora: Vec<PathBuf>,
    /// Single documents, and the schemas of some.
    files: Vec<(PathBuf, Option<PathBuf>)>,
    oracle: PathBuf,
}

fn main() -> ExitCode {
    let arguments = match arguments(std::env::args().skip(1)) {
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

fn arguments(mut given: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut arguments = Arguments {
        all: false,
        seed: 1,
        documents: 60,
        cases: 12,
        keep: None,
        write: None,
        only: None,
        corpora: Vec::new(),
        files: Vec::new(),
        oracle: root.join("build/exi-oracle"),
    };
    while let Some(name) = given.next() {
        if name == "--all" {
            (arguments.all, arguments.documents, arguments.cases) = (true, 300, 64);
            continue;
        }
        let value = given
            .next()
            .ok_or_else(|| format!("{name} needs a value"))?;
        let number = || value.parse().map_err(|_| format!("{name} {value}"));
        match name.as_str() {
            "--seed" => arguments.seed = number()? as u64,
            "--documents" => arguments.documents = number()?,
            "--cases" => arguments.cases = number()?,
            "--only" => arguments.only = Some(value),
            "--write" => arguments.write = Some(value.into()),
            "--keep" => arguments.keep = Some(value.into()),
            "--file" => arguments.files.push(match value.split_once('=') {
                Some((document, schema)) => (document.into(), Some(schema.into())),
                None => (value.into(), None),
            }),
            "--corpus" => arguments.corpora.push(value.into()),
            _ => return Err(name),
        }
    }
    Ok(arguments)
}
