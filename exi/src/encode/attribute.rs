//! Attributes, xsi:type and xsi:nil, written in the order that the start tag gathered them for.

use alloc::string::String;

use super::body::{Body, Known};
use super::lexical::is_space;
use super::start_tag::{Waiting, WaitingType, XSI_URI};
use crate::bits::width;
use crate::event::QName;
use crate::fault::{Fault, Result};
use crate::grammar::{DatatypeId, NameId, StateId, Terminal, TypeId};
use crate::machine::{At, Learned, Second};
use crate::names::{NONE, XSI};
use crate::stored::Span;
use crate::value::{Value, push_lexical};

impl Body {
    pub(super) fn attribute(&mut self, name: &QName<'_>, value: &Value<'_>) -> Result<()> {
        let known = self.lookup(name);
        match self.current()?.at {
            At::BuiltInStart(grammar) => self.built_in_attribute(name, known, grammar, value),
            At::BuiltInContent(_) => Err(Fault::NotAllowed("an attribute after content")),
            At::Informed(state) => self.informed_attribute(name, known, state, value),
        }
    }

    pub(super) fn built_in_attribute(
        &mut self,
        name: &QName<'_>,
        known: Known,
        grammar: u32,
        value: &Value<'_>,
    ) -> Result<()> {
        let productions = &self.machine.built_in(grammar).start;
        if let Some(code) = productions.find_attribute(known.name) {
            self.start.fresh = false;
            self.writer.n_bit(code, productions.width());
            self.write_prefix(name.prefix, known.uri);
            return self.untyped_value(known.name, value);
        }
        if self.limit_learning(grammar, true)?
            && let At::Informed(state) = self.current()?.at
        {
            return self.informed_attribute(name, known, state, value);
        }
        self.start.fresh = false;
        self.escape(grammar, true, Second::Attribute)?;
        let id = self.write_qname(name, known)?;
        self.learn(grammar, true, Learned::Attribute(id))?;
        self.untyped_value(id, value)
    }

