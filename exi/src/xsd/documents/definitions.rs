//! The index of global definitions.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{Documents, Place};
use crate::xsd::error::{Rule, XsdError};
use crate::xsd::name::Name;

/// The symbol spaces of XML Schema (part 1 section 2.5); notations and identity constraints do not
/// matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::xsd) enum Kind {
    Element,
    Attribute,
    Type,
    Group,
    AttributeGroup,
}

impl Kind {
    fn of(tag: &str) -> Option<Self> {
        Some(match tag {
            "element" => Self::Element,
            "attribute" => Self::Attribute,
            "simpleType" | "complexType" => Self::Type,
            "group" => Self::Group,
            "attributeGroup" => Self::AttributeGroup,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::Element => "element",
            Self::Attribute => "attribute",
            Self::Type => "type",
            Self::Group => "group",
            Self::AttributeGroup => "attributeGroup",
        }
    }
}

/// A global definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::xsd) struct DefinitionId(u32);

#[derive(Debug)]
pub(super) struct Definition {
    kind: Kind,
    name: Name,
    place: Place,
    /// What it redefines: the meaning of its own name within it (part 1 section 4.2.2).
    redefined: Option<DefinitionId>,
}

impl Documents {
    /// Enters a child of xs:schema or xs:redefine, if it defines something.
    pub(super) fn define(&mut self, place: Place, redefines: bool) -> Result<(), XsdError> {
        let Some(kind) = Kind::of(self.tag(place)) else {
            return Ok(());
        };
        let target = self.target(place);
        let name = Name {
            local: self.required(place, "name")?.into(),
            uri: target,
        };
        let key = (kind, name.clone());
        let known = self.index.get(&key).copied();
        match (known, redefines) {
            (Some(_), false) => {
                return Err(self.error(place, Rule::Duplicate(name.to_string())));
            }
            (None, true) => return Err(self.unresolved(place, kind, &name)),
            _ => {}
        }
        let id = DefinitionId(self.definitions.len() as u32);
        self.definitions.push(Definition {
            kind,
            name,
            place,
            redefined: known,
        });
        self.index.insert(key, id);
        self.by_place.insert(place, id);
        Ok(())
    }

    /// What a name means at a place.
    pub(in crate::xsd) fn find(
        &self,
        place: Place,
        kind: Kind,
        name: &Name,
    ) -> Result<DefinitionId, XsdError> {
        self.redefined_at(place, kind, name)
            .or_else(|| self.index.get(&(kind, name.clone())).copied())
            .ok_or_else(|| self.unresolved(place, kind, name))
    }

    /// What a name means within the definition that redefines it.
    fn redefined_at(&self, place: Place, kind: Kind, name: &Name) -> Option<DefinitionId> {
        let mut node = Some(place.node);
        while let Some(at) = node {
            let here = Place { node: at, ..place };
            if let Some(id) = self.by_place.get(&here) {
                let definition = &self.definitions[id.0 as usize];
                let own = definition.kind == kind && definition.name == *name;
                return definition.redefined.filter(|_| own);
            }
            node = self.tree(place).parent(at);
        }
        None
    }

    /// Whether a definition is what its name means everywhere else.
    pub(in crate::xsd) fn is_current(&self, id: DefinitionId) -> bool {
        let definition = &self.definitions[id.0 as usize];
        let key = (definition.kind, definition.name.clone());
        self.index.get(&key) == Some(&id)
    }

    /// Where a definition stands.
    pub(in crate::xsd) fn place(&self, id: DefinitionId) -> Place {
        self.definitions[id.0 as usize].place
    }

    /// The name of a definition.
    pub(in crate::xsd) fn name(&self, id: DefinitionId) -> &Name {
        &self.definitions[id.0 as usize].name
    }

    /// All definitions of a kind that were not redefined, in the order of the documents.
    pub(in crate::xsd) fn all(&self, kind: Kind) -> Vec<DefinitionId> {
        let ids = (0..self.definitions.len() as u32).map(DefinitionId);
        ids.filter(|id| self.definitions[id.0 as usize].kind == kind && self.is_current(*id))
            .collect()
    }

    pub(in crate::xsd) fn unresolved(&self, place: Place, kind: Kind, name: &Name) -> XsdError {
        let mut shown = name.to_string();
        let missing = self.missing.iter().find(|(uri, _)| *uri == name.uri);
        if let Some((_, location)) = missing {
            shown.push_str(&alloc::format!(" (nothing was found at {location:?})"));
        }
        let rule = Rule::Unresolved {
            kind: kind.name(),
            name: shown,
        };
        self.error(place, rule)
    }

    /// Remembers an import that brought nothing.
    pub(super) fn miss(&mut self, uri: &str, location: String) {
        self.missing.push((uri.into(), location));
    }
}
