//! JSON-LD 1.1 written: the context in the document, so that nobody must fetch it, then the
//! observations as objects.

use super::{Class, Describe, JSON, Literal, NIL, Property, Range, Term, datatype, iri};
use crate::number::{TimeWriter, write_f64};
use crate::syntax::json_text::write_string;
use alloc::vec::Vec;

/// Writes a document.
pub(crate) struct JsonLdText<'o> {
    out: &'o mut Vec<u8>,
    times: TimeWriter,
}

impl<'o> JsonLdText<'o> {
    /// Begins a document.
    pub(crate) fn new(out: &'o mut Vec<u8>) -> Self {
        out.extend_from_slice(b"{\"@context\":{\"@version\":1.1");
        let times = TimeWriter::default();
        let mut text = Self { out, times };
        Class::ALL
            .iter()
            .for_each(|class| text.define(class.term()));
        for property in Property::ALL {
            if *property != Property::Type {
                text.define_property(*property);
            }
        }
        text.text("},\"@graph\":[");
        text
    }

    /// Ends the document.
    pub(crate) fn finish(self) {
        if self.out.last() == Some(&b',') {
            self.out.pop();
        }
        self.out.extend_from_slice(b"]}");
    }

    fn text(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn key(&mut self, term: Term) {
        self.text(",\"");
        self.text(term.local);
        self.text("\":");
    }

    fn define(&mut self, term: Term) {
        self.key(term);
        self.iri(term);
    }

    fn define_property(&mut self, property: Property) {
        self.key(property.term());
        self.text("{\"@id\":");
        self.iri(property.term());
        match property.range() {
            Range::Any => {}
            Range::Node => self.text(",\"@type\":\"@id\""),
            Range::Json => self.text(",\"@type\":\"@json\""),
            Range::Literal(datatype) => {
                self.text(",\"@type\":");
                self.iri(datatype);
            }
        }
        self.out.push(b'}');
    }

    fn iri(&mut self, term: Term) {
        self.out.push(b'"');
        self.text(term.namespace.iri);
        self.text(term.local);
        self.out.push(b'"');
    }

    fn class(&mut self, class: Class) {
        self.text("\"@type\":\"");
        self.text(class.term().local);
        self.out.push(b'"');
    }

    fn value(&mut self, literal: Literal<'_>) {
        match literal {
            Literal::Number(number) => write_f64(number, self.out),
            Literal::Bool(truth) => self.text(if truth { "true" } else { "false" }),
            Literal::Text(text) | Literal::Ucum(text) => write_string(text, self.out),
            Literal::Json(json) | Literal::Integer(json) => self.text(json),
            Literal::Time(time) => {
                self.out.push(b'"');
                self.times.write(time, self.out);
                self.out.push(b'"');
            }
        }
    }
}

impl Describe for JsonLdText<'_> {
    fn begin(&mut self, class: Class) {
        self.out.push(b'{');
        self.class(class);
    }

    fn end(&mut self) {
        self.text("},");
    }

    fn open(&mut self, property: Property, class: Option<Class>) {
        self.key(property.term());
        self.out.push(b'{');
        match class {
            Some(class) => self.class(class),
            // So that what follows may begin with a comma.
            None => self.text("\"@type\":[]"),
        }
    }

    fn close(&mut self) {
        self.out.push(b'}');
    }

    fn literal(&mut self, property: Property, literal: Literal<'_>) {
        self.key(property.term());
        let json = matches!(datatype(property, &literal), Some(JSON));
        if json && property.range() != Range::Json {
            self.text("{\"@type\":\"@json\",\"@value\":");
            self.value(literal);
            return self.out.push(b'}');
        }
        self.value(literal);
    }

    fn resource(&mut self, property: Property, name: &str) {
        self.key(property.term());
        self.out.push(b'"');
        iri::write(name, self.out);
        self.out.push(b'"');
    }

    fn nil(&mut self, property: Property) {
        self.key(property.term());
        self.iri(NIL);
    }
}
