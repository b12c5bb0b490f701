//! What belongs to a start tag, gathered until its end where the order matters (EXI 1.0 section 6):
//! namespace declarations, xsi:type, xsi:nil, then attributes, which schema-informed grammars want
//! sorted by local name, then by uri.

use alloc::string::String;
use alloc::vec::Vec;

use super::body::{Body, Known};
use super::lexical::is_space;
use crate::bits::width;
use crate::event::{NameHint, QName};
use crate::fault::{Fault, Result};
use crate::grammar::{DatatypeId, NameId, StateId, Terminal};
use crate::limits::Limit;
use crate::machine::{At, Learned, Second};
use crate::names::XSI;
use crate::stored::Span;
use crate::value::{Value, push_lexical};

const XSI_URI: &str = "http://www.w3.org/2001/XMLSchema-instance";
const XML_URI: &str = "http://www.w3.org/XML/1998/namespace";

/// An attribute that waits.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    uri: Span,
    local: Span,
    prefix: Option<Span>,
    hint: Option<NameHint>,
    value: Span,
}

/// A value of xsi:type that waits: a name, or text that becomes one when all namespace
/// declarations are there.
#[derive(Debug, Clone, Copy)]
struct WaitingType {
    attribute_prefix: Option<Span>,
    uri: Option<Span>,
    local: Span,
    prefix: Option<Span>,
}

#[derive(Debug, Default)]
pub(crate) struct StartTag {
    /// Whether the start tag is open still.
    pub(crate) open: bool,
    sorts: bool,
    text: String,
    element_prefix: Option<Span>,
    namespaces: Vec<(Span, Span, bool)>,
    attributes: Vec<Waiting>,
    xsi_type: Option<WaitingType>,
    xsi_nil: Option<Waiting>,
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
        self.open = true;
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

