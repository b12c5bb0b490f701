//! Start and end tags (XML 1.0 section 3.1; Namespaces in XML sections 3, 6.3).

use super::{Found, Input, Span, State, Step};
use crate::event::{Event, NameHint, QName};
use crate::limits::Limit;
use crate::value::Value;
use crate::xml::chars::{find_in_value, is_space};
use crate::xml::entity::{Expansion, collapse};
use crate::xml::error::XmlError;
use crate::xml::names::{DEFAULT, Hint, Prefix, Tag, Uri, XML, XMLNS};
use crate::xml::namespaces::{NONE, XML_URI, XMLNS_URI, XSI};
use crate::xml::scan::Scan;
use core::ops::Range;

/// An attribute of the start tag read last.
#[derive(Debug)]
pub(super) struct Attribute {
    /// Offset of its name.
    pub(super) at: usize,
    pub(super) tag: Tag,
    pub(super) uri: Uri,
    pub(super) hint: Hint,
    pub(super) value: Span,
}

impl Attribute {
    /// A value that stands in the text.
    #[inline(always)]
    pub(super) fn here<'t>(&self, text: &'t str) -> &'t str {
        spanned(self.value, text, "")
    }
}

/// The value of `xsi:type`, resolved.
#[derive(Debug)]
pub(super) struct TypeName {
    prefix: Range<usize>,
    local: Range<usize>,
    uri: Uri,
    hint: Hint,
}

impl State {
    /// Reads a start tag.
    pub(super) fn start_tag(&mut self, input: Input<'_>) -> Result<Found, XmlError> {
        let text = self.text(input);
        let mut scan = Scan::new(text, self.at + 1);
        self.event_at = self.at;
        self.attributes.clear();
        self.declarations.clear();
        self.buffer.clear();
        self.type_name = None;
        let tag = self.names.pass(&mut scan, &input.settings.limits)?;
        if self.open.len() >= input.settings.limits.depth as usize {
            return Err(XmlError::over(self.at, Limit::Depth));
        }
        self.empty = loop {
            match scan.peek() {
                Some(b'>') => break false,
                Some(b'/') => {
                    scan.at += 1;
                    break true;
                }
                Some(byte) if is_space(byte) => {
                    scan.space();
                    if !matches!(scan.peek(), Some(b'>' | b'/')) {
                        self.attribute(&mut scan, input)?;
                    }
                }
                _ => return Err(scan.expected("white space, > or />")),
            }
        };
        scan.expect(">")?;
        self.defaults(tag, input)?;
        self.serial = self.serial.wrapping_add(1);
        self.open.push(tag);
        self.bind(text, input)?;
        self.resolve(tag, text)?;
        self.at = scan.at;
        self.step = Step::Attributes(0);
        Ok(Found::StartElement)
    }

    #[inline]
    fn attribute(&mut self, scan: &mut Scan<'_>, input: Input<'_>) -> Result<(), XmlError> {
        let at = scan.at;
        let tag = self.names.pass(scan, &input.settings.limits)?;
        if scan.peek() != Some(b'=') {
            scan.space();
        }
        scan.expect("=")?;
        let value = self.value(scan, input)?;
        self.add(
            Attribute {
                at,
                tag,
                uri: NONE,
                hint: 0,
                value,
            },
            input,
        )
    }

    fn add(&mut self, attribute: Attribute, input: Input<'_>) -> Result<(), XmlError> {
        let count = self.declarations.len() + self.attributes.len();
        if count >= input.settings.limits.attributes as usize {
            return Err(XmlError::over(attribute.at, Limit::Attributes));
        }
        match self.names.declares(attribute.tag) {
            Some(_) => self.declarations.push(attribute),
            None => self.attributes.push(attribute),
        }
        Ok(())
    }

    /// Reads a value in quotes, which is borrowed if it stands there as it is.
    #[inline]
    fn value(&mut self, scan: &mut Scan<'_>, input: Input<'_>) -> Result<Span, XmlError> {
        if scan.peek().is_some_and(is_space) {
            scan.space();
        }
        let Some(quote @ (b'"' | b'\'')) = scan.peek() else {
            return Err(scan.expected("a value in quotes"));
        };
        let start = scan.at + 1;
        scan.at = find_in_value(scan.text.as_bytes(), start, quote);
        let span = match scan.peek() {
            Some(end) if end == quote => Span::Here(start, scan.at),
            _ => self.normalized_value(scan, start, quote, input)?,
        };
        if (scan.at - start) as u64 > input.settings.limits.value_bytes {
            return Err(XmlError::over(start, Limit::ValueBytes));
        }
        scan.at += 1;
        Ok(span)
    }

    /// Normalizes a value that does not stand there as it is; leaves the scan at its closing quote.
    fn normalized_value(
        &mut self,
        scan: &mut Scan<'_>,
        start: usize,
        quote: u8,
        input: Input<'_>,
    ) -> Result<Span, XmlError> {
        let Some(len) = memchr::memchr(quote, scan.rest()) else {
            return Err(XmlError::truncated(scan.text.len()));
        };
        scan.at += len;
        let mut expansion = Expansion::new(input.doctype, &input.settings.limits);
        expansion.resume(self.expanded, !self.frames.is_empty());
        let from = self.buffer.len();
        expansion.attribute(Scan::new(&scan.text[..scan.at], start), &mut self.buffer)?;
        self.expanded = expansion.expanded;
        Ok(Span::Buffer(from, self.buffer.len()))
    }

