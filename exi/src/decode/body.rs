//! Events of a body in their order (EXI 1.0 section 6), for streams without channels and for the
//! structure channel of those that have them.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::block::Block;
use super::content::Content;
use super::raw::Raw;
use crate::bits::{Reader, width};
use crate::codec::{Codecs, STRING};
use crate::fault::{Fault, Result};
use crate::grammar::{Production, Schema, StateId, Terminal};
use crate::limits::{Limit, Limits};
use crate::machine::{Aside, At, Frame, Learned, Machine, Root, Second, Target};
use crate::names::Mark;
use crate::options::{Alignment, Options};
use crate::partition::Values;
use crate::stored::Span;

/// The state of a body between events.
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) machine: Machine,
    pub(crate) content: Content,
    pub(crate) options: Options,
    pub(super) limits: Limits,
    /// Text of CM, PI, DT and ER.
    pub(super) text: String,
    pub(super) doc_type: [Span; 4],
    /// What waits while a self-contained element is read (section 8.5.4.4.1).
    pub(super) saved: Vec<(Aside, Values)>,
    pub(super) block: Block,
    pub(super) channels: bool,
    pub(super) aligned: bool,
    /// Bits of the input consumed.
    pub(crate) bit: usize,
    /// The same before the event given last; with channels, before the block that holds it.
    pub(super) begun: usize,
    /// Where the last failure was, in bits of the input, and in which inflated byte.
    pub(crate) failed_at: (usize, Option<usize>),
    /// The string tables before the event.
    pub(super) mark: Mark,
    /// Bytes inflated so far.
    pub(super) inflated: u64,
    pub(super) events: u64,
}

impl Body {
    pub(crate) fn new(schema: Option<Arc<Schema>>, options: Options, limits: Limits) -> Self {
        let mut content = Content::new(schema.clone(), limits);
        content.codecs = Codecs::new(schema.as_deref(), &options);
        content.values.reset(&options);
        let machine = Machine::new(schema, &options, limits, false);
        Self {
            mark: machine.names.mark(),
            machine,
            content,
            limits,
            text: String::new(),
            doc_type: [Span::default(); 4],
            saved: Vec::new(),
            block: Block::default(),
            channels: options.alignment.has_channels(),
            aligned: options.alignment != Alignment::BitPacked,
            bit: 0,
            begun: 0,
            failed_at: (0, None),
            inflated: 0,
            events: 0,
            options,
        }
    }

    /// Goes to the start of a stream with the same schema and options, and keeps the memory.
    pub(crate) fn restart(&mut self) {
        while !self.saved.is_empty() {
            self.take_back();
        }
        self.machine.restart(&self.options);
        self.content.restart(&self.options);
        self.block.forget();
        self.text.clear();
        self.mark = self.machine.names.mark();
        (self.failed_at, self.inflated, self.events) = ((0, None), 0, 0);
    }

    /// Bytes of the input that were read are gone.
    pub(super) fn drained(&mut self, bytes: usize) {
        self.bit -= bytes * 8;
        self.begun = self.begun.saturating_sub(bytes * 8);
        self.block.drained(bytes);
    }

