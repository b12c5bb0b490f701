//! What belongs to a start tag, gathered until its end where the order matters (EXI 1.0 section 6):
//! namespace declarations, xsi:type, xsi:nil, then attributes, which schema-informed grammars want
//! sorted by local name, then by uri.

use alloc::string::String;
use alloc::vec::Vec;

use super::body::Body;
use crate::bits::width;
use crate::event::{NameHint, QName};
use crate::fault::{Fault, Result};
use crate::limits::Limit;
use crate::machine::{At, Second};
use crate::stored::Span;
use crate::value::{Value, push_lexical};

pub(super) const XSI_URI: &str = "http://www.w3.org/2001/XMLSchema-instance";
const XML_URI: &str = "http://www.w3.org/XML/1998/namespace";

/// An attribute that waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    pub(super) uri: Span,
    pub(super) local: Span,
    pub(super) prefix: Option<Span>,
    pub(super) hint: Option<NameHint>,
    pub(super) value: Span,
}

/// A value of xsi:type that waits: a name, or text that becomes one when all namespace
/// declarations are there.
#[derive(Debug, Clone, Copy)]
pub(super) struct WaitingType {
    pub(super) attribute_prefix: Option<Span>,
    pub(super) uri: Option<Span>,
    pub(super) local: Span,
    pub(super) prefix: Option<Span>,
}

#[derive(Debug, Default)]
pub(crate) struct StartTag {
    /// Whether the start tag is open still.
    pub(crate) open: bool,
    /// Whether xsi:type may still come: nothing but namespace declarations was written.
    pub(super) fresh: bool,
    sorts: bool,
    pub(super) text: String,
    element_prefix: Option<Span>,
    namespaces: Vec<(Span, Span, bool)>,
    pub(super) attributes: Vec<Waiting>,
    pub(super) xsi_type: Option<WaitingType>,
    pub(super) xsi_nil: Option<Waiting>,
    /// Namespace declarations in scope: text, prefix and uri, and how many each open element found.
    scope_text: String,
    scope: Vec<(Span, Span)>,
    levels: Vec<(u32, u32, bool)>,
    /// Whether xml:space="preserve" is in effect.
    preserve_space: bool,
}

impl StartTag {
    pub(super) fn new(sorts: bool) -> Self {
        Self {
            sorts,
            ..Self::default()
        }
    }

    /// Whether white space is asked to be kept here.
    pub(super) fn preserves_space(&self) -> bool {
        self.preserve_space
    }

    /// The prefix of the element whose start tag is open.
    pub(super) fn element_prefix(&self) -> Option<&str> {
        self.element_prefix.map(|prefix| prefix.of(&self.text))
    }

    fn push(&mut self, text: &str) -> Span {
        let at = self.text.len() as u32;
        self.text.push_str(text);
        Span {
            at,
            len: text.len() as u32,
        }
    }

    /// Opens the start tag of an element.
    pub(super) fn begin(&mut self, name: &QName<'_>, prefixes: bool) {
        (self.open, self.fresh) = (true, true);
        let (scope, text) = (self.scope.len() as u32, self.scope_text.len() as u32);
        self.levels.push((scope, text, self.preserve_space));
        self.element_prefix = None;
        if prefixes && let Some(prefix) = name.prefix {
            self.element_prefix = Some(self.push(prefix));
        }
    }

    /// The innermost element has ended.
    pub(super) fn leave(&mut self) {
        if let Some((scope, text, preserve)) = self.levels.pop() {
            self.scope.truncate(scope as usize);
            self.scope_text.truncate(text as usize);
            self.preserve_space = preserve;
        }
    }

    fn declare(&mut self, prefix: &str, uri: &str) {
        let mut push = |text: &str| {
            let at = self.scope_text.len() as u32;
            self.scope_text.push_str(text);
            Span {
                at,
                len: text.len() as u32,
            }
        };
        let entry = (push(prefix), push(uri));
        self.scope.push(entry);
    }

    /// A prefix in scope for a namespace.
    pub(super) fn prefix_of(&self, uri: &str) -> Option<&str> {
        let found = self
            .scope
            .iter()
            .rev()
            .find(|(_, u)| u.of(&self.scope_text) == uri)?;
        Some(found.0.of(&self.scope_text))
    }

    pub(super) fn resolve(&self, prefix: &str) -> Option<&str> {
        let found = self
            .scope
            .iter()
            .rev()
            .find(|(p, _)| p.of(&self.scope_text) == prefix);
        match (found, prefix) {
            (Some((_, uri)), _) => Some(uri.of(&self.scope_text)),
            (None, "") => Some(""),
            (None, "xml") => Some(XML_URI),
            _ => None,
        }
    }

    /// Goes to the start of a stream.
    pub(super) fn restart(&mut self) {
        self.clear();
        self.scope_text.clear();
        self.scope.clear();
        self.levels.clear();
        (self.fresh, self.preserve_space) = (false, false);
    }

    fn clear(&mut self) {
        self.open = false;
        self.text.clear();
        self.namespaces.clear();
        self.attributes.clear();
        (self.xsi_type, self.xsi_nil, self.element_prefix) = (None, None, None);
    }
}

impl Body {
    pub(super) fn namespace_in(&mut self, prefix: &str, uri: &str, local: bool) -> Result<()> {
        if !self.start.open {
            return Err(Fault::NotAllowed("a namespace declaration after content"));
        }
        self.start.declare(prefix, uri);
        if !self.options.preserve.prefixes {
            return Ok(());
        }
        let of_element = self
            .start
            .element_prefix
            .is_some_and(|p| p.of(&self.start.text) == prefix);
        let entry = (
            self.start.push(prefix),
            self.start.push(uri),
            local || of_element,
        );
        self.start.namespaces.push(entry);
        self.check_count()
    }

