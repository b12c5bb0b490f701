//! The reference: what was measured once, shipped with the program for who has not measured yet.
//!
//! `weir bench reference RUN...` writes these files from runs; nobody edits them.

use crate::library::{Fault, Library, Origin, Source};
use crate::offer::{Offer, read_offers};

/// The tables, trimmed, one behind the other: a line `# key: value` each of what the run is, then its
/// rows.
const TABLES: &str = include_str!("../reference/runs.txt");
const OFFERS: &str = include_str!("../reference/experiments.txt");

/// The library of what is shipped.
pub fn reference() -> Result<Library, Fault> {
    let mut library = Library::default();
    for part in TABLES.split("# experiment: ").skip(1) {
        let (experiment, rest) = part.split_once('\n').unwrap_or((part, ""));
        let value = |key: &str| {
            let lines = rest.lines().take_while(|line| line.starts_with("# "));
            let mut values =
                lines.filter_map(|line| line[2..].strip_prefix(key)?.strip_prefix(": "));
            values.next().unwrap_or_default().to_owned()
        };
        let source = Source {
            name: format!("reference: {experiment}"),
            command: value("command"),
            started: value("started"),
            machine: value("machine"),
            origin: Origin::Reference,
        };
        let head: usize = rest
            .lines()
            .take_while(|line| line.starts_with("# "))
            .map(|l| l.len() + 1)
            .sum();
        library.add(source, &rest[head..])?;
    }
    Ok(library)
}

/// What the bench could measure, as it was when the reference was written.
pub fn offers() -> Vec<Offer> {
    read_offers(OFFERS)
}
