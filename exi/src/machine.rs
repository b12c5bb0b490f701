//! The grammar in effect: what both directions interpret (EXI 1.0 section 8).
//!
//! A machine holds the stack of open elements, the built-in grammars with what they learned, and
//! which undeclared productions the options leave. It reads and writes nothing.

mod built_in;
mod level;

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem;

pub(crate) use built_in::{BuiltIn, Learned, Productions};
pub(crate) use level::{Level, Levels, Second};

use crate::fault::{Fault, Result};
use crate::grammar::{ElementId, NameId, Production, Schema, State, StateId, TypeId};
use crate::limits::{Limit, Limits};
use crate::names::{Hidden, NONE, Names};
use crate::options::Options;

/// Which grammar describes an element: a declaration's or a built-in one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Declared(ElementId),
    BuiltIn(u32),
}

/// The state of an open element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum At {
    Informed(StateId),
    /// A built-in grammar before (`StartTagContent`) its first content.
    BuiltInStart(u32),
    /// A built-in grammar in its content (`ElementContent`).
    BuiltInContent(u32),
}

/// An open element.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) at: At,
    pub(crate) name: u32,
    /// Its type; [`NONE`] in built-in grammars.
    pub(crate) type_id: u32,
    /// Whether a strict stream may have xsi:type here, and xsi:nil.
    pub(crate) castable: bool,
    pub(crate) nillable: bool,
    /// Namespace declarations in scope before it.
    pub(crate) scope: u32,
}

/// Where a document or fragment stands outside of its elements (sections 8.4.1, 8.4.2, 8.5.1, 8.5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Root {
    Start,
    DocContent,
    DocEnd,
    FragmentContent,
    Done,
}

#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) schema: Option<Arc<Schema>>,
    pub(crate) names: Names,
    pub(crate) frames: Vec<Frame>,
    pub(crate) root: Root,
    pub(crate) levels: Levels,
    /// Elements that the built-in fragment grammar learned.
    pub(crate) fragment: Productions,
    grammars: Vec<BuiltIn>,
    grammars_len: usize,
    pub(crate) strict: bool,
    pub(crate) is_fragment: bool,
    /// Productions learned so far.
    learned: u32,
    limits: Limits,
    /// Elements that may be open at one time.
    room: usize,
    /// Namespace declarations in scope: prefix and uri identifiers.
    pub(crate) scope: Vec<(u32, u32)>,
}

/// What a machine was doing before a self-contained element.
#[derive(Debug)]
pub(crate) struct Aside {
    names: Hidden,
    frames: Vec<Frame>,
    root: Root,
    fragment: Productions,
    grammars: Vec<BuiltIn>,
    grammars_len: usize,
    is_fragment: bool,
    learned: u32,
    room: usize,
    scope: Vec<(u32, u32)>,
}

impl Machine {
    pub(crate) fn new(
        schema: Option<Arc<Schema>>,
        options: &Options,
        limits: Limits,
        index: bool,
    ) -> Self {
        Self {
            names: Names::new(schema.as_ref().map(|schema| &***schema), index),
            schema,
            frames: Vec::new(),
            root: Root::Start,
            levels: Levels::new(options),
            fragment: Productions::default(),
            grammars: Vec::new(),
            grammars_len: 0,
            strict: options.strict,
            is_fragment: options.fragment,
            learned: 0,
            limits,
            room: limits.depth as usize,
            scope: Vec::new(),
        }
    }

    /// Begins anew for a self-contained element, which is a fragment of its own (section 8.5.4.4.1).
    pub(crate) fn set_aside(&mut self) -> Aside {
        let room = self.room.saturating_sub(self.frames.len());
        Aside {
            names: self.names.hide(),
            frames: mem::take(&mut self.frames),
            root: mem::replace(&mut self.root, Root::FragmentContent),
            fragment: mem::take(&mut self.fragment),
            grammars: mem::take(&mut self.grammars),
            grammars_len: mem::take(&mut self.grammars_len),
            is_fragment: mem::replace(&mut self.is_fragment, true),
            learned: mem::take(&mut self.learned),
            room: mem::replace(&mut self.room, room),
            scope: mem::take(&mut self.scope),
        }
    }

