//! N-Triples written: a triple a line, nothing abbreviated.

use super::quoted::{write_quoted, write_reference};
use super::{Class, Describe, Literal, NIL, Property, Term, datatype};
use crate::number::{TimeWriter, write_f64};
use alloc::vec::Vec;

/// Nodes within nodes: an interval within a time within an observation.
const NESTING_MAX: usize = 4;

/// Writes a document.
pub(crate) struct NTriplesText<'o> {
    out: &'o mut Vec<u8>,
    times: TimeWriter,
    /// Numbers of the nodes that are open.
    open: [usize; NESTING_MAX],
    depth: usize,
    /// Nodes written so far.
    count: usize,
}

impl<'o> NTriplesText<'o> {
    pub(crate) fn new(out: &'o mut Vec<u8>) -> Self {
        Self {
            out,
            times: TimeWriter::default(),
            open: [0; NESTING_MAX],
            depth: 0,
            count: 0,
        }
    }

    fn text(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn label(&mut self, node: usize) {
        self.text("_:b");
        write_f64(node as f64, self.out);
    }

    fn term(&mut self, term: Term) {
        self.out.push(b'<');
        self.text(term.namespace.iri);
        self.text(term.local);
        self.out.push(b'>');
    }

    /// Begins a triple about the node begun last.
    fn verb(&mut self, property: Property) {
        self.label(self.open[self.depth - 1]);
        self.out.push(b' ');
        self.term(property.term());
        self.out.push(b' ');
    }

    fn enter(&mut self, class: Option<Class>) {
        self.open[self.depth] = self.count;
        self.depth += 1;
        self.count += 1;
        if let Some(class) = class {
            self.verb(Property::Type);
            self.term(class.term());
            self.text(" .\n");
        }
    }
}

impl Describe for NTriplesText<'_> {
    fn begin(&mut self, class: Class) {
        self.depth = 0;
        self.enter(Some(class));
    }

    fn end(&mut self) {}

    fn open(&mut self, property: Property, class: Option<Class>) {
        self.verb(property);
        self.label(self.count);
        self.text(" .\n");
        self.enter(class);
    }

    fn close(&mut self) {
        self.depth -= 1;
    }

    fn literal(&mut self, property: Property, literal: Literal<'_>) {
        self.verb(property);
        write_quoted(&literal, &mut self.times, self.out);
        if let Some(datatype) = datatype(property, &literal) {
            self.text("^^");
            self.term(datatype);
        }
        self.text(" .\n");
    }

    fn resource(&mut self, property: Property, name: &str) {
        self.verb(property);
        write_reference(name, self.out);
        self.text(" .\n");
    }

    fn nil(&mut self, property: Property) {
        self.verb(property);
        self.term(NIL);
        self.text(" .\n");
    }
}
