//! Content models to states (EXI 1.0 sections 8.5.4.1.5 to 8.5.4.2).
//!
//! A particle becomes positions (one per element or wildcard and occurrence) and branches without
//! terminal; sets of positions reachable from each other without terminal become states. Occurrence
//! bounds are written out as the standard does, up to a limit.

use alloc::rc::Rc;
use alloc::vec;
use alloc::vec::Vec;
use hashbrown::HashMap;

use super::names::Names;
use super::substitution::Substitutions;
use super::table::{END, Steps, Table};
use crate::grammar::{DatatypeId, ElementId, NameId, Production, StateId, Terminal, UriId};
use crate::xsd::error::Rule;
use crate::xsd::limits;
use crate::xsd::model::{ElementRef, Model, Particle, Term, Wildcard};

/// A content model as a finite automaton.
pub(super) struct ContentModel<'m> {
    model: &'m Model,
    names: &'m Names,
    substitutions: &'m Substitutions,
    nodes: Vec<Node>,
    /// Number of leaves of each term, by address.
    leaves: HashMap<*const Term, u32>,
    start: u32,
}

/// A node of the automaton.
enum Node {
    /// A leaf of the content model, and the node after it.
    Position(Position),
    /// Any of these, without terminal.
    Branch(Vec<u32>),
    /// The content may end here.
    Accept,
}

struct Position {
    /// Place among the leaves of the content model, in depth-first order: the schema order of
    /// section 8.5.4.3. All copies of a leaf have the same.
    order: u32,
    accepts: Accepts,
    next: u32,
}

/// What a leaf accepts.
enum Accepts {
    Elements(Rc<[ElementRef]>),
    Namespaces(Vec<UriId>),
    Any,
}

impl Accepts {
    /// How many terminals that are.
    fn len(&self) -> usize {
        match self {
            Self::Elements(elements) => elements.len(),
            Self::Namespaces(uris) => uris.len(),
            Self::Any => 1,
        }
    }
}

/// A terminal, equal where productions are to be merged (section 8.5.4.2.2).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Symbol {
    Element(NameId),
    Namespace(UriId),
    Any,
}

/// A symbol, its terminal, and the nodes after it.
struct Transition {
    symbol: Symbol,
    terminal: Terminal,
    next: Vec<u32>,
}

const ACCEPT: u32 = 0;
const TOO_MANY: Rule = Rule::OverLimit("occurrences in one content model");

