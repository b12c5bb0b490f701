//! Triples, gathered until all are there.

use super::{Property, RDF, XSD};
use crate::error::DecodeError;
use crate::limits::{RDF_BYTES_PER_TRIPLE_MIN, RDF_TRIPLES_PER_OBSERVATION_MAX};
use alloc::string::String;
use alloc::vec::Vec;
use core::hash::BuildHasher;
use hashbrown::{DefaultHashBuilder, HashTable};
use weir_model::Limits;

/// A node: an IRI or a blank one, by the order in which they were met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Node(u32);

/// A place in the graph's texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    start: u32,
    len: u32,
}

/// What a literal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Datatype {
    Text,
    Number,
    Bool,
    Json,
}

impl Datatype {
    /// The datatype of this IRI; those that are not told apart are text.
    pub(crate) fn of(iri: &str) -> Self {
        if let Some(local) = iri.strip_prefix(XSD.iri) {
            return match local {
                "double" | "float" | "decimal" | "integer" | "int" | "long" | "short" | "byte"
                | "nonNegativeInteger" | "positiveInteger" | "nonPositiveInteger"
                | "negativeInteger" | "unsignedInt" | "unsignedLong" | "unsignedShort"
                | "unsignedByte" => Datatype::Number,
                "boolean" => Datatype::Bool,
                _ => Datatype::Text,
            };
        }
        match iri.strip_prefix(RDF.iri) {
            Some("JSON") => Datatype::Json,
            _ => Datatype::Text,
        }
    }
}

/// The object of a triple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Object {
    Node(Node),
    Literal(Span, Datatype),
}

/// A triple, and where in the message its object stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Triple {
    pub(crate) subject: Node,
    pub(crate) property: Property,
    pub(crate) object: Object,
    pub(crate) at: u32,
}

/// All triples of a message that have a known property.
pub(crate) struct Graph {
    text: String,
    nodes: Vec<Span>,
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
    triples: Vec<Triple>,
    triples_max: usize,
    text_bytes_max: usize,
}

impl Graph {
    /// An empty graph for a message of this length.
    pub(crate) fn new(message_bytes: usize, limits: &Limits) -> Self {
        let by_length = message_bytes / RDF_BYTES_PER_TRIPLE_MIN;
        let by_count = limits
            .observations
            .saturating_mul(RDF_TRIPLES_PER_OBSERVATION_MAX);
        Self {
            text: String::new(),
            nodes: Vec::new(),
            index: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            triples: Vec::new(),
            triples_max: by_count.min(by_length + RDF_TRIPLES_PER_OBSERVATION_MAX),
            // Prefixes are how few bytes become many.
            text_bytes_max: limits
                .message_bytes
                .saturating_mul(2)
                .min(u32::MAX as usize),
        }
    }

    /// The node of an IRI, or of a label with `_:` before it, that stands at `at`.
    pub(crate) fn node(&mut self, name: &str, at: usize) -> Result<Node, DecodeError> {
        let hash = self.hasher.hash_one(name);
        let (text, nodes) = (&self.text, &self.nodes);
        let same = |node: &u32| slice(text, nodes[*node as usize]) == name;
        if let Some(found) = self.index.find(hash, same) {
            return Ok(Node(*found));
        }
        let node = self.add(name, at)?;
        let (text, nodes, hasher) = (&self.text, &self.nodes, &self.hasher);
        self.index.insert_unique(hash, node.0, |node| {
            hasher.hash_one(slice(text, nodes[*node as usize]))
        });
        Ok(node)
    }

    /// A blank node without a label.
    pub(crate) fn blank(&mut self, at: usize) -> Result<Node, DecodeError> {
        self.add("_:", at)
    }

    fn add(&mut self, name: &str, at: usize) -> Result<Node, DecodeError> {
        let span = self.keep(name, at)?;
        self.nodes.push(span);
        Ok(Node(self.nodes.len() as u32 - 1))
    }

    fn keep(&mut self, text: &str, at: usize) -> Result<Span, DecodeError> {
        if self.text.len() + text.len() > self.text_bytes_max {
            let what = "bytes of names and literals";
            return Err(DecodeError::over(at, what, self.text_bytes_max));
        }
        let start = self.text.len() as u32;
        self.text.push_str(text);
        let len = text.len() as u32;
        Ok(Span { start, len })
    }

    /// The object that a literal is.
    pub(crate) fn literal(
        &mut self,
        text: &str,
        datatype: Datatype,
        at: usize,
    ) -> Result<Object, DecodeError> {
        Ok(Object::Literal(self.keep(text, at)?, datatype))
    }

    /// Adds a triple.
    pub(crate) fn push(
        &mut self,
        subject: Node,
        property: Property,
        object: Object,
        at: usize,
    ) -> Result<(), DecodeError> {
        if self.triples.len() >= self.triples_max {
            return Err(DecodeError::over(at, "triples", self.triples_max));
        }
        self.triples.push(Triple {
            subject,
            property,
            object,
            at: at as u32,
        });
        Ok(())
    }

    /// Makes triples be found by their subjects.
    pub(crate) fn sort(&mut self) {
        self.triples.sort_by_key(|triple| triple.subject);
    }

    /// The triples of each subject, in the order in which subjects were met.
    pub(crate) fn subjects(&self) -> impl Iterator<Item = &[Triple]> {
        self.triples
            .chunk_by(|one, other| one.subject == other.subject)
    }

    /// The triples about a node.
    pub(crate) fn about(&self, node: Node) -> &[Triple] {
        let from = self.triples.partition_point(|triple| triple.subject < node);
        let rest = &self.triples[from..];
        let len = rest.partition_point(|triple| triple.subject == node);
        &rest[..len]
    }

    /// The IRI or label of a node.
    pub(crate) fn name(&self, node: Node) -> &str {
        slice(&self.text, self.nodes[node.0 as usize])
    }

    /// The text of a literal.
    pub(crate) fn text(&self, span: Span) -> &str {
        slice(&self.text, span)
    }
}

fn slice(text: &str, span: Span) -> &str {
    let start = span.start as usize;
    text.get(start..start + span.len as usize)
        .unwrap_or_default()
}
