//! Events of a body, written in their order (EXI 1.0 section 6).

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem;

use super::block::Block;
use super::content::Content;
use super::lexical::{Stash, collapsed, is_space};
use super::start_tag::StartTag;
use crate::bits::{Writer, width};
use crate::codec::{Codec, Codecs, STRING};
use crate::event::{Event, QName};
use crate::fault::{Fault, Result};
use crate::grammar::{Production, Schema, StateId, Terminal, WhiteSpace};
use crate::limits::Limits;
use crate::machine::{At, Frame, Learned, Machine, Root, Second, Target};
use crate::names::NONE;
use crate::options::{Alignment, Options};
use crate::partition::Values;
use crate::value::Value;

/// How an encoder goes about what the options leave open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Manner {
    /// White space between elements is left out.
    pub(crate) drop_space: bool,
    /// Attributes and namespace declarations are sorted although the grammar does not ask for it.
    pub(crate) sorted: bool,
    /// Date and time are normalized to UTC.
    pub(crate) utc: bool,
}

/// The state of a body between events.
#[derive(Debug)]
pub(crate) struct Body {
    pub(super) machine: Machine,
    pub(super) content: Content,
    pub(crate) options: Options,
    pub(super) limits: Limits,
    pub(super) manner: Manner,
    /// The stream, or the structure channel of the block.
    pub(super) writer: Writer,
    /// Blocks that are written.
    out: Vec<u8>,
    block: Option<Block>,
    hints: Vec<u32>,
    pub(super) start: StartTag,
    /// Character data not yet written, and whether it follows a start tag.
    text: String,
    text_after_start: bool,
    pub(super) saved: Vec<(Machine, Values)>,
}

/// What is known of a name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    pub(super) uri: u32,
    pub(super) name: u32,
}

impl Body {
    /// Begins a body behind the bits of a header.
    pub(crate) fn new(
        schema: Option<Arc<Schema>>,
        options: Options,
        limits: Limits,
        manner: Manner,
        writer: Writer,
    ) -> Self {
        let mut values = Values::new(true);
        values.reset(&options);
        let content = Content {
            values,
            codecs: Codecs::new(schema.as_deref(), &options),
            schema: schema.clone(),
            local_partitions: options
                .profile
                .is_none_or(|profile| profile.local_value_partitions),
            utc: manner.utc,
            stash: Stash::default(),
        };
        let mut body = Self {
            start: StartTag::new(schema.is_some() || manner.sorted),
            machine: Machine::new(schema, &options, limits, true),
            content,
            limits,
            manner,
            writer,
            out: Vec::new(),
            block: None,
            hints: Vec::new(),
            text: String::new(),
            text_after_start: false,
            saved: Vec::new(),
            options,
        };
        if body.options.alignment != Alignment::BitPacked {
            body.writer.align();
            body.writer.aligned = true;
        }
        if body.options.alignment.has_channels() {
            let compressed = body.options.alignment == Alignment::Compression;
            body.block = Some(Block::new(compressed));
            body.writer.drain_into(&mut body.out);
        }
        body
    }

    /// Moves what is written to the end of a vector.
    pub(crate) fn take(&mut self, target: &mut Vec<u8>) {
        if self.block.is_none() {
            self.writer.drain_into(target);
        }
        target.append(&mut self.out);
    }

    /// Bytes written so far and not taken.
    pub(crate) fn pending(&self) -> usize {
        self.out.len() + self.writer.len()
    }

    pub(crate) fn is_done(&self) -> bool {
        self.machine.root == Root::Done
    }

    /// Takes the writer back: for the options document, which is followed by more bits.
    pub(crate) fn into_writer(self) -> Writer {
        self.writer
    }

    pub(crate) fn event(&mut self, event: &Event<'_>) -> Result<()> {
        match event {
            Event::Characters(value) => self.characters_in(value),
            Event::StartElement(name) => {
                self.settle(false)?;
                self.start_element(name)
            }
            Event::EndElement => {
                self.settle(true)?;
                self.end_element()
            }
            Event::Attribute(name, value) => self.attribute_in(name, value),
            Event::Namespace {
                prefix,
                uri,
                local_element_ns,
            } => self.namespace_in(prefix, uri, *local_element_ns),
            Event::StartDocument => self.start_document(),
            Event::EndDocument => {
                self.settle(false)?;
                self.end_document()
            }
            Event::SelfContained => self.self_contained(),
            other => self.other(other),
        }
    }