impl<'m> ContentModel<'m> {
    pub(super) fn of(
        (model, names, substitutions): (&'m Model, &'m Names, &'m Substitutions),
        particle: &Particle,
        steps: &mut Steps,
    ) -> Result<Self, Rule> {
        let mut content = Self {
            model,
            names,
            substitutions,
            nodes: vec![Node::Accept],
            leaves: HashMap::new(),
            start: ACCEPT,
        };
        if content.leaves(&particle.term) as usize > limits::POSITIONS {
            return Err(TOO_MANY);
        }
        content.start = content.particle(particle, 0, ACCEPT, steps)?;
        Ok(content)
    }

    fn push(&mut self, node: Node) -> Result<u32, Rule> {
        if self.nodes.len() == limits::POSITIONS {
            return Err(TOO_MANY);
        }
        self.nodes.push(node);
        Ok(self.nodes.len() as u32 - 1)
    }

    /// Section 8.5.4.1.5: as many copies as may occur, those beyond the minimum may be left out.
    fn particle(
        &mut self,
        particle: &Particle,
        order: u32,
        next: u32,
        steps: &mut Steps,
    ) -> Result<u32, Rule> {
        steps.take(1)?;
        if self.leaves(&particle.term) == 0 {
            return Ok(next);
        }
        let mut at = next;
        match particle.max {
            None => {
                at = self.push(Node::Branch(Vec::new()))?;
                let body = self.term(&particle.term, order, at, steps)?;
                self.nodes[at as usize] = Node::Branch(vec![body, next]);
            }
            Some(max) => {
                for _ in particle.min..max {
                    let body = self.term(&particle.term, order, at, steps)?;
                    at = self.push(Node::Branch(vec![body, next]))?;
                }
            }
        }
        for _ in 0..particle.min {
            at = self.term(&particle.term, order, at, steps)?;
        }
        Ok(at)
    }

    fn term(&mut self, term: &Term, order: u32, next: u32, steps: &mut Steps) -> Result<u32, Rule> {
        let accepts = match term {
            Term::Element(element) => Accepts::Elements(self.substitutions.members(*element)),
            Term::Wildcard(Wildcard::Any | Wildcard::Not(_)) => Accepts::Any,
            Term::Wildcard(Wildcard::Namespaces(uris)) => {
                Accepts::Namespaces(uris.iter().map(|uri| self.names.uri(uri)).collect())
            }
            Term::Sequence(particles) => return self.sequence(particles, order, next, steps),
            Term::Choice(particles) => {
                let all = self.each(particles, order, next, steps)?;
                return self.push(Node::Branch(all));
            }
            Term::All(particles) => {
                let at = self.push(Node::Branch(Vec::new()))?;
                let mut all = self.each(particles, order, at, steps)?;
                all.push(next);
                self.nodes[at as usize] = Node::Branch(all);
                return Ok(at);
            }
        };
        self.push(Node::Position(Position {
            order,
            accepts,
            next,
        }))
    }

    fn sequence(
        &mut self,
        particles: &[Rc<Particle>],
        order: u32,
        next: u32,
        steps: &mut Steps,
    ) -> Result<u32, Rule> {
        let mut order = order + self.leaves_of(particles);
        let mut at = next;
        for particle in particles.iter().rev() {
            order -= self.leaves(&particle.term);
            at = self.particle(particle, order, at, steps)?;
        }
        Ok(at)
    }

    /// Each particle for itself, with the same node after it.
    fn each(
        &mut self,
        particles: &[Rc<Particle>],
        order: u32,
        next: u32,
        steps: &mut Steps,
    ) -> Result<Vec<u32>, Rule> {
        let mut order = order;
        let mut nodes = Vec::with_capacity(particles.len());
        for particle in particles {
            nodes.push(self.particle(particle, order, next, steps)?);
            order += self.leaves(&particle.term);
        }
        Ok(nodes)
    }

    fn leaves_of(&mut self, particles: &[Rc<Particle>]) -> u32 {
        let counts = particles.iter().map(|particle| self.leaves(&particle.term));
        counts.fold(0, u32::saturating_add)
    }

    fn leaves(&mut self, term: &Rc<Term>) -> u32 {
        let particles = match &**term {
            Term::Element(_) | Term::Wildcard(_) => return 1,
            Term::Sequence(particles) | Term::Choice(particles) | Term::All(particles) => particles,
        };
        if let Some(known) = self.leaves.get(&Rc::as_ptr(term)) {
            return *known;
        }
        let count = self.leaves_of(particles);
        self.leaves.insert(Rc::as_ptr(term), count);
        count
    }

    /// Determines the automaton; gives the first state.
    pub(super) fn lower(self, mixed: bool, table: &mut Table) -> Result<StateId, Rule> {
        let mut determined = Determined {
            seen: vec![0; self.nodes.len()],
            round: 0,
            content: self,
            by_positions: HashMap::new(),
            by_nodes: HashMap::new(),
            open: Vec::new(),
            table,
        };
        let start = determined.state(vec![determined.content.start])?;
        while let Some((state, positions, accepts)) = determined.open.pop() {
            determined.fill(state, &positions, accepts, mixed)?;
        }
        Ok(start)
    }

    /// What may come in a set of positions, in schema order, equal terminals merged.
    fn transitions(&self, positions: &[u32], steps: &mut Steps) -> Result<Vec<Transition>, Rule> {
        let mut transitions: Vec<Transition> = Vec::new();
        let mut known: HashMap<Symbol, usize> = HashMap::new();
        for node in positions {
            let Node::Position(position) = &self.nodes[*node as usize] else {
                continue;
            };
            steps.take(position.accepts.len())?;
            self.each_symbol(&position.accepts, |symbol, terminal| {
                let index = *known.entry(symbol).or_insert(transitions.len());
                if index == transitions.len() {
                    let next = Vec::new();
                    transitions.push(Transition {
                        symbol,
                        terminal,
                        next,
                    });
                }
                transitions[index].next.push(position.next);
            });
        }
        transitions.sort_by_key(|transition| match transition.symbol {
            Symbol::Element(_) => 0,
            Symbol::Namespace(_) => 1,
            Symbol::Any => 2,
        });
        Ok(transitions)
    }

    fn each_symbol(&self, accepts: &Accepts, mut each: impl FnMut(Symbol, Terminal)) {
        match accepts {
            Accepts::Elements(elements) => {
                for element in elements.iter() {
                    let name = self.names.name(&self.model.element(*element).name);
                    let terminal = Terminal::StartElement(ElementId(element.0));
                    each(Symbol::Element(name), terminal);
                }
            }
            Accepts::Namespaces(uris) => {
                for uri in uris {
                    each(Symbol::Namespace(*uri), Terminal::StartElementInUri(*uri));
                }
            }
            Accepts::Any => each(Symbol::Any, Terminal::StartElementAny),
        }
    }
}

/// States made from sets of positions.
struct Determined<'m, 't> {
    content: ContentModel<'m>,
    table: &'t mut Table,
    by_positions: HashMap<(Vec<u32>, bool), StateId>,
    /// States by the nodes that lead to them, so that sets are not found out twice.
    by_nodes: HashMap<Vec<u32>, StateId>,
    open: Vec<(StateId, Vec<u32>, bool)>,
    seen: Vec<u32>,
    round: u32,
}

impl Determined<'_, '_> {
    /// The state of some nodes and what is reachable from them without terminal.
    fn state(&mut self, mut nodes: Vec<u32>) -> Result<StateId, Rule> {
        nodes.sort_unstable();
        nodes.dedup();
        if let Some(known) = self.by_nodes.get(&nodes) {
            return Ok(*known);
        }
        let (positions, accepts) = self.reachable(&nodes)?;
        let key = (positions, accepts);
        let state = match self.by_positions.get(&key) {
            Some(known) => *known,
            None if self.by_positions.len() == limits::CONTENT_STATES => {
                return Err(Rule::OverLimit("states of one content model"));
            }
            None => {
                let state = self.table.reserve()?;
                self.by_positions.insert(key.clone(), state);
                self.open.push((state, key.0, accepts));
                state
            }
        };
        self.by_nodes.insert(nodes, state);
        Ok(state)
    }

