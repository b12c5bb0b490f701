//! A place in a text, and the steps that are the same wherever one reads XML.

use super::chars::{CLASSES, NAME_END, find, is_name_char, is_name_start, is_space};
use super::error::XmlError;
use memchr::memmem;

/// A place in a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scan<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
}

impl<'t> Scan<'t> {
    pub(super) const fn new(text: &'t str, at: usize) -> Self {
        Self { text, at }
    }

    #[inline]
    pub(super) fn rest(&self) -> &'t [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The text from an offset up to here.
    #[inline]
    pub(super) fn since(&self, start: usize) -> &'t str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// Passes white space (production 3); whether there was any.
    #[inline]
    pub(super) fn space(&mut self) -> bool {
        let start = self.at;
        while self.peek().is_some_and(is_space) {
            self.at += 1;
        }
        self.at > start
    }

    pub(super) fn needs_space(&mut self) -> Result<(), XmlError> {
        match self.space() {
            true => Ok(()),
            false => Err(self.expected("white space")),
        }
    }

    /// Passes a mark, if it stands here.
    #[inline(always)]
    pub(super) fn accept(&mut self, mark: &str) -> bool {
        let stands = self.rest().starts_with(mark.as_bytes());
        if stands {
            self.at += mark.len();
        }
        stands
    }

    /// Passes a mark, which must stand here.
    #[inline(always)]
    pub(super) fn expect(&mut self, mark: &'static str) -> Result<(), XmlError> {
        match self.accept(mark) {
            true => Ok(()),
            false => Err(self.expected(mark)),
        }
    }

    /// That something else had to stand here.
    #[cold]
    pub(super) fn expected(&self, expected: &'static str) -> XmlError {
        match self.at >= self.text.len() {
            true => XmlError::truncated(self.text.len()),
            false => XmlError::expected(self.at, expected),
        }
    }

    /// Passes up to and over a mark; gives what stands before it.
    pub(super) fn until(&mut self, mark: &'static str) -> Result<&'t str, XmlError> {
        let Some(len) = memmem::find(self.rest(), mark.as_bytes()) else {
            return Err(XmlError::truncated(self.text.len()));
        };
        let start = self.at;
        self.at += len;
        let passed = self.since(start);
        self.at += mark.len();
        Ok(passed)
    }

    /// Passes a name with its colons (XML 1.0 production 5).
    pub(super) fn name(&mut self) -> Result<&'t str, XmlError> {
        let start = self.at;
        self.nmtoken()?;
        let name = self.since(start);
        match name.chars().next() {
            Some(first) if is_name_start(first) || first == ':' => Ok(name),
            _ => Err(XmlError::expected(start, "a name")),
        }
    }

    /// Passes a name without colons (Namespaces in XML, production 4).
    pub(super) fn ncname(&mut self) -> Result<&'t str, XmlError> {
        let start = self.at;
        let name = self.name()?;
        match name.find(':') {
            Some(colon) => Err(XmlError::expected(start + colon, "a name without a colon")),
            None => Ok(name),
        }
    }

    /// Passes name characters and colons (production 7).
    pub(super) fn nmtoken(&mut self) -> Result<&'t str, XmlError> {
        let start = self.at;
        loop {
            self.at = find(self.text.as_bytes(), self.at, NAME_END);
            let Some(next) = self
                .text
                .get(self.at..)
                .and_then(|rest| rest.chars().next())
            else {
                break;
            };
            if next.is_ascii() || !is_name_char(next) {
                break;
            }
            self.at += next.len_utf8();
        }
        match self.at > start {
            true => Ok(self.since(start)),
            false => Err(self.expected("a name")),
        }
    }

    /// Passes a text in quotes, with its offset.
    pub(super) fn quoted(&mut self, expected: &'static str) -> Result<(usize, &'t str), XmlError> {
        let mark = match self.peek() {
            Some(b'"') => "\"",
            Some(b'\'') => "'",
            _ => return Err(self.expected(expected)),
        };
        self.at += 1;
        Ok((self.at, self.until(mark)?))
    }

    /// Passes a character reference after its `&#` (production 66).
    pub(super) fn character(&mut self) -> Result<char, XmlError> {
        let start = self.at;
        let (radix, digits_at) = match self.accept("x") {
            true => (16, start + 1),
            false => (10, start),
        };
        let mut code = 0_u32;
        while let Some(digit) = self
            .peek()
            .and_then(|byte| char::from(byte).to_digit(radix))
        {
            code = code.saturating_mul(radix).saturating_add(digit);
            self.at += 1;
        }
        let some = self.at > digits_at;
        let character =
            char::from_u32(code).filter(|&character| some && super::chars::is_char(character));
        let character = character.ok_or(XmlError::expected(
            start,
            "the number of a character that XML allows",
        ))?;
        self.expect(";")?;
        Ok(character)
    }

    /// Whether a name can end before this byte: what is not ASCII may go on with it.
    #[inline]
    pub(super) fn ends_name(byte: u8) -> bool {
        byte < 0x80 && CLASSES[usize::from(byte)] & NAME_END != 0
    }
}
