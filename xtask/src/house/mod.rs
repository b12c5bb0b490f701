//! `cargo xtask house`: the figures of the house, by crate and in all, beside those that `xtask/house.tsv` keeps.
//!
//! A figure that is worse than the table's fails; one that is better is said, and written with `--write`, which writes
//! nothing where one is worse. `--check` prints nothing else. Lines are printed and not kept: they are a result, never
//! a target. What must never be at all is `tidy`'s.
//!
//! | figure | what is counted |
//! |---|---|
//! | `circle` | files of the largest circle of a crate (`circles.rs` says how) |
//! | `dead-branch` | branches that say that the hub gave another answer than it can |
//! | `string-error` | `Result<_, String>` outside tests, in programs and in libraries |
//! | `bool-arm` | arms of `match` on `true` and `false` |
//! | `named-nothing` | `let _name =` |
//! | `long-test-name` | names of functions among tests of more than 60 letters |
//! | `test-sleep` | sleeps in tests, of Rust and of Python |
//! | `name` | names that more than three types have (structures, enumerations, unions, traits; no tests), but `Error` |
//! | `places` | files of code, without tests, outside its own that name a format, a protocol or an experiment |
//!
//! Examples count as tests. `firmware` and `fuzz`, which are workspaces of their own, are not looked at.

mod circles;
mod figures;
mod modules;
mod places;
mod survey;
mod table;
mod tokens;

use figures::Figure;
use std::path::Path;
use survey::Survey;
use table::Table;

pub(crate) const USAGE: &str = "cargo xtask house [--check | --write | FIGURE]";

/// Counts everything; gives what to print, and whether nothing is worse than the table.
pub(crate) fn run(root: &Path, argument: Option<&str>) -> Result<(String, bool), String> {
    let survey = Survey::take(root).map_err(|e| e.to_string())?;
    let counted = Table::of(&survey, &places::count(root, &survey));
    if let Some(name) = argument.filter(|argument| !matches!(*argument, "--check" | "--write")) {
        return places_of(&survey, name).map(|said| (said, true));
    }
    let file = root.join(table::FILE);
    let kept = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", table::FILE))?;
    let (said, holds) = counted.beside(&Table::parse(&kept)?, argument.is_some());
    match argument {
        Some("--write") if holds => {
            std::fs::write(file, counted.to_string()).map_err(|e| e.to_string())?;
            Ok((String::new(), true))
        }
        Some(_) => Ok((said, holds)),
        None => Ok((survey.by_crate() + "\n" + &said, holds)),
    }
}

/// Where a figure was found, a line each.
fn places_of(survey: &Survey, name: &str) -> Result<String, String> {
    match name {
        "name" => return Ok(survey.names_by_place()),
        "circle" => return Ok(survey.turns()),
        _ => {}
    }
    let figure = Figure::ALL.into_iter().find(|figure| figure.name() == name);
    let figure = figure.ok_or_else(|| {
        let known = Figure::ALL.map(Figure::name).join(", ");
        format!("no figure `{name}`: {known}, name")
    })?;
    Ok(survey.places(figure))
}
