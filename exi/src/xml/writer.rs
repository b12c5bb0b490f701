//! XML written: events become text, on one line but for what the events hold.
//!
//! Prefixes are those of the names, where they have one, and what is in scope elsewhere; a namespace
//! without one gets `ns0`, `ns1` and so on. It deliberately writes no white space of its own.
//!
//! What is written is well-formed and says what the events say, or there is an error: a stream may hold
//! any text as a name, and names that are markup would forge a document. A name is checked when it is
//! new, and again only where its producer does not number it. Not looked into are the replacement texts
//! of entities that the document declares.

mod misc;
mod names;

use super::doctype::Doctype;
use super::escape;
use super::scope::Scope;
use super::unique::Unique;
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
    attributes: Unique,
    /// Names of the elements that are open, end to end, and where each begins.
    open: String,
    starts: Vec<usize>,
    /// The element whose start tag is not written, since declarations may follow.
    pending: Pending,
    tag: Tag,
    declaration: bool,
    fragment: bool,
    /// Whether an element has begun.
    rooted: bool,
    doctype: Option<Doctype>,
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
            attributes: Unique::default(),
            open: String::new(),
            starts: Vec::new(),
            pending: Pending::default(),
            tag: Tag::Closed,
            declaration: false,
            fragment: false,
            rooted: false,
            doctype: None,
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

    /// Writes fragments: entities may be those of the document that a fragment is part of.
    #[must_use]
    pub fn fragment(mut self) -> Self {
        self.fragment = true;
        self
    }

    /// Appends the text of an event. A start tag appears when it is known what belongs to it.
    ///
    /// # Errors
    /// The event has what XML cannot say: a name that is none, a character, an attribute twice, `--` in a
    /// comment, `?>` in an instruction; the offset is that of the text written so far, which may end in
    /// the middle of the event. The writer is to be used for another document at most.
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
                self.within_element()?;
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
                self.misc(event, out)
            }
        }
    }

    fn begin(&mut self, out: &mut Vec<u8>) {
        self.scope.restart();
        self.attributes.restart();
        (self.tag, self.rooted, self.doctype) = (Tag::Closed, false, None);
        self.starts.clear();
        self.open.clear();
        if self.declaration {
            out.extend_from_slice(br#"<?xml version="1.0" encoding="UTF-8"?>"#);
        }
    }

    fn depth(&self) -> u32 {
        self.starts.len() as u32
    }

    fn within_element(&self) -> Result<(), ErrorKind> {
        match self.starts.is_empty() {
            false => Ok(()),
            true => Err(ErrorKind::NotAllowed("text outside of an element")),
        }
    }

    fn start(&mut self, name: &QName<'_>) {
        self.rooted = true;
        self.attributes.begin();
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

    /// Writes a start tag but for its `>`.
    fn open_tag(&mut self, out: &mut Vec<u8>) -> Result<(), ErrorKind> {
        if self.tag != Tag::Pending {
            return Ok(());
        }
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
        self.push_name(&name, false)?;
        self.tag = Tag::Open;
        out.push(b'<');
        out.extend_from_slice(&self.open.as_bytes()[start..]);
        for (prefix, uri) in self.scope.declared(self.starts.len() as u32) {
            names::declare(prefix, uri, out)?;
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
                    let (prefix, _) = self.prefix(name, false)?;
                    names::push_qualified(&prefix, "", &mut self.scratch);
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
