//! What fragments need: every element name once, and the relaxed grammar for names that are
//! declared more than once (EXI 1.0 sections 8.5.2 and 8.5.3).

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::Failed;
use super::datatypes::Datatypes;
use super::names::Names;
use super::table::{END, Table};
use crate::grammar::{
    DatatypeId, Element, ElementId, Production, SchemaParts, StateId, Terminal, Type, TypeId,
};
use crate::xsd::error::Rule;
use crate::xsd::model::{ElementRef, Model, TypeRef};
use crate::xsd::name::Name;

/// Adds the fragment elements, and the element fragment grammar if one of them needs it.
pub(super) fn lower(
    model: &Model,
    names: &Names,
    datatypes: &Datatypes,
    table: &mut Table,
    parts: &mut SchemaParts,
) -> Result<(), Failed> {
    let relaxed = TypeId(parts.types.len() as u32);
    let mut needed = false;
    for (name, declarations) in elements(model) {
        let id = match alike(model, &declarations) {
            Some(element) => ElementId(element.0),
            None => {
                needed = true;
                parts.elements.push(Element {
                    name: names.name(name),
                    element_type: relaxed,
                    nillable: true,
                });
                ElementId(parts.elements.len() as u32 - 1)
            }
        };
        parts.fragment_elements.push(id);
    }
    if needed {
        let attributes = attributes(model, names, datatypes);
        let grammars = grammars(&attributes, &parts.fragment_elements, table);
        let (start, empty) = grammars.map_err(|rule| (None, rule))?;
        parts.element_fragment = Some(relaxed);
        parts.types.push(Type {
            name: None,
            start,
            empty,
            castable: true,
            datatype: None,
        });
    }
    Ok(())
}

/// Declarations by name, in the order of the names.
fn elements(model: &Model) -> BTreeMap<&Name, Vec<ElementRef>> {
    let mut elements: BTreeMap<&Name, Vec<ElementRef>> = BTreeMap::new();
    for (index, element) in model.elements.iter().enumerate() {
        let id = ElementRef(index as u32);
        elements.entry(&element.name).or_default().push(id);
    }
    elements
}

/// One of the declarations, if all have the same type name and the same {nillable}.
fn alike(model: &Model, declarations: &[ElementRef]) -> Option<ElementRef> {
    let (first, others) = declarations.split_first()?;
    let one = model.element(*first);
    let named = model.definition(one.type_definition).name.is_some();
    let same = others.iter().all(|other| {
        let other = model.element(*other);
        named && other.type_definition == one.type_definition && other.nillable == one.nillable
    });
    same.then_some(*first)
}

/// Attribute names in order, with the datatype if all declarations have the same type, else string.
fn attributes(model: &Model, names: &Names, datatypes: &Datatypes) -> Vec<Terminal> {
    let mut attributes: BTreeMap<&Name, Option<TypeRef>> = BTreeMap::new();
    for attribute in &model.attributes {
        let own = Some(attribute.type_definition);
        let known = attributes.entry(&attribute.name).or_insert(own);
        *known = known.filter(|_| *known == own);
    }
    let terminals = attributes
        .into_iter()
        .map(|(name, definition)| Terminal::Attribute {
            name: names.name(name),
            datatype: definition.map_or(DatatypeId::STRING, |id| datatypes.id(id)),
        });
    terminals.collect()
}

/// ElementFragment 0 and ElementFragmentTypeEmpty 0.
fn grammars(
    attributes: &[Terminal],
    elements: &[ElementId],
    table: &mut Table,
) -> Result<(StateId, StateId), Rule> {
    let content = table.reserve()?;
    let to = |terminal, next| Production { terminal, next };
    let mut productions: Vec<Production> = elements
        .iter()
        .map(|element| to(Terminal::StartElement(*element), content))
        .collect();
    productions.push(to(Terminal::StartElementAny, content));
    productions.push(END);
    productions.push(to(Terminal::Characters(DatatypeId::STRING), content));
    let run = table.run(&productions)?;
    table.fill(content, run);
    let start = start(attributes, &productions, content, table)?;
    let end = table.content(&[END])?;
    let empty = self::start(attributes, &[END], end, table)?;
    Ok((start, empty))
}

fn start(
    attributes: &[Terminal],
    content: &[Production],
    after: StateId,
    table: &mut Table,
) -> Result<StateId, Rule> {
    let state = table.reserve()?;
    let terminals = attributes.iter().copied().chain([Terminal::AttributeAny]);
    let mut productions: Vec<Production> = terminals
        .map(|terminal| Production {
            terminal,
            next: state,
        })
        .collect();
    productions.extend_from_slice(content);
    let run = table.run(&productions)?;
    table.fill(state, run);
    table.start_tag(state, true, after);
    Ok(state)
}
