//! Lowered tables, checked and indexed.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Deref;

use super::{
    DatatypeId, ElementId, NameId, Production, SchemaParts, State, StateId, Terminal, UriId,
};
use super::{Representation, TypeId};

const NONE: u32 = u32::MAX;

/// A schema that an encoder or decoder can run: every identifier is in range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    parts: SchemaParts,
    names: Vec<(u32, u32)>,
    element_of: Vec<u32>,
    attribute_of: Vec<u32>,
    type_of: Vec<u32>,
}

/// A table that refers to what is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaError {
    /// The table.
    pub table: &'static str,
    /// The entry in it.
    pub entry: usize,
}

impl fmt::Display for SchemaError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "the compiled schema is damaged: entry {} of its table {} contradicts the others",
            self.entry, self.table
        )
    }
}

impl core::error::Error for SchemaError {}

impl Deref for Schema {
    type Target = SchemaParts;

    fn deref(&self) -> &SchemaParts {
        &self.parts
    }
}

impl Schema {
    /// Checks and indexes lowered tables.
    pub fn new(parts: SchemaParts) -> Result<Self, SchemaError> {
        let names = names_of(&parts);
        Check {
            parts: &parts,
            names: names.len(),
        }
        .all()?;
        let mut schema = Self {
            element_of: alloc::vec![NONE; names.len()],
            attribute_of: alloc::vec![NONE; names.len()],
            type_of: alloc::vec![NONE; names.len()],
            names,
            parts,
        };
        schema.index();
        Ok(schema)
    }

    fn index(&mut self) {
        for element in &self.parts.global_elements {
            let name = self.parts.elements[element.index()].name;
            self.element_of[name.index()] = element.0;
        }
        for (name, datatype) in &self.parts.global_attributes {
            self.attribute_of[name.index()] = datatype.0;
        }
        for (index, definition) in self.parts.types.iter().enumerate() {
            if let Some(name) = definition.name {
                self.type_of[name.index()] = index as u32;
            }
        }
    }

    /// Number of names.
    pub fn names_len(&self) -> usize {
        self.names.len()
    }

    /// Uri and local name of a name, as indices in the string tables.
    pub fn name_parts(&self, name: NameId) -> (u32, u32) {
        self.names[name.index()]
    }

    /// The productions of a state.
    pub fn productions_of(&self, state: StateId) -> &[Production] {
        let State { first, count, .. } = self.parts.states[state.index()];
        &self.parts.productions[first as usize..(first + count) as usize]
    }

    /// The global element of a name.
    pub fn global_element(&self, name: NameId) -> Option<ElementId> {
        known(&self.element_of, name).map(ElementId)
    }

    /// The datatype of the global attribute of a name.
    pub fn global_attribute(&self, name: NameId) -> Option<DatatypeId> {
        known(&self.attribute_of, name).map(DatatypeId)
    }

    /// The type of a name.
    pub fn named_type(&self, name: NameId) -> Option<TypeId> {
        known(&self.type_of, name).map(TypeId)
    }

    /// The type with an expanded name.
    pub fn find_type(&self, uri: &str, local: &str) -> Option<TypeId> {
        let uri = self.parts.uris.iter().position(|own| own.uri == uri)?;
        let mut locals = self.parts.uris[uri].locals.iter();
        let local = locals.position(|own| own == local)?;
        self.named_type(self.parts.name(UriId(uri as u32), local))
    }

    /// Lexical forms of an enumeration.
    pub fn enumeration(&self, first: u32, count: u32) -> &[String] {
        &self.parts.enumeration_values[first as usize..(first + count) as usize]
    }
}

fn known(table: &[u32], name: NameId) -> Option<u32> {
    table
        .get(name.index())
        .copied()
        .filter(|entry| *entry != NONE)
}

fn names_of(parts: &SchemaParts) -> Vec<(u32, u32)> {
    let mut names = Vec::new();
    for (uri, entry) in parts.uris.iter().enumerate() {
        names.extend((0..entry.locals.len()).map(|local| (uri as u32, local as u32)));
    }
    names
}

struct Check<'a> {
    parts: &'a SchemaParts,
    names: usize,
}

