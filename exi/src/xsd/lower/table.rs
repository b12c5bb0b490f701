//! States and productions while they grow.

use alloc::vec::Vec;

use crate::grammar::{Production, State, StateId, Terminal};
use crate::xsd::error::Rule;
use crate::xsd::limits;

/// The non-terminals of all grammars.
#[derive(Default)]
pub(super) struct Table {
    pub(super) states: Vec<State>,
    pub(super) productions: Vec<Production>,
    pub(super) steps: Steps,
}

/// Steps from particle to particle so far.
#[derive(Default)]
pub(super) struct Steps(usize);

impl Steps {
    /// Counts some more against the limit.
    pub(super) fn take(&mut self, count: usize) -> Result<(), Rule> {
        self.0 += count;
        match self.0 > limits::STEPS {
            true => Err(Rule::OverLimit(
                "steps between the particles of content models, which occurrence bounds inside \
                 each other multiply",
            )),
            false => Ok(()),
        }
    }
}

/// A run of productions that may serve more than one state.
#[derive(Clone, Copy)]
pub(super) struct Run {
    first: u32,
    count: u32,
}

impl Table {
    /// A state whose productions come later.
    pub(super) fn reserve(&mut self) -> Result<StateId, Rule> {
        if self.states.len() == limits::STATES {
            return Err(Rule::OverLimit("states of grammars"));
        }
        let id = StateId(self.states.len() as u32);
        self.states.push(State {
            first: 0,
            count: 0,
            is_first: false,
            has_attributes: false,
            content: id,
        });
        Ok(id)
    }

    /// Adds productions.
    pub(super) fn run(&mut self, productions: &[Production]) -> Result<Run, Rule> {
        let first = self.productions.len();
        if first + productions.len() > limits::PRODUCTIONS {
            return Err(Rule::OverLimit("productions of grammars"));
        }
        self.productions.extend_from_slice(productions);
        Ok(Run {
            first: first as u32,
            count: productions.len() as u32,
        })
    }

    /// The productions of a state.
    pub(super) fn run_of(&self, id: StateId) -> Run {
        let State { first, count, .. } = self.states[id.index()];
        Run { first, count }
    }

    /// The productions of a state, to read.
    pub(super) fn productions_of(&self, id: StateId) -> &[Production] {
        let State { first, count, .. } = self.states[id.index()];
        &self.productions[first as usize..(first + count) as usize]
    }

    /// Gives a reserved state its productions.
    pub(super) fn fill(&mut self, id: StateId, run: Run) {
        let state = &mut self.states[id.index()];
        state.first = run.first;
        state.count = run.count;
    }

    /// A state after the content index.
    pub(super) fn content(&mut self, productions: &[Production]) -> Result<StateId, Rule> {
        let id = self.reserve()?;
        let run = self.run(productions)?;
        self.fill(id, run);
        Ok(id)
    }

    /// Makes a state one of those up to the content index: `content` stands for content2.
    pub(super) fn start_tag(&mut self, id: StateId, is_first: bool, content: StateId) {
        let state = &mut self.states[id.index()];
        state.is_first = is_first;
        state.has_attributes = true;
        state.content = content;
    }
}

/// EE; the state after it is never read.
pub(super) const END: Production = Production {
    terminal: Terminal::EndElement,
    next: StateId(0),
};
