//! Elements: their start and their end.

use alloc::string::String;

use super::body::{Body, Known, element_name};
use crate::bits::width;
use crate::codec::Codec;
use crate::event::QName;
use crate::fault::{Fault, Result};
use crate::grammar::{Schema, StateId, Terminal};
use crate::machine::{At, Frame, Learned, Root, Second, Target};
use crate::value::Value;

impl Body {
    pub(super) fn start_element(&mut self, name: &QName<'_>) -> Result<()> {
        let known = self.lookup(name);
        let (id, target) = match self.machine.frame().map(|frame| frame.at) {
            None => self.root_element(name, known)?,
            Some(At::BuiltInStart(grammar)) => self.built_in_element(name, known, grammar, true)?,
            Some(At::BuiltInContent(grammar)) => {
                self.built_in_element(name, known, grammar, false)?
            }
            Some(At::Informed(state)) => self.informed_element(name, known, state)?,
        };
        self.machine.enter(id, target)?;
        self.start.begin(name, self.options.preserve.prefixes);
        Ok(())
    }

    /// An element of a document or fragment (sections 8.4.1, 8.4.2, 8.5.1, 8.5.2).
    pub(super) fn root_element(&mut self, name: &QName<'_>, known: Known) -> Result<(u32, Target)> {
        let schema = self.machine.schema.clone();
        let fragment = self.machine.root == Root::FragmentContent;
        if !fragment && self.machine.root != Root::DocContent {
            return Err(Fault::NotAllowed("an element outside of the document"));
        }
        let declared = schema.as_ref().map_or(&[][..], |schema| {
            if fragment {
                &schema.fragment_elements
            } else {
                &schema.global_elements
            }
        });
        let levels = &self.machine.levels;
        let extra = if fragment {
            &levels.outside
        } else {
            &levels.doc_content
        };
        let learned = if schema.is_none() {
            self.machine.fragment.len()
        } else {
            0
        };
        let count = declared.len() as u32 + learned;
        let width = width(count + 1 + u32::from(fragment) + u32::from(!extra.is_empty()));
        if !fragment {
            self.machine.root = Root::DocEnd;
        }
        let same = |id: &_| {
            schema
                .as_ref()
                .is_some_and(|s| element_name(s, *id) == known.name)
        };
        if let Some(position) = declared.iter().position(same) {
            self.writer.n_bit(position as u32, width);
            self.write_prefix(name.prefix, known.uri);
            return Ok((known.name, Target::Declared(declared[position])));
        }
        if let Some((code, target)) = self.machine.fragment.find_element(known.name) {
            self.writer.n_bit(code, width);
            self.write_prefix(name.prefix, known.uri);
            return Ok((known.name, target));
        }
        self.writer.n_bit(count, width);
        let id = self.write_qname(name, known)?;
        let target = self.machine.target_of(id);
        if fragment && schema.is_none() {
            self.machine.count_learned()?;
            self.machine
                .fragment
                .learn(Learned::StartElement(id, target));
        }
        Ok((id, target))
    }

    /// An element in a built-in grammar (section 8.4.3).
    pub(super) fn built_in_element(
        &mut self,
        name: &QName<'_>,
        known: Known,
        grammar: u32,
        start: bool,
    ) -> Result<(u32, Target)> {
        let rules = self.machine.built_in(grammar);
        let productions = if start { &rules.start } else { &rules.content };
        let width = productions.width();
        let found = productions.find_element(known.name);
        let count = productions.len();
        if let Some((code, target)) = found {
            self.machine.go(At::BuiltInContent(grammar))?;
            self.writer.n_bit(code, width);
            self.write_prefix(name.prefix, known.uri);
            return Ok((known.name, target));
        }
        if self.limit_learning(grammar, start)?
            && let At::Informed(state) = self.current()?.at
        {
            return self.informed_element(name, known, state);
        }
        self.machine.go(At::BuiltInContent(grammar))?;
        self.writer.n_bit(count, width);
        self.second_of(start, Second::StartElement)?;
        let id = self.write_qname(name, known)?;
        let target = self.machine.target_of(id);
        self.learn(grammar, start, Learned::StartElement(id, target))?;
        Ok((id, target))
    }

