//! What is counted in one file: each figure with its rule, and where it was found.

use crate::house::tokens::tokens;
use crate::lexer::words;

/// A figure of the house.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Figure {
    /// Files of the largest circle of a crate.
    Circle,
    /// Branches for an answer that the hub never gives.
    DeadBranch,
    /// `Result<_, String>`.
    StringError,
    /// Arms of `match` on `true` and `false`.
    BoolArm,
    /// `let _name =`: what is named and not used.
    NamedNothing,
    /// Names of tests of more letters than a line has room for.
    LongTestName,
    /// Sleeps in tests.
    TestSleep,
}

/// Longest name of a test, in letters.
const TEST_NAME_MAX: usize = 60;

impl Figure {
    pub(super) const ALL: [Self; 7] = [
        Self::Circle,
        Self::DeadBranch,
        Self::StringError,
        Self::BoolArm,
        Self::NamedNothing,
        Self::LongTestName,
        Self::TestSleep,
    ];

    /// Its name in the table and on the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Circle => "circle",
            Self::DeadBranch => "dead-branch",
            Self::StringError => "string-error",
            Self::BoolArm => "bool-arm",
            Self::NamedNothing => "named-nothing",
            Self::LongTestName => "long-test-name",
            Self::TestSleep => "test-sleep",
        }
    }
}

/// A file of Rust, taken apart.
pub(super) struct Source<'a> {
    /// What is compiled without tests: comments and literals blanked.
    pub(super) code: &'a str,
    /// What is compiled for tests alone.
    pub(super) tests: &'a str,
    /// All but comments.
    pub(super) texts: &'a str,
}

/// Every figure found in a file, with its line.
pub(super) fn of_rust(source: &Source<'_>) -> Vec<(Figure, usize)> {
    let mut found = Vec::new();
    let mut add = |figure, count, line| found.extend(core::iter::repeat_n((figure, line), count));
    let lines = source
        .code
        .lines()
        .zip(source.tests.lines())
        .zip(source.texts.lines());
    for (index, ((code, tests), texts)) in lines.enumerate() {
        let line = index + 1;
        let dead = texts.contains(concat!("the hub answered ", "something else"));
        add(Figure::DeadBranch, usize::from(dead), line);
        add(Figure::BoolArm, bool_arms(code) + bool_arms(tests), line);
        add(
            Figure::NamedNothing,
            named_nothing(code) + named_nothing(tests),
            line,
        );
        add(Figure::TestSleep, calls(tests, "sleep"), line);
        let long = test_name(tests).is_some_and(|name| name.len() > TEST_NAME_MAX);
        add(Figure::LongTestName, usize::from(long), line);
    }
    for line in string_errors(source.code) {
        add(Figure::StringError, 1, line);
    }
    found
}

/// Sleeps of tests in Python; comments are not looked at.
pub(super) fn of_python(source: &str) -> Vec<(Figure, usize)> {
    let mut found = Vec::new();
    for (index, line) in source.lines().enumerate() {
        let code = line.split('#').next().unwrap_or_default();
        let count = calls(code, "sleep");
        found.extend(core::iter::repeat_n((Figure::TestSleep, index + 1), count));
        let long = test_name(code).is_some_and(|name| name.len() > TEST_NAME_MAX);
        found.extend(long.then_some((Figure::LongTestName, index + 1)));
    }
    found
}

fn bool_arms(line: &str) -> usize {
    let tokens: Vec<&str> = tokens(line).collect();
    let is_arm =
        |pair: &&[&str]| matches!(pair[0], "true" | "false") && matches!(pair[1], "=>" | "if");
    tokens.windows(2).filter(is_arm).count()
}

fn named_nothing(line: &str) -> usize {
    let words: Vec<&str> = words(line).collect();
    let is_one = |pair: &&[&str]| pair[0] == "let" && pair[1].len() > 1 && pair[1].starts_with('_');
    words.windows(2).filter(is_one).count()
}

fn calls(line: &str, name: &str) -> usize {
    let tokens: Vec<&str> = tokens(line).collect();
    let before = |at: usize| at.checked_sub(1).map(|at| tokens[at]);
    let is_call = |at: &usize| {
        let defined = matches!(before(*at), Some("fn" | "def"));
        tokens[*at] == name && tokens.get(at + 1) == Some(&"(") && !defined
    };
    (0..tokens.len()).filter(is_call).count()
}

