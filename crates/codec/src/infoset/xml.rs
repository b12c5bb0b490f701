//! XML read: a pull parser for XML 1.0 with namespaces, over UTF-8.
//!
//! What it deliberately does not do: no document type, since entities are how small documents become
//! large ones; no other encoding; no entities in namespace names. It checks that tags match, that
//! attributes are unique, and every character. Names of open elements and namespaces in scope are
//! kept on the stack, within limits, so that reading allocates nothing but for long escaped runs.

use crate::error::DecodeError;
use crate::infoset::xml_chars::{is_char, is_name_char, is_name_start, is_space};
use crate::infoset::{Event, Name, Pull};
use crate::lexical;
use crate::limits::{XML_ATTRIBUTES_MAX, XML_NAMESPACES_MAX};
use crate::syntax::DEPTH_MAX;
use crate::unescaped::Unescaped;
use weir_model::{Limits, Time};

const XML_URI: &str = "http://www.w3.org/XML/1998/namespace";

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

#[derive(Clone, Copy, Default)]
struct Attribute<'a> {
    at: usize,
    prefix: &'a str,
    local: &'a str,
    value_at: usize,
    value: &'a str,
}

impl Attribute<'_> {
    /// Says whether it declares a namespace and hence is no attribute of the infoset.
    fn declares(&self) -> bool {
        self.prefix == "xmlns" || (self.prefix.is_empty() && self.local == "xmlns")
    }
}

