//! What Turtle and N-Triples write alike: lexical forms in quotes, and IRIs in brackets (RDF 1.1
//! N-Triples section 2).

use super::{Literal, iri};
use crate::number::{TimeWriter, write_f64};
use crate::syntax::json_text::write_string;
use alloc::vec::Vec;

/// Appends a literal without its datatype.
pub(super) fn write_quoted(literal: &Literal<'_>, times: &mut TimeWriter, out: &mut Vec<u8>) {
    if let Literal::Text(text) | Literal::Json(text) | Literal::Ucum(text) = *literal {
        return write_string(text, out);
    }
    out.push(b'"');
    match *literal {
        Literal::Number(number) => write_f64(number, out),
        Literal::Integer(digits) => out.extend_from_slice(digits.as_bytes()),
        Literal::Bool(truth) => out.extend_from_slice(if truth { b"true" } else { b"false" }),
        Literal::Time(time) => times.write(time, out),
        // Written above.
        Literal::Text(_) | Literal::Json(_) | Literal::Ucum(_) => {}
    }
    out.push(b'"');
}

/// Appends the IRI of a name.
pub(super) fn write_reference(name: &str, out: &mut Vec<u8>) {
    out.push(b'<');
    iri::write(name, out);
    out.push(b'>');
}
