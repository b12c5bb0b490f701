//! Rust source with comments and literals blanked out, so that plain searches cannot be fooled.
//!
//! It is no parser: every check here needs words, braces and lines, nothing more, and a parser
//! would cost more to build than all of them together.

/// A file's code: the same lines, the same length in characters, with the text of comments,
/// strings and character literals replaced by spaces.
pub(crate) fn blank(source: &str) -> String {
    blank_where(source, |_| true)
}

/// The same with the text of comments alone replaced.
pub(crate) fn blank_comments(source: &str) -> String {
    blank_where(source, |begin| begin == '/')
}

/// Replaces the comments and literals whose first letter is chosen.
fn blank_where(source: &str, chosen: impl Fn(char) -> bool) -> String {
    let letters: Vec<char> = source.chars().collect();
    let mut code = String::with_capacity(source.len());
    let mut at = 0;
    while at < letters.len() {
        let end = at + skip(&letters[at..], at > 0 && is_word(letters[at - 1]));
        if end == at {
            code.push(letters[at]);
            at += 1;
            continue;
        }
        let piece = &letters[at..end];
        if chosen(letters[at]) {
            code.extend(piece.iter().map(|&c| if c == '\n' { '\n' } else { ' ' }));
        } else {
            code.extend(piece);
        }
        at = end;
    }
    code
}

/// Blanked code in two: what is compiled without tests, and what for tests alone. Each has the lines of both.
pub(crate) fn split_tests(code: &str) -> (String, String) {
    let (mut kept, mut tests) = (String::with_capacity(code.len()), String::new());
    let mut rest = code;
    while let Some(begin) = rest.find("#[cfg(") {
        let (before, attribute) = rest.split_at(begin);
        push(before, &mut kept, &mut tests);
        if is_for_tests(attribute) {
            let (item, behind) = attribute.split_at(item_end(attribute));
            push(item, &mut tests, &mut kept);
            rest = behind;
        } else {
            let (mark, behind) = attribute.split_at("#[cfg(".len());
            push(mark, &mut kept, &mut tests);
            rest = behind;
        }
    }
    push(rest, &mut kept, &mut tests);
    (kept, tests)
}

/// Adds text to one, and as much nothing to the other.
fn push(text: &str, to: &mut String, other: &mut String) {
    to.push_str(text);
    other.extend(text.chars().map(hidden));
}

fn hidden(letter: char) -> char {
    if letter == '\n' { '\n' } else { ' ' }
}

/// Says whether a `#[cfg(` means nothing but tests.
fn is_for_tests(attribute: &str) -> bool {
    let condition = attribute["#[cfg(".len()..].trim_start();
    ["test)", "all(test,", "all(test "]
        .iter()
        .any(|begin| condition.starts_with(begin))
}

/// Where the item, field or statement behind an attribute ends.
fn item_end(code: &str) -> usize {
    let mut begin = 0;
    while code[begin..].trim_start().starts_with('#') {
        begin += code[begin..]
            .find(']')
            .map_or(code.len() - begin, |at| at + 1);
    }
    let qualifiers = ["pub", "crate", "super", "in", "async", "unsafe", "extern"];
    let kind = words(&code[begin..]).find(|word| !qualifiers.contains(word));
    let kind = kind.unwrap_or_default();
    let has_body = [
        "mod",
        "fn",
        "struct",
        "enum",
        "union",
        "impl",
        "trait",
        "macro_rules",
    ]
    .contains(&kind);
    let has_semicolon = ["use", "const", "static", "type", "let"].contains(&kind);
    let mut depth = 0_usize;
    for (at, letter) in code[begin..].char_indices() {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 0 => return begin + at,
            ')' | ']' | '}' => depth -= 1,
            ';' if depth == 0 => return begin + at + 1,
            ',' if depth == 0 && !has_body && !has_semicolon => return begin + at + 1,
            _ => {}
        }
        if letter == '}' && depth == 0 && !has_semicolon {
            return begin + at + 1;
        }
    }
    code.len()
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Length of the comment or literal that begins here; 0 where there is none.
fn skip(rest: &[char], after_word: bool) -> usize {
    match rest {
        ['/', '/', ..] => rest.iter().position(|&c| c == '\n').unwrap_or(rest.len()),
        ['/', '*', ..] => block_comment(rest),
        ['"', ..] => 1 + quoted(&rest[1..], '"'),
        ['b' | 'c', '"', ..] if !after_word => 2 + quoted(&rest[2..], '"'),
        ['b', '\'', ..] if !after_word => 2 + quoted(&rest[2..], '\''),
        ['r', '"' | '#', ..] if !after_word => raw(rest, 1),
        ['b' | 'c', 'r', '"' | '#', ..] if !after_word => raw(rest, 2),
        ['\'', '\\', ..] => 1 + quoted(&rest[1..], '\''),
        ['\'', _, '\'', ..] => 3,
        _ => 0,
    }
}

