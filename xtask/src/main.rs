//! Tasks of the repository that are no part of weir: `cargo xtask tidy`.
//!
//! It reads; it never writes or fixes. The decision worth arguing: rules are checked by a few
//! hundred lines of our own on blanked source and `cargo metadata`, not by a compiler plug-in, so
//! that they run in a second and anyone can change them.
#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    reason = "reads the files of the repository"
)]

mod arrows;
mod finding;
mod lexer;
mod orphans;
mod shape;
mod tidy;

use std::process::ExitCode;

fn main() -> ExitCode {
    let task = std::env::args().nth(1);
    match task.as_deref() {
        Some("tidy") => tidy(),
        _ => {
            eprintln!("usage: cargo xtask tidy");
            ExitCode::from(2)
        }
    }
}

/// Prints each finding as `file:line: rule`; exit code 1 where there is one.
fn tidy() -> ExitCode {
    match tidy::check(&tidy::repository()) {
        Ok(findings) if findings.is_empty() => ExitCode::SUCCESS,
        Ok(findings) => {
            findings.iter().for_each(|finding| println!("{finding}"));
            eprintln!("tidy: {} to put right", findings.len());
            ExitCode::FAILURE
        }
        Err(reason) => {
            eprintln!("tidy: {reason}");
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