    /// Writes what waits: the start tag and character data.
    pub(super) fn settle(&mut self, end: bool) -> Result<()> {
        self.close_start_tag()?;
        if self.text.is_empty() {
            return Ok(());
        }
        let text = mem::take(&mut self.text);
        let mut form = String::new();
        let written = match self.significant(&text, end, &mut form) {
            Some(kept) => self.characters(&Value::Text(kept)),
            None => Ok(()),
        };
        self.text = text;
        self.text.clear();
        written
    }

    /// Character data without the white space that does not matter, where that is asked for: by the
    /// facet whiteSpace of typed content; elsewhere, where it is all and no simple content
    /// (Canonical EXI section 4.3).
    fn significant<'t>(&self, text: &'t str, end: bool, form: &'t mut String) -> Option<&'t str> {
        let lexical = self.options.preserve.lexical_values;
        if !self.manner.drop_space || lexical || self.start.preserves_space() {
            return Some(text);
        }
        match self.white_space() {
            Some(WhiteSpace::Preserve) => Some(text),
            Some(facet) => {
                *form = collapsed(text, facet);
                Some(&**form).filter(|form| !form.is_empty())
            }
            None if end && self.text_after_start => Some(text),
            None => Some(text).filter(|text| !text.chars().all(is_space)),
        }
    }

    /// The facet of typed content that may begin here.
    fn white_space(&self) -> Option<WhiteSpace> {
        let At::Informed(state) = self.machine.frame()?.at else {
            return None;
        };
        match self.machine.state(state).1.first()?.terminal {
            Terminal::Characters(datatype) => Some(self.content.codecs.white_space(datatype.0)),
            _ => None,
        }
    }

    fn characters_in(&mut self, value: &Value<'_>) -> Result<()> {
        if self.text.is_empty() {
            self.text_after_start = self.start.open;
        }
        self.close_start_tag()?;
        if let Value::Text(text) = value {
            self.text.push_str(text);
            return Ok(());
        }
        self.settle(false)?;
        self.characters(value)
    }

    fn start_document(&mut self) -> Result<()> {
        if self.machine.root != Root::Start {
            return Err(Fault::NotAllowed("a second start of the document"));
        }
        let fragment = self.options.fragment;
        self.machine.root = if fragment {
            Root::FragmentContent
        } else {
            Root::DocContent
        };
        Ok(())
    }

    /// ED, and everything that still waits.
    fn end_document(&mut self) -> Result<()> {
        if !self.machine.frames.is_empty() {
            return Err(Fault::NotAllowed(
                "the end of the document inside an element",
            ));
        }
        match self.machine.root {
            Root::DocEnd => {
                let extra = u32::from(!self.machine.levels.outside.is_empty());
                self.writer.n_bit(0, width(1 + extra));
            }
            Root::FragmentContent => self.end_fragment(),
            _ => {
                return Err(Fault::NotAllowed(
                    "the end of a document without an element",
                ));
            }
        }
        self.machine.root = Root::Done;
        self.flush_block()?;
        self.writer.align();
        Ok(())
    }

    /// ED of FragmentContent: behind the elements and SE(*).
    pub(super) fn end_fragment(&mut self) {
        let count = self.fragment_len();
        let extra = u32::from(!self.machine.levels.outside.is_empty());
        self.writer.n_bit(count + 1, width(count + 2 + extra));
    }

    pub(super) fn fragment_len(&self) -> u32 {
        match &self.machine.schema {
            Some(schema) => schema.fragment_elements.len() as u32,
            None => self.machine.fragment.len(),
        }
    }

    fn flush_block(&mut self) -> Result<()> {
        let Some(block) = &mut self.block else {
            return Ok(());
        };
        let names = &mut self.machine.names;
        block.flush(names, &mut self.content, &mut self.writer, &mut self.out)
    }

    /// What is known of a name, by the producer's number if it has been seen.
    pub(super) fn lookup(&mut self, name: &QName<'_>) -> Known {
        let hint = name.hint.filter(|_| self.saved.is_empty());
        if let Some(hint) = hint
            && let Some(known) = self.hints.get(hint.0 as usize).copied()
            && known != NONE
        {
            return Known {
                uri: self.machine.names.name(known).uri,
                name: known,
            };
        }
        let names = &self.machine.names;
        let uri = names.find_uri(name.uri);
        let found = uri
            .and_then(|uri| names.find(uri, name.local))
            .unwrap_or(NONE);
        self.remember(name, found);
        Known {
            uri: uri.unwrap_or(NONE),
            name: found,
        }
    }

