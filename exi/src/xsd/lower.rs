//! From components to the tables that grammars are interpreted from (EXI 1.0 section 8.5).
//!
//! The proto-grammars of section 8.5.4.1 are not built one by one and normalized: what they accept
//! is written as a finite automaton per content model and determined at once, which gives the same
//! productions (section 8.5.4 allows any algorithm that does). Event codes follow the order of
//! section 8.5.4.3.

mod content;
mod datatypes;
mod fragment;
mod names;
mod substitution;
mod table;
mod types;

use alloc::vec::Vec;

use super::error::Rule;
use super::model::{Model, TypeRef};
use crate::grammar::{Element, ElementId, SchemaParts, TypeId};
use datatypes::Datatypes;
use names::Names;
use types::Types;

/// What went wrong, and with which type.
pub(super) type Failed = (Option<TypeRef>, Rule);

/// Lowers a whole schema.
pub(super) fn lower(model: &Model) -> Result<SchemaParts, Failed> {
    let names = Names::of(model);
    let datatypes = Datatypes::of(model, &names);
    let types = Types::new(model, &names, &datatypes);
    let mut types = types.map_err(|rule| (None, rule))?;
    let definitions = types.all()?;
    let global_attributes = model.global_attributes.iter().map(|(name, id)| {
        let definition = model.attribute(*id).type_definition;
        (names.name(name), datatypes.id(definition))
    });
    let mut parts = SchemaParts {
        elements: elements(model, &names),
        global_elements: model
            .global_elements
            .values()
            .map(|id| ElementId(id.0))
            .collect(),
        global_attributes: global_attributes.collect(),
        types: definitions,
        ..SchemaParts::default()
    };
    let mut table = types.into_table();
    fragment::lower(model, &names, &datatypes, &mut table, &mut parts)?;
    parts.states = table.states;
    parts.productions = table.productions;
    parts.datatypes = datatypes.datatypes;
    parts.enumeration_values = datatypes.enumeration_values;
    parts.character_sets = datatypes.character_sets;
    parts.uris = names.into_uris();
    Ok(parts)
}

fn elements(model: &Model, names: &Names) -> Vec<Element> {
    let elements = model.elements.iter().map(|element| Element {
        name: names.name(&element.name),
        element_type: TypeId(element.type_definition.0),
        nillable: element.nillable,
    });
    elements.collect()
}
