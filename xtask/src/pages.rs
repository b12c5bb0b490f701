//! Pages that must agree with what they speak of: decisions with their index and with who cites them, and the
//! table of dependencies with itself.

use crate::finding::Finding;
use crate::orphans;
use crate::shown::files;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

const DECISIONS: &str = "docs/decisions";
const DEPENDENCIES: &str = "docs/dependencies.md";

/// What does not agree.
pub(crate) fn check(root: &Path) -> io::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let decisions = decisions(root, &mut findings)?;
    findings.extend(index(root, &decisions)?);
    for file in citing(root)? {
        let source = fs::read_to_string(&file)?;
        let shown = file.strip_prefix(root).unwrap_or(&file);
        findings.extend(citations(shown, &source, &decisions));
    }
    let dependencies = fs::read_to_string(root.join(DEPENDENCIES))?;
    findings.extend(order(&dependencies));
    Ok(findings)
}

/// Each decision by its number: its file's name, its title, its date and its status.
type Decisions = BTreeMap<u32, (String, String)>;

/// The decisions, each with the row that the index has of it.
fn decisions(root: &Path, findings: &mut Vec<Finding>) -> io::Result<Decisions> {
    let mut decisions = Decisions::new();
    for file in files(&root.join(DECISIONS), "md")? {
        let name = file.file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        let Some(number) = number(&name) else {
            continue;
        };
        match row(number, &name, &fs::read_to_string(&file)?) {
            Some(row) => drop(decisions.insert(number, (name, row))),
            None => {
                let rule = "a decision begins `# N. Title` and `Date: YYYY-MM-DD. Status: ...`";
                findings.push(Finding::new(Path::new(DECISIONS).join(name), 1, rule));
            }
        }
    }
    Ok(decisions)
}

/// The row of a decision in the index.
fn row(number: u32, name: &str, text: &str) -> Option<String> {
    let mut lines = text.lines();
    let title = lines.next()?.strip_prefix(&format!("# {number}. "))?;
    let (date, status) = lines
        .nth(1)?
        .strip_prefix("Date: ")?
        .split_once(". Status: ")?;
    let is_date = date.len() == 10 && date.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    let status = status.strip_suffix('.')?;
    is_date.then(|| format!("| [{number}]({name}) | {title} | {date} | {status} |"))
}

fn index(root: &Path, decisions: &Decisions) -> io::Result<Vec<Finding>> {
    let page = Path::new(DECISIONS).join("README.md");
    let text = fs::read_to_string(root.join(&page))?;
    let listed = text.lines().filter(|line| line.starts_with("| ["));
    let rows = decisions.values().map(|(_, row)| &**row);
    let (listed, rows): (Vec<&str>, Vec<&str>) = (listed.collect(), rows.collect());
    let missing = rows.iter().filter(|row| !listed.contains(row));
    let missing = missing.map(|row| Finding::new(&page, 1, format!("this row is missing: {row}")));
    let old = listed.iter().filter(|row| !rows.contains(row));
    let old = old.map(|row| Finding::new(&page, 1, format!("this row is old: {row}")));
    Ok(missing.chain(old).collect())
}

/// Pages that people read, but not what a run of the bench wrote.
pub(crate) fn read(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = files(root, "md")?;
    pages(&root.join("docs"), &mut found)?;
    Ok(found)
}

/// Files that may cite a decision: pages and sources.
fn citing(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = read(root)?;
    for folder in ["crates", "device", "exi", "protocols", "services", "stores"] {
        orphans::rust_files(&root.join(folder), &mut found);
    }
    Ok(found)
}

fn pages(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    found.extend(files(folder, "md")?);
    for inside in fs::read_dir(folder)?.flatten().map(|entry| entry.path()) {
        if inside.is_dir() && !inside.ends_with("results") {
            pages(&inside, found)?;
        }
    }
    Ok(())
}

/// Decisions that a file cites by their path and that are not there.
fn citations(file: &Path, source: &str, decisions: &Decisions) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in source.lines().enumerate() {
        for path in line.split("decisions/").skip(1).chain(beside(file, line)) {
            let end = path.find(|c: char| !c.is_ascii_alphanumeric() && !"-.".contains(c));
            let cited = path[..end.unwrap_or(path.len())].trim_end_matches('.');
            let Some(number) = number(cited) else {
                continue;
            };
            let known = decisions.get(&number);
            // A comment may leave the title out.
            let is_there = known.is_some_and(|(name, _)| cited.len() == 4 || cited == name);
            let rule = || format!("there is no decision `{cited}`");
            findings.extend((!is_there).then(|| Finding::new(file, index + 1, rule())));
        }
    }
    findings
}

