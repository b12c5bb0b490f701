//! The documents of a schema, joined by xs:include, xs:import and xs:redefine, and what each
//! defines globally (XML Schema part 1 section 4.2).
//!
//! A document that is included by another namespace than its own (a chameleon) is one document per
//! namespace over the same tree. What a document says is not looked at here, but for its names.

mod definitions;
mod load;

use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use hashbrown::HashMap;

pub(super) use definitions::{DefinitionId, Kind};
pub(super) use load::{Source, load};

use super::error::{Rule, XsdError};
use super::name::Name;
use super::read::failed;
use super::tree::{NodeId, Tree};
use crate::xml::position;
use definitions::Definition;

/// A place in a schema: an element of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Place {
    document: u32,
    node: NodeId,
}

/// One document under one target namespace.
#[derive(Debug)]
struct Document {
    text: Rc<Text>,
    target: Rc<str>,
    /// Whether names without prefix and default namespace mean the target namespace.
    chameleon: bool,
    elements_qualified: bool,
    attributes_qualified: bool,
}

/// A document as it was loaded.
#[derive(Debug)]
struct Text {
    location: String,
    bytes: Vec<u8>,
    tree: Tree,
}

/// All documents, and an index of their global definitions.
#[derive(Debug, Default)]
pub(super) struct Documents {
    documents: Vec<Document>,
    definitions: Vec<Definition>,
    index: HashMap<(Kind, Name), DefinitionId>,
    by_place: HashMap<Place, DefinitionId>,
    /// Imports that no document was found for, by namespace: named where a reference fails.
    missing: Vec<(Rc<str>, String)>,
}

impl Documents {
    fn document(&self, place: Place) -> &Document {
        &self.documents[place.document as usize]
    }

    fn tree(&self, place: Place) -> &Tree {
        &self.document(place).text.tree
    }

    /// The local name of an element of XML Schema.
    pub(super) fn tag(&self, place: Place) -> &str {
        &self.tree(place).name(place.node).local
    }

    /// The elements directly below, annotations left out.
    pub(super) fn children(&self, place: Place) -> Vec<Place> {
        let children = self.tree(place).children(place.node).iter();
        children
            .map(|node| Place {
                node: *node,
                ..place
            })
            .collect()
    }

    /// The first child with one of the given local names.
    pub(super) fn child(&self, place: Place, tags: &[&str]) -> Option<Place> {
        let mut children = self.children(place).into_iter();
        children.find(|child| tags.contains(&self.tag(*child)))
    }

    /// An attribute as it is written.
    pub(super) fn raw(&self, place: Place, name: &str) -> Option<&str> {
        self.tree(place).value(place.node, name)
    }

    /// An attribute of a type whose white space is collapsed.
    pub(super) fn value(&self, place: Place, name: &str) -> Option<&str> {
        let value = self.raw(place, name)?;
        Some(value.trim_matches([' ', '\t', '\n', '\r']))
    }

    /// An attribute that is required.
    pub(super) fn required(&self, place: Place, name: &'static str) -> Result<&str, XsdError> {
        self.value(place, name)
            .ok_or_else(|| self.error(place, Rule::Expected(name)))
    }

    /// An attribute that is a boolean.
    pub(super) fn boolean(
        &self,
        place: Place,
        name: &'static str,
    ) -> Result<Option<bool>, XsdError> {
        match self.value(place, name) {
            None => Ok(None),
            Some("true" | "1") => Ok(Some(true)),
            Some("false" | "0") => Ok(Some(false)),
            Some(_) => Err(self.wrong(place, name, "a boolean")),
        }
    }

    /// An attribute that is a list of names.
    pub(super) fn names(&self, place: Place, name: &str) -> Result<Vec<Name>, XsdError> {
        let text = self.value(place, name).unwrap_or_default();
        super::name::words(text)
            .map(|word| self.resolve(place, word))
            .collect()
    }

    /// An attribute that is a name, with its namespace (XML Schema part 1 section 3.15.3).
    pub(super) fn reference(&self, place: Place, name: &str) -> Result<Option<Name>, XsdError> {
        self.value(place, name)
            .map(|word| self.resolve(place, word))
            .transpose()
    }

    fn resolve(&self, place: Place, word: &str) -> Result<Name, XsdError> {
        let (prefix, local) = word.split_once(':').unwrap_or(("", word));
        let document = self.document(place);
        let uri = self
            .tree(place)
            .namespace(place.node, prefix)
            .ok_or_else(|| self.error(place, Rule::UnknownPrefix(prefix.to_string())))?;
        if uri.is_empty() && document.chameleon {
            return Ok(Name::new(&document.target, local));
        }
        Ok(Name {
            local: local.into(),
            uri,
        })
    }

    /// The target namespace of a document; empty for none.
    pub(super) fn target(&self, place: Place) -> Rc<str> {
        Rc::clone(&self.document(place).target)
    }

    /// The name of a local element or attribute declaration, by its form.
    pub(super) fn local_name(&self, place: Place) -> Result<Name, XsdError> {
        let local = self.required(place, "name")?;
        let document = self.document(place);
        let qualified = match self.value(place, "form") {
            Some("qualified") => true,
            Some("unqualified") => false,
            Some(_) => return Err(self.wrong(place, "form", "qualified or unqualified")),
            None if self.tag(place) == "element" => document.elements_qualified,
            None => document.attributes_qualified,
        };
        let uri = if qualified { &*document.target } else { "" };
        Ok(Name::new(uri, local))
    }

    /// Target namespaces of all documents.
    pub(super) fn targets(&self) -> impl Iterator<Item = &Rc<str>> {
        self.documents.iter().map(|document| &document.target)
    }

    /// An error about an attribute's value.
    pub(super) fn wrong(
        &self,
        place: Place,
        name: &'static str,
        expected: &'static str,
    ) -> XsdError {
        let value = self.raw(place, name).unwrap_or_default().to_string();
        let rule = Rule::Attribute {
            name,
            value,
            expected,
        };
        self.error(place, rule)
    }

    /// An error at a place, which names the innermost component that has a name.
    pub(super) fn error(&self, place: Place, rule: Rule) -> XsdError {
        let text = &self.document(place).text;
        let at = position(&text.bytes, text.tree.offset(place.node));
        XsdError {
            component: self.component(place),
            ..failed(&text.location, at, rule)
        }
    }

    fn component(&self, place: Place) -> String {
        let tree = self.tree(place);
        let mut next = Some(place.node);
        while let Some(node) = next {
            let name = tree.value(node, "name").or(tree.value(node, "ref"));
            if let Some(name) = name {
                return alloc::format!("{} {name}", tree.name(node).local);
            }
            next = tree.parent(node);
        }
        tree.name(place.node).local.to_string()
    }
}