/// The name of a function among the tests; in Python it begins as unittest wants it.
fn test_name(line: &str) -> Option<&str> {
    crate::shown::function(line)
}

/// Lines of `Result<..., String>`, however it is broken.
fn string_errors(code: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut line = 1;
    let mut at = 0;
    while let Some(next) = code[at..].find("Result<") {
        line += code[at..at + next].matches('\n').count();
        at += next + "Result<".len();
        if second_argument(&code[at..]).is_some_and(|error| error == "String") {
            found.push(line);
        }
    }
    found
}

/// The second of the types between angle brackets.
fn second_argument(code: &str) -> Option<&str> {
    let (mut depth, mut begin) = (0_usize, None);
    let mut before = ' ';
    for (at, letter) in code.char_indices() {
        match letter {
            '>' if before == '-' => {}
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' if depth == 0 => {
                return begin.map(|begin: usize| code[begin..at].trim().trim_end_matches(','));
            }
            '>' | ')' | ']' => depth -= 1,
            ',' if depth == 0 && begin.is_none() => begin = Some(at + 1),
            '{' | '}' | ';' if depth == 0 => return None,
            _ => {}
        }
        before = letter;
    }
    None
}

/// Names of the types that code defines: structures, enumerations, unions, traits.
pub(super) fn types(code: &str) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for (index, line) in code.lines().enumerate() {
        let words: Vec<&str> = words(line).collect();
        let kind = words
            .iter()
            .position(|word| matches!(*word, "struct" | "enum" | "union" | "trait"));
        let head = kind.map_or(&[][..], |kind| &words[..kind]);
        let is_head = head
            .iter()
            .all(|word| matches!(*word, "pub" | "crate" | "super" | "in" | "unsafe"));
        let name = kind
            .filter(|_| is_head)
            .and_then(|kind| words.get(kind + 1));
        found.extend(name.map(|name| ((*name).to_owned(), index + 1)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(code: &str, tests: &str, texts: &str) -> Vec<(Figure, usize)> {
        let lines = code
            .lines()
            .count()
            .max(tests.lines().count())
            .max(texts.lines().count());
        let pad = |text: &str| format!("{text}{}", "\n".repeat(lines));
        let (code, tests, texts) = (pad(code), pad(tests), pad(texts));
        of_rust(&Source {
            code: &code,
            tests: &tests,
            texts: &texts,
        })
    }

    #[test]
    fn errors_that_are_texts_are_found_over_lines_and_types() {
        let code = "fn a() -> Result<(u8, B<C>), String> {}\nfn b() -> io::Result<String> {}\n\
                    fn c(f: impl Fn(u8) -> u8) -> Result<\n    Vec<u8>,\n    String,\n> {}\n\
                    Result<String, E>";
        let lines: Vec<usize> = string_errors(code);
        assert_eq!(lines, [1, 3]);
    }

    #[test]
    fn arms_names_and_sleeps_are_told_apart() {
        let code =
            "match a { true => b, false if c => d }\nlet _held = e; let _ = f; let g = sleep(1);";
        let figures = found(code, "", "");
        let count = |figure| figures.iter().filter(|found| found.0 == figure).count();
        assert_eq!(count(Figure::BoolArm), 2);
        assert_eq!(count(Figure::NamedNothing), 1);
        assert_eq!(count(Figure::TestSleep), 0);
        let name = "a".repeat(TEST_NAME_MAX + 1);
        let tests = format!("\nfn {name}() {{ time::sleep(A).await }}\nfn sleep() {{}}");
        assert_eq!(
            found("", &tests, ""),
            [(Figure::TestSleep, 2), (Figure::LongTestName, 2)]
        );
        let dead = concat!("_ => Err(\"the hub answered ", "something else\")");
        assert_eq!(found("", "", dead), [(Figure::DeadBranch, 1)]);
        assert_eq!(
            of_python("# sleep(1)\nawait asyncio.sleep(1)"),
            [(Figure::TestSleep, 2)]
        );
    }

    #[test]
    fn a_type_is_found_by_its_definition() {
        let code = "pub(crate) struct Place<T>(T);\nimpl Place<u8> {}\nenum House {\n\
                    let a = b as trait_c;";
        assert_eq!(
            types(code),
            [("Place".to_owned(), 1), ("House".to_owned(), 3)]
        );
    }
}