    fn remember(&mut self, name: &QName<'_>, id: u32) {
        let Some(hint) = name.hint.filter(|_| self.saved.is_empty() && id != NONE) else {
            return;
        };
        let at = hint.0 as usize;
        if at < self.limits.table_entries as usize {
            if self.hints.len() <= at {
                self.hints.resize(at + 1, NONE);
            }
            self.hints[at] = id;
        }
    }

    /// Uri, local name and prefix (section 7.1.7).
    pub(super) fn write_qname(&mut self, name: &QName<'_>, known: Known) -> Result<u32> {
        let uri = self.write_uri(name.uri, known.uri);
        self.write_local(name, uri, known)
    }

    /// The uri partition is optimized for compact identifiers (section 7.3.2).
    pub(super) fn write_uri(&mut self, text: &str, known: u32) -> u32 {
        let names = &mut self.machine.names;
        let width = width(names.uris_len() + 1);
        if known != NONE {
            self.writer.n_bit(known + 1, width);
            return known;
        }
        self.writer.n_bit(0, width);
        write_plain(&mut self.writer, text, 0);
        names.insert_uri(text)
    }

    /// Local-name partitions are optimized for literals (section 7.3.3).
    fn write_local(&mut self, name: &QName<'_>, uri: u32, known: Known) -> Result<u32> {
        let names = &mut self.machine.names;
        let id = if known.name != NONE {
            self.writer.unsigned(0);
            self.writer
                .n_bit(names.name(known.name).local, width(names.locals_len(uri)));
            known.name
        } else {
            write_plain(&mut self.writer, name.local, 1);
            names.insert(uri, name.local)
        };
        names.check(&self.limits)?;
        self.remember(name, id);
        self.write_prefix(name.prefix, uri);
        Ok(id)
    }

    /// The prefix, if prefixes are preserved; one that is not known yet is that of a namespace
    /// declaration to come (section 7.1.7).
    pub(super) fn write_prefix(&mut self, prefix: Option<&str>, uri: u32) {
        if !self.options.preserve.prefixes {
            return;
        }
        let names = &self.machine.names;
        let count = names.prefixes_of(uri).len() as u32;
        let code = prefix
            .and_then(|prefix| names.find_prefix(uri, prefix))
            .unwrap_or(0);
        self.writer.n_bit(code, width(count));
    }

