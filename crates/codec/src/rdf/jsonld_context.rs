//! Contexts of JSON-LD (JSON-LD 1.1 section 9.15): what the keys of a document mean.
//!
//! Read are terms with an IRI and a type, prefixes, `@vocab` and `@base`. Not read, and refused where
//! they would change a meaning: contexts that must be fetched.

use super::graph::Datatype;
use super::{Property, iri};
use crate::error::DecodeError;
use crate::limits::{JSONLD_TERMS_MAX, RDF_IRI_BYTES_MAX};
use crate::names::Names;
use crate::syntax::json::Json;
use crate::syntax::{Key, Kind, Pull};
use alloc::string::String;
use alloc::vec::Vec;

/// How values of a term are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coercion {
    /// Strings are strings.
    None,
    /// Strings are IRIs.
    Node,
    /// Values are JSON documents.
    Json,
    /// Values are literals of this datatype.
    Literal(Datatype),
}

#[derive(Clone)]
struct TermOf {
    name: String,
    iri: String,
    coercion: Coercion,
}

/// What is in force at a place of the document.
#[derive(Default)]
pub(crate) struct Context {
    terms: Vec<TermOf>,
    vocabulary: String,
    base: String,
}

/// What a nested context must give back at its end.
pub(crate) struct Before {
    terms: usize,
    vocabulary: String,
    base: String,
}

impl Context {
    /// Remembers what is in force.
    pub(crate) fn mark(&self) -> Before {
        Before {
            terms: self.terms.len(),
            vocabulary: self.vocabulary.clone(),
            base: self.base.clone(),
        }
    }

    /// Ends what a nested context said.
    pub(crate) fn restore(&mut self, before: Before) {
        self.terms.truncate(before.terms);
        (self.vocabulary, self.base) = (before.vocabulary, before.base);
    }

    /// Reads a context, or several in an array.
    pub(crate) fn read(&mut self, json: &mut Json<'_>) -> Result<(), DecodeError> {
        match json.peek()? {
            Kind::Map => self.read_map(json),
            Kind::Array => {
                let mut array = json.array()?;
                while json.item(&mut array)? {
                    self.read(json)?;
                }
                Ok(())
            }
            Kind::Null => json.null(),
            _ => Err(DecodeError::expected(
                json.at(),
                "a context that stands in the document: none is fetched",
            )),
        }
    }

    /// Prefixes may be used before they are declared, so those come first.
    fn read_map(&mut self, json: &mut Json<'_>) -> Result<(), DecodeError> {
        let start = json.mark();
        for prefixes in [true, false] {
            json.rewind(start);
            let (mut map, mut names) = (json.map()?, Names::default());
            while let Some(key) = json.new_key(&mut map, &mut names)? {
                let Key::Text(name) = key else { continue };
                let name = String::from(name);
                let simple = json.peek()? == Kind::Text;
                if simple == prefixes {
                    self.define(name, json)?
                } else {
                    json.skip()?
                }
            }
        }
        Ok(())
    }

    fn define(&mut self, name: String, json: &mut Json<'_>) -> Result<(), DecodeError> {
        let at = json.at();
        if name.starts_with('@') {
            match (&*name, json.peek()?) {
                ("@vocab", Kind::Text) => self.vocabulary = json.text()?.into(),
                ("@base", Kind::Text) => self.base = json.text()?.into(),
                _ => json.skip()?,
            }
            return Ok(());
        }
        let mut term = TermOf {
            iri: String::new(),
            coercion: Coercion::None,
            name,
        };
        match json.peek()? {
            Kind::Text => self.expand(json.text()?, at, &mut term.iri)?,
            Kind::Map => self.define_in_full(&mut term, json)?,
            _ => json.skip()?,
        }
        if term.iri.is_empty() {
            self.expand(&term.name, at, &mut term.iri)?;
        }
        if self.terms.len() >= JSONLD_TERMS_MAX {
            return Err(DecodeError::over(
                at,
                "terms of a context",
                JSONLD_TERMS_MAX,
            ));
        }
        self.terms.push(term);
        Ok(())
    }

    fn define_in_full(&self, term: &mut TermOf, json: &mut Json<'_>) -> Result<(), DecodeError> {
        let (mut map, mut names) = (json.map()?, Names::default());
        while let Some(key) = json.new_key(&mut map, &mut names)? {
            let id = key == Key::Text("@id");
            let kind = key == Key::Text("@type");
            if !(id || kind) || json.peek()? != Kind::Text {
                json.skip()?;
                continue;
            }
            let at = json.at();
            let text = String::from(json.text()?);
            if id {
                self.expand(&text, at, &mut term.iri)?;
            } else {
                term.coercion = self.coercion(&text, at)?;
            }
        }
        Ok(())
    }

    /// What a type of values says.
    pub(crate) fn coercion(&self, kind: &str, at: usize) -> Result<Coercion, DecodeError> {
        Ok(match kind {
            "@id" | "@vocab" => Coercion::Node,
            "@json" => Coercion::Json,
            "@none" => Coercion::None,
            datatype => {
                let mut iri = String::new();
                self.expand(datatype, at, &mut iri)?;
                Coercion::Literal(Datatype::of(&iri))
            }
        })
    }

    fn find(&self, name: &str) -> Option<&TermOf> {
        self.terms.iter().rev().find(|term| term.name == name)
    }

    /// Says in `out` the IRI of a term, of a name with a prefix, or of a name of the vocabulary.
    pub(crate) fn expand(
        &self,
        name: &str,
        at: usize,
        out: &mut String,
    ) -> Result<(), DecodeError> {
        out.clear();
        if let Some(term) = self.find(name) {
            out.push_str(&term.iri);
            return Ok(());
        }
        if !self.expand_prefix(name, out) {
            if !name.contains(':') && !name.starts_with('@') {
                out.push_str(&self.vocabulary);
            }
            out.push_str(name);
        }
        check(out, at)
    }

    /// Replaces a prefix, if there is one.
    fn expand_prefix(&self, name: &str, out: &mut String) -> bool {
        let Some((prefix, local)) = name.split_once(':') else {
            return false;
        };
        let Some(term) = self.find(prefix).filter(|_| !local.starts_with("//")) else {
            return false;
        };
        out.push_str(&term.iri);
        out.push_str(local);
        true
    }

    /// Says in `out` the IRI of a node's identifier.
    pub(crate) fn identify(
        &self,
        name: &str,
        at: usize,
        out: &mut String,
    ) -> Result<(), DecodeError> {
        out.clear();
        if name.starts_with("_:") {
            out.push_str(name);
        } else if !self.expand_prefix(name, out) {
            iri::resolve(&self.base, name, out);
        }
        check(out, at)
    }

    /// The property that a key means, and how its values are read.
    pub(crate) fn property(
        &self,
        key: &str,
        at: usize,
        scratch: &mut String,
    ) -> Result<(Option<Property>, Coercion), DecodeError> {
        if let Some(term) = self.find(key) {
            return Ok((Property::of(&term.iri), term.coercion));
        }
        self.expand(key, at, scratch)?;
        Ok((Property::of(scratch), Coercion::None))
    }
}

fn check(iri: &str, at: usize) -> Result<(), DecodeError> {
    if iri.len() > RDF_IRI_BYTES_MAX {
        Err(DecodeError::over(at, "bytes of an IRI", RDF_IRI_BYTES_MAX))
    } else {
        Ok(())
    }
}