    /// Goes on where it was before.
    pub(crate) fn take_back(&mut self, aside: Aside) {
        self.names.unhide(aside.names);
        self.frames = aside.frames;
        self.root = aside.root;
        self.fragment = aside.fragment;
        self.grammars = aside.grammars;
        self.grammars_len = aside.grammars_len;
        self.is_fragment = aside.is_fragment;
        self.learned = aside.learned;
        self.room = aside.room;
        self.scope = aside.scope;
    }

    /// Goes to the start of a stream with the same schema and options, and keeps the memory.
    pub(crate) fn restart(&mut self, options: &Options) {
        self.names.restart();
        self.frames.clear();
        self.fragment.clear();
        self.scope.clear();
        (self.root, self.is_fragment) = (Root::Start, options.fragment);
        (self.grammars_len, self.learned) = (0, 0);
    }

    /// The innermost open element.
    #[inline]
    pub(crate) fn frame(&self) -> Option<&Frame> {
        self.frames.last()
    }

    #[inline]
    pub(crate) fn frame_mut(&mut self) -> Result<&mut Frame> {
        self.frames.last_mut().ok_or(Fault::Code)
    }

    /// A state of the schema with its productions.
    #[inline]
    pub(crate) fn state(&self, state: StateId) -> (&State, &[Production]) {
        match &self.schema {
            Some(schema) => (&schema.states[state.index()], schema.productions_of(state)),
            None => (&EMPTY, &[]),
        }
    }

    /// The undeclared productions of a state (section 8.5.4.4).
    #[inline]
    pub(crate) fn level(&self, state: StateId, frame: &Frame) -> &Level {
        let (entry, productions) = self.state(state);
        if self.strict {
            let (castable, nillable) = (frame.castable, frame.nillable);
            return self
                .levels
                .strict(entry.is_first && castable, entry.is_first && nillable);
        }
        self.levels
            .loose(!has_end(productions), entry.is_first, entry.has_attributes)
    }

    #[inline(always)]
    pub(crate) fn built_in(&self, grammar: u32) -> &BuiltIn {
        &self.grammars[grammar as usize]
    }

    pub(crate) fn built_in_mut(&mut self, grammar: u32) -> &mut BuiltIn {
        &mut self.grammars[grammar as usize]
    }

    /// The global element grammar of a name: the schema's, or a built-in one, which is created
    /// where there is none (section 8.4.3).
    pub(crate) fn target_of(&mut self, name: u32) -> Target {
        if let Some(schema) = &self.schema
            && let Some(element) = schema.global_element(NameId(name))
        {
            return Target::Declared(element);
        }
        let known = self.names.name(name).grammar;
        if known != NONE {
            return Target::BuiltIn(known);
        }
        let grammar = self.grammars_len as u32;
        self.names.name_mut(name).grammar = grammar;
        self.names.touch(name);
        self.grammars_len += 1;
        match self.grammars.get_mut(grammar as usize) {
            Some(reused) => reused.clear(),
            None => self.grammars.push(BuiltIn::default()),
        }
        Target::BuiltIn(grammar)
    }

    /// Opens an element.
    #[inline(always)]
    pub(crate) fn enter(&mut self, name: u32, target: Target) -> Result<()> {
        if self.frames.len() >= self.room {
            return Err(Fault::Limit(Limit::Depth));
        }
        let frame = self.frame_of(name, target);
        self.frames.push(frame);
        Ok(())
    }

    /// Opens an element with a built-in grammar from the content of another one; says nothing if
    /// the depth does not allow it.
    #[inline(always)]
    pub(crate) fn enter_quick(&mut self, name: u32, outer: u32, inner: u32) -> Option<()> {
        if self.frames.len() >= self.room {
            return None;
        }
        let frame = self.built_in_frame(name, inner);
        self.frames.last_mut()?.at = At::BuiltInContent(outer);
        self.frames.push(frame);
        Some(())
    }

