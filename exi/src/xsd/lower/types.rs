//! Type grammars: attributes before content (EXI 1.0 section 8.5.4.1.3).
//!
//! State 0 and those after attributes are apart from the states of the content, also where their
//! productions are the same: undeclared attributes are allowed in the former alone. Content begins
//! again in a state of its own, which therefore serves as content2 of section 8.5.4.4.1 too.

use alloc::rc::Rc;
use alloc::vec::Vec;
use hashbrown::HashMap;

use super::Failed;
use super::content::ContentModel;
use super::datatypes::Datatypes;
use super::names::Names;
use super::substitution::Substitutions;
use super::table::{END, Table};
use crate::grammar::{DatatypeId, NameId, Production, StateId, Terminal, Type};
use crate::xsd::error::Rule;
use crate::xsd::model::{
    Complex, Content, Model, Simple, TypeDefinition, TypeKind, TypeRef, Variety, Wildcard,
};

/// Lowers types.
pub(super) struct Types<'m> {
    model: &'m Model,
    names: &'m Names,
    datatypes: &'m Datatypes,
    substitutions: Substitutions,
    table: Table,
    /// Content of one value, by datatype.
    values: HashMap<DatatypeId, StateId>,
    /// Type grammars of simple types, by datatype.
    simple: HashMap<DatatypeId, StateId>,
    /// Content of nothing.
    end: Option<StateId>,
    /// TypeEmpty of types without attributes.
    empty: Option<StateId>,
}

/// An attribute of a type, lowered.
#[derive(Clone, Copy)]
struct Use {
    name: NameId,
    datatype: DatatypeId,
    required: bool,
}

impl<'m> Types<'m> {
    pub(super) fn new(
        model: &'m Model,
        names: &'m Names,
        datatypes: &'m Datatypes,
    ) -> Result<Self, Rule> {
        Ok(Self {
            model,
            names,
            datatypes,
            substitutions: Substitutions::of(model)?,
            table: Table::default(),
            values: HashMap::new(),
            simple: HashMap::new(),
            end: None,
            empty: None,
        })
    }

    pub(super) fn into_table(self) -> Table {
        self.table
    }

    /// The grammars of all types, in their order.
    pub(super) fn all(&mut self) -> Result<Vec<Type>, Failed> {
        let castable = castable(self.model);
        let mut types = Vec::with_capacity(self.model.types.len());
        for (index, definition) in self.model.types.iter().enumerate() {
            let id = TypeRef(index as u32);
            let grammars = self.grammars(id, definition);
            let (start, empty, datatype) = grammars.map_err(|rule| (Some(id), rule))?;
            types.push(Type {
                name: definition.name.as_ref().map(|name| self.names.name(name)),
                start,
                empty,
                castable: castable[index],
                datatype,
            });
        }
        Ok(types)
    }

    /// State 0 of Type and of TypeEmpty, and the datatype of what is simple.
    fn grammars(
        &mut self,
        id: TypeRef,
        definition: &TypeDefinition,
    ) -> Result<(StateId, StateId, Option<DatatypeId>), Rule> {
        match &definition.kind {
            TypeKind::Simple(_) => {
                let datatype = self.datatypes.id(id);
                Ok((self.simple(datatype)?, self.empty()?, Some(datatype)))
            }
            TypeKind::Complex(complex) => {
                let content = self.content(complex)?;
                let start = self.start_tag(complex, content)?;
                let empty = if complex.uses.is_empty() && complex.wildcard.is_none() {
                    self.empty()?
                } else {
                    let end = self.end()?;
                    self.start_tag(complex, end)?
                };
                let datatype = match complex.content {
                    Content::Simple(simple) => Some(self.datatypes.id(simple)),
                    _ => None,
                };
                Ok((start, empty, datatype))
            }
        }
    }

    fn end(&mut self) -> Result<StateId, Rule> {
        if self.end.is_none() {
            self.end = Some(self.table.content(&[END])?);
        }
        Ok(self.end.unwrap_or(StateId(0)))
    }

    fn empty(&mut self) -> Result<StateId, Rule> {
        if self.empty.is_none() {
            let end = self.end()?;
            let start = self.table.content(&[END])?;
            self.table.start_tag(start, true, end);
            self.empty = Some(start);
        }
        Ok(self.empty.unwrap_or(StateId(0)))
    }

