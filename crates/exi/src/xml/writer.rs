//! XML written: events become text, on one line but for what the events hold.
//!
//! Prefixes are those of the names, where they have one, and what is in scope elsewhere; a namespace
//! without one gets `ns0`, `ns1` and so on. It deliberately writes no white space of its own, and checks
//! names no more than it must: what comes from a reader or a decoder is well-formed.

use super::escape;
use super::namespaces::XSI_URI;
use super::scope::Scope;
use crate::error::{Error, ErrorKind};
use crate::event::{Event, NameHint, QName};
use crate::value::Value;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;

/// Writes documents, one after another.
#[derive(Debug)]
pub struct Writer {
    scope: Scope,
    /// Names of the elements that are open, end to end, and where each begins.
    open: String,
    starts: Vec<usize>,
    /// The element whose start tag is not written, since declarations may follow.
    pending: Pending,
    tag: Tag,
    declaration: bool,
    scratch: String,
    /// The bytes that were written, by all calls.
    written: u64,
}

/// How far the start tag of the element begun last is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tag {
    /// Nothing of it.
    Pending,
    /// All but its `>`.
    Open,
    /// All of it.
    Closed,
}

/// The name of an element as the event said it.
#[derive(Debug, Default)]
struct Pending {
    uri: String,
    local: String,
    prefix: Option<String>,
    hint: Option<NameHint>,
}

impl Default for Writer {
    fn default() -> Self {
        Self::new()
    }
}

impl Writer {
    /// Makes a writer of documents without XML declaration.
    pub fn new() -> Self {
        Self {
            scope: Scope::new(),
            open: String::new(),
            starts: Vec::new(),
            pending: Pending::default(),
            tag: Tag::Closed,
            declaration: false,
            scratch: String::new(),
            written: 0,
        }
    }

    /// Writes an XML declaration first.
    #[must_use]
    pub fn with_declaration(mut self) -> Self {
        self.declaration = true;
        self
    }

    /// Appends the text of an event. A start tag appears when it is known what belongs to it.
    ///
    /// # Errors
    /// The event has what XML cannot say: a character, `--` in a comment, `?>` in an instruction; the
    /// offset is that of the text written so far.
    pub fn write(&mut self, event: &Event<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        let before = out.len();
        let done = self.event(event, out);
        self.written += (out.len() - before) as u64;
        done.map_err(|kind| Error::at_byte(kind, self.written))
    }

    fn event(&mut self, event: &Event<'_>, out: &mut Vec<u8>) -> Result<(), ErrorKind> {
        match *event {
            Event::StartElement(name) => {
                self.close_tag(out)?;
                self.start(&name);
                Ok(())
            }
            Event::Attribute(name, ref value) => self.attribute(&name, value, out),
            Event::Namespace {
                prefix,
                uri,
                local_element_ns,
            } => self.namespace(prefix, uri, local_element_ns),
            Event::Characters(ref value) => {
                self.close_tag_before(value, out)?;
                self.value(value, false, out)
            }
            Event::EndElement => self.end(out),
            Event::SelfContained => Ok(()),
            Event::StartDocument => {
                self.begin(out);
                Ok(())
            }
            Event::EndDocument => self.close_tag(out),
            _ => {
                self.close_tag(out)?;
                misc(event, out)
            }
        }
    }

