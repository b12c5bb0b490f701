//! `cargo xtask conformance`: which statements of a standard the code honours, and what shows it.
//!
//! Each line of `docs/reference/NAME-statements.tsv` is a statement: its number, MUST or SHOULD (`-`
//! where it is not for this implementation), and what it is about in a few words of our own. The code
//! cites it in brackets where it is honoured, and so does each test that shows it, those against
//! foreign programs in `conformance/NAME` too. The table of both is
//! `docs/reference/NAME-conformance.md`; a test compares it.

use crate::orphans;
use crate::shown::{files, function};
use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

/// A standard whose statements are listed.
struct Table {
    name: &'static str,
    /// What stands above the table.
    title: &'static str,
    /// Where the code and its tests are.
    folder: &'static str,
}

const TABLES: &[Table] = &[
    Table {
        name: "amqp",
        title: "AMQP 1.0 (OASIS, parts 1 to 3 and 5; part 4 is refused)",
        folder: "protocols/amqp",
    },
    Table {
        name: "coap",
        title: "CoAP: RFC 7252, 7641, 7959, with parts of 6690, 7967, 8132, 8323, 8768, 9175",
        folder: "protocols/coap",
    },
    Table {
        name: "dds",
        title: "DDS 1.4, DDSI-RTPS 2.5 and DDS-XTypes 1.3, as far as it is not RustDDS's",
        folder: "protocols/dds",
    },
    Table {
        name: "exi",
        title: "EXI 1.0 (second edition), Canonical EXI and the EXI Profile (W3C recommendations of \
                2014, 2018 and 2014)",
        folder: "exi",
    },
    Table {
        name: "mqtt",
        title: "MQTT 5.0, and where 3.1.1 differs",
        folder: "protocols/mqtt",
    },
    Table {
        name: "sensorthings",
        title: "SensorThings API: the abstract tests of part 1, 1.1 (18-088, annex A), and the \
                requirements of part 2 (17-079r1)",
        folder: "services/sensorthings",
    },
    Table {
        name: "sos",
        title: "Sensor Observation Service 2.0 (OGC 12-006, SOS2) and 1.0.0 (OGC 06-009r6, SOS1)",
        folder: "services/sos",
    },
    Table {
        name: "xmpp",
        title: "XMPP: RFC 6120, 5802; XEP-0030, 0059, 0060, 0114, 0198, 0199, 0248, 0335, 0368",
        folder: "protocols/xmpp",
    },
];

/// Where statements are cited: in code, in tests.
#[derive(Debug, Default)]
struct Cited {
    code: Vec<String>,
    tests: Vec<String>,
}

/// Writes every table; says what is not cited where it should be.
pub(crate) fn write(root: &Path) -> io::Result<Vec<String>> {
    let mut missing = Vec::new();
    for table in TABLES {
        let page = page(root, table, &mut missing)?;
        fs::write(place(root, table.name), page)?;
    }
    Ok(missing)
}

/// What is wrong with the tables as they are.
#[cfg(test)]
fn check(root: &Path) -> io::Result<Vec<String>> {
    let mut wrong = Vec::new();
    for table in TABLES {
        let (name, page) = (table.name, page(root, table, &mut wrong)?);
        if fs::read_to_string(place(root, name)).ok() != Some(page) {
            wrong.push(format!("{name}: the table is old: cargo xtask conformance"));
        }
    }
    Ok(wrong)
}

fn place(root: &Path, name: &str) -> std::path::PathBuf {
    root.join(format!("docs/reference/{name}-conformance.md"))
}

