//! The terminals of Turtle (RDF 1.1 Turtle section 6.5): space, IRIs, labels, strings, numbers.

use super::iri::is_allowed;
use crate::error::DecodeError;
use crate::limits::RDF_IRI_BYTES_MAX;
use alloc::string::String;
use weir_model::Limits;

/// Reads one terminal after the other.
pub(crate) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    limits: &'a Limits,
    /// What the terminal read last says, where it does not stand in the text as it is.
    pub(crate) value: String,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str, limits: &'a Limits) -> Self {
        let value = String::new();
        let at = if text.starts_with('\u{FEFF}') { 3 } else { 0 };
        Self {
            text,
            at,
            limits,
            value,
        }
    }

    /// Offset of what stands next.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// What is left.
    pub(crate) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The byte that stands next; `None` at the end.
    pub(crate) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(crate) fn truncated(&self) -> DecodeError {
        DecodeError::truncated(self.text.len())
    }

    /// An error about what stands next; at the end it is that the message ends too early.
    pub(crate) fn expected(&self, what: &'static str) -> DecodeError {
        match self.peek() {
            None => self.truncated(),
            Some(_) => DecodeError::expected(self.at, what),
        }
    }

    /// Passes white space and comments.
    pub(crate) fn space(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                b'#' => {
                    let rest = self.rest();
                    self.at += rest.find(['\n', '\r']).unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    /// Passes a mark, if it stands next.
    pub(crate) fn eat(&mut self, mark: &str) -> bool {
        let there = self.rest().starts_with(mark);
        if there {
            self.at += mark.len();
        }
        there
    }

    pub(crate) fn expect(&mut self, mark: &'static str) -> Result<(), DecodeError> {
        self.space();
        if self.eat(mark) {
            Ok(())
        } else {
            Err(self.expected(mark))
        }
    }

    /// Passes a word whatever its case, if white space or `<` follows it.
    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let there = self
            .rest()
            .get(..word.len())
            .is_some_and(|own| own.eq_ignore_ascii_case(word));
        let after = self.text.as_bytes().get(self.at + word.len());
        let ends = after.is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b'<');
        if there && ends {
            self.at += word.len();
        }
        there && ends
    }

    fn next_char(&mut self) -> Result<char, DecodeError> {
        let next = self.rest().chars().next();
        let character = next.ok_or_else(|| self.truncated())?;
        self.at += character.len_utf8();
        Ok(character)
    }

    /// Reads `<...>` into [`Self::value`].
    pub(crate) fn iri(&mut self) -> Result<(), DecodeError> {
        let start = self.at;
        if !self.eat("<") {
            return Err(self.expected("an IRI"));
        }
        self.value.clear();
        loop {
            let at = self.at;
            match self.next_char()? {
                '>' => return Ok(()),
                '\\' => self.unicode_escape()?,
                character if is_allowed(character) => self.value.push(character),
                _ => return Err(DecodeError::expected(at, "a character that an IRI allows")),
            }
            self.check_iri(start)?;
        }
    }

    /// Refuses an IRI in [`Self::value`] that is too long.
    pub(crate) fn check_iri(&self, start: usize) -> Result<(), DecodeError> {
        if self.value.len() > RDF_IRI_BYTES_MAX {
            Err(DecodeError::over(
                start,
                "bytes of an IRI",
                RDF_IRI_BYTES_MAX,
            ))
        } else {
            Ok(())
        }
    }

    /// Reads `uXXXX` or `UXXXXXXXX` behind a backslash.
    fn unicode_escape(&mut self) -> Result<(), DecodeError> {
        let start = self.at - 1;
        let what = "an escape of a character: \\uXXXX or \\UXXXXXXXX";
        let digits = match self.next_char()? {
            'u' => 4,
            'U' => 8,
            _ => return Err(DecodeError::expected(start, what)),
        };
        let mut code = 0;
        for _ in 0..digits {
            let digit = self.next_char()?.to_digit(16);
            code = code * 16 + digit.ok_or_else(|| DecodeError::expected(start, what))?;
        }
        let character = char::from_u32(code);
        self.value
            .push(character.ok_or_else(|| DecodeError::expected(start, what))?);
        Ok(())
    }

    /// Reads the prefix of a name, up to its colon.
    pub(crate) fn prefix(&mut self) -> Result<&'a str, DecodeError> {
        let rest = self.rest();
        let len = rest
            .find(|character: char| !is_name(character) && character != '.')
            .unwrap_or(rest.len());
        if !rest[len..].starts_with(':') {
            return Err(if len == rest.len() {
                self.truncated()
            } else {
                self.expected("a node: an IRI, a name with a prefix, a label or a literal")
            });
        }
        self.at += len + 1;
        Ok(&rest[..len])
    }

    /// Adds the local part of a name to [`Self::value`].
    pub(crate) fn local(&mut self) -> Result<(), DecodeError> {
        loop {
            let rest = self.rest();
            let plain = |character: char| is_name(character) || matches!(character, ':' | '%');
            let len = rest
                .find(|character: char| !plain(character))
                .unwrap_or(rest.len());
            self.value.push_str(&rest[..len]);
            self.at += len;
            match rest.as_bytes()[len..] {
                // A dot ends the statement, unless the name goes on.
                [b'.', next, ..] if plain(char::from(next)) || next == b'.' || next >= 0x80 => {
                    self.value.push('.');
                    self.at += 1;
                }
                [b'\\', escaped, ..] if escaped.is_ascii_punctuation() => {
                    self.value.push(char::from(escaped));
                    self.at += 2;
                }
                _ => return Ok(()),
            }
        }
    }

    /// Reads a label behind `_:`.
    pub(crate) fn label(&mut self) -> Result<&'a str, DecodeError> {
        let rest = self.rest();
        let len = rest
            .find(|character: char| !is_name(character) && character != '.')
            .unwrap_or(rest.len());
        let label = rest[..len].trim_end_matches('.');
        if label.is_empty() {
            return Err(self.expected("a label"));
        }
        self.at += label.len();
        Ok(label)
    }

    /// Reads a string in any of the four kinds of quotes into [`Self::value`].
    pub(crate) fn string(&mut self) -> Result<(), DecodeError> {
        let start = self.at;
        let quote = ["\"\"\"", "'''", "\"", "'"]
            .into_iter()
            .find(|quote| self.rest().starts_with(quote));
        let Some(quote) = quote else {
            return Err(self.expected("a string"));
        };
        self.at += quote.len();
        self.value.clear();
        let long = quote.len() == 3;
        let mark = quote.as_bytes()[0];
        loop {
            let rest = self.rest();
            let special = |byte: u8| matches!(byte, b'\\' | b'\n' | b'\r') || byte == mark;
            let len = rest.bytes().position(special).unwrap_or(rest.len());
            self.value.push_str(&rest[..len]);
            self.check_string(start)?;
            self.at += len;
            if self.eat(quote) {
                return Ok(());
            }
            match self.next_char()? {
                '\\' => self.string_escape()?,
                '\n' | '\r' if !long => {
                    return Err(DecodeError::expected(
                        self.at - 1,
                        "no line break in a string",
                    ));
                }
                character => self.value.push(character),
            }
        }
    }

    fn check_string(&self, start: usize) -> Result<(), DecodeError> {
        let limit = self.limits.text_bytes;
        if self.value.len() > limit {
            Err(DecodeError::over(start, "bytes of a string", limit))
        } else {
            Ok(())
        }
    }

    fn string_escape(&mut self) -> Result<(), DecodeError> {
        let character = match self.peek() {
            Some(b't') => '\t',
            Some(b'b') => '\u{8}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b'f') => '\u{C}',
            Some(byte @ (b'"' | b'\'' | b'\\')) => char::from(byte),
            _ => return self.unicode_escape(),
        };
        self.value.push(character);
        self.at += 1;
        Ok(())
    }

    /// Reads a number, if one stands next.
    pub(crate) fn number(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let mut len = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
        let sign = len;
        let digits = |from: usize| {
            bytes[from..]
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
        };
        len += digits(len).count();
        if let [b'.', after, ..] = bytes[len..]
            && (after.is_ascii_digit() || matches!(after, b'e' | b'E'))
        {
            len += 1;
            len += digits(len).count();
        }
        if !bytes[sign..len].iter().any(u8::is_ascii_digit) {
            return None;
        }
        if let Some(b'e' | b'E') = bytes.get(len) {
            let signed = matches!(bytes.get(len + 1), Some(b'+' | b'-'));
            let from = len + 1 + usize::from(signed);
            let count = bytes.get(from..).map_or(0, |_| digits(from).count());
            if count > 0 {
                len = from + count;
            }
        }
        self.at += len;
        Some(&rest[..len])
    }
}

/// Characters of names, but for the dot, which may not end one (productions PN_CHARS and around).
fn is_name(character: char) -> bool {
    character.is_alphanumeric()
        || matches!(character, '_' | '-')
        || (character > '\u{B6}' && !character.is_whitespace() && !character.is_control())
}