    /// Positions in schema order, and whether the content may end.
    fn reachable(&mut self, nodes: &[u32]) -> Result<(Vec<u32>, bool), Rule> {
        self.round += 1;
        let mut positions = Vec::new();
        let mut accepts = false;
        let mut open = nodes.to_vec();
        self.table.steps.take(open.len())?;
        while let Some(node) = open.pop() {
            let seen = &mut self.seen[node as usize];
            if core::mem::replace(seen, self.round) == self.round {
                continue;
            }
            match &self.content.nodes[node as usize] {
                Node::Position(_) => positions.push(node),
                Node::Branch(nodes) => {
                    self.table.steps.take(nodes.len())?;
                    open.extend_from_slice(nodes);
                }
                Node::Accept => accepts = true,
            }
        }
        positions.sort_unstable_by_key(|node| (self.order(*node), *node));
        Ok((positions, accepts))
    }

    fn order(&self, node: u32) -> u32 {
        match &self.content.nodes[node as usize] {
            Node::Position(position) => position.order,
            _ => 0,
        }
    }

    fn fill(
        &mut self,
        state: StateId,
        positions: &[u32],
        accepts: bool,
        mixed: bool,
    ) -> Result<(), Rule> {
        let mut productions = Vec::new();
        let transitions = self.content.transitions(positions, &mut self.table.steps)?;
        for transition in transitions {
            productions.push(Production {
                terminal: transition.terminal,
                next: self.state(transition.next)?,
            });
        }
        if accepts {
            productions.push(END);
        }
        if mixed {
            productions.push(Production {
                terminal: Terminal::Characters(DatatypeId::STRING),
                next: state,
            });
        }
        let run = self.table.run(&productions)?;
        self.table.fill(state, run);
        Ok(())
    }
}
