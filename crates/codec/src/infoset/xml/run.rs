//! Values of attributes and runs of content: what they are once references are resolved.

use super::tag::Attribute;
use super::{Value, Xml};
use crate::error::DecodeError;
use crate::infoset::xml_chars::is_char;

impl<'a> Xml<'a> {
    /// White space becomes spaces (section 3.3.3), entities what they stand for.
    pub(super) fn set_attribute_value(
        &mut self,
        attribute: &Attribute<'a>,
    ) -> Result<(), DecodeError> {
        self.value_at = attribute.value_at;
        self.check_text(attribute.value_at, attribute.value.len())?;
        self.value = Value::Plain(attribute.value);
        if !attribute.value.contains(['&', '\t', '\n', '\r']) {
            return Ok(());
        }
        self.unescaped.clear();
        self.value = Value::Unescaped;
        let mut rest = attribute.value;
        while let Some(at) = rest.find(['&', '\t', '\n', '\r']) {
            self.unescaped.push(&rest.as_bytes()[..at]);
            rest = &rest[at..];
            let len = match rest.as_bytes() {
                [b'&', ..] => self.entity(
                    rest,
                    attribute.value_at + attribute.value.len() - rest.len(),
                )?,
                [b'\r', b'\n', ..] => 2,
                _ => 1,
            };
            if !rest.starts_with('&') {
                self.unescaped.push(b" ");
            }
            rest = &rest[len..];
        }
        self.unescaped.push(rest.as_bytes());
        Ok(())
    }

    /// Adds what the reference at the beginning of `text` stands for; gives its length.
    pub(super) fn entity(&mut self, text: &str, at: usize) -> Result<usize, DecodeError> {
        let what = DecodeError::expected(
            at,
            "a character reference or one of &lt; &gt; &amp; &quot; &apos;",
        );
        let end = text
            .bytes()
            .take(12)
            .position(|byte| byte == b';')
            .ok_or(what.clone())?;
        let character = match &text[1..end] {
            "lt" => Some('<'),
            "gt" => Some('>'),
            "amp" => Some('&'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            reference => numeric_reference(reference),
        };
        self.unescaped.push_char(character.ok_or(what)?);
        Ok(end + 1)
    }

    /// Reads content up to the next tag; says whether there is any.
    pub(super) fn read_run(&mut self) -> Result<bool, DecodeError> {
        self.event_at = self.at;
        self.value_at = self.at;
        let start = self.at;
        let len = plain_run(self.rest());
        self.check_text(start, len)?;
        self.at += len;
        self.value = Value::Plain(&self.text[start..self.at]);
        let rest = self.rest();
        let markup = rest.starts_with('<') && !rest.starts_with("<!") && !rest.starts_with("<?");
        if markup {
            return Ok(len > 0);
        }
        self.unescaped.clear();
        self.unescaped.push(&self.text.as_bytes()[start..self.at]);
        self.value = Value::Unescaped;
        while self.read_piece()? {
            self.check_text(start, self.unescaped.as_bytes().len())?;
        }
        Ok(!self.unescaped.as_bytes().is_empty())
    }

    /// Reads on where a run is not plain; says whether it goes on.
    pub(super) fn read_piece(&mut self) -> Result<bool, DecodeError> {
        let rest = self.rest();
        let len = plain_run(rest);
        if len > 0 {
            self.unescaped.push(&rest.as_bytes()[..len]);
            self.at += len;
            return Ok(true);
        }
        if self.misc()? {
            return Ok(true);
        }
        match rest.as_bytes() {
            [] => Err(DecodeError::truncated(self.at)),
            [b'&', ..] => {
                self.at += self.entity(rest, self.at)?;
                Ok(true)
            }
            [b'\r', ..] => {
                self.at += if rest.starts_with("\r\n") { 2 } else { 1 };
                self.unescaped.push(b"\n");
                Ok(true)
            }
            [b'<', b'!', ..] => self.character_data(),
            [b'<', ..] => Ok(false),
            _ => self.odd_character(),
        }
    }

    /// Reads `<![CDATA[...]]>`.
    pub(super) fn character_data(&mut self) -> Result<bool, DecodeError> {
        self.expect("<![CDATA[")?;
        let mut rest = self.until("]]>")?;
        while let Some((line, after)) = rest.split_once('\r') {
            self.unescaped.push(line.as_bytes());
            self.unescaped.push(b"\n");
            rest = after.strip_prefix('\n').unwrap_or(after);
        }
        self.unescaped.push(rest.as_bytes());
        Ok(true)
    }

    /// Reads a character that is rare or not allowed.
    pub(super) fn odd_character(&mut self) -> Result<bool, DecodeError> {
        let rest = self.rest();
        let character = rest.chars().next().filter(|&character| is_char(character));
        let what = DecodeError::expected(self.at, "a character that XML allows");
        let character = character.ok_or(what)?;
        if rest.starts_with("]]>") {
            return Err(DecodeError::expected(self.at, "no ]]> in content"));
        }
        self.unescaped.push_char(character);
        self.at += character.len_utf8();
        Ok(true)
    }
}

/// `#10` or `#xA`.
fn numeric_reference(reference: &str) -> Option<char> {
    let digits = reference.strip_prefix('#')?;
    let code = match digits.strip_prefix('x') {
        Some(hex) => u32::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    let character = char::from_u32(code.ok()?)?;
    is_char(character).then_some(character)
}

/// Number of bytes of content that stand for themselves; those from 0xEF on may begin U+FFFE.
fn plain_run(text: &str) -> usize {
    let special = |byte: u8| match byte {
        b'\t' | b'\n' => false,
        0..=0x1F | b'<' | b'&' | b']' | 0xEF => true,
        _ => false,
    };
    text.bytes().position(special).unwrap_or(text.len())
}
