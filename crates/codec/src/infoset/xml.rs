//! XML read: a pull parser for XML 1.0 with namespaces, over UTF-8.
//!
//! What it deliberately does not do: no document type, since entities are how small documents become
//! large ones; no other encoding; no entities in namespace names. It checks that tags match, that
//! attributes are unique, and every character. Names of open elements and namespaces in scope are
//! kept on the stack, within limits, so that reading allocates nothing but for long escaped runs.

mod run;
mod tag;

use self::tag::{Attribute, Namespace};
use crate::error::DecodeError;
use crate::infoset::xml_chars::{is_ascii_name, is_char, is_name_char, is_name_start, is_space};
use crate::infoset::{Event, Name, Pull};
use crate::lexical;
use crate::limits::{XML_ATTRIBUTES_MAX, XML_NAMESPACES_MAX};
use crate::syntax::DEPTH_MAX;
use crate::unescaped::Unescaped;
use weir_model::{Limits, Time};

/// Reads one document.
pub(crate) struct Xml<'a> {
    text: &'a str,
    at: usize,
    /// Offset of the event met last, and of its value.
    event_at: usize,
    value_at: usize,
    limits: &'a Limits,
    state: State,
    /// Names of the elements that are open, as written.
    open: [&'a str; DEPTH_MAX],
    depth: usize,
    attributes: [Attribute<'a>; XML_ATTRIBUTES_MAX],
    attribute_count: usize,
    namespaces: [Namespace<'a>; XML_NAMESPACES_MAX],
    namespace_count: usize,
    value: Value<'a>,
    unescaped: Unescaped,
    /// Whether the next run of content may be as long as the message.
    long: bool,
    /// What was wrong, once something was.
    failed: Option<DecodeError>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the root element.
    Prolog,
    /// Within a start tag, at this attribute; whether the element is empty.
    Attributes(usize, bool),
    /// Within an element.
    Content,
    /// An empty element is to be ended.
    Empty,
    /// After the root element.
    Epilog,
}

/// The value of the attribute or content met last.
#[derive(Clone, Copy)]
enum Value<'a> {
    Plain(&'a str),
    Unescaped,
}

impl<'a> Xml<'a> {
    pub(crate) fn new(text: &'a str, limits: &'a Limits) -> Self {
        Self {
            text,
            at: if text.starts_with('\u{FEFF}') { 3 } else { 0 },
            event_at: 0,
            value_at: 0,
            limits,
            state: State::Prolog,
            open: [""; DEPTH_MAX],
            depth: 0,
            attributes: [Attribute::default(); XML_ATTRIBUTES_MAX],
            attribute_count: 0,
            namespaces: [Namespace::default(); XML_NAMESPACES_MAX],
            namespace_count: 0,
            value: Value::Plain(""),
            unescaped: Unescaped::default(),
            long: false,
            failed: None,
        }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn byte(&self) -> Result<u8, DecodeError> {
        let byte = self.text.as_bytes().get(self.at).copied();
        byte.ok_or_else(|| DecodeError::truncated(self.at))
    }

    fn space(&mut self) -> bool {
        let start = self.at;
        while self
            .text
            .as_bytes()
            .get(self.at)
            .copied()
            .is_some_and(is_space)
        {
            self.at += 1;
        }
        self.at > start
    }

    fn expect(&mut self, mark: &'static str) -> Result<(), DecodeError> {
        if self.rest().starts_with(mark) {
            self.at += mark.len();
            return Ok(());
        }
        if mark.starts_with(self.rest()) {
            Err(DecodeError::truncated(self.text.len()))
        } else {
            Err(DecodeError::expected(self.at, mark))
        }
    }

    /// Passes up to and over a mark; gives what stands before it.
    fn until(&mut self, mark: &'static str) -> Result<&'a str, DecodeError> {
        let rest = self.rest();
        let end = rest
            .find(mark)
            .ok_or_else(|| DecodeError::truncated(self.text.len()))?;
        let passed = &rest[..end];
        if let Some((at, _)) = passed
            .char_indices()
            .find(|&(_, character)| !is_char(character))
        {
            return Err(DecodeError::expected(
                self.at + at,
                "a character that XML allows",
            ));
        }
        self.at += end + mark.len();
        Ok(passed)
    }

    /// Reads a name, as prefix and local name.
    fn name(&mut self) -> Result<(&'a str, &'a str), DecodeError> {
        let first = self.part()?;
        if !self.rest().starts_with(':') {
            return Ok(("", first));
        }
        self.at += 1;
        Ok((first, self.part()?))
    }

    fn part(&mut self) -> Result<&'a str, DecodeError> {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let ascii = bytes.iter().position(|&byte| !is_ascii_name(byte));
        let len = match ascii {
            Some(len) if bytes[len] < 0x80 => len,
            _ => rest
                .find(|character| !is_name_char(character))
                .unwrap_or(rest.len()),
        };
        match rest.chars().next() {
            None => return Err(DecodeError::truncated(self.at)),
            Some(first) if is_name_start(first) => {}
            Some(_) => return Err(DecodeError::expected(self.at, "a name")),
        }
        self.at += len;
        Ok(&rest[..len])
    }

    /// Passes a comment or processing instruction, if one stands here.
    fn misc(&mut self) -> Result<bool, DecodeError> {
        let rest = self.rest();
        if rest.starts_with("<!--") {
            self.at += 4;
            self.until("--")?;
            self.expect(">")?;
            return Ok(true);
        }
        if !rest.starts_with("<?") {
            return Ok(false);
        }
        self.at += 2;
        let start = self.at;
        let (prefix, target) = self.name()?;
        if prefix.is_empty() && target.eq_ignore_ascii_case("xml") {
            return Err(DecodeError::expected(
                start,
                "no XML declaration but at the very beginning",
            ));
        }
        self.until("?>")?;
        Ok(true)
    }

    /// Reads the XML declaration, which must not name another encoding.
    fn declaration(&mut self) -> Result<(), DecodeError> {
        let rest = self.rest();
        let follows = rest
            .strip_prefix("<?xml")
            .and_then(|rest| rest.bytes().next());
        if !follows.is_some_and(is_space) {
            return Ok(());
        }
        let start = self.at;
        let declaration = self.until("?>")?;
        let Some((_, after)) = declaration.split_once("encoding") else {
            return Ok(());
        };
        let value = after.trim_start_matches([' ', '\t', '\r', '\n', '=']);
        let name = value
            .trim_start_matches(['"', '\''])
            .split(['"', '\''])
            .next();
        let utf8 = |name: &str| {
            ["utf-8", "us-ascii"]
                .iter()
                .any(|own| own.eq_ignore_ascii_case(name))
        };
        if name.is_some_and(utf8) {
            Ok(())
        } else {
            Err(DecodeError::expected(start, "the encoding UTF-8"))
        }
    }

    fn prolog(&mut self) -> Result<Event<'a>, DecodeError> {
        if self.event_at == 0 {
            self.declaration()?;
        }
        loop {
            self.space();
            if !self.misc()? {
                break;
            }
        }
        if self.rest().starts_with("<!DOCTYPE") {
            return Err(DecodeError::expected(
                self.at,
                "an element: document types (DOCTYPE) are not read",
            ));
        }
        if self.byte()? != b'<' {
            return Err(DecodeError::expected(self.at, "an element"));
        }
        self.start_tag()
    }

    fn epilog(&mut self) -> Result<Event<'a>, DecodeError> {
        loop {
            self.space();
            if !self.misc()? {
                break;
            }
        }
        self.event_at = self.at;
        if self.at == self.text.len() {
            Ok(Event::Done)
        } else {
            Err(DecodeError::expected(self.at, "the end of the document"))
        }
    }

    fn check_text(&self, at: usize, len: usize) -> Result<(), DecodeError> {
        let limit = self.limits.text_bytes;
        if len > limit && !self.long {
            Err(DecodeError::over(at, "bytes of a string", limit))
        } else {
            Ok(())
        }
    }

    fn content(&mut self) -> Result<Event<'a>, DecodeError> {
        let found = self.read_run()?;
        self.long = false;
        if found {
            return Ok(Event::Content);
        }
        self.event_at = self.at;
        if self.rest().starts_with("</") {
            self.end_tag()
        } else {
            self.start_tag()
        }
    }

    fn end_tag(&mut self) -> Result<Event<'a>, DecodeError> {
        self.at += 2;
        let start = self.at;
        self.name()?;
        let open = self.open[self.depth - 1];
        if self.text[start..self.at] != *open {
            if self.at == self.text.len() && open.starts_with(&self.text[start..]) {
                return Err(DecodeError::truncated(self.at));
            }
            return Err(DecodeError::expected(
                start,
                "the end tag of the element begun last",
            ));
        }
        self.space();
        self.expect(">")?;
        Ok(self.leave())
    }

    fn advance(&mut self) -> Result<Event<'a>, DecodeError> {
        match self.state {
            State::Prolog => self.prolog(),
            State::Attributes(index, empty) => self.next_attribute(index, empty),
            State::Content => self.content(),
            State::Empty => Ok(self.leave()),
            State::Epilog => self.epilog(),
        }
    }

    fn leave(&mut self) -> Event<'static> {
        let depth = self.depth;
        let kept = self.namespaces[..self.namespace_count].iter();
        self.namespace_count = kept.take_while(|namespace| namespace.depth < depth).count();
        self.depth -= 1;
        self.state = if self.depth == 0 {
            State::Epilog
        } else {
            State::Content
        };
        Event::End
    }
}

