//! The words of the house: what CONTRIBUTING.md says is never used for a concept is in no name and on no page.
//!
//! The table there is the rule. Its column `never` is looked for among the names that code outside tests defines, and
//! in the prose of pages; what it calls another's may be right or wrong, which only a reader can tell, so each of those
//! words must stand in the second table with what it is.

use crate::finding::Finding;
use crate::lexer::{blank, split_tests, words};
use crate::shown::is_test;
use std::path::Path;
use std::{fs, io};

const TABLES: &str = "CONTRIBUTING.md";
const BEGIN: &str = "### One concept, one word";

/// Words that are not used, each with the one that is.
#[derive(Debug, Default)]
pub(crate) struct Wording {
    never: Vec<(String, String)>,
}

impl Wording {
    /// Reads the tables, and finds what one of them says and the other does not.
    pub(crate) fn read(root: &Path) -> io::Result<(Self, Vec<Finding>)> {
        Ok(Self::parse(&fs::read_to_string(root.join(TABLES))?))
    }

    fn parse(text: &str) -> (Self, Vec<Finding>) {
        let (mut wording, mut findings) = (Self::default(), Vec::new());
        let (mut others, mut told) = (Vec::new(), Vec::new());
        let section = text.lines().enumerate();
        let section = section.skip_while(|(_, line)| *line != BEGIN).skip(1);
        for (index, line) in section.take_while(|(_, line)| !line.starts_with('#')) {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            match cells[..] {
                [_, say, never, another] => {
                    let say = || listed(say).next().unwrap_or_default().to_owned();
                    wording
                        .never
                        .extend(listed(never).map(|word| (word.to_owned(), say())));
                    others.extend(listed(another).map(|word| (word, index + 1)));
                }
                [word, _] => told.extend(listed(word)),
                _ => {}
            }
        }
        for (word, line) in others.iter().filter(|(word, _)| !told.contains(word)) {
            let rule = format!("`{word}` is another's, and no row says whose");
            findings.push(Finding::new(TABLES, *line, rule));
        }
        (wording, findings)
    }

    /// Names that a source of Rust defines outside its tests.
    pub(crate) fn names(&self, file: &Path, source: &str) -> Vec<Finding> {
        let mut findings = Vec::new();
        if is_test(file) {
            return findings;
        }
        let code = split_tests(&blank(source)).0;
        for (index, line) in code.lines().enumerate() {
            let words: Vec<&str> = words(line).collect();
            let defined = words.windows(2).filter(|pair| DEFINES.contains(&pair[0]));
            for name in defined.map(|pair| spaced(pair[1])) {
                findings.extend(self.found(file, index + 1, &name));
            }
        }
        findings
    }

    /// The prose of a page: neither code nor what is quoted, and not the tables themselves.
    pub(crate) fn prose(&self, file: &Path, text: &str) -> Vec<Finding> {
        let (mut findings, mut fenced) = (Vec::new(), false);
        if file == Path::new(TABLES) {
            return findings;
        }
        for (index, line) in text.lines().enumerate() {
            fenced ^= line.trim_start().starts_with("```");
            if fenced || line.starts_with("    ") {
                continue;
            }
            let prose: Vec<&str> = line.split('`').step_by(2).collect();
            findings.extend(self.found(file, index + 1, &prose.join(" ").to_lowercase()));
        }
        findings
    }

    fn found(&self, file: &Path, line: usize, text: &str) -> Vec<Finding> {
        let holds = |word: &str| {
            text.match_indices(word).any(|(at, _)| {
                let before = text[..at].chars().next_back();
                let behind = &text[at + word.len()..];
                let behind = behind.strip_prefix('s').unwrap_or(behind).chars().next();
                !before.is_some_and(char::is_alphanumeric)
                    && !behind.is_some_and(char::is_alphanumeric)
            })
        };
        let found = self.never.iter().filter(|(word, _)| holds(word));
        let rule = |word, say| format!("`{word}`: say `{say}` ({TABLES}, one concept, one word)");
        found
            .map(|(word, say)| Finding::new(file, line, rule(word, say)))
            .collect()
    }
}

/// Words behind which a name is defined.
const DEFINES: [&str; 8] = [
    "struct", "enum", "union", "trait", "type", "fn", "mod", "const",
];

/// The words that a cell has in quotes of code.
fn listed(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// The words of a name in small letters: of `DataPoint` and `data_point` alike.
fn spaced(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        let is_edge = letter == '_' || letter.is_uppercase() && !name.contains('_');
        if is_edge && !text.is_empty() {
            text.push(' ');
        }
        text.extend(
            Some(letter)
                .filter(|letter| *letter != '_')
                .into_iter()
                .flat_map(char::to_lowercase),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "### One concept, one word\n\
        | concept | say | never | another's |\n|---|---|---|---|\n\
        | a row | `observation` | `data point` | `sample`, `reading` |\n\n\
        | word | is |\n|---|---|\n| `sample` | the bench's |\n## Tests\n| `a` | `b` | `c` | `d` |";

    fn rules(findings: &[Finding]) -> Vec<String> {
        findings.iter().map(Finding::to_string).collect()
    }

    #[test]
    fn what_is_never_said_is_found_in_names_and_prose() {
        let (wording, _) = Wording::parse(TEXT);
        let source = "struct DataPoints;\nfn a_data_point() {}\nfn metadata_pointer() {}\n\
                      #[cfg(test)]\nmod tests { fn data_point() {} }";
        let found = wording.names(Path::new("a.rs"), source);
        let rule = "`data point`: say `observation` (CONTRIBUTING.md, one concept, one word)";
        assert_eq!(
            rules(&found),
            [format!("a.rs:1: {rule}"), format!("a.rs:2: {rule}")]
        );
        let page = "Data points, and `data point`.\n\n    a data point\n```\ndata point\n```\n";
        let found = wording.prose(Path::new("a.md"), page);
        assert_eq!(rules(&found), [format!("a.md:1: {rule}")]);
    }

    #[test]
    fn what_is_anothers_is_told_in_the_second_table() {
        let (_, findings) = Wording::parse(TEXT);
        let rule = "CONTRIBUTING.md:4: `reading` is another's, and no row says whose";
        assert_eq!(rules(&findings), [rule]);
    }
}
