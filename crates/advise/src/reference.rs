//! The reference: what was measured once, shipped with the program for who has not measured yet.
//!
//! `weir bench reference RUN...` writes these files from runs; nobody edits them.

use crate::library::{Fault, Library, Origin, Source};
use crate::offer::{Offer, read_offers};

/// The tables, trimmed, one behind the other: a line `# key: value` each of what the run is, then its
/// rows.
const TABLES: &str = include_str!("../reference/runs.txt");
const OFFERS: &str = include_str!("../reference/experiments.txt");

/// A run of the reference.
#[derive(Debug)]
pub struct Part<'a> {
    /// Its experiment.
    pub experiment: &'a str,
    /// Lines `# key: value`, the experiment's first.
    pub head: &'a str,
    /// Its table, trimmed.
    pub table: &'a str,
}

impl Part<'_> {
    fn value(&self, key: &str) -> String {
        let mut lines = self.head.lines();
        let value = lines.find_map(|line| {
            line.strip_prefix("# ")?
                .strip_prefix(key)?
                .strip_prefix(": ")
        });
        value.unwrap_or_default().to_owned()
    }
}

/// The runs that stand one behind the other in a file of the reference.
pub fn parts(text: &str) -> impl Iterator<Item = Part<'_>> {
    const HEAD: &str = "# experiment: ";
    let begins = text.match_indices(HEAD).map(|(at, _)| at);
    let ends = text.match_indices(HEAD).skip(1).map(|(at, _)| at);
    begins.zip(ends.chain([text.len()])).map(|(begin, end)| {
        let part = &text[begin..end];
        let lines = part.lines().take_while(|line| line.starts_with("# "));
        let (head, table) = part.split_at(lines.map(|line| line.len() + 1).sum());
        let experiment = head[HEAD.len()..].lines().next().unwrap_or_default();
        Part {
            experiment,
            head,
            table,
        }
    })
}

/// The library of what is shipped.
pub fn reference() -> Result<Library, Fault> {
    let mut library = Library::default();
    for part in parts(TABLES) {
        let source = Source {
            name: format!("reference: {}", part.experiment),
            command: part.value("command"),
            started: part.value("started"),
            machine: part.value("machine"),
            origin: Origin::Reference,
        };
        library.add(source, part.table)?;
    }
    Ok(library)
}

/// What the bench could measure, as it was when the reference was written.
pub fn offers() -> Vec<Offer> {
    read_offers(OFFERS)
}