    /// An element in a schema-informed grammar: the most specific production that fits, declared
    /// ones first (section 8.5.4).
    pub(super) fn informed_element(
        &mut self,
        name: &QName<'_>,
        known: Known,
        state: StateId,
    ) -> Result<(u32, Target)> {
        let schema = self.machine.schema.clone().ok_or(Fault::Code)?;
        let (entry, productions) = (schema.states[state.index()], schema.productions_of(state));
        let fits = |wanted: fn(Terminal, &Schema, Known) -> bool| {
            productions
                .iter()
                .position(|p| wanted(p.terminal, &schema, known))
        };
        // [C14N-4.2.2-1]
        let declared = fits(|terminal, schema, known| {
            matches!(terminal, Terminal::StartElement(element)
                if element_name(schema, element) == known.name)
        });
        let position = declared
            .or_else(|| {
                fits(|terminal, _, known| {
                    matches!(terminal, Terminal::StartElementInUri(uri) if uri.0 == known.uri)
                })
            })
            .or_else(|| fits(|terminal, _, _| terminal == Terminal::StartElementAny));
        let Some(position) = position else {
            self.second(state, Second::StartElement)?;
            self.machine.go(At::Informed(entry.content))?;
            let id = self.write_qname(name, known)?;
            return Ok((id, self.machine.target_of(id)));
        };
        let production = productions[position];
        self.first(state, position as u32)?;
        self.machine.go(At::Informed(production.next))?;
        match production.terminal {
            Terminal::StartElement(element) => {
                self.write_prefix(name.prefix, known.uri);
                Ok((known.name, Target::Declared(element)))
            }
            Terminal::StartElementInUri(uri) => {
                let id = self.write_local(name, uri.0, known)?;
                Ok((id, self.machine.target_of(id)))
            }
            _ => {
                let id = self.write_qname(name, known)?;
                Ok((id, self.machine.target_of(id)))
            }
        }
    }

    pub(super) fn end_element(&mut self) -> Result<()> {
        let frame = self.current()?;
        match frame.at {
            At::BuiltInStart(grammar) => self.built_in_end(grammar, true)?,
            At::BuiltInContent(grammar) => self.built_in_end(grammar, false)?,
            At::Informed(state) => self.informed_end(&frame, state)?,
        }
        self.machine.leave()?;
        self.start.leave();
        // One element may be self-contained more than once; all of that ends with it.
        while !self.saved.is_empty() && self.machine.frames.is_empty() {
            self.end_self_contained()?;
        }
        Ok(())
    }

    pub(super) fn built_in_end(&mut self, grammar: u32, start: bool) -> Result<()> {
        let rules = self.machine.built_in(grammar);
        let productions = if start { &rules.start } else { &rules.content };
        if let Some(code) = productions.find_end() {
            self.writer.n_bit(code, productions.width());
            return Ok(());
        }
        if self.limit_learning(grammar, start)?
            && let frame = self.current()?
            && let At::Informed(state) = frame.at
        {
            return self.informed_end(&frame, state);
        }
        self.escape(grammar, start, Second::EndElement)?;
        self.learn(grammar, start, Learned::EndElement)
    }

    /// EE. Where a strict stream has none but characters that may be empty, those come first, because
    /// producers say nothing of empty ones.
    pub(super) fn informed_end(&mut self, frame: &Frame, state: StateId) -> Result<()> {
        let (_, productions) = self.machine.state(state);
        let end = productions
            .iter()
            .position(|p| p.terminal == Terminal::EndElement);
        if let Some(code) = end {
            return self.first(state, code as u32);
        }
        if !self.options.strict {
            return self.second(state, Second::EndElement);
        }
        let empty = productions
            .iter()
            .enumerate()
            .find_map(|(code, p)| match p.terminal {
                Terminal::Characters(datatype) if self.may_be_empty(datatype.0) => {
                    Some((code as u32, p.next, datatype.0))
                }
                _ => None,
            });
        let Some((code, next, codec)) = empty else {
            return self.second(state, Second::EndElement);
        };
        self.first(state, code)?;
        self.machine.go(At::Informed(next))?;
        self.content.stash.clear();
        let value = Value::Text("");
        let stored = self.content.prepare(codec, &value).ok_or(Fault::Value(
            "it is empty, which its datatype does not allow",
        ))?;
        self.typed_value(frame.name, codec, &value, &stored)?;
        let state = next;
        let (_, productions) = self.machine.state(state);
        match productions
            .iter()
            .position(|p| p.terminal == Terminal::EndElement)
        {
            Some(code) => self.first(state, code as u32),
            None => self.second(state, Second::EndElement),
        }
    }

    pub(super) fn may_be_empty(&self, codec: u32) -> bool {
        match self.content.codecs.codec(codec) {
            Codec::String | Codec::Restricted(_) => true,
            Codec::Base64 | Codec::Hex | Codec::List { .. } => true,
            Codec::Enumeration { first, count, .. } => {
                let schema = self.machine.schema.as_ref();
                schema.is_some_and(|schema| {
                    schema
                        .enumeration(first, count)
                        .iter()
                        .any(String::is_empty)
                })
            }
            _ => false,
        }
    }

    pub(super) fn fragment_len(&self) -> u32 {
        match &self.machine.schema {
            Some(schema) => schema.fragment_elements.len() as u32,
            None => self.machine.fragment.len(),
        }
    }

    /// ED of FragmentContent: behind the elements and SE(*).
    pub(super) fn end_fragment(&mut self) {
        let count = self.fragment_len();
        let extra = u32::from(!self.machine.levels.outside.is_empty());
        self.writer.n_bit(count + 1, width(count + 2 + extra));
    }
}
