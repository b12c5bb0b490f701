//! The shape of a file: length of lines, functions and the file, marks of unfinished work, and what
//! a crate says it is.

use crate::finding::Finding;
use crate::lexer::{blank, words};
use std::path::Path;

/// Longest line of code, in characters, as rustfmt has it.
pub(crate) const CODE_MAX: usize = 100;
/// Longest line with its comments and texts.
pub(crate) const LINE_MAX: usize = 120;
/// Longest function, in lines, from `fn` to its closing brace.
pub(crate) const FUNCTION_MAX: usize = 70;
/// Longest file, in lines.
pub(crate) const FILE_MAX: usize = 600;

/// Checks one Rust file.
pub(crate) fn check(file: &Path, source: &str) -> Vec<Finding> {
    let code = blank(source);
    let mut findings = lines(file, source, &code);
    findings.extend(functions(file, &code));
    findings.extend(unfinished(file, source, &code));
    findings
}

fn lines(file: &Path, source: &str, code: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, (line, code)) in source.lines().zip(code.lines()).enumerate() {
        let (whole, code) = (line.chars().count(), code.trim_end().chars().count());
        if code > CODE_MAX {
            let rule = format!("code of {code} characters, at most {CODE_MAX}");
            findings.push(Finding::new(file, index + 1, rule));
        } else if whole > LINE_MAX {
            let rule = format!("line of {whole} characters, at most {LINE_MAX}");
            findings.push(Finding::new(file, index + 1, rule));
        }
    }
    let count = source.lines().count();
    if count > FILE_MAX {
        let rule = format!("file of {count} lines, at most {FILE_MAX}");
        findings.push(Finding::new(file, FILE_MAX + 1, rule));
    }
    findings
}

fn functions(file: &Path, code: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    // Functions that are open: name, first line, depth of braces where the body began.
    let mut open: Vec<(String, usize, usize)> = Vec::new();
    let mut pending: Option<(String, usize)> = None;
    let (mut depth, mut nesting) = (0_usize, 0_usize);
    for (index, line) in code.lines().enumerate() {
        let number = index + 1;
        if let Some(name) = function_name(line) {
            (pending, nesting) = (Some((name.to_owned(), number)), 0);
        }
        for letter in line.chars() {
            match letter {
                '(' | '[' => nesting += 1,
                ')' | ']' => nesting = nesting.saturating_sub(1),
                ';' if nesting == 0 => pending = None,
                '{' => {
                    depth += 1;
                    open.extend(pending.take().map(|(name, first)| (name, first, depth)));
                }
                '}' => {
                    if open.last().is_some_and(|(.., body)| *body == depth) {
                        findings.extend(
                            open.pop()
                                .and_then(|(name, first, _)| too_long(file, &name, first, number)),
                        );
                    }
                    depth = depth.saturating_sub(1);
                }
                _ => {}
            }
        }
    }
    findings
}

/// The name after the word `fn`, if a function with a name begins on this line.
fn function_name(line: &str) -> Option<&str> {
    let mut words = words(line).skip_while(|word| *word != "fn").skip(1);
    let name = words.next()?;
    line.contains(&format!("fn {name}")).then_some(name)
}

fn too_long(file: &Path, name: &str, first: usize, last: usize) -> Option<Finding> {
    let length = last - first + 1;
    let rule = || format!("function `{name}` of {length} lines, at most {FUNCTION_MAX}");
    (length > FUNCTION_MAX).then(|| Finding::new(file, first, rule()))
}

fn unfinished(file: &Path, source: &str, code: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, (line, code)) in source.lines().zip(code.lines()).enumerate() {
        for mark in marks(line, code) {
            findings.push(Finding::new(
                file,
                index + 1,
                format!("unfinished work: `{mark}`"),
            ));
        }
    }
    findings
}

/// Marks of unfinished work: words of comments and strings, macros of code.
fn marks(line: &str, code: &str) -> Vec<&'static str> {
    let in_text = |mark: &&str| {
        words(line).any(|word| word == *mark) && !words(code).any(|word| word == *mark)
    };
    let mut marks: Vec<&str> = [concat!("TO", "DO"), concat!("FIX", "ME")]
        .into_iter()
        .filter(in_text)
        .collect();
    let called = |name: &&str| code.contains(&format!("{name}!"));
    marks.extend(["todo", "unimplemented"].into_iter().filter(called));
    marks
}

/// Says whether the root file of a crate opens with what the crate is.
pub(crate) fn check_crate_doc(file: &Path, source: &str) -> Option<Finding> {
    let first = source.lines().next().unwrap_or_default();
    let documented = first
        .strip_prefix("//! ")
        .is_some_and(|text| text.len() >= 20);
    let rule = "a crate opens with `//!` and a sentence that says what it is";
    (!documented).then(|| Finding::new(file, 1, rule))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(source: &str) -> Vec<String> {
        check(Path::new("a.rs"), source)
            .iter()
            .map(Finding::to_string)
            .collect()
    }

    #[test]
    fn a_long_function_is_named_with_its_first_line() {
        let body = "    x();\n".repeat(FUNCTION_MAX);
        let source =
            format!("impl A {{\nfn long(\n    a: [u8; 3],\n) {{\n{body}}}\nfn short() {{}}\n}}\n");
        assert_eq!(
            rules(&source),
            ["a.rs:2: function `long` of 74 lines, at most 70"]
        );
    }

    #[test]
    fn a_declaration_without_a_body_is_not_the_next_body() {
        let source = format!(
            "trait T {{ fn f(&self); }}\nconst A: u8 = {{\n{}1\n}};\n",
            "\n".repeat(90)
        );
        assert!(rules(&source).is_empty());
    }

    #[test]
    fn a_long_line_and_a_long_file_are_found() {
        let source = format!("// {}\n{}", "x".repeat(LINE_MAX), "\n".repeat(FILE_MAX));
        assert_eq!(rules(&source).len(), 2);
    }

    #[test]
    fn unfinished_work_is_found_in_comments_and_code() {
        let comment = ["// TO", "DO: later\n"].concat();
        let code = ["fn f() { to", "do!() }\n"].concat();
        assert_eq!(rules(&comment).len() + rules(&code).len(), 2);
    }

    #[test]
    fn a_crate_says_what_it_is() {
        let said = "//! The log: append-only segments on local disk.\n";
        assert_eq!(check_crate_doc(Path::new("lib.rs"), said), None);
        assert!(check_crate_doc(Path::new("lib.rs"), "use a;\n").is_some());
    }
}
