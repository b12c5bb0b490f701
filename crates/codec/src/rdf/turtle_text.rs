//! Turtle written: prefixes first, then an observation a line.

use super::quoted::{write_quoted, write_reference};
use super::{Class, Describe, Literal, NAMESPACES, NIL, Property, Range, Term, datatype};
use crate::number::{TimeWriter, write_f64};
use alloc::vec::Vec;

/// Writes a document.
pub(crate) struct TurtleText<'o> {
    out: &'o mut Vec<u8>,
    times: TimeWriter,
    /// Whether nothing was said yet of the node begun last.
    fresh: bool,
}

impl<'o> TurtleText<'o> {
    pub(crate) fn new(out: &'o mut Vec<u8>) -> Self {
        for namespace in NAMESPACES {
            for part in ["@prefix ", namespace.prefix, ": <", namespace.iri, "> .\n"] {
                out.extend_from_slice(part.as_bytes());
            }
        }
        Self {
            out,
            times: TimeWriter::default(),
            fresh: false,
        }
    }

    fn text(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn term(&mut self, term: Term) {
        self.text(term.namespace.prefix);
        self.out.push(b':');
        self.text(term.local);
    }

    fn verb(&mut self, property: Property) {
        let between = if core::mem::replace(&mut self.fresh, false) {
            " "
        } else {
            " ; "
        };
        self.text(between);
        self.term(property.term());
        self.out.push(b' ');
    }

    fn class(&mut self, class: Option<Class>) {
        self.fresh = class.is_none();
        if let Some(class) = class {
            self.text(" a ");
            self.term(class.term());
        }
    }
}

impl Describe for TurtleText<'_> {
    fn begin(&mut self, class: Class) {
        self.text("[]");
        self.class(Some(class));
    }

    fn end(&mut self) {
        self.text(" .\n");
    }

    fn open(&mut self, property: Property, class: Option<Class>) {
        self.verb(property);
        self.out.push(b'[');
        self.class(class);
    }

    fn close(&mut self) {
        self.text(" ]");
        self.fresh = false;
    }

    fn literal(&mut self, property: Property, literal: Literal<'_>) {
        self.verb(property);
        match literal {
            Literal::Number(number) => return write_double(number, self.out),
            Literal::Integer(digits) => return self.text(digits),
            Literal::Bool(truth) => return self.text(if truth { "true" } else { "false" }),
            other => write_quoted(&other, &mut self.times, self.out),
        }
        if let Some(datatype) = datatype(property, &literal) {
            self.text("^^");
            self.term(datatype);
        }
    }

    fn resource(&mut self, property: Property, name: &str) {
        debug_assert_eq!(property.range(), Range::Node);
        self.verb(property);
        write_reference(name, self.out);
    }

    fn nil(&mut self, property: Property) {
        self.verb(property);
        self.term(NIL);
    }
}

/// A number with an exponent, which is what makes it an `xsd:double`.
fn write_double(number: f64, out: &mut Vec<u8>) {
    let start = out.len();
    write_f64(number, out);
    if !out[start..].contains(&b'e') {
        out.extend_from_slice(b"e0");
    }
}