impl Check<'_> {
    fn all(&self) -> Result<(), SchemaError> {
        let parts = self.parts;
        each("uris", &[parts.uris.len()], |len| *len >= 4)?;
        each("elements", &parts.elements, |element| {
            self.name(element.name) && element.element_type.index() < parts.types.len()
        })?;
        each("global_elements", &parts.global_elements, |id| {
            self.element(*id)
        })?;
        each("fragment_elements", &parts.fragment_elements, |id| {
            self.element(*id)
        })?;
        each(
            "global_attributes",
            &parts.global_attributes,
            |(name, datatype)| self.name(*name) && self.datatype(*datatype),
        )?;
        each("types", &parts.types, |definition| {
            definition.name.is_none_or(|name| self.name(name))
                && self.state(definition.start)
                && self.state(definition.empty)
                && definition
                    .datatype
                    .is_none_or(|datatype| self.datatype(datatype))
        })?;
        each("states", &parts.states, |state| {
            self.run(state) && self.state(state.content)
        })?;
        each("productions", &parts.productions, |production| {
            self.terminal(production.terminal) && self.state(production.next)
        })?;
        each("character_sets", &parts.character_sets, |set| {
            set.len() < 256 && set.is_sorted_by(|one, two| one < two)
        })?;
        each("datatypes", &[parts.datatypes.len()], |len| *len > 0)?;
        self.datatypes()
    }

    /// Items and bases come before what refers to them, so that no chain of them has a loop.
    fn datatypes(&self) -> Result<(), SchemaError> {
        let parts = self.parts;
        for (index, datatype) in parts.datatypes.iter().enumerate() {
            let before = |id: DatatypeId| id.index() < index;
            let good = datatype.name.is_none_or(|name| self.name(name))
                && datatype.base.is_none_or(before)
                && datatype
                    .character_set
                    .is_none_or(|set| set.index() < parts.character_sets.len())
                && match datatype.representation {
                    Representation::List(item) => before(item) && !self.is_list(item),
                    Representation::Enumeration { first, count, of } => {
                        before(of) && count > 0 && fits(first, count, &parts.enumeration_values)
                    }
                    Representation::BoundedInteger { range, .. } => (1..=4096).contains(&range),
                    _ => true,
                };
            if !good {
                return Err(SchemaError {
                    table: "datatypes",
                    entry: index,
                });
            }
        }
        Ok(())
    }

    fn is_list(&self, item: DatatypeId) -> bool {
        matches!(
            self.parts.datatypes[item.index()].representation,
            Representation::List(_)
        )
    }

    fn name(&self, name: NameId) -> bool {
        name.index() < self.names
    }

    fn element(&self, element: ElementId) -> bool {
        element.index() < self.parts.elements.len()
    }

    fn datatype(&self, datatype: DatatypeId) -> bool {
        datatype.index() < self.parts.datatypes.len()
    }

    fn state(&self, state: StateId) -> bool {
        state.index() < self.parts.states.len()
    }

    fn run(&self, state: &State) -> bool {
        fits(state.first, state.count, &self.parts.productions)
    }

    fn terminal(&self, terminal: Terminal) -> bool {
        match terminal {
            Terminal::Attribute { name, datatype } => self.name(name) && self.datatype(datatype),
            Terminal::StartElement(element) => self.element(element),
            Terminal::AttributeInUri(uri) | Terminal::StartElementInUri(uri) => {
                uri.index() < self.parts.uris.len()
            }
            Terminal::Characters(datatype) => self.datatype(datatype),
            Terminal::AttributeAny | Terminal::StartElementAny | Terminal::EndElement => true,
        }
    }
}

fn fits<T>(first: u32, count: u32, table: &[T]) -> bool {
    first as u64 + count as u64 <= table.len() as u64
}

fn each<T>(
    table: &'static str,
    entries: &[T],
    good: impl Fn(&T) -> bool,
) -> Result<(), SchemaError> {
    match entries.iter().position(|entry| !good(entry)) {
        Some(entry) => Err(SchemaError { table, entry }),
        None => Ok(()),
    }
}
