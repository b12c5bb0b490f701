//! XML Schema documents lowered to the tables of [`crate::grammar`] (EXI 1.0 section 8.5).
//!
//! [`compile`] takes schema documents (W3C XML Schema 1.0) and what they include and import, given
//! by a [`Loader`]; [`built_in_types`] is the schema that an empty `schemaId` names.
//!
//! Ahead of time the same is `cargo xtask exi-schema FILE.xsd... -o OUT [--id SCHEMA-ID]`, whose
//! file a program can hold (`include_bytes!`) and give to
//! [`Schema::from_bytes`](crate::Schema::from_bytes); it is
//! [`SchemaParts::to_bytes`](crate::grammar::SchemaParts::to_bytes) of [`parts`].
//!
//! Deliberately absent: validation of documents, and of schemas beyond what a grammar needs to be
//! right; but what no schema document may hold is an error, since a grammar without it would be another.
//! The decision worth arguing: documents become components and components become tables, each in one
//! pass and each testable alone; nothing of a schema is kept while streams are coded.

mod build;
mod builtin;
mod characters;
mod documents;
mod error;
mod known;
mod limits;
mod loader;
mod lower;
mod model;
mod name;
mod pattern;
mod read;
mod tree;

use alloc::string::String;
use alloc::vec::Vec;

pub use error::{Rule, XsdError};
pub use loader::{Loader, Reference, ReferenceKind, join};

use crate::grammar::{Schema, SchemaParts};
use documents::Source;
use model::Model;

/// A schema document that the caller has at hand.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    /// Where it is from: what its references are relative to, and what errors name.
    pub location: &'a str,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// Compiles schema documents and all that they refer to, which `loader` gives.
///
/// ```
/// use weir_exi::xsd::{self, Document};
///
/// let main = r#"<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
///   <xs:include schemaLocation="types.xsd"/><xs:element name="e" type="T"/></xs:schema>"#;
/// let types = r#"<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
///   <xs:complexType name="T"><xs:attribute name="a"/></xs:complexType></xs:schema>"#;
/// let document = Document { location: "dir/main.xsd", bytes: main.as_bytes() };
/// let mut loader = |location: &str| (location == "dir/types.xsd").then(|| types.into());
/// let schema = xsd::compile(&[document], &mut loader)?;
/// assert_eq!(schema.global_elements.len(), 1);
/// # Ok::<(), xsd::XsdError>(())
/// ```
///
/// # Errors
/// The first mistake, with its document, line, component and the rule that is broken.
pub fn compile(documents: &[Document<'_>], loader: &mut dyn Loader) -> Result<Schema, XsdError> {
    tables(parts(documents, loader)?)
}

/// The same as tables, to be stored or named: an id for `schemaId` is the caller's to set.
///
/// # Errors
/// As [`compile`].
pub fn parts(documents: &[Document<'_>], loader: &mut dyn Loader) -> Result<SchemaParts, XsdError> {
    let sources = documents.iter().map(|document| Source {
        location: document.location,
        bytes: document.bytes,
    });
    let sources: Vec<_> = sources.collect();
    let documents = documents::load(&sources, loader)?;
    let model = build::build(&documents)?;
    lower::lower(&model).map_err(|(id, rule)| {
        let place = id.and_then(|id| model.places[id.index()]);
        match place {
            Some(place) => documents.error(place, rule),
            None => whole(rule),
        }
    })
}

/// The schema of the built-in types of XML Schema alone: that of an empty `schemaId` (section 5.4).
pub fn built_in_types() -> Schema {
    let types = builtin::definitions();
    let named = types.iter().enumerate();
    let named = named.filter_map(|(index, definition)| {
        let id = model::TypeRef(index as u32);
        definition.name.clone().map(|name| (name, id))
    });
    let model = Model {
        global_types: named.collect(),
        types,
        ..Model::default()
    };
    let parts = lower::lower(&model).map_err(|(_, rule)| whole(rule));
    let named = parts.map(|parts| SchemaParts {
        id: Some(String::new()),
        ..parts
    });
    match named.and_then(tables) {
        Ok(schema) => schema,
        Err(error) => unreachable!("built-in types: {error}"),
    }
}

fn tables(parts: SchemaParts) -> Result<Schema, XsdError> {
    Schema::new(parts).map_err(|error| whole(Rule::Tables(error)))
}

/// An error without place.
fn whole(rule: Rule) -> XsdError {
    XsdError {
        location: String::from("schema"),
        line: 0,
        column: 0,
        component: String::new(),
        rule,
    }
}
