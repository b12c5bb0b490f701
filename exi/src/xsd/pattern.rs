//! The set of characters that a pattern facet allows (EXI 1.0 appendix E): the regular expression
//! of XML Schema part 2 appendix F is read, not run.

use alloc::vec::Vec;

use super::characters::Characters;

/// Groups within groups, and subtractions within subtractions.
const DEPTH: u32 = 100;

/// A pattern that is no regular expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PatternError {
    /// Characters before the place.
    pub(super) at: usize,
    /// What should stand there.
    pub(super) expected: &'static str,
}

/// The characters in what matches the pattern; `None` where the pattern has an escape that depends
/// on the version of Unicode, which makes it restrict nothing.
pub(super) fn characters(pattern: &str) -> Result<Option<Characters>, PatternError> {
    let mut parser = Parser {
        pattern: pattern.chars().collect(),
        at: 0,
        depth: 0,
        open: false,
    };
    let set = parser.expression()?;
    match parser.peek() {
        Some(_) => Err(parser.expected("the end of the pattern")),
        None => Ok(Some(set).filter(|_| !parser.open)),
    }
}

struct Parser {
    pattern: Vec<char>,
    at: usize,
    depth: u32,
    /// Whether something was met that has no stable set of characters.
    open: bool,
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.pattern.get(self.at).copied()
    }

    fn next(&mut self, expected: &'static str) -> Result<char, PatternError> {
        let character = self.peek().ok_or_else(|| self.expected(expected))?;
        self.at += 1;
        Ok(character)
    }

    fn take(&mut self, character: char) -> bool {
        let found = self.peek() == Some(character);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, character: char, expected: &'static str) -> Result<(), PatternError> {
        match self.take(character) {
            true => Ok(()),
            false => Err(self.expected(expected)),
        }
    }

    fn expected(&self, expected: &'static str) -> PatternError {
        PatternError {
            at: self.at,
            expected,
        }
    }

    fn deeper(&mut self) -> Result<(), PatternError> {
        self.depth += 1;
        match self.depth > DEPTH {
            true => Err(self.expected("fewer groups within groups")),
            false => Ok(()),
        }
    }

    /// regExp: branches and their pieces. All of them count.
    fn expression(&mut self) -> Result<Characters, PatternError> {
        self.deeper()?;
        let mut set = Characters::default();
        while let Some(character) = self.peek().filter(|character| *character != ')') {
            if character == '|' {
                self.at += 1;
                continue;
            }
            let atom = self.atom()?;
            set = set.union(&atom);
            self.quantifier()?;
        }
        self.depth -= 1;
        Ok(set)
    }

    fn atom(&mut self) -> Result<Characters, PatternError> {
        match self.next("an atom")? {
            '(' => {
                let set = self.expression()?;
                self.expect(')', "a closing parenthesis")?;
                Ok(set)
            }
            '[' => self.class(),
            '\\' => self.escape(),
            '.' => Ok(Characters::of("\n\r").complement()),
            '?' | '*' | '+' | '{' | '}' | ']' => {
                self.at -= 1;
                Err(self.expected("an atom"))
            }
            character => Ok(Characters::one(character)),
        }
    }

    fn quantifier(&mut self) -> Result<(), PatternError> {
        if self.take('?') || self.take('*') || self.take('+') || !self.take('{') {
            return Ok(());
        }
        self.number()?;
        if self.take(',') && self.peek() != Some('}') {
            self.number()?;
        }
        self.expect('}', "a closing brace")
    }

    fn number(&mut self) -> Result<(), PatternError> {
        let start = self.at;
        while self.peek().is_some_and(|digit| digit.is_ascii_digit()) {
            self.at += 1;
        }
        match self.at == start {
            true => Err(self.expected("a number")),
            false => Ok(()),
        }
    }

    /// charClassExpr, after its bracket.
    fn class(&mut self) -> Result<Characters, PatternError> {
        self.deeper()?;
        let negative = self.take('^');
        let mut set = Characters::default();
        let mut first = true;
        loop {
            match self.next("the end of a character class")? {
                ']' if !first => break,
                '-' if self.peek() == Some('[') && !first => {
                    self.at += 1;
                    let set = if negative { set.complement() } else { set };
                    let less = self.class()?;
                    self.expect(']', "the end of a character class")?;
                    self.depth -= 1;
                    return Ok(set.minus(&less));
                }
                character => set = set.union(&self.member(character)?),
            }
            first = false;
        }
        self.depth -= 1;
        Ok(if negative { set.complement() } else { set })
    }

    /// A range, an escape or a character within a class.
    fn member(&mut self, character: char) -> Result<Characters, PatternError> {
        let from = match character {
            '\\' => match self.single()? {
                Some(character) => character,
                None => return self.escape(),
            },
            '[' => return Err(self.expected("an escape before a bracket")),
            character => character,
        };
        let after = self.pattern.get(self.at + 1).copied();
        let ranges = self.peek() == Some('-') && !matches!(after, None | Some(']' | '['));
        if !ranges {
            return Ok(Characters::one(from));
        }
        self.at += 1;
        let to = match self.next("the end of a range")? {
            '\\' => self
                .single()?
                .ok_or_else(|| self.expected("a single character"))?,
            character => character,
        };
        match from <= to {
            true => Ok(Characters::range(from, to)),
            false => Err(self.expected("a range whose end is not before its begin")),
        }
    }

    /// SingleCharEsc after its backslash; `None` and nothing read if it is another escape.
    fn single(&mut self) -> Result<Option<char>, PatternError> {
        let character = self.next("an escape")?;
        let meant = match character {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            character if character.is_ascii_alphabetic() => {
                self.at -= 1;
                return Ok(None);
            }
            character => character,
        };
        Ok(Some(meant))
    }

    /// Any escape, after its backslash.
    fn escape(&mut self) -> Result<Characters, PatternError> {
        if let Some(character) = self.single()? {
            return Ok(Characters::one(character));
        }
        match self.next("an escape")? {
            's' => Ok(Characters::of(" \t\n\r")),
            'S' | 'i' | 'I' | 'c' | 'C' | 'd' | 'D' | 'w' | 'W' => self.without_set(),
            'p' | 'P' => {
                self.expect('{', "an opening brace")?;
                while self.next("a closing brace")? != '}' {}
                self.without_set()
            }
            _ => Err(self.expected("an escape that XML Schema has")),
        }
    }

    fn without_set(&mut self) -> Result<Characters, PatternError> {
        self.open = true;
        Ok(Characters::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    fn set(pattern: &str) -> Option<String> {
        let characters = characters(pattern).expect("a regular expression")?;
        Some(characters.restricted()?.into_iter().collect())
    }

    #[test]
    fn every_atom_counts_whatever_its_quantifier() {
        assert_eq!(set("a{0}(bc|d)*e?").as_deref(), Some("abcde"));
        assert_eq!(set("").as_deref(), Some(""));
    }

    #[test]
    fn classes_have_ranges_escapes_and_subtractions() {
        assert_eq!(set("[a-c\\-x]").as_deref(), Some("-abcx"));
        assert_eq!(set("[a-f-[b-d]]").as_deref(), Some("aef"));
        assert_eq!(set("[-a]").as_deref(), Some("-a"));
        assert_eq!(set("[a-]").as_deref(), Some("-a"));
        assert_eq!(set("\\s").as_deref(), Some("\t\n\r "));
        assert_eq!(set("[\\n-\\r]").map(|set| set.len()), Some(4));
    }

    #[test]
    fn escapes_that_depend_on_unicode_restrict_nothing() {
        for pattern in [
            "\\d",
            "[\\w]",
            "a|\\p{Lu}",
            "\\i\\c*",
            "[\\P{IsBasicLatin}]",
        ] {
            assert_eq!(set(pattern), None, "{pattern}");
        }
    }

    #[test]
    fn large_sets_restrict_nothing() {
        assert_eq!(set(".*"), None);
        assert_eq!(set("[^a]"), None);
    }

    #[test]
    fn what_is_no_regular_expression_is_refused_with_its_place() {
        for (pattern, at) in [
            ("a)", 1),
            ("(a", 2),
            ("[a", 2),
            ("*a", 0),
            ("a{", 2),
            ("\\q", 2),
        ] {
            assert_eq!(
                characters(pattern).map_err(|error| error.at),
                Err(at),
                "{pattern}"
            );
        }
    }
}
