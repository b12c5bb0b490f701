//! Tasks of the repository that are no part of weir: `cargo xtask tidy`, which reads and never
//! fixes, `cargo xtask exi-schema`, which compiles XML Schema ahead of time, and `cargo xtask
//! conformance`, which writes the tables of what standards ask and what shows it, `cargo xtask
//! instructions`, which counts what hot paths take, `cargo xtask house`, which counts what is to become
//! less, and `cargo xtask licences`.
//!
//! The decision worth arguing: rules are checked by a few hundred lines of our own on blanked
//! source and `cargo metadata`, not by a compiler plug-in, so that they run in a second and anyone
//! can change them.
#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    reason = "reads the files of the repository and writes the one it is asked for"
)]

mod arrows;
mod conformance;
mod exi_schema;
mod finding;
mod house;
mod instructions;
mod lexer;
mod licences;
mod orphans;
mod pages;
mod shape;
mod shown;
mod tidy;
mod wording;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("tidy") => report(
            "tidy",
            tidy::check(&tidy::repository()).map_err(|e| e.to_string()),
        ),
        Some("licences") => report("licences", licences::check(&tidy::repository())),
        Some("exi-schema") => exi_schema(arguments),
        Some("conformance") => conformance(),
        Some("instructions") => instructions(arguments),
        Some("house") => house(arguments),
        _ => {
            let usage = "usage: cargo xtask tidy\n       cargo xtask conformance";
            eprintln!("{usage}\n       {}", instructions::USAGE);
            eprintln!("       {}", house::USAGE);
            eprintln!("       {}\n       {}", licences::USAGE, exi_schema::USAGE);
            ExitCode::from(2)
        }
    }
}

fn exi_schema(arguments: impl Iterator<Item = String>) -> ExitCode {
    match exi_schema::run(arguments) {
        Ok(made) => {
            println!("{made}");
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("exi-schema: {reason}");
            ExitCode::FAILURE
        }
    }
}

/// Counts instructions; exit code 1 where a count is not the table's.
fn instructions(mut arguments: impl Iterator<Item = String>) -> ExitCode {
    let write = arguments.next().as_deref() == Some("--write");
    match instructions::run(&tidy::repository(), write) {
        Ok((said, holds)) => {
            print!("{said}");
            ExitCode::from(u8::from(!holds))
        }
        Err(reason) => {
            eprintln!("instructions: {reason}");
            ExitCode::FAILURE
        }
    }
}

/// Counts the figures of the house; exit code 1 where one is worse than the table's.
fn house(mut arguments: impl Iterator<Item = String>) -> ExitCode {
    match house::run(&tidy::repository(), arguments.next().as_deref()) {
        Ok((said, holds)) => {
            print!("{said}");
            ExitCode::from(u8::from(!holds))
        }
        Err(reason) => {
            eprintln!("house: {reason}");
            ExitCode::FAILURE
        }
    }
}

/// Writes the tables of conformance; exit code 1 where a statement is not honoured or not shown.
fn conformance() -> ExitCode {
    match conformance::write(&tidy::repository()) {
        Ok(missing) if missing.is_empty() => ExitCode::SUCCESS,
        Ok(missing) => {
            missing.iter().for_each(|line| println!("{line}"));
            ExitCode::FAILURE
        }
        Err(reason) => {
            eprintln!("conformance: {reason}");
            ExitCode::FAILURE
        }
    }
}

/// Prints each finding as `file:line: rule`; exit code 1 where there is one.
fn report(task: &str, found: Result<Vec<finding::Finding>, String>) -> ExitCode {
    match found {
        Ok(findings) if findings.is_empty() => ExitCode::SUCCESS,
        Ok(findings) => {
            findings.iter().for_each(|finding| println!("{finding}"));
            eprintln!("{task}: {} to put right", findings.len());
            ExitCode::FAILURE
        }
        Err(reason) => {
            eprintln!("{task}: {reason}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_house_is_tidy() {
        let findings = tidy::check(&tidy::repository()).expect("cargo metadata answers");
        let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert!(lines.is_empty(), "{}", lines.join("\n"));
    }
}