fn page(root: &Path, table: &Table, wrong: &mut Vec<String>) -> io::Result<String> {
    let Table {
        name,
        title,
        folder,
    } = table;
    let listed = root.join(format!("docs/reference/{name}-statements.tsv"));
    let listed = fs::read_to_string(listed)?;
    let mut cited = citations(root, &root.join(folder))?;
    foreign(&root.join("conformance").join(name), &mut cited)?;
    let mut out = format!(
        "# {title}\n\nWritten by `cargo xtask conformance` from `{name}-statements.tsv` and from what \
         `{folder}`\ncites. A number is the section's and ours within it; the words are ours.\n\n\
         | statement | | about | honoured in | shown by |\n|---|---|---|---|---|\n"
    );
    for line in listed.lines().filter(|line| !line.is_empty()) {
        let mut parts = line.split('\t');
        let (Some(id), Some(level), Some(about)) = (parts.next(), parts.next(), parts.next())
        else {
            wrong.push(format!("{name}: no statement: {line}"));
            continue;
        };
        let found = cited.remove(id).unwrap_or_default();
        if found.code.is_empty() && level != "-" {
            wrong.push(format!("{id}: no code cites it"));
        }
        if found.tests.is_empty() && level != "-" {
            wrong.push(format!("{id}: no test shows it"));
        }
        let (code, tests) = (found.code.join(", "), found.tests.join(", "));
        out += &format!("| {id} | {level} | {about} | {code} | {tests} |\n");
    }
    wrong.extend(cited.keys().map(|id| format!("{id}: cited and not listed")));
    Ok(out)
}

/// Every statement cited below a folder.
fn citations(root: &Path, folder: &Path) -> io::Result<BTreeMap<String, Cited>> {
    let mut files = Vec::new();
    orphans::rust_files(folder, &mut files);
    files.sort();
    let mut cited = BTreeMap::<String, Cited>::new();
    for file in files {
        let shown = file.strip_prefix(folder).unwrap_or(&file).to_string_lossy();
        let all_tests =
            shown.starts_with("tests") || shown.ends_with("tests.rs") || shown.contains("/tests");
        let source = fs::read_to_string(root.join(&file))?;
        let mut waiting = Vec::new();
        let mut in_tests = all_tests;
        for line in source.lines() {
            in_tests |= line.trim_start().starts_with("#[cfg(test)]");
            if line.trim_start().starts_with("//") {
                waiting.extend(ids(line));
            } else if let (true, Some(test)) = (in_tests, function(line)) {
                for id in waiting.drain(..) {
                    cited.entry(id).or_default().tests.push(format!("`{test}`"));
                }
            } else if !in_tests && !line.trim().is_empty() {
                for id in waiting.drain(..) {
                    let code = &mut cited.entry(id).or_default().code;
                    let place = format!("`{shown}`");
                    if !code.contains(&place) {
                        code.push(place);
                    }
                }
            }
        }
    }
    Ok(cited)
}

/// Adds what the tests against foreign programs cite.
fn foreign(folder: &Path, cited: &mut BTreeMap<String, Cited>) -> io::Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    for file in files(folder, "py")? {
        let mut waiting = Vec::new();
        for line in fs::read_to_string(file)?.lines() {
            if line.trim_start().starts_with('#') {
                waiting.extend(ids(line));
            } else if let Some(name) = function(line) {
                for id in waiting.drain(..) {
                    cited.entry(id).or_default().tests.push(format!("`{name}`"));
                }
            }
        }
    }
    Ok(())
}

/// `[RFC7252-4.2-3]` and the like in a comment.
fn ids(line: &str) -> impl Iterator<Item = String> {
    let pieces = line
        .split('[')
        .skip(1)
        .filter_map(|piece| piece.split_once(']'));
    let is_id = |text: &str| {
        let mut parts = text.split('-');
        let name = parts.next().unwrap_or_default();
        let own = [
            "RFC", "XEP", "AMQP", "DDS", "MQTT", "EXI", "C14N", "PROFILE", "SOS", "STA", "TASKING",
            "XTYPES",
        ];
        let named = own.iter().any(|own| name.starts_with(own));
        let section = |part: &str| {
            part.bytes()
                .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'A'))
        };
        named && parts.clone().count() == 2 && parts.all(section)
    };
    pieces
        .map(|(id, _)| id.to_owned())
        .filter(move |id| is_id(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_citation_is_found_in_its_brackets() {
        let line = "// [RFC7252-4.2-3] see [`Endpoint`] and [MQTT-3.1.2-1], not [RFC7252]";
        let found: Vec<_> = ids(line).collect();
        assert_eq!(found, ["RFC7252-4.2-3", "MQTT-3.1.2-1"]);
        assert_eq!(function("    pub(crate) fn read(x: u8)"), Some("read"));
        assert_eq!(function("let x = 1;"), None);
    }

    #[test]
    fn every_statement_is_honoured_and_shown() {
        let wrong = check(&crate::tidy::repository()).expect("the files are there");
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