    /// CH and EE (section 8.5.4.1.3.1).
    fn value(&mut self, datatype: DatatypeId) -> Result<StateId, Rule> {
        if let Some(known) = self.values.get(&datatype) {
            return Ok(*known);
        }
        let next = self.end()?;
        let terminal = Terminal::Characters(datatype);
        let state = self.table.content(&[Production { terminal, next }])?;
        self.values.insert(datatype, state);
        Ok(state)
    }

    fn simple(&mut self, datatype: DatatypeId) -> Result<StateId, Rule> {
        if let Some(known) = self.simple.get(&datatype) {
            return Ok(*known);
        }
        let content = self.value(datatype)?;
        let start = self.attribute_states(&[], None, content)?;
        self.simple.insert(datatype, start);
        Ok(start)
    }

    /// The first state of the content.
    fn content(&mut self, complex: &Complex) -> Result<StateId, Rule> {
        match &complex.content {
            Content::Empty => self.end(),
            Content::Simple(simple) => self.value(self.datatypes.id(*simple)),
            Content::Model { mixed, particle } => {
                let known = (self.model, self.names, &self.substitutions);
                let model = ContentModel::of(known, particle, &mut self.table.steps)?;
                model.lower(*mixed, &mut self.table)
            }
        }
    }

    fn start_tag(&mut self, complex: &Complex, content: StateId) -> Result<StateId, Rule> {
        let uses = complex.uses.iter().map(|(name, attribute)| {
            let declaration = self.model.attribute(attribute.declaration);
            Use {
                name: self.names.name(name),
                datatype: self.datatypes.id(declaration.type_definition),
                required: attribute.required,
            }
        });
        let uses: Vec<Use> = uses.collect();
        self.attribute_states(&uses, complex.wildcard.as_ref(), content)
    }

    /// A state before each attribute, which also accepts what may follow if the attribute is
    /// absent, and one after the last (sections 8.5.4.1.3.2 and 8.5.4.1.4).
    fn attribute_states(
        &mut self,
        uses: &[Use],
        wildcard: Option<&Wildcard>,
        content: StateId,
    ) -> Result<StateId, Rule> {
        let states = (0..=uses.len()).map(|_| self.table.reserve());
        let states = states.collect::<Result<Vec<StateId>, Rule>>()?;
        let any = wildcard.map_or_else(Vec::new, |wildcard| self.any_attributes(wildcard));
        for (index, state) in states.iter().enumerate() {
            let mut productions = Vec::new();
            let last = uses[index..]
                .iter()
                .position(|attribute| attribute.required);
            let until = last.map_or(uses.len(), |last| index + last + 1);
            for (attribute, next) in uses[index..until].iter().zip(&states[index + 1..]) {
                let terminal = Terminal::Attribute {
                    name: attribute.name,
                    datatype: attribute.datatype,
                };
                productions.push(Production {
                    terminal,
                    next: *next,
                });
            }
            let looping = any.iter().map(|terminal| Production {
                terminal: *terminal,
                next: *state,
            });
            productions.extend(looping);
            let run = if last.is_some() {
                self.table.run(&productions)?
            } else if productions.is_empty() {
                self.table.run_of(content)
            } else {
                productions.extend_from_slice(self.table.productions_of(content));
                self.table.run(&productions)?
            };
            self.table.fill(*state, run);
            self.table.start_tag(*state, index == 0, content);
        }
        Ok(states[0])
    }

    /// AT(uri:*) by namespace, or AT(*).
    fn any_attributes(&self, wildcard: &Wildcard) -> Vec<Terminal> {
        match wildcard {
            Wildcard::Any | Wildcard::Not(_) => alloc::vec![Terminal::AttributeAny],
            Wildcard::Namespaces(uris) => {
                let mut uris: Vec<&Rc<str>> = uris.iter().collect();
                uris.sort();
                let ids = uris.into_iter().map(|uri| self.names.uri(uri));
                ids.map(Terminal::AttributeInUri).collect()
            }
        }
    }
}

/// Which types a strict stream may cast from (section 8.5.4.4.2): those that named types are
/// derived from, and unions.
fn castable(model: &Model) -> Vec<bool> {
    let mut castable = alloc::vec![false; model.types.len()];
    for (index, definition) in model.types.iter().enumerate() {
        let variety = match &definition.kind {
            TypeKind::Simple(Simple { variety, .. }) => Some(*variety),
            TypeKind::Complex(_) => None,
        };
        castable[index] |= variety == Some(Variety::Union);
        let mut base = definition.base.filter(|_| definition.name.is_some());
        while let Some(above) = base {
            castable[above.index()] = true;
            base = model.definition(above).base;
        }
    }
    castable
}
