//! Events of a body, written in their order (EXI 1.0 section 6).

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::block::Block;
use super::content::Content;
use super::start_tag::StartTag;
use crate::bits::{Writer, width};
use crate::event::Event;
use crate::fault::{Fault, Result};
use crate::grammar::{Schema, StateId};
use crate::limits::Limits;
use crate::machine::{Aside, Frame, Learned, Machine, Root, Second};
use crate::options::{Alignment, Options};
use crate::partition::Values;

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
    pub(super) out: Vec<u8>,
    pub(super) block: Option<Block>,
    pub(super) hints: Vec<u32>,
    pub(super) start: StartTag,
    pub(super) grown: super::profile::Grown,
    /// Character data not yet written, and whether it follows a start tag.
    pub(super) text: String,
    pub(super) text_after_start: bool,
    pub(super) saved: Vec<(Aside, Values)>,
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
        let content = Content::new(schema.clone(), &options, manner);
        let mut body = Self {
            start: StartTag::new(schema.is_some() || manner.sorted),
            grown: super::profile::Grown::default(),
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
        if body.options.alignment.has_channels() {
            let compressed = body.options.alignment == Alignment::Compression;
            body.block = Some(Block::new(compressed));
        }
        body.begin();
        body
    }

    /// Ends the header's bits as the alignment asks for.
    fn begin(&mut self) {
        if self.options.alignment != Alignment::BitPacked {
            self.writer.align();
            self.writer.aligned = true;
        }
        if self.block.is_some() {
            self.writer.drain_into(&mut self.out);
        }
    }

    /// Begins another stream behind the bits of a header, and keeps the memory.
    pub(super) fn restart(&mut self, header: &Writer) {
        while !self.saved.is_empty() {
            self.take_back();
        }
        self.machine.restart(&self.options);
        self.content.values.reset(&self.options);
        self.content.stash.clear();
        self.start.restart();
        self.grown = super::profile::Grown::default();
        self.hints.clear();
        self.text.clear();
        self.out.clear();
        if let Some(block) = &mut self.block {
            block.forget();
        }
        self.writer.restart(header);
        self.begin();
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

    pub(super) fn flush_block(&mut self) -> Result<()> {
        let Some(block) = &mut self.block else {
            return Ok(());
        };
        let names = &mut self.machine.names;
        block.flush(names, &mut self.content, &mut self.writer, &mut self.out)
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
        if self.options.profile.is_some() {
            self.count_grown(grammar, production);
        }
        let rules = self.machine.built_in_mut(grammar);
        let productions = if start {
            &mut rules.start
        } else {
            &mut rules.content
        };
        productions.learn(production);
        Ok(())
    }
}

pub(super) fn element_name(schema: &Schema, element: crate::grammar::ElementId) -> u32 {
    schema.elements[element.index()].name.0
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