    fn begin(&mut self, out: &mut Vec<u8>) {
        self.scope.forget_generated();
        if self.declaration {
            out.extend_from_slice(br#"<?xml version="1.0" encoding="UTF-8"?>"#);
        }
    }

    fn depth(&self) -> u32 {
        self.starts.len() as u32
    }

    fn start(&mut self, name: &QName<'_>) {
        self.starts.push(self.open.len());
        self.tag = Tag::Pending;
        let pending = &mut self.pending;
        pending.uri.clear();
        pending.uri.push_str(name.uri);
        pending.local.clear();
        pending.local.push_str(name.local);
        pending.hint = name.hint;
        match (&mut pending.prefix, name.prefix) {
            (Some(old), Some(new)) => {
                old.clear();
                old.push_str(new);
            }
            (old, new) => *old = new.map(String::from),
        }
    }

    fn namespace(&mut self, prefix: &str, uri: &str, of_element: bool) -> Result<(), ErrorKind> {
        if self.tag != Tag::Pending {
            return Err(ErrorKind::NotAllowed(
                "a namespace declaration after an attribute or content",
            ));
        }
        if of_element && self.pending.prefix.as_deref() != Some(prefix) {
            self.pending.prefix = Some(String::from(prefix));
        }
        if prefix == "xml" || prefix == "xmlns" {
            return Ok(());
        }
        let depth = self.depth();
        if self.scope.is_declared(prefix, depth) {
            return Err(ErrorKind::NotAllowed(
                "a prefix declared twice in one element",
            ));
        }
        self.scope.bind(prefix, uri, depth);
        Ok(())
    }

    /// Writes a start tag but for its `>`.
    fn open_tag(&mut self, out: &mut Vec<u8>) -> Result<(), ErrorKind> {
        if self.tag != Tag::Pending {
            return Ok(());
        }
        self.tag = Tag::Open;
        let pending = core::mem::take(&mut self.pending);
        let uri = pending.uri.as_str();
        let (local, prefix, hint) = (
            pending.local.as_str(),
            pending.prefix.as_deref(),
            pending.hint,
        );
        let name = QName {
            uri,
            local,
            prefix,
            hint,
        };
        let start = self.open.len();
        self.push_name(&name, false);
        out.push(b'<');
        out.extend_from_slice(&self.open.as_bytes()[start..]);
        for (prefix, uri) in self.scope.declared(self.starts.len() as u32) {
            declare(prefix, uri, out)?;
        }
        self.pending = pending;
        Ok(())
    }

    fn close_tag(&mut self, out: &mut Vec<u8>) -> Result<(), ErrorKind> {
        if self.tag == Tag::Closed {
            return Ok(());
        }
        self.open_tag(out)?;
        out.push(b'>');
        self.tag = Tag::Closed;
        Ok(())
    }

    /// A name as content may need a declaration, for which the tag must be open.
    fn close_tag_before(&mut self, value: &Value<'_>, out: &mut Vec<u8>) -> Result<(), ErrorKind> {
        if let (Value::QName(name), true) = (value, self.tag != Tag::Closed) {
            self.open_tag(out)?;
            self.prefix_for_value(name, out)?;
        }
        self.close_tag(out)
    }

    /// Appends an element's name to the names of open elements, binding what is not bound.
    fn push_name(&mut self, name: &QName<'_>, attribute: bool) {
        let known = name
            .hint
            .and_then(|hint| self.scope.known(hint, name.prefix, attribute));
        if let Some(known) = known {
            self.open.push_str(known);
            return;
        }
        let start = self.open.len();
        let (prefix, _) = self.prefix(name, attribute);
        push_qualified(&prefix, name.local, &mut self.open);
        if let Some(hint) = name.hint {
            self.scope
                .remember(hint, prefix.len(), &self.open[start..], attribute);
        }
    }

    /// The prefix to write a name with, which is bound then, and whether that was not so before.
    fn prefix(&mut self, name: &QName<'_>, attribute: bool) -> (String, bool) {
        if attribute && name.uri.is_empty() {
            return (String::new(), false);
        }
        let wanted = name
            .prefix
            .filter(|prefix| !(attribute && prefix.is_empty()));
        if let Some(prefix) = wanted.filter(|prefix| self.scope.of(prefix) == Some(name.uri)) {
            return (String::from(prefix), false);
        }
        if let Some(prefix) = self.scope.prefix_of(name.uri, attribute) {
            return (String::from(prefix), false);
        }
        let depth = self.depth();
        let free = wanted.filter(|&prefix| {
            !matches!(prefix, "xml" | "xmlns") && !self.scope.is_declared(prefix, depth)
        });
        let prefix = match (name.uri, free) {
            ("", _) => String::new(),
            (_, Some(prefix)) => String::from(prefix),
            (XSI_URI, None) if self.scope.of("xsi").is_none() => String::from("xsi"),
            _ => self.scope.fresh(),
        };
        self.scope.bind(&prefix, name.uri, depth);
        (prefix, true)
    }

    fn attribute(
        &mut self,
        name: &QName<'_>,
        value: &Value<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), ErrorKind> {
        if self.tag == Tag::Closed {
            return Err(ErrorKind::NotAllowed("an attribute outside a start tag"));
        }
        self.open_tag(out)?;
        let known = name
            .hint
            .and_then(|hint| self.scope.known(hint, name.prefix, true));
        if known.is_none() && !name.uri.is_empty() {
            let (prefix, new) = self.prefix(name, true);
            if new {
                declare(&prefix, name.uri, out)?;
            }
        }
        if let Value::QName(name) = value {
            self.prefix_for_value(name, out)?;
        }
        out.push(b' ');
        let start = self.open.len();
        self.push_name(name, true);
        out.extend_from_slice(&self.open.as_bytes()[start..]);
        self.open.truncate(start);
        out.extend_from_slice(b"=\"");
        self.value(value, true, out)?;
        out.push(b'"');
        Ok(())
    }

    /// Declares the prefix of a name in a value, if there is none. A name whose prefix was not bound is all
    /// local (EXI 1.0 section 7.1.7), and stays as it was.
    fn prefix_for_value(&mut self, name: &QName<'_>, out: &mut Vec<u8>) -> Result<(), ErrorKind> {
        if name.uri.is_empty() && name.local.contains(':') {
            return Ok(());
        }
        if name.uri.is_empty()
            && self.scope.is_declared("", self.depth())
            && self.scope.of("") != Some("")
        {
            return Err(ErrorKind::Xml(
                "no name without namespace where one is the default",
            ));
        }
        match self.prefix(name, false) {
            (prefix, true) => declare(&prefix, name.uri, out),
            _ => Ok(()),
        }
    }

    fn value(
        &mut self,
        value: &Value<'_>,
        attribute: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), ErrorKind> {
        let write = if attribute {
            escape::value
        } else {
            escape::text
        };
        let written = match value {
            Value::Text(text) => write(text, out),
            Value::QName(name) => {
                self.scratch.clear();
                if !(name.uri.is_empty() && name.local.contains(':')) {
                    let (prefix, _) = self.prefix(name, false);
                    push_qualified(&prefix, "", &mut self.scratch);
                }
                self.scratch.push_str(name.local);
                write(&self.scratch, out)
            }
            Value::List(_) => {
                self.scratch.clear();
                crate::value::push_lexical(value, &mut self.scratch);
                write(&self.scratch, out)
            }
            simple => {
                let _ = write!(Bytes(out), "{simple}");
                Ok(())
            }
        };
        written.map_err(|_| ErrorKind::Xml("a character that XML allows"))
    }

    fn end(&mut self, out: &mut Vec<u8>) -> Result<(), ErrorKind> {
        let empty = self.tag != Tag::Closed;
        self.open_tag(out)?;
        let Some(start) = self.starts.pop() else {
            return Err(ErrorKind::NotAllowed(
                "the end of an element that did not begin",
            ));
        };
        if empty {
            out.extend_from_slice(b"/>");
        } else {
            out.extend_from_slice(b"</");
            out.extend_from_slice(&self.open.as_bytes()[start..]);
            out.push(b'>');
        }
        self.tag = Tag::Closed;
        self.open.truncate(start);
        self.scope.leave(self.starts.len() as u32 + 1);
        Ok(())
    }
}

/// Text that goes where bytes go.
struct Bytes<'o>(&'o mut Vec<u8>);