#[derive(Clone, Copy, Default)]
struct Namespace<'a> {
    depth: usize,
    prefix: &'a str,
    uri: &'a str,
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
        }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn byte(&self) -> Result<u8, DecodeError> {
        let byte = self.text.as_bytes().get(self.at).copied();
        byte.ok_or(DecodeError::truncated(self.at))
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
        match mark.starts_with(self.rest()) {
            true => Err(DecodeError::truncated(self.text.len())),
            false => Err(DecodeError::expected(self.at, mark)),
        }
    }

    /// Passes up to and over a mark; gives what stands before it.
    fn until(&mut self, mark: &'static str) -> Result<&'a str, DecodeError> {
        let rest = self.rest();
        let end = rest
            .find(mark)
            .ok_or(DecodeError::truncated(self.text.len()))?;
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
        match rest.chars().next() {
            None => return Err(DecodeError::truncated(self.at)),
            Some(first) if !is_name_start(first) => {
                return Err(DecodeError::expected(self.at, "a name"));
            }
            Some(_) => {}
        }
        let len = rest
            .find(|character| !is_name_char(character))
            .unwrap_or(rest.len());
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
        match name.is_some_and(utf8) {
            true => Ok(()),
            false => Err(DecodeError::expected(start, "the encoding UTF-8")),
        }
    }

    fn prolog(&mut self) -> Result<Event<'_>, DecodeError> {
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
                "no document type: none is read",
            ));
        }
        if self.byte()? != b'<' {
            return Err(DecodeError::expected(self.at, "an element"));
        }
        self.start_tag()
    }

    fn epilog(&mut self) -> Result<Event<'_>, DecodeError> {
        loop {
            self.space();
            if !self.misc()? {
                break;
            }
        }
        self.event_at = self.at;
        match self.at == self.text.len() {
            true => Ok(Event::Done),
            false => Err(DecodeError::expected(self.at, "the end of the document")),
        }
    }

    /// Reads a start tag whole, since its namespaces may be declared after they are used.
    fn start_tag(&mut self) -> Result<Event<'_>, DecodeError> {
        self.event_at = self.at;
        self.expect("<")?;
        let start = self.at;
        let (prefix, local) = self.name()?;
        let limit = self.limits.depth.min(DEPTH_MAX);
        if self.depth >= limit {
            return Err(DecodeError::over(self.event_at, "nesting", limit));
        }
        self.open[self.depth] = &self.text[start..self.at];
        self.depth += 1;
        let empty = self.read_attributes()?;
        self.declare_namespaces()?;
        self.check_unique()?;
        self.state = State::Attributes(0, empty);
        let uri = self.resolve(prefix, start)?;
        Ok(Event::Start(Name { uri, local }))
    }

    /// Reads attributes up to the end of the tag; says whether the element is empty.
    fn read_attributes(&mut self) -> Result<bool, DecodeError> {
        self.attribute_count = 0;
        loop {
            let spaced = self.space();
            match self.byte()? {
                b'>' => {
                    self.at += 1;
                    return Ok(false);
                }
                b'/' => {
                    self.expect("/>")?;
                    return Ok(true);
                }
                _ if !spaced => {
                    return Err(DecodeError::expected(
                        self.at,
                        "white space before an attribute",
                    ));
                }
                _ => self.read_attribute()?,
            }
        }
    }

    fn read_attribute(&mut self) -> Result<(), DecodeError> {
        let at = self.at;
        let (prefix, local) = self.name()?;
        self.space();
        self.expect("=")?;
        self.space();
        let quote = match self.byte()? {
            b'"' => "\"",
            b'\'' => "'",
            _ => return Err(DecodeError::expected(self.at, "a value in quotes")),
        };
        self.at += 1;
        let value_at = self.at;
        let value = self.until(quote)?;
        if let Some(less) = value.find('<') {
            return Err(DecodeError::expected(
                value_at + less,
                "no < in an attribute",
            ));
        }
        let Some(room) = self.attributes.get_mut(self.attribute_count) else {
            return Err(DecodeError::over(at, "attributes", XML_ATTRIBUTES_MAX));
        };
        *room = Attribute {
            at,
            prefix,
            local,
            value_at,
            value,
        };
        self.attribute_count += 1;
        Ok(())
    }

    fn declare_namespaces(&mut self) -> Result<(), DecodeError> {
        for index in 0..self.attribute_count {
            let attribute = self.attributes[index];
            if !attribute.declares() {
                continue;
            }
            if attribute.value.contains('&') {
                let what = "a namespace name without entities";
                return Err(DecodeError::expected(attribute.value_at, what));
            }
            let prefix = if attribute.prefix.is_empty() {
                ""
            } else {
                attribute.local
            };
            let Some(room) = self.namespaces.get_mut(self.namespace_count) else {
                return Err(DecodeError::over(
                    attribute.at,
                    "namespaces",
                    XML_NAMESPACES_MAX,
                ));
            };
            *room = Namespace {
                depth: self.depth,
                prefix,
                uri: attribute.value,
            };
            self.namespace_count += 1;
        }
        Ok(())
    }

    fn check_unique(&self) -> Result<(), DecodeError> {
        let attributes = &self.attributes[..self.attribute_count];
        for (index, one) in attributes.iter().enumerate() {
            for other in &attributes[..index] {
                let same = one.local == other.local
                    && (one.prefix == other.prefix
                        || (!one.prefix.is_empty()
                            && !other.prefix.is_empty()
                            && self.bound(one.prefix) == self.bound(other.prefix)));
                if same {
                    return Err(DecodeError::expected(one.at, "each attribute once"));
                }
            }
        }
        Ok(())
    }

    fn bound(&self, prefix: &str) -> Option<&'a str> {
        let inner_first = self.namespaces[..self.namespace_count].iter().rev();
        let mut bound = inner_first.filter(|namespace| namespace.prefix == prefix);
        match bound.next() {
            Some(namespace) => Some(namespace.uri),
            None if prefix == "xml" => Some(XML_URI),
            None => None,
        }
    }

    fn resolve(&self, prefix: &str, at: usize) -> Result<&'a str, DecodeError> {
        match self.bound(prefix) {
            Some(uri) => Ok(uri),
            None if prefix.is_empty() => Ok(""),
            None => Err(DecodeError::expected(
                at,
                "a prefix that is bound to a namespace",
            )),
        }
    }

    fn next_attribute(&mut self, from: usize, empty: bool) -> Result<Event<'_>, DecodeError> {
        let attributes = &self.attributes[..self.attribute_count];
        let mut rest = attributes.iter().enumerate().skip(from);
        let Some((index, &attribute)) = rest.find(|(_, attribute)| !attribute.declares()) else {
            self.state = if empty { State::Empty } else { State::Content };
            return self.next();
        };
        self.state = State::Attributes(index + 1, empty);
        self.event_at = attribute.at;
        self.set_attribute_value(&attribute)?;
        // Attributes without a prefix are in no namespace.
        let uri = match attribute.prefix {
            "" => "",
            prefix => self.resolve(prefix, attribute.at)?,
        };
        Ok(Event::Attribute(Name {
            uri,
            local: attribute.local,
        }))
    }

    /// White space becomes spaces (section 3.3.3), entities what they stand for.
    fn set_attribute_value(&mut self, attribute: &Attribute<'a>) -> Result<(), DecodeError> {
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
    fn entity(&mut self, text: &str, at: usize) -> Result<usize, DecodeError> {
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

    fn check_text(&self, at: usize, len: usize) -> Result<(), DecodeError> {
        match len > self.limits.text_bytes {
            true => Err(DecodeError::over(
                at,
                "bytes of a string",
                self.limits.text_bytes,
            )),
            false => Ok(()),
        }
    }

    fn content(&mut self) -> Result<Event<'_>, DecodeError> {
        if self.read_run()? {
            return Ok(Event::Content);
        }
        self.event_at = self.at;
        match self.rest().starts_with("</") {
            true => self.end_tag(),
            false => self.start_tag(),
        }
    }

    fn end_tag(&mut self) -> Result<Event<'_>, DecodeError> {
        self.at += 2;
        let start = self.at;
        self.name()?;
        if self.text[start..self.at] != *self.open[self.depth - 1] {
            return Err(DecodeError::expected(
                start,
                "the end tag of the element begun last",
            ));
        }
        self.space();
        self.expect(">")?;
        Ok(self.leave())
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

    /// Reads content up to the next tag; says whether there is any.
    fn read_run(&mut self) -> Result<bool, DecodeError> {
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
    fn read_piece(&mut self) -> Result<bool, DecodeError> {
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
    fn character_data(&mut self) -> Result<bool, DecodeError> {
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
    fn odd_character(&mut self) -> Result<bool, DecodeError> {
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

impl Pull for Xml<'_> {
    fn at(&self) -> usize {
        self.event_at
    }

    fn next(&mut self) -> Result<Event<'_>, DecodeError> {
        match self.state {
            State::Prolog => self.prolog(),
            State::Attributes(index, empty) => self.next_attribute(index, empty),
            State::Content => self.content(),
            State::Empty => Ok(self.leave()),
            State::Epilog => self.epilog(),
        }
    }

    fn text(&self) -> &str {
        match self.value {
            Value::Plain(text) => text,
            Value::Unescaped => self.unescaped.as_str(),
        }
    }

    fn number(&self) -> Result<f64, DecodeError> {
        let number = lexical::number(self.text().trim_ascii());
        number.ok_or(DecodeError::expected(self.value_at, "a number"))
    }

    fn time(&self) -> Result<Time, DecodeError> {
        let text = self.text();
        let lead = text.len() - text.trim_ascii_start().len();
        let time = Time::parse_rfc3339(text.trim_ascii().as_bytes());
        time.map_err(|error| DecodeError::expected(self.value_at + lead + error.at, error.expected))
    }

    fn namespace(&self, prefix: &str) -> Option<&str> {
        self.bound(prefix)
    }
}