/// Links of decisions to each other, which have no folder.
fn beside<'a>(file: &Path, line: &'a str) -> impl Iterator<Item = &'a str> {
    let is_decision = file.starts_with(DECISIONS);
    line.split("](").skip(1).filter(move |_| is_decision)
}

/// The number that four digits begin a name with.
fn number(name: &str) -> Option<u32> {
    let digits = name.get(..4)?;
    let ends = name.len() == 4 || name.as_bytes().get(4) == Some(&b'-');
    let all = digits.bytes().all(|byte| byte.is_ascii_digit());
    (ends && all).then(|| digits.parse().ok())?
}

/// Whether the table of dependencies is sorted by its first names, each of them there once.
fn order(text: &str) -> Vec<Finding> {
    let rows = text
        .lines()
        .enumerate()
        .filter(|(_, line)| line.starts_with("| "));
    let names: Vec<(usize, String)> = rows
        .skip(1)
        .filter_map(|(index, line)| Some((index + 1, first_name(line)?)))
        .collect();
    let mut findings = Vec::new();
    for pair in names.windows(2) {
        let ((_, before), (line, name)) = (&pair[0], &pair[1]);
        let rule = match before.cmp(name) {
            core::cmp::Ordering::Less => continue,
            core::cmp::Ordering::Equal => format!("`{name}` is there twice"),
            core::cmp::Ordering::Greater => format!("`{name}` stands behind `{before}`"),
        };
        findings.push(Finding::new(DEPENDENCIES, *line, rule));
    }
    findings
}

/// The name that a row begins with, in small letters.
fn first_name(row: &str) -> Option<String> {
    let name = row.strip_prefix("| ")?.split([' ', ',', '|']).next()?;
    Some(name.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Decisions {
        let text = "# 7. The demo is a crate\n\nDate: 2026-11-20. Status: accepted.\n\nBecause.";
        let row = row(7, "0007-the-demo.md", text).expect("a decision");
        assert_eq!(
            row,
            "| [7](0007-the-demo.md) | The demo is a crate | 2026-11-20 | accepted |"
        );
        Decisions::from([(7, ("0007-the-demo.md".to_owned(), row))])
    }

    #[test]
    fn a_decision_without_its_number_its_date_or_its_status_is_none() {
        for text in [
            "# The demo\n\nDate: 2026-11-20. Status: accepted.",
            "# 7. The demo\n\nStatus: accepted.",
            "# 7. The demo\n\nDate: yesterday. Status: accepted.",
        ] {
            assert_eq!(row(7, "0007-the-demo.md", text), None);
        }
    }

    #[test]
    fn a_decision_that_is_not_there_is_found_where_it_is_cited() {
        let source = "see docs/decisions/0007, decisions/0007-the-demo.md).\n[x](decisions/0008-no.md)\n\
                      decisions/0007-another.md";
        let found = citations(Path::new("a.md"), source, &known());
        let lines: Vec<usize> = found.iter().map(|finding| finding.line).collect();
        assert_eq!(lines, [2, 3]);
        let beside = "[7](0007-the-demo.md) [9](0009-no.md)";
        let found = citations(
            &Path::new(DECISIONS).join("0007-the-demo.md"),
            beside,
            &known(),
        );
        assert_eq!(found.len(), 1);
        assert!(citations(Path::new("a.md"), beside, &known()).is_empty());
    }

    #[test]
    fn dependencies_out_of_order_or_twice_are_found() {
        let table = "| crate | why |\n|---|---|\n| aes 1, ccm | b |\n\
                     | zstd | c |\n| Bytes 2 | d |\n| bytes | e |\n";
        let rules: Vec<_> = order(table).iter().map(Finding::to_string).collect();
        let expected = [
            "docs/dependencies.md:5: `bytes` stands behind `zstd`",
            "docs/dependencies.md:6: `bytes` is there twice",
        ];
        assert_eq!(rules, expected);
    }
}