    fn resolve(&self, prefix: &str) -> Option<&str> {
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
        if !self.start.text.is_empty() {
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

    fn write_attributes(&mut self) -> Result<()> {
        if self.start.attributes.is_empty() {
            return Ok(());
        }
        let text = core::mem::take(&mut self.start.text);
        let mut attributes = core::mem::take(&mut self.start.attributes);
        attributes.sort_by(|one, two| {
            let key = |a: &Waiting| (a.local, a.uri);
            let ((local, uri), (other_local, other_uri)) = (key(one), key(two));
            let by_local = local.of(&text).cmp(other_local.of(&text));
            by_local.then_with(|| uri.of(&text).cmp(other_uri.of(&text)))
        });
        for waiting in &attributes {
            let name = QName {
                uri: waiting.uri.of(&text),
                local: waiting.local.of(&text),
                prefix: waiting.prefix.map(|prefix| prefix.of(&text)),
                hint: waiting.hint,
            };
            self.attribute(&name, &Value::Text(waiting.value.of(&text)))?;
        }
        attributes.clear();
        (self.start.text, self.start.attributes) = (text, attributes);
        Ok(())
    }

    fn write_xsi(&mut self) -> Result<()> {
        if let Some(waiting) = self.start.xsi_type.take() {
            let text = core::mem::take(&mut self.start.text);
            let written = self.xsi_type(&waiting, &text);
            self.start.text = text;
            written?;
        }
        if let Some(waiting) = self.start.xsi_nil.take() {
            let text = core::mem::take(&mut self.start.text);
            let prefix = waiting.prefix.map(|prefix| prefix.of(&text));
            let name = QName {
                prefix,
                ..QName::new(XSI_URI, "nil")
            };
            let written = self.xsi_nil(&name, waiting.value.of(&text));
            self.start.text = text;
            written?;
        }
        Ok(())
    }

    /// xsi:type (sections 8.4.3 and 8.5.4.4).
    fn xsi_type(&mut self, waiting: &WaitingType, text: &str) -> Result<()> {
        let of = |span: Span| span.of(text);
        let lexical = of(waiting.local).trim_matches(is_space);
        let (prefix, local) = lexical.split_once(':').unwrap_or(("", lexical));
        let resolved = self.start.resolve(prefix).map(String::from);
        let value = match (waiting.uri, &resolved) {
            (Some(uri), _) => QName {
                prefix: waiting.prefix.map(of),
                ..QName::new(of(uri), lexical)
            },
            (None, Some(uri)) => QName::new(uri, local).with_prefix(prefix),
            // Without a namespace in scope the whole text is the local name (section 8.4.3).
            (None, None) => QName::new("", lexical),
        };
        let known = self.lookup(&value);
        let target =
            (known.name != crate::names::NONE).then(|| self.machine.named_type(known.name));
        let target = target.flatten();
        let frame = self.current()?;
        let attribute = self.machine.names.xsi_type;
        let learned = Learned::Attribute(attribute);
        let attribute_prefix = waiting.attribute_prefix.map(of).unwrap_or("xsi");
        match frame.at {
            At::Informed(state) => {
                let level = self.machine.level(state, &frame);
                if level.code(Second::XsiType).is_none() {
                    let natural = target.is_some_and(|target| target.0 == frame.type_id);
                    return if natural {
                        Ok(())
                    } else {
                        Err(Fault::NotAllowed("xsi:type"))
                    };
                }
                self.second(state, Second::XsiType)?;
                self.write_prefix(Some(attribute_prefix), XSI);
            }
            At::BuiltInStart(grammar) => {
                let productions = &self.machine.built_in(grammar).start;
                if let Some(code) = productions.find(|other| *other == learned) {
                    self.writer.n_bit(code, productions.width());
                    self.write_prefix(Some(attribute_prefix), XSI);
                } else {
                    self.escape(grammar, true, Second::Attribute)?;
                    let name = QName::new(XSI_URI, "type").with_prefix(attribute_prefix);
                    self.write_qname(
                        &name,
                        Known {
                            uri: XSI,
                            name: attribute,
                        },
                    )?;
                    self.learn(grammar, true, learned)?;
                }
            }
            At::BuiltInContent(_) => return Err(Fault::NotAllowed("xsi:type after content")),
        }
        if self.options.preserve.lexical_values {
            let mut shown = String::new();
            push_lexical(&Value::QName(value), &mut shown);
            let form = if waiting.uri.is_some() {
                &*shown
            } else {
                of(waiting.local)
            };
            self.content
                .text(&mut self.machine.names, &mut self.writer, attribute, form);
        } else {
            self.write_qname(&value, known)?;
        }
        target.map_or(Ok(()), |target| self.machine.cast(target))
    }

    /// xsi:nil: a Boolean where the grammar is schema-informed, else an attribute like others.
    fn xsi_nil(&mut self, name: &QName<'_>, text: &str) -> Result<()> {
        let frame = self.current()?;
        let nil = match text.trim_matches(is_space) {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        };
        let (At::Informed(state), Some(nil)) = (frame.at, nil) else {
            return self.attribute(name, &Value::Text(text));
        };
        self.second(state, Second::XsiNil)?;
        self.write_prefix(name.prefix, XSI);
        if self.options.preserve.lexical_values {
            let id = self.machine.names.xsi_nil;
            self.content
                .nil_text(&mut self.machine.names, &mut self.writer, id, text);
        } else {
            self.writer.boolean(nil);
        }
        if nil { self.machine.nil() } else { Ok(()) }
    }

    fn attribute(&mut self, name: &QName<'_>, value: &Value<'_>) -> Result<()> {
        let known = self.lookup(name);
        match self.current()?.at {
            At::BuiltInStart(grammar) => self.built_in_attribute(name, known, grammar, value),
            At::BuiltInContent(_) => Err(Fault::NotAllowed("an attribute after content")),
            At::Informed(state) => self.informed_attribute(name, known, state, value),
        }
    }

    fn built_in_attribute(
        &mut self,
        name: &QName<'_>,
        known: Known,
        grammar: u32,
        value: &Value<'_>,
    ) -> Result<()> {
        let learned = Learned::Attribute(known.name);
        let productions = &self.machine.built_in(grammar).start;
        if let Some(code) = productions.find(|other| *other == learned) {
            self.writer.n_bit(code, productions.width());
            self.write_prefix(name.prefix, known.uri);
            return self.untyped_value(known.name, value);
        }
        self.escape(grammar, true, Second::Attribute)?;
        let id = self.write_qname(name, known)?;
        self.learn(grammar, true, Learned::Attribute(id))?;
        self.untyped_value(id, value)
    }

    /// AT(qname), AT(uri:*) and AT(*), declared ones first, typed before untyped (section 8.5.4).
    fn informed_attribute(
        &mut self,
        name: &QName<'_>,
        known: Known,
        state: StateId,
        value: &Value<'_>,
    ) -> Result<()> {
        let schema = self.machine.schema.clone().ok_or(Fault::Code)?;
        let productions = schema.productions_of(state);
        let declared = productions
            .iter()
            .enumerate()
            .find_map(|(code, p)| match p.terminal {
                Terminal::Attribute { name, datatype } if name.0 == known.name => {
                    Some((code as u32, datatype.0, p.next))
                }
                _ => None,
            });
        self.content.stash.clear();
        if let Some((code, codec, next)) = declared {
            if let Some(stored) = self.content.prepare(codec, value) {
                self.first(state, code)?;
                self.write_prefix(name.prefix, known.uri);
                self.machine.go(At::Informed(next))?;
                return self.typed_value(known.name, codec, value, &stored);
            }
            self.untyped_code(state, code)?;
            self.write_prefix(name.prefix, known.uri);
            self.machine.go(At::Informed(next))?;
            return self.untyped_value(known.name, value);
        }
        let global = schema
            .global_attribute(NameId(known.name))
            .unwrap_or(DatatypeId::STRING)
            .0;
        let is_nil = known.name == self.machine.names.xsi_nil;
        let prepared = self.content.prepare(global, value).filter(|_| !is_nil);
        let Some(stored) = prepared else {
            let is_attribute = |p: &&_| matches_attribute(p);
            let count = productions.iter().take_while(is_attribute).count() as u32;
            self.untyped_code(state, count)?;
            let id = self.write_qname(name, known)?;
            return self.untyped_value(id, value);
        };
        let wild = productions.iter().position(|p| match p.terminal {
            Terminal::AttributeInUri(uri) => uri.0 == known.uri,
            Terminal::AttributeAny => true,
            _ => false,
        });
        let id = match wild {
            Some(code) => {
                self.first(state, code as u32)?;
                self.machine.go(At::Informed(productions[code].next))?;
                match productions[code].terminal {
                    Terminal::AttributeInUri(_) => self.write_name_in_uri(name, known)?,
                    _ => self.write_qname(name, known)?,
                }
            }
            // Strict streams have no room for these (section 8.5.4.4.2, note).
            None if self.options.strict && name.uri == XSI_URI => return Ok(()),
            None => {
                self.second(state, Second::Attribute)?;
                self.write_qname(name, known)?
            }
        };
        self.typed_value(id, global, value, &stored)
    }

    /// Event code of AT(qname) or AT(*) with an untyped value.
    fn untyped_code(&mut self, state: StateId, code: u32) -> Result<()> {
        self.second(state, Second::AttributeUntyped)?;
        let (_, productions) = self.machine.state(state);
        let is_attribute = |p: &&_| matches_attribute(p);
        let count = productions.iter().take_while(is_attribute).count() as u32;
        self.writer.n_bit(code, width(count + 1));
        Ok(())
    }
}

fn matches_attribute(production: &crate::grammar::Production) -> bool {
    matches!(production.terminal, Terminal::Attribute { .. })
}