    /// Whether this is the body of streams with a schema and options.
    pub(super) fn is_for(&self, schema: Option<&Arc<Schema>>, options: &Options) -> bool {
        let same_schema = match (&self.machine.schema, schema) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            (own, other) => own.is_none() && other.is_none(),
        };
        same_schema && self.options == *options
    }

    /// Whether the end of the document was read.
    pub(crate) fn is_done(&self) -> bool {
        self.machine.root == Root::Done && self.block.is_drained()
    }

    /// Reads the next event. A failure for want of input leaves everything as it was.
    #[inline(always)]
    pub(crate) fn next(&mut self, input: &[u8]) -> Result<Raw> {
        self.events += 1;
        if self.events > self.limits.events {
            return Err(Fault::Limit(Limit::Events));
        }
        if self.channels {
            return self.next_of_block(input);
        }
        self.text.clear();
        self.begun = self.bit;
        if !self.content.waits() {
            self.content.clear();
        }
        let spent = self.content.spent;
        let mut reader = Reader::new(input, self.bit, self.aligned);
        let read = self.attempt(&mut reader);
        match read {
            Ok(raw) => {
                self.bit = reader.bit;
                Ok(raw)
            }
            Err(fault) => {
                self.failed_at = (reader.bit, None);
                // What is tried again with more input counts once.
                self.events -= 1;
                if !self.content.waits() {
                    self.content.spent = spent;
                }
                Err(fault)
            }
        }
    }

    /// Reads an event, or leaves the string tables as they were.
    #[inline(always)]
    pub(super) fn attempt(&mut self, reader: &mut Reader<'_>) -> Result<Raw> {
        // One element may be self-contained more than once; all of that ends with it.
        while !self.saved.is_empty() && self.machine.frames.is_empty() {
            self.end_self_contained(reader)?;
            self.bit = reader.bit;
            self.mark = self.machine.names.mark();
        }
        let read = self.event(reader);
        if self.machine.names.has_grown(&self.mark) {
            self.keep_names(read.is_ok())?;
        }
        read
    }

    /// Keeps the names that an event brought within the limits, or takes them back.
    #[cold]
    fn keep_names(&mut self, good: bool) -> Result<()> {
        if !good {
            self.machine.names.rewind(self.mark);
            return Ok(());
        }
        self.mark = self.machine.names.mark();
        self.machine.names.check(&self.limits)
    }

    #[inline(always)]
    fn event(&mut self, reader: &mut Reader<'_>) -> Result<Raw> {
        let Some(frame) = self.machine.frame() else {
            return self.root_event(reader);
        };
        let (grammar, start) = match frame.at {
            At::BuiltInStart(grammar) => (grammar, true),
            At::BuiltInContent(grammar) => (grammar, false),
            At::Informed(state) => {
                let frame = *frame;
                return self.informed(reader, state, &frame);
            }
        };
        self.built_in(reader, grammar, start)
    }

    /// A state of a built-in element grammar (section 8.4.3).
    #[inline(always)]
    fn built_in(&mut self, reader: &mut Reader<'_>, grammar: u32, start: bool) -> Result<Raw> {
        let known = self.machine.built_in(grammar);
        let productions = if start { &known.start } else { &known.content };
        let (count, code) = (productions.len(), reader.n_bit(productions.width())?);
        match productions.get(code) {
            Some(Learned::StartElement(name, target)) => {
                let prefix = self.prefix(reader, name)?;
                if start {
                    self.machine.go(At::BuiltInContent(grammar))?;
                }
                self.machine.enter(name, target)?;
                Ok(Raw::StartElement { name, prefix })
            }
            Some(Learned::EndElement) => self.end(),
            Some(Learned::Characters) => {
                let raw = self.characters(reader, STRING)?;
                if start {
                    self.machine.go(At::BuiltInContent(grammar))?;
                }
                Ok(raw)
            }
            Some(Learned::Attribute(name)) => {
                let prefix = self.prefix(reader, name)?;
                if name == self.machine.names.xsi_type {
                    return self.xsi_type(reader, prefix);
                }
                self.attribute(reader, name, prefix, STRING)
            }
            None if code == count => self.built_in_second(reader, grammar, start),
            None => Err(Fault::Code),
        }
    }

    #[inline(never)]
    fn built_in_second(&mut self, r: &mut Reader<'_>, grammar: u32, start: bool) -> Result<Raw> {
        let levels = &self.machine.levels;
        let level = if start {
            levels.start_tag
        } else {
            levels.content
        };
        // [EXI-10.2-1] [PROFILE-6.2-1]
        let kind = level.kind(r.n_bit(level.width())?).ok_or(Fault::Code)?;
        let raw = match kind {
            Second::EndElement => {
                self.learn(grammar, start, Learned::EndElement)?;
                return self.end();
            }
            Second::Attribute => return self.built_in_attribute(r, grammar),
            Second::Namespace => return self.namespace(r),
            Second::SelfContained => return self.self_contained(r),
            Second::StartElement => {
                let (name, prefix) = self.qname(r)?;
                let target = self.machine.target_of(name);
                self.learn(grammar, start, Learned::StartElement(name, target))?;
                self.machine.go(At::BuiltInContent(grammar))?;
                self.machine.enter(name, target)?;
                return Ok(Raw::StartElement { name, prefix });
            }
            Second::Characters => {
                let raw = self.characters(r, STRING)?;
                self.learn(grammar, start, Learned::Characters)?;
                raw
            }
            Second::EntityReference => self.entity_reference(r)?,
            Second::Miscellany => self.miscellany(r)?,
            _ => return Err(Fault::Code),
        };
        self.machine.go(At::BuiltInContent(grammar))?;
        Ok(raw)
    }

    /// AT(*): learned, xsi:type only once (section 8.4.3).
    fn built_in_attribute(&mut self, reader: &mut Reader<'_>, grammar: u32) -> Result<Raw> {
        let (name, prefix) = self.qname(reader)?;
        if name != self.machine.names.xsi_type {
            let raw = self.attribute(reader, name, prefix, STRING)?;
            self.learn(grammar, true, Learned::Attribute(name))?;
            return Ok(raw);
        }
        let raw = self.xsi_type(reader, prefix)?;
        let known = self.machine.built_in(grammar).start.find_attribute(name);
        if known.is_none() {
            self.learn(grammar, true, Learned::Attribute(name))?;
        }
        Ok(raw)
    }

    fn learn(&mut self, grammar: u32, start: bool, production: Learned) -> Result<()> {
        self.machine.count_learned()?;
        let known = self.machine.built_in_mut(grammar);
        let productions = if start {
            &mut known.start
        } else {
            &mut known.content
        };
        productions.learn(production);
        Ok(())
    }

    /// A state of a schema-informed grammar (section 8.5.4).
    #[inline(never)]
    fn informed(&mut self, reader: &mut Reader<'_>, state: StateId, frame: &Frame) -> Result<Raw> {
        let (_, productions) = self.machine.state(state);
        let level = self.machine.level(state, frame);
        let count = productions.len() as u32;
        let code = reader.n_bit(width(count + u32::from(!level.is_empty())))?;
        if let Some(production) = productions.get(code as usize).copied() {
            return self.declared(reader, production);
        }
        let level = *level;
        let kind = level
            .kind(reader.n_bit(level.width())?)
            .filter(|_| code == count);
        self.undeclared(reader, state, kind.ok_or(Fault::Code)?)
    }

    /// A production of the schema's (section 8.5.4.1).
    fn declared(&mut self, reader: &mut Reader<'_>, production: Production) -> Result<Raw> {
        let next = At::Informed(production.next);
        match production.terminal {
            Terminal::StartElement(element) => {
                let schema = self.machine.schema.as_ref().ok_or(Fault::Code)?;
                let name = schema.elements[element.index()].name.0;
                let prefix = self.prefix(reader, name)?;
                self.machine.go(next)?;
                self.machine.enter(name, Target::Declared(element))?;
                Ok(Raw::StartElement { name, prefix })
            }
            Terminal::EndElement => self.end(),
            Terminal::Characters(datatype) => {
                let raw = self.characters(reader, datatype.0)?;
                self.machine.go(next)?;
                Ok(raw)
            }
            Terminal::Attribute { name, datatype } => {
                let prefix = self.prefix(reader, name.0)?;
                let raw = self.attribute(reader, name.0, prefix, datatype.0)?;
                self.machine.go(next)?;
                Ok(raw)
            }
            Terminal::AttributeAny | Terminal::AttributeInUri(_) => {
                let (name, prefix) = self.qname_of(reader, production.terminal)?;
                let raw = self.attribute(reader, name, prefix, self.global_attribute(name))?;
                self.machine.go(next)?;
                Ok(raw)
            }
            Terminal::StartElementAny | Terminal::StartElementInUri(_) => {
                let (name, prefix) = self.qname_of(reader, production.terminal)?;
                self.machine.go(next)?;
                let target = self.machine.target_of(name);
                self.machine.enter(name, target)?;
                Ok(Raw::StartElement { name, prefix })
            }
        }
    }

    /// A production that the schema does not have (section 8.5.4.4).
    fn undeclared(&mut self, r: &mut Reader<'_>, state: StateId, kind: Second) -> Result<Raw> {
        let content = At::Informed(self.machine.state(state).0.content);
        let raw = match kind {
            Second::EndElement => return self.end(),
            Second::XsiType => {
                let prefix = self.prefix(r, self.machine.names.xsi_type)?;
                return self.xsi_type(r, prefix);
            }
            Second::XsiNil => return self.xsi_nil(r),
            Second::Attribute => {
                let (name, prefix) = self.qname(r)?;
                return self.attribute(r, name, prefix, self.global_attribute(name));
            }
            Second::AttributeUntyped => return self.untyped(r, state),
            Second::Namespace => return self.namespace(r),
            Second::SelfContained => return self.self_contained(r),
            Second::StartElement => {
                let (name, prefix) = self.qname(r)?;
                self.machine.go(content)?;
                let target = self.machine.target_of(name);
                self.machine.enter(name, target)?;
                return Ok(Raw::StartElement { name, prefix });
            }
            Second::Characters => self.characters(r, STRING)?,
            Second::EntityReference => self.entity_reference(r)?,
            Second::Miscellany => self.miscellany(r)?,
            _ => return Err(Fault::Code),
        };
        self.machine.go(content)?;
        Ok(raw)
    }

    #[inline(always)]
    fn end(&mut self) -> Result<Raw> {
        self.machine.leave()?;
        Ok(Raw::EndElement)
    }
}
