//! Schemas from their inner text, and grammars as text.

use weir_exi::Schema;
use weir_exi::grammar::{
    Datatype, DatatypeId, Element, NameId, Representation, StateId, Terminal, Type, UriId,
};
use weir_exi::xsd::{self, Document, XsdError};

/// The bytes of a schema document in a namespace; empty for none.
pub(crate) fn document(target: &str, body: &str) -> String {
    let namespace = match target {
        "" => String::new(),
        uri => format!("targetNamespace='{uri}' xmlns='{uri}'"),
    };
    format!(
        "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' {namespace}\
         \n elementFormDefault='qualified'>{body}</xs:schema>"
    )
}

/// Compiles the first of some documents; the others are there to be referred to.
pub(crate) fn compiled(documents: &[(&str, String)]) -> Result<Schema, XsdError> {
    let (location, text) = &documents[0];
    let first = Document {
        location,
        bytes: text.as_bytes(),
    };
    let mut loader = |location: &str| {
        let found = documents.iter().find(|(name, _)| *name == location);
        found.map(|(_, text)| text.clone().into_bytes())
    };
    xsd::compile(&[first], &mut loader)
}

/// A schema without target namespace.
pub(crate) fn schema(body: &str) -> Schema {
    compiled(&[("test.xsd", document("", body))]).expect("a schema")
}

/// Grammars of a schema, by names as they are written in errors: `{uri}local`.
pub(crate) trait Grammars {
    fn shown(&self, name: NameId) -> String;
    fn uri(&self, uri: UriId) -> &str;
    fn global(&self, name: &str) -> Element;
    fn named(&self, name: &str) -> Type;
    fn start(&self, name: &str) -> StateId;
    fn codes(&self, state: StateId) -> Vec<String>;
    fn after(&self, state: StateId, path: &[&str]) -> StateId;
    fn datatype(&self, name: &str) -> Datatype;
    fn representation(&self, name: &str) -> Representation;
    fn child(&self, state: StateId, code: &str) -> Element;
}

impl Grammars for Schema {
    fn shown(&self, name: NameId) -> String {
        let (uri, local) = self.name_parts(name);
        let uri = &self.uris[uri as usize];
        match uri.uri.as_str() {
            "" => uri.locals[local as usize].clone(),
            own => format!("{{{own}}}{}", uri.locals[local as usize]),
        }
    }

    fn uri(&self, uri: UriId) -> &str {
        &self.uris[uri.index()].uri
    }

    fn global(&self, name: &str) -> Element {
        let mut elements = self
            .global_elements
            .iter()
            .map(|id| self.elements[id.index()]);
        elements
            .find(|element| self.shown(element.name) == name)
            .expect("a global element")
    }

    fn named(&self, name: &str) -> Type {
        let mut types = self.types.iter();
        let named = |own: &&Type| own.name.is_some_and(|own| self.shown(own) == name);
        *types.find(named).expect("a named type")
    }

    /// State 0 of a global element.
    fn start(&self, name: &str) -> StateId {
        self.types[self.global(name).element_type.index()].start
    }

    /// The productions of a state in the order of their event codes.
    fn codes(&self, state: StateId) -> Vec<String> {
        let productions = self.productions_of(state).iter();
        let shown = productions.map(|production| match production.terminal {
            Terminal::Attribute { name, .. } => format!("AT({})", self.shown(name)),
            Terminal::AttributeInUri(uri) => format!("AT({{{}}}*)", self.uri(uri)),
            Terminal::AttributeAny => "AT(*)".to_string(),
            Terminal::StartElement(id) => {
                format!("SE({})", self.shown(self.elements[id.index()].name))
            }
            Terminal::StartElementInUri(uri) => format!("SE({{{}}}*)", self.uri(uri)),
            Terminal::StartElementAny => "SE(*)".to_string(),
            Terminal::EndElement => "EE".to_string(),
            Terminal::Characters(DatatypeId::STRING) => "CH(string)".to_string(),
            Terminal::Characters(_) => "CH".to_string(),
        });
        shown.collect()
    }

    /// The state after some events.
    fn after(&self, state: StateId, path: &[&str]) -> StateId {
        path.iter().fold(state, |state, code| {
            let codes = self.codes(state);
            let at = codes.iter().position(|own| own == code);
            let at = at.unwrap_or_else(|| panic!("no {code} in {codes:?}"));
            self.productions_of(state)[at].next
        })
    }

    fn datatype(&self, name: &str) -> Datatype {
        let id = self.named(name).datatype.expect("a simple type");
        self.datatypes[id.index()]
    }

    fn representation(&self, name: &str) -> Representation {
        self.datatype(name).representation
    }

    /// The element that a production of a state begins.
    fn child(&self, state: StateId, code: &str) -> Element {
        let at = self.codes(state).iter().position(|own| own == code);
        match self.productions_of(state)[at.expect("a production")].terminal {
            Terminal::StartElement(id) => self.elements[id.index()],
            other => panic!("{other:?} begins no declared element"),
        }
    }
}