impl Pull for Xml<'_> {
    #[allow(
        clippy::misnamed_getters,
        reason = "`at` is where the parser is, not the event"
    )]
    fn at(&self) -> usize {
        self.event_at
    }

    /// A document that is not well-formed has no events behind the error.
    fn next(&mut self) -> Result<Event<'_>, DecodeError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let event = self.advance();
        if let Err(error) = &event {
            self.failed = Some(error.clone());
        }
        event
    }

    fn text(&self) -> &str {
        match self.value {
            Value::Plain(text) => text,
            Value::Unescaped => self.unescaped.as_str(),
        }
    }

    fn number(&self) -> Result<f64, DecodeError> {
        lexical::double(self.text().trim_ascii(), self.value_at)
    }

    fn time(&self) -> Result<Time, DecodeError> {
        let text = self.text();
        let lead = text.len() - text.trim_ascii_start().len();
        let time = Time::parse_rfc3339(text.trim_ascii().as_bytes());
        time.map_err(|error| DecodeError::expected(self.value_at + lead + error.at, error.expected))
    }

    fn name(&self) -> Result<Name<'_>, DecodeError> {
        let text = self.text().trim_ascii();
        let (prefix, local) = text.split_once(':').unwrap_or(("", text));
        let uri = self.resolve(prefix, self.value_at)?;
        Ok(Name { uri, local })
    }

    fn long(&mut self) {
        self.long = true;
    }
}