    /// AT(qname), AT(uri:*) and AT(*), declared ones first, typed before untyped (section 8.5.4).
    pub(super) fn informed_attribute(
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
            None if self.options.strict && is_hint(name) => return Ok(()),
            None => {
                self.second(state, Second::Attribute)?;
                self.write_qname(name, known)?
            }
        };
        self.typed_value(id, global, value, &stored)
    }

    /// Event code of AT(qname) or AT(*) with an untyped value.
    pub(super) fn untyped_code(&mut self, state: StateId, code: u32) -> Result<()> {
        self.second(state, Second::AttributeUntyped)?;
        let (_, productions) = self.machine.state(state);
        let is_attribute = |p: &&_| matches_attribute(p);
        let count = productions.iter().take_while(is_attribute).count() as u32;
        self.writer.n_bit(code, width(count + 1));
        Ok(())
    }

    pub(super) fn write_attributes(&mut self) -> Result<()> {
        if self.start.attributes.is_empty() {
            return Ok(());
        }
        let text = core::mem::take(&mut self.start.text);
        let mut attributes = core::mem::take(&mut self.start.attributes);
        // [C14N-4.4-2]
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

    /// xsi:type (sections 8.4.3 and 8.5.4.4).
    pub(super) fn xsi_type(&mut self, waiting: &WaitingType, text: &str) -> Result<()> {
        self.start.fresh = false;
        let of = |span: Span| span.of(text);
        let lexical = of(waiting.local).trim_matches(is_space);
        let (prefix, local) = lexical.split_once(':').unwrap_or(("", lexical));
        let resolved = self.start.resolve(prefix).map(String::from);
        let value = match (waiting.uri, &resolved) {
            (Some(uri), _) => {
                let prefix = waiting.prefix.map(of);
                QName {
                    prefix,
                    ..QName::new(of(uri), lexical)
                }
            }
            (None, Some(uri)) => QName::new(uri, local).with_prefix(prefix),
            // Without a namespace in scope the whole text is the local name (section 8.4.3).
            (None, None) => QName::new("", lexical),
        };
        let known = self.lookup(&value);
        let target = self.target_type(&value, known);
        let prefix = waiting.attribute_prefix.map(of).unwrap_or("xsi");
        if !self.xsi_type_code(prefix, target)? {
            return Ok(());
        }
        if self.options.preserve.lexical_values {
            let mut shown = String::new();
            push_lexical(&Value::QName(value), &mut shown);
            let form = if waiting.uri.is_some() {
                &*shown
            } else {
                of(waiting.local)
            };
            let attribute = self.machine.names.xsi_type;
            let names = &mut self.machine.names;
            self.content.text(names, &mut self.writer, attribute, form);
        } else {
            self.write_qname(&value, known)?;
        }
        target.map_or(Ok(()), |target| self.machine.cast(target))
    }

    /// The type whose grammar takes over, if whoever reads the stream can find it too: lexical values
    /// without declarations name types in no namespace only.
    fn target_type(&self, value: &QName<'_>, known: Known) -> Option<TypeId> {
        let preserve = self.options.preserve;
        let lost = preserve.lexical_values && !preserve.prefixes && !value.uri.is_empty();
        if known.name == NONE || lost {
            return None;
        }
        self.machine.named_type(known.name)
    }

    /// The event code of xsi:type; says no where a strict stream has no room for it, nor need.
    fn xsi_type_code(&mut self, prefix: &str, target: Option<TypeId>) -> Result<bool> {
        let frame = self.current()?;
        let name = self.machine.names.xsi_type;
        let learned = Learned::Attribute(name);
        match frame.at {
            At::Informed(state) => {
                if self
                    .machine
                    .level(state, &frame)
                    .code(Second::XsiType)
                    .is_none()
                {
                    let natural = target.is_some_and(|target| target.0 == frame.type_id);
                    let refused = Err(Fault::NotAllowed(
                        "xsi:type, since no type is derived from that of the element",
                    ));
                    return if natural { Ok(false) } else { refused };
                }
                // [EXI-8.5.3-1] [EXI-8.5.4.1.3.2-2] [EXI-8.5.4.4.1-2] [EXI-8.5.4.4.1-3]
                self.second(state, Second::XsiType)?;
                self.write_prefix(Some(prefix), XSI);
            }
            At::BuiltInStart(grammar) => {
                // The EXI Profile asks for AT(*) each time (section 3.1); it is learned once all the same.
                // [PROFILE-3.1-2]
                let profiled = self.options.profile.is_some();
                let productions = &self.machine.built_in(grammar).start;
                let code = productions.find_attribute(name);
                if let Some(code) = code.filter(|_| !profiled) {
                    self.writer.n_bit(code, productions.width());
                    self.write_prefix(Some(prefix), XSI);
                } else {
                    let again = productions.has(learned);
                    self.escape(grammar, true, Second::Attribute)?;
                    let attribute = QName::new(XSI_URI, "type").with_prefix(prefix);
                    self.write_qname(&attribute, Known { uri: XSI, name })?;
                    if !again {
                        self.learn(grammar, true, learned)?;
                    }
                }
            }
            At::BuiltInContent(_) => return Err(Fault::NotAllowed("xsi:type after content")),
        }
        Ok(true)
    }

    /// xsi:nil: a Boolean where the grammar is schema-informed, else an attribute like others.
    pub(super) fn xsi_nil(&mut self, name: &QName<'_>, text: &str) -> Result<()> {
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

    pub(super) fn write_xsi(&mut self) -> Result<()> {
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
}

fn matches_attribute(production: &crate::grammar::Production) -> bool {
    matches!(production.terminal, Terminal::Attribute { .. })
}

/// Where schemas are to be found: nothing of the document.
fn is_hint(name: &QName<'_>) -> bool {
    let hints = ["schemaLocation", "noNamespaceSchemaLocation"];
    name.uri == XSI_URI && hints.contains(&name.local)
}