    /// Adds the attributes that the document type declares, and collapses those whose type asks for it.
    fn defaults(&mut self, tag: Tag, input: Input<'_>) -> Result<(), XmlError> {
        let declared = input.doctype.attributes(self.names.as_written(tag));
        for declared in declared {
            let name = self
                .names
                .named(&declared.name, self.at, &input.settings.limits)?;
            let written = self.attributes.iter_mut().chain(&mut self.declarations);
            let written = { written }.find(|attribute| attribute.tag == name);
            let from = self.buffer.len();
            match (written.is_some(), &declared.default) {
                (true, _) if declared.tokenized => self.collapse_value(name, input),
                (false, Some(default)) => {
                    self.buffer.push_str(default);
                    let value = Span::Buffer(from, self.buffer.len());
                    self.add(
                        Attribute {
                            at: self.at,
                            tag: name,
                            uri: NONE,
                            hint: 0,
                            value,
                        },
                        input,
                    )?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn collapse_value(&mut self, name: Tag, input: Input<'_>) {
        let text = self.text(input);
        for attribute in self.attributes.iter_mut().chain(&mut self.declarations) {
            if attribute.tag != name {
                continue;
            }
            let from = self.buffer.len();
            match attribute.value {
                Span::Here(start, end) => self
                    .buffer
                    .push_str(text.get(start..end).unwrap_or_default()),
                Span::Buffer(start, end) => self.buffer.extend_from_within(start..end),
            }
            collapse(&mut self.buffer, from);
            attribute.value = Span::Buffer(from, self.buffer.len());
        }
    }

    /// Binds the prefixes that the tag declares.
    fn bind(&mut self, text: &str, input: Input<'_>) -> Result<(), XmlError> {
        for declaration in &mut self.declarations {
            let Some(prefix) = self.names.declares(declaration.tag) else {
                continue;
            };
            let uri = spanned(declaration.value, text, &self.buffer);
            if let Some(expected) = forbidden(prefix, uri) {
                return Err(XmlError::expected(declaration.at, expected));
            }
            declaration.hint = self.names.resolve(declaration.tag, 2);
            once(&mut self.marks, &self.names, self.serial, declaration)?;
            self.namespaces.bind(prefix, uri, self.open.len() as u32);
            if self.namespaces.bytes() > input.settings.limits.table_bytes {
                return Err(XmlError::over(declaration.at, Limit::TableBytes));
            }
        }
        Ok(())
    }

    /// Finds out the namespaces of the element and its attributes.
    #[inline]
    fn resolve(&mut self, tag: Tag, text: &str) -> Result<(), XmlError> {
        let unbound = |at| XmlError::expected(at, "a prefix that is bound to a namespace");
        let prefix = self.names.prefix_of(tag);
        if prefix == XMLNS {
            // Namespaces in XML section 3: element names MUST NOT have the prefix xmlns.
            return Err(XmlError::expected(self.at + 1, "another prefix than xmlns"));
        }
        let Some(uri) = self.namespaces.of(prefix) else {
            return Err(unbound(self.at + 1));
        };
        self.element = (tag, uri, self.names.resolve(tag, uri));
        for index in 0..self.attributes.len() {
            let attribute = &mut self.attributes[index];
            let prefix = self.names.prefix_of(attribute.tag);
            if prefix != DEFAULT {
                attribute.uri = self
                    .namespaces
                    .of(prefix)
                    .ok_or_else(|| unbound(attribute.at))?;
            }
            attribute.hint = self.names.resolve(attribute.tag, attribute.uri);
            once(&mut self.marks, &self.names, self.serial, attribute)?;
            if attribute.uri == XSI {
                self.schema_instance(index, text);
            }
        }
        Ok(())
    }

    /// Puts `xsi:type` first and `xsi:nil` before all others (EXI 1.0 section 4).
    fn schema_instance(&mut self, index: usize, text: &str) {
        let place = match self.names.parts(self.attributes[index].tag).1 {
            "type" => 0,
            "nil" => usize::from(self.type_name.is_some()),
            _ => return,
        };
        self.attributes[place..=index].rotate_right(1);
        let is_type = self.names.parts(self.attributes[place].tag).1 == "type";
        if is_type {
            self.type_name = self.type_name_of(self.attributes[0].value, text);
        }
    }

    /// Resolves the name of a type; none where it is no name, or its prefix is not bound.
    fn type_name_of(&mut self, value: Span, text: &str) -> Option<TypeName> {
        let whole = spanned(value, text, &self.buffer);
        let is_blank = |character| matches!(character, ' ' | '\t' | '\n' | '\r');
        let trimmed = whole.trim_matches(is_blank);
        let offset = whole.len() - whole.trim_start_matches(is_blank).len();
        let (prefix, local) = trimmed.split_once(':').unwrap_or(("", trimmed));
        Scan::new(local, 0)
            .ncname()
            .ok()
            .filter(|name| name.len() == local.len())?;
        // Nothing else can declare the namespace of this prefix, so no type is in it.
        let prefix_id = self.names.known_prefix(prefix).filter(|id| *id != XMLNS)?;
        let uri = self.namespaces.of(prefix_id)?;
        let hint = self.names.hint(uri, local);
        let end = offset + trimmed.len();
        Some(TypeName {
            prefix: offset..offset + prefix.len(),
            local: end - local.len()..end,
            uri,
            hint,
        })
    }

    /// The event of a namespace declaration.
    #[inline]
    pub(super) fn declaration_event<'t>(&'t self, index: usize, input: Input<'t>) -> Event<'t> {
        let Some(declaration) = self.declarations.get(index) else {
            return Event::EndDocument;
        };
        let (xmlns, local) = self.names.parts(declaration.tag);
        let prefix = if xmlns.is_empty() { "" } else { local };
        let uri = self.spanned(declaration.value, input);
        let local_element_ns = self.names.parts(self.element.0).0 == prefix;
        Event::Namespace {
            prefix,
            uri,
            local_element_ns,
        }
    }

    /// The event of an attribute.
    #[inline]
    pub(super) fn attribute_event<'t>(&'t self, index: usize, input: Input<'t>) -> Event<'t> {
        let Some(attribute) = self.attributes.get(index) else {
            return Event::EndDocument;
        };
        let name = self.name((attribute.tag, attribute.uri, attribute.hint));
        let text = self.spanned(attribute.value, input);
        let value = match &self.type_name {
            Some(resolved) if index == 0 => self.type_value(resolved, text),
            _ => Value::Text(text),
        };
        Event::Attribute(name, value)
    }

    fn type_value<'t>(&'t self, resolved: &TypeName, text: &'t str) -> Value<'t> {
        Value::QName(QName {
            uri: self.namespaces.uri(resolved.uri),
            local: text.get(resolved.local.clone()).unwrap_or_default(),
            prefix: text.get(resolved.prefix.clone()),
            hint: Some(NameHint(resolved.hint)),
        })
    }

    /// Reads an end tag.
    #[inline]
    pub(super) fn end_tag(&mut self, text: &str) -> Result<Found, XmlError> {
        let start = self.at + 2;
        let mut scan = Scan::new(text, start);
        let inner = self.open.len() > self.frames.last().map_or(0, |frame| frame.depth);
        let tag = self.open.last().filter(|_| inner);
        let Some(&tag) = tag else {
            return Err(XmlError::expected(
                self.at,
                "no end tag of what was begun elsewhere",
            ));
        };
        let name = self.names.bytes(tag);
        if scan.rest().starts_with(name) {
            scan.at += name.len();
            if scan.peek() != Some(b'>') {
                scan.space();
            }
            if scan.peek() == Some(b'>') {
                self.at = scan.at + 1;
                return Ok(self.leave());
            }
            if scan.peek().is_none() || scan.at > start + name.len() {
                return Err(scan.expected(">"));
            }
        }
        Err(Scan::new(text, start).expected("the end tag of the element begun last"))
    }

    /// Ends the element begun last.
    #[inline(always)]
    pub(super) fn leave(&mut self) -> Found {
        self.namespaces.leave(self.open.len() as u32);
        self.open.pop();
        self.step = if self.open.is_empty() {
            Step::Epilog
        } else {
            Step::Content
        };
        Found::EndElement
    }
}

/// Checks that a tag says a name once (Namespaces in XML section 6.3).
#[inline]
fn once(
    marks: &mut alloc::vec::Vec<u32>,
    names: &crate::xml::names::Names,
    serial: u32,
    attribute: &Attribute,
) -> Result<(), XmlError> {
    let index = attribute.hint as usize;
    if marks.len() <= index {
        marks.resize(names.hint_count().max(index + 1), 0);
    }
    match core::mem::replace(&mut marks[index], serial) == serial {
        true => Err(XmlError::expected(attribute.at, "each attribute once")),
        false => Ok(()),
    }
}

/// What had to be declared instead (Namespaces in XML section 3, Reserved Prefixes and Namespace Names,
/// and section 5, No Prefix Undeclaring).
fn forbidden(prefix: Prefix, uri: &str) -> Option<&'static str> {
    match (prefix, uri) {
        (XML, XML_URI) => None,
        (XML, _) => Some("the namespace of XML for the prefix xml"),
        (XMLNS, _) => Some("another prefix than xmlns"),
        (_, XML_URI | XMLNS_URI) => Some("another namespace, which is not reserved"),
        (DEFAULT, _) => None,
        (_, "") => Some("a namespace for the prefix"),
        _ => None,
    }
}

#[inline(always)]
pub(super) fn spanned<'t>(span: Span, text: &'t str, buffer: &'t str) -> &'t str {
    match span {
        Span::Here(start, end) => text.get(start..end),
        Span::Buffer(start, end) => buffer.get(start..end),
    }
    .unwrap_or_default()
}