    #[inline(always)]
    fn frame_of(&self, name: u32, target: Target) -> Frame {
        match (target, &self.schema) {
            (Target::BuiltIn(grammar), _) => self.built_in_frame(name, grammar),
            (Target::Declared(element), Some(schema)) => {
                let element = schema.elements[element.index()];
                let definition = &schema.types[element.element_type.index()];
                Frame {
                    at: At::Informed(definition.start),
                    type_id: element.element_type.0,
                    castable: definition.castable,
                    nillable: element.nillable,
                    ..self.built_in_frame(name, 0)
                }
            }
            (Target::Declared(_), None) => self.built_in_frame(name, 0),
        }
    }

    #[inline(always)]
    fn built_in_frame(&self, name: u32, grammar: u32) -> Frame {
        Frame {
            at: At::BuiltInStart(grammar),
            name,
            type_id: NONE,
            castable: false,
            nillable: false,
            scope: self.scope.len() as u32,
        }
    }

    /// Closes the innermost element.
    #[inline(always)]
    pub(crate) fn leave(&mut self) -> Result<()> {
        let frame = self.frames.pop().ok_or(Fault::Code)?;
        self.scope.truncate(frame.scope as usize);
        Ok(())
    }

    /// Goes on in the grammar of a type: what xsi:type asked for. In strict streams type grammars
    /// have neither xsi:type nor xsi:nil (section 8.5.4.4.2).
    pub(crate) fn cast(&mut self, type_id: TypeId) -> Result<()> {
        let Some(schema) = &self.schema else {
            return Ok(());
        };
        let start = schema.types[type_id.index()].start;
        let frame = self.frames.last_mut().ok_or(Fault::Code)?;
        frame.at = At::Informed(start);
        frame.type_id = type_id.0;
        (frame.castable, frame.nillable) = (false, false);
        Ok(())
    }

    /// Goes on in TypeEmpty: what xsi:nil="true" asked for.
    pub(crate) fn nil(&mut self) -> Result<()> {
        let Some(schema) = &self.schema else {
            return Ok(());
        };
        let frame = self.frames.last_mut().ok_or(Fault::Code)?;
        if let Some(definition) = schema.types.get(frame.type_id as usize) {
            frame.at = At::Informed(definition.empty);
            (frame.castable, frame.nillable) = (false, false);
        }
        Ok(())
    }

    /// The type of a name, if the schema has one.
    pub(crate) fn named_type(&self, name: u32) -> Option<TypeId> {
        self.schema.as_ref()?.named_type(NameId(name))
    }

    /// Goes to a state of the innermost element.
    #[inline(always)]
    pub(crate) fn go(&mut self, at: At) -> Result<()> {
        self.frame_mut()?.at = at;
        Ok(())
    }

    /// Counts a production that is about to be learned.
    pub(crate) fn count_learned(&mut self) -> Result<()> {
        self.learned += 1;
        if self.learned > self.limits.table_entries {
            return Err(Fault::Limit(Limit::TableEntries));
        }
        Ok(())
    }

    /// Resolves a prefix by the namespace declarations in scope.
    pub(crate) fn resolve(&self, prefix: &str) -> Option<u32> {
        let declared = self
            .scope
            .iter()
            .rev()
            .find(|(id, _)| self.names.prefix(*id) == prefix);
        match (declared, prefix) {
            (Some((_, uri)), _) => Some(*uri),
            (None, "") => Some(0),
            (None, "xml") => Some(1),
            _ => None,
        }
    }
}

const EMPTY: State = State {
    first: 0,
    count: 0,
    is_first: false,
    has_attributes: false,
    content: StateId(0),
};

/// Whether a state has EE among its declared productions: it stands last but for CH.
#[inline]
pub(crate) fn has_end(productions: &[Production]) -> bool {
    use crate::grammar::Terminal;
    productions
        .iter()
        .rev()
        .take(2)
        .any(|p| p.terminal == Terminal::EndElement)
}