    fn start_element(&mut self, name: &QName<'_>) -> Result<()> {
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
        if let Some((code, target)) = find_element(&self.machine.fragment, known.name) {
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
    fn built_in_element(
        &mut self,
        name: &QName<'_>,
        known: Known,
        grammar: u32,
        start: bool,
    ) -> Result<(u32, Target)> {
        let rules = self.machine.built_in(grammar);
        let productions = if start { &rules.start } else { &rules.content };
        let width = productions.width();
        let found = find_element(productions, known.name);
        let count = productions.len();
        self.machine.go(At::BuiltInContent(grammar))?;
        if let Some((code, target)) = found {
            self.writer.n_bit(code, width);
            self.write_prefix(name.prefix, known.uri);
            return Ok((known.name, target));
        }
        self.writer.n_bit(count, width);
        self.second_of(start, Second::StartElement)?;
        let id = self.write_qname(name, known)?;
        let target = self.machine.target_of(id);
        self.learn(grammar, start, Learned::StartElement(id, target))?;
        Ok((id, target))
    }

    /// An element in a schema-informed grammar: the most specific production that fits, declared
    /// ones first (section 8.5.4).
    fn informed_element(
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

    /// The local name and prefix of a name whose uri the production has.
    pub(super) fn write_name_in_uri(&mut self, name: &QName<'_>, known: Known) -> Result<u32> {
        self.write_local(name, known.uri, known)
    }

    pub(super) fn current(&self) -> Result<Frame> {
        self.machine
            .frame()
            .copied()
            .ok_or(Fault::NotAllowed("content outside of an element"))
    }

    /// The first part of an event code in a schema-informed state.
    pub(super) fn first(&mut self, state: StateId, code: u32) -> Result<()> {
        let frame = self.current()?;
        let count = self.machine.state(state).1.len() as u32;
        let extra = u32::from(!self.machine.level(state, &frame).is_empty());
        self.writer.n_bit(code, width(count + extra));
        Ok(())
    }

    /// The first two parts of an event code in a schema-informed state.
    pub(super) fn second(&mut self, state: StateId, kind: Second) -> Result<()> {
        let frame = self.current()?;
        let count = self.machine.state(state).1.len() as u32;
        let level = self.machine.level(state, &frame);
        let code = level
            .code(kind)
            .ok_or(Fault::NotAllowed(kind.described()))?;
        let bits = level.width();
        self.writer.n_bit(count, width(count + 1));
        self.writer.n_bit(code, bits);
        Ok(())
    }

    /// The second part of an event code in a built-in grammar.
    pub(super) fn second_of(&mut self, start: bool, kind: Second) -> Result<()> {
        let levels = &self.machine.levels;
        let level = if start {
            &levels.start_tag
        } else {
            &levels.content
        };
        let code = level
            .code(kind)
            .ok_or(Fault::NotAllowed(kind.described()))?;
        self.writer.n_bit(code, level.width());
        Ok(())
    }

    /// The first part that leads to a second one in a built-in grammar, then that.
    pub(super) fn escape(&mut self, grammar: u32, start: bool, kind: Second) -> Result<()> {
        let rules = self.machine.built_in(grammar);
        let productions = if start { &rules.start } else { &rules.content };
        self.writer.n_bit(productions.len(), productions.width());
        self.second_of(start, kind)
    }

    pub(super) fn learn(&mut self, grammar: u32, start: bool, production: Learned) -> Result<()> {
        self.machine.count_learned()?;
        let rules = self.machine.built_in_mut(grammar);
        let productions = if start {
            &mut rules.start
        } else {
            &mut rules.content
        };
        productions.learn(production);
        Ok(())
    }

    fn characters(&mut self, value: &Value<'_>) -> Result<()> {
        let Some(frame) = self.machine.frame().copied() else {
            let blank = matches!(value, Value::Text(text) if text.chars().all(is_space));
            return if blank {
                Ok(())
            } else {
                Err(Fault::NotAllowed("text outside of an element"))
            };
        };
        match frame.at {
            At::BuiltInStart(grammar) => self.built_in_characters(&frame, value, grammar, true),
            At::BuiltInContent(grammar) => self.built_in_characters(&frame, value, grammar, false),
            At::Informed(state) => self.informed_characters(&frame, value, state),
        }
    }

    fn built_in_characters(
        &mut self,
        frame: &Frame,
        value: &Value<'_>,
        grammar: u32,
        start: bool,
    ) -> Result<()> {
        let rules = self.machine.built_in(grammar);
        let productions = if start { &rules.start } else { &rules.content };
        match productions.find_characters() {
            Some(code) => self.writer.n_bit(code, productions.width()),
            None => {
                self.escape(grammar, start, Second::Characters)?;
                self.learn(grammar, start, Learned::Characters)?;
            }
        }
        self.machine.go(At::BuiltInContent(grammar))?;
        self.untyped_value(frame.name, value)
    }

    fn informed_characters(
        &mut self,
        frame: &Frame,
        value: &Value<'_>,
        state: StateId,
    ) -> Result<()> {
        let (entry, productions) = self.machine.state(state);
        let content = entry.content;
        let found = productions
            .iter()
            .enumerate()
            .rev()
            .find_map(|(code, production)| match production.terminal {
                Terminal::Characters(datatype) => Some((code as u32, *production, datatype.0)),
                _ => None,
            });
        if let Some((code, Production { next, .. }, codec)) = found {
            self.content.stash.clear();
            if let Some(stored) = self.content.prepare(codec, value) {
                self.first(state, code)?;
                self.machine.go(At::Informed(next))?;
                return self.typed_value(frame.name, codec, value, &stored);
            }
        }
        if self.options.strict {
            return match value {
                Value::Text(text) if text.chars().all(is_space) => Ok(()),
                Value::Text(text) if found.is_some() => Err(Fault::not_in_datatype(text)),
                _ => Err(Fault::NotAllowed("characters")),
            };
        }
        self.second(state, Second::Characters)?;
        self.machine.go(At::Informed(content))?;
        self.untyped_value(frame.name, value)
    }

    /// A value as plain string.
    pub(super) fn untyped_value(&mut self, name: u32, value: &Value<'_>) -> Result<()> {
        if let Value::Text(text) = value {
            return self.text_value(name, text);
        }
        let mut text = String::new();
        crate::value::push_lexical(value, &mut text);
        self.text_value(name, &text)
    }

    fn text_value(&mut self, name: u32, text: &str) -> Result<()> {
        let names = &mut self.machine.names;
        match &mut self.block {
            None => self.content.text(names, &mut self.writer, name, text),
            Some(block) => block.defer_text(names, name, STRING, text),
        }
        self.end_value()
    }

    /// A value that was read in its representation.
    pub(super) fn typed_value(
        &mut self,
        name: u32,
        codec: u32,
        value: &Value<'_>,
        stored: &crate::stored::Stored,
    ) -> Result<()> {
        let names = &mut self.machine.names;
        let Some(block) = &mut self.block else {
            return self
                .content
                .write(names, &mut self.writer, name, codec, stored);
        };
        if self.content.codecs.uses_table(codec) {
            let mut text = String::new();
            crate::value::push_lexical(value, &mut text);
            block.defer_text(names, name, codec, &text);
        } else {
            block.defer_typed(names, &mut self.content, name, codec, stored)?;
        }
        self.end_value()
    }

    /// A block ends with the value that fills it (section 9.1).
    fn end_value(&mut self) -> Result<()> {
        let full = self
            .block
            .as_ref()
            .is_some_and(|block| block.values == self.options.block_size);
        if full { self.flush_block() } else { Ok(()) }
    }

    fn end_element(&mut self) -> Result<()> {
        let frame = self.current()?;
        match frame.at {
            At::BuiltInStart(grammar) => self.built_in_end(grammar, true)?,
            At::BuiltInContent(grammar) => self.built_in_end(grammar, false)?,
            At::Informed(state) => self.informed_end(&frame, state)?,
        }
        self.machine.leave()?;
        self.start.leave();
        if !self.saved.is_empty() && self.machine.frames.is_empty() {
            self.end_self_contained()?;
        }
        Ok(())
    }

    fn built_in_end(&mut self, grammar: u32, start: bool) -> Result<()> {
        let rules = self.machine.built_in(grammar);
        let productions = if start { &rules.start } else { &rules.content };
        if let Some(code) = productions.find_end() {
            self.writer.n_bit(code, productions.width());
            return Ok(());
        }
        self.escape(grammar, start, Second::EndElement)?;
        self.learn(grammar, start, Learned::EndElement)
    }

    /// EE. Where it is not declared but characters are that may be empty, those come first, because
    /// producers say nothing of empty ones.
    fn informed_end(&mut self, frame: &Frame, state: StateId) -> Result<()> {
        let (_, productions) = self.machine.state(state);
        let end = productions
            .iter()
            .position(|p| p.terminal == Terminal::EndElement);
        if let Some(code) = end {
            return self.first(state, code as u32);
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
        let stored = self
            .content
            .prepare(codec, &value)
            .ok_or(Fault::Value("empty"))?;
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

    fn may_be_empty(&self, codec: u32) -> bool {
        matches!(
            self.content.codecs.codec(codec),
            Codec::String | Codec::Restricted(_) | Codec::Base64 | Codec::Hex | Codec::List { .. }
        )
    }
}

pub(super) fn element_name(schema: &Schema, element: crate::grammar::ElementId) -> u32 {
    schema.elements[element.index()].name.0
}

/// The code and the grammar of a learned element.
fn find_element(productions: &crate::machine::Productions, name: u32) -> Option<(u32, Target)> {
    let code = productions
        .find(|learned| matches!(learned, Learned::StartElement(other, _) if *other == name))?;
    match productions.get(code)? {
        Learned::StartElement(_, target) => Some((code, target)),
        _ => None,
    }
}

/// A string outside of the string table, or a literal of one, its length increased.
pub(super) fn write_plain(writer: &mut Writer, text: &str, more: u64) {
    let count = if text.is_ascii() {
        text.len()
    } else {
        text.chars().count()
    };
    writer.unsigned(count as u64 + more);
    writer.characters(text);
}
