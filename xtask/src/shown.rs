//! Tests that the tables of `docs/reference` name: one that is gone shows nothing any more.

use crate::finding::Finding;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Names of so many words are those of tests.
const WORDS_MIN: usize = 5;

/// Tests that a page names and that are none of those that are there.
pub(crate) fn check(root: &Path, tests: &BTreeSet<String>) -> io::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for page in files(&root.join("docs/reference"), "md")? {
        let shown = page.strip_prefix(root).unwrap_or(&page).to_owned();
        for (index, line) in fs::read_to_string(&page)?.lines().enumerate() {
            let gone = named(line).filter(|name| !tests.contains(*name));
            let rule = |name| format!("there is no test `{name}`");
            findings.extend(gone.map(|name| Finding::new(&shown, index + 1, rule(name))));
        }
    }
    Ok(findings)
}

/// The functions of the suites against foreign programs.
pub(crate) fn foreign(root: &Path) -> io::Result<BTreeSet<String>> {
    let suites = fs::read_dir(root.join("conformance"))?.flatten();
    let mut found = BTreeSet::new();
    for suite in suites
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
    {
        for file in files(&suite, "py")? {
            found.extend(functions(&fs::read_to_string(file)?));
        }
    }
    Ok(found)
}

/// Files of a kind in a folder, in order.
pub(crate) fn files(folder: &Path, kind: &str) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    found.retain(|path| path.extension().is_some_and(|own| own == kind));
    found.sort();
    Ok(found)
}

/// Says whether a file is of tests or examples alone.
pub(crate) fn is_test(file: &Path) -> bool {
    let in_folder = file.components().any(|part| {
        let name = part.as_os_str();
        name == "tests" || name == "examples" || name == "benches"
    });
    in_folder || file.ends_with("tests.rs") || file.ends_with("build.rs")
}

/// The functions of a source of Rust or Python.
pub(crate) fn functions(source: &str) -> impl Iterator<Item = String> + '_ {
    source.lines().filter_map(function).map(str::to_owned)
}

/// The name of the function that a line of Rust or Python begins.
pub(crate) fn function(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    words.find(|word| matches!(*word, "fn" | "def"))?;
    words.next()?.split(['(', '<']).next()
}

/// What reads as a test in a row of a table: words joined by `_`, and no metric.
fn named(line: &str) -> impl Iterator<Item = &str> {
    let row = if line.starts_with('|') { line } else { "" };
    let quoted = row.split('`').skip(1).step_by(2);
    quoted.filter(|text| {
        let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        let words = text.split('_').filter(|word| !word.is_empty()).count();
        text.bytes().all(is_name) && words >= WORDS_MIN && !text.starts_with("weir_")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_told_from_metrics_paths_and_settings() {
        let row =
            "| a | `it_is_heard_over_ipv6`, `weir_dds_participants_lost_total` | `src/a.rs` |";
        assert_eq!(named(row).collect::<Vec<_>>(), ["it_is_heard_over_ipv6"]);
        assert_eq!(named("`it_is_heard_over_ipv6`").count(), 0);
    }

    #[test]
    fn functions_of_both_languages_are_found() {
        let source = "pub(crate) async fn a_b<'a>(\n    def test_c(self):\nlet x = 1;";
        let found: Vec<_> = functions(source).collect();
        assert_eq!(found, ["a_b", "test_c"]);
    }
}