    fn check_count(&self) -> Result<()> {
        let count = self.start.attributes.len() + self.start.namespaces.len();
        if count > self.limits.attributes as usize {
            return Err(Fault::Limit(Limit::Attributes));
        }
        Ok(())
    }

    pub(super) fn attribute_in(&mut self, name: &QName<'_>, value: &Value<'_>) -> Result<()> {
        if !self.start.open {
            return Err(Fault::NotAllowed("an attribute after content"));
        }
        if name.uri == XSI_URI && matches!(name.local, "type" | "nil") {
            return self.xsi_in(name, value);
        }
        if name.local == "space" && name.uri == XML_URI {
            self.start.preserve_space = value.as_text() == Some("preserve");
        }
        if self.start.sorts {
            let waiting = self.waiting(name, value);
            self.start.attributes.push(waiting);
            return self.check_count();
        }
        self.write_namespaces()?;
        self.write_xsi()?;
        self.attribute(name, value)
    }

    fn waiting(&mut self, name: &QName<'_>, value: &Value<'_>) -> Waiting {
        let start = &mut self.start;
        let (uri, local) = (start.push(name.uri), start.push(name.local));
        let prefix = name.prefix.map(|prefix| start.push(prefix));
        let at = start.text.len() as u32;
        push_lexical(value, &mut start.text);
        let value = Span {
            at,
            len: start.text.len() as u32 - at,
        };
        Waiting {
            uri,
            local,
            prefix,
            hint: name.hint,
            value,
        }
    }

    fn xsi_in(&mut self, name: &QName<'_>, value: &Value<'_>) -> Result<()> {
        if name.local == "nil" && (self.machine.schema.is_some() || self.start.sorts) {
            let waiting = self.waiting(name, value);
            self.start.xsi_nil = Some(waiting);
            return Ok(());
        }
        if name.local == "nil" {
            self.write_namespaces()?;
            // [EXI-8.4.3-1] [EXI-8.5.4.1.3.2-1] [EXI-8.5.4.4.1-1] [EXI-8.5.4.4.2-1] [C14N-4.4-3]
            self.write_xsi()?;
            return self.attribute(name, value);
        }
        let attribute_prefix = name.prefix.map(|prefix| self.start.push(prefix));
        let waiting = match value {
            Value::QName(value) => WaitingType {
                attribute_prefix,
                uri: Some(self.start.push(value.uri)),
                local: self.start.push(value.local),
                prefix: value.prefix.map(|prefix| self.start.push(prefix)),
            },
            other => {
                let at = self.start.text.len() as u32;
                push_lexical(other, &mut self.start.text);
                let local = Span {
                    at,
                    len: self.start.text.len() as u32 - at,
                };
                WaitingType {
                    attribute_prefix,
                    uri: None,
                    local,
                    prefix: None,
                }
            }
        };
        self.start.xsi_type = Some(waiting);
        Ok(())
    }

    /// Writes what waits in the start tag.
    #[inline]
    pub(super) fn close_start_tag(&mut self) -> Result<()> {
        if !self.start.open {
            return Ok(());
        }
        if !self.start.text.is_empty() || !self.start.namespaces.is_empty() {
            self.write_namespaces()?;
            self.write_xsi()?;
            self.write_attributes()?;
        }
        self.start.clear();
        Ok(())
    }

    /// NS events: in document order, or sorted by prefix in the canonical form.
    fn write_namespaces(&mut self) -> Result<()> {
        if self.start.namespaces.is_empty() {
            return Ok(());
        }
        let text = core::mem::take(&mut self.start.text);
        let mut namespaces = core::mem::take(&mut self.start.namespaces);
        // [C14N-4.4-1]
        if self.manner.sorted {
            namespaces.sort_by_key(|(prefix, uri, _)| (prefix.of(&text), uri.of(&text)));
        }
        for (prefix, uri, local) in &namespaces {
            self.namespace(prefix.of(&text), uri.of(&text), *local)?;
        }
        namespaces.clear();
        (self.start.text, self.start.namespaces) = (text, namespaces);
        Ok(())
    }

    fn namespace(&mut self, prefix: &str, uri: &str, local_element_ns: bool) -> Result<()> {
        self.code(Second::Namespace)?;
        let known = self
            .machine
            .names
            .find_uri(uri)
            .unwrap_or(crate::names::NONE);
        let uri = self.write_uri(uri, known);
        let names = &mut self.machine.names;
        let width = width(names.prefixes_of(uri).len() as u32 + 1);
        match names.find_prefix(uri, prefix) {
            Some(code) => self.writer.n_bit(code + 1, width),
            None => {
                self.writer.n_bit(0, width);
                super::body::write_plain(&mut self.writer, prefix, 0);
                names.insert_prefix(uri, prefix);
            }
        }
        names.check(&self.limits)?;
        // [EXI-4-1]
        self.writer.boolean(local_element_ns);
        Ok(())
    }

    /// The event code of something undeclared in whatever grammar is in effect; the state stays.
    pub(super) fn code(&mut self, kind: Second) -> Result<()> {
        match self.current()?.at {
            At::BuiltInStart(grammar) => self.escape(grammar, true, kind),
            At::BuiltInContent(grammar) => self.escape(grammar, false, kind),
            At::Informed(state) => self.second(state, kind),
        }
    }
}
