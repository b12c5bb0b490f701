//! Rust source with comments and literals blanked out, so that plain searches cannot be fooled.
//!
//! It is no parser: every check here needs words, braces and lines, nothing more, and a parser
//! would cost more to build than all of them together.

/// A file's code: the same lines, the same length in characters, with the text of comments,
/// strings and character literals replaced by spaces.
pub(crate) fn blank(source: &str) -> String {
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
        code.extend(
            letters[at..end]
                .iter()
                .map(|&c| if c == '\n' { '\n' } else { ' ' }),
        );
        at = end;
    }
    code
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
    fn a_lifetime_is_no_literal() {
        assert_eq!(blank("fn f<'a>(x: &'a str)"), "fn f<'a>(x: &'a str)");
    }
}