impl core::fmt::Write for Bytes<'_> {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

fn push_qualified(prefix: &str, local: &str, out: &mut String) {
    if !prefix.is_empty() {
        out.push_str(prefix);
        out.push(':');
    }
    out.push_str(local);
}

fn declare(prefix: &str, uri: &str, out: &mut Vec<u8>) -> Result<(), ErrorKind> {
    out.extend_from_slice(b" xmlns");
    if !prefix.is_empty() {
        out.push(b':');
        out.extend_from_slice(prefix.as_bytes());
    }
    out.extend_from_slice(b"=\"");
    escape::value(uri, out).map_err(|_| ErrorKind::Xml("a character that XML allows"))?;
    out.push(b'"');
    Ok(())
}

/// Writes what stands between elements.
fn misc(event: &Event<'_>, out: &mut Vec<u8>) -> Result<(), ErrorKind> {
    match *event {
        Event::Comment(text) => {
            if text.contains("--") || text.ends_with('-') {
                return Err(ErrorKind::Xml("no -- in a comment"));
            }
            plain(&["<!--", text, "-->"], out)
        }
        Event::ProcessingInstruction { target, data } => {
            if data.contains("?>") {
                return Err(ErrorKind::Xml("no ?> in a processing instruction"));
            }
            let space = if data.is_empty() { "" } else { " " };
            plain(&["<?", target, space, data, "?>"], out)
        }
        Event::EntityReference(name) => plain(&["&", name, ";"], out),
        Event::DocType {
            name,
            public,
            system,
            text,
        } => doctype(name, public, system, text, out),
        _ => Ok(()),
    }
}

fn doctype(
    name: &str,
    public: &str,
    system: &str,
    text: &str,
    out: &mut Vec<u8>,
) -> Result<(), ErrorKind> {
    plain(&["<!DOCTYPE ", name], out)?;
    let quote = if system.contains('"') { "'" } else { "\"" };
    match (public, system) {
        ("", "") => {}
        ("", system) => plain(&[" SYSTEM ", quote, system, quote], out)?,
        (public, system) => plain(&[" PUBLIC \"", public, "\" ", quote, system, quote], out)?,
    }
    if !text.is_empty() {
        plain(&[" [", text, "]"], out)?;
    }
    plain(&[">"], out)
}

fn plain(parts: &[&str], out: &mut Vec<u8>) -> Result<(), ErrorKind> {
    for part in parts {
        if !part.chars().all(super::chars::is_char) {
            return Err(ErrorKind::Xml("a character that XML allows"));
        }
        out.extend_from_slice(part.as_bytes());
    }
    Ok(())
}