fn block_comment(rest: &[char]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        match rest[at..] {
            ['/', '*', ..] => (depth, at) = (depth + 1, at + 2),
            ['*', '/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// Length up to and with the closing quote, a backslash guarding what follows it.
fn quoted(rest: &[char], quote: char) -> usize {
    let mut at = 0;
    while at < rest.len() {
        match rest[at] {
            '\\' => at += 2,
            letter if letter == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// Length of a raw string whose hashes begin at `prefix`; 0 for a raw identifier.
fn raw(rest: &[char], prefix: usize) -> usize {
    let hashes = rest[prefix..].iter().take_while(|&&c| c == '#').count();
    if rest.get(prefix + hashes) != Some(&'"') {
        return 0;
    }
    let mut at = prefix + hashes + 1;
    while at < rest.len() {
        let closing = rest[at + 1..].iter().take(hashes);
        if rest[at] == '"' && closing.filter(|&&c| c == '#').count() == hashes {
            return at + 1 + hashes;
        }
        at += 1;
    }
    rest.len()
}

/// The words of a line of blanked code.
pub(crate) fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|letter: char| !is_word(letter))
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_and_comments_are_blanked() {
        assert_eq!(blank("a // {\nb"), "a     \nb");
        assert_eq!(blank("f(\"{\\\"\", '{', '\\'')"), "f(     ,    ,     )");
        assert_eq!(
            blank("r#\"}\"# r#type /* /* } */ */ x"),
            "       r#type               x"
        );
    }

    #[test]
    fn comments_alone_are_blanked_where_texts_count() {
        assert_eq!(blank_comments("f(\"//\") // b"), "f(\"//\")     ");
    }

    #[test]
    fn what_is_for_tests_alone_is_told_from_the_rest() {
        let source =
            "a;\n#[cfg(test)]\nmod tests {\n fn x() {}\n}\n#[cfg(test)]\nuse b::{c, d};\ne;\n";
        let (kept, tests) = split_tests(source);
        assert_eq!(words(&kept).collect::<Vec<_>>(), ["a", "e"]);
        assert_eq!(kept.lines().count(), source.lines().count());
        assert!(tests.contains("mod tests {\n fn x() {}\n}") && tests.contains("use b::{c, d};"));
    }

    #[test]
    fn a_field_for_tests_ends_at_its_comma() {
        let source = "struct A { #[cfg(test)] b: Vec<(u8, u8)>, c: u8, #[cfg(test)] d: u8 }\n\
                      #[cfg(unix)]\nfn e() {}\n#[cfg(all(test, unix))]\n#[inline]\n\
                      pub(crate) fn f<A, B>() {}\ng;";
        let kept = split_tests(source).0;
        let rest = ["struct", "A", "c", "u8", "cfg", "unix", "fn", "e", "g"];
        assert_eq!(words(&kept).collect::<Vec<_>>(), rest);
    }

    #[test]
    fn a_lifetime_is_no_literal() {
        assert_eq!(blank("fn f<'a>(x: &'a str)"), "fn f<'a>(x: &'a str)");
    }
}
