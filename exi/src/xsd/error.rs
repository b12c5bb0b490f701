//! What is wrong with a schema: the file, the place in it, the component, and the rule.

use alloc::string::String;
use core::fmt;

use crate::error::ErrorKind;
use crate::grammar::SchemaError;

/// Why a schema was not compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XsdError {
    /// The document, by the location it was loaded from.
    pub location: String,
    /// Line in it, from 1; 0 where the whole document is meant.
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
    /// The component, like `complexType CurveType`; empty where there is none.
    pub component: String,
    /// What is wrong with it.
    pub rule: Rule,
}

/// What is wrong. The names in parentheses of the messages are those of the constraints of XML
/// Schema 1.0 part 1, and of part 2 for facets.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// The document is no well-formed XML.
    NotWellFormed(ErrorKind),
    /// The document element is not xs:schema.
    NotASchema(String),
    /// The loader has no document there.
    NotFound(String),
    /// The target namespace is another one than the reference to the document asks for.
    WrongNamespace {
        /// The target namespace that the document has.
        found: String,
        /// The one it should have.
        expected: String,
    },
    /// No component has this name.
    Unresolved {
        /// The kind of component.
        kind: &'static str,
        /// Its expanded name.
        name: String,
    },
    /// An element that XML Schema 1.0 does not have, or not there.
    UnknownElement {
        /// Its name.
        element: String,
        /// The element around it.
        parent: String,
    },
    /// An attribute that the element does not have in XML Schema 1.0.
    UnknownAttribute(String),
    /// A prefix that is not declared here.
    UnknownPrefix(String),
    /// Another global component of the kind has the name already.
    Duplicate(String),
    /// The definition refers to itself.
    Circular,
    /// An attribute of the schema document has a value that it may not have.
    Attribute {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: String,
        /// What it should be.
        expected: &'static str,
    },
    /// An attribute or a child is missing, or one is too many.
    Expected(&'static str),
    /// A derivation that the base type does not allow.
    Derivation(&'static str),
    /// A pattern that is no regular expression.
    Pattern {
        /// Characters before the place.
        at: usize,
        /// What should stand there.
        expected: &'static str,
    },
    /// A limit was reached.
    OverLimit(&'static str),
    /// The compiled tables contradict themselves.
    Tables(SchemaError),
}

impl fmt::Display for XsdError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.location)?;
        if self.line > 0 {
            write!(out, ":{}:{}", self.line, self.column)?;
        }
        if !self.component.is_empty() {
            write!(out, ": {}", self.component)?;
        }
        write!(out, ": {}", self.rule)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotWellFormed(kind) => kind.fmt(out),
            Self::NotASchema(name) => write!(out, "xs:schema was expected, not {name}"),
            Self::NotFound(location) => {
                write!(out, "no document at {location:?} (src-include, src-import)")
            }
            Self::WrongNamespace { found, expected } => write!(
                out,
                "the target namespace is {found:?}, not {expected:?} (src-include, src-import)"
            ),
            Self::Unresolved { kind, name } => {
                write!(out, "there is no {kind} {name} (src-resolve)")
            }
            Self::UnknownElement { element, parent } => write!(
                out,
                "element {element} does not stand below xs:{parent} in XML Schema 1.0"
            ),
            Self::UnknownAttribute(name) => {
                write!(out, "no attribute {name} is there in XML Schema 1.0")
            }
            Self::UnknownPrefix(prefix) => write!(out, "prefix {prefix:?} is not declared"),
            Self::Duplicate(name) => write!(out, "{name} is there twice (sch-props-correct)"),
            Self::Circular => out.write_str("it refers to itself (st-, ct-, mg-props-correct)"),
            Self::Attribute {
                name,
                value,
                expected,
            } => write!(out, "{name}={value:?}, but {expected} was expected"),
            Self::Expected(what) => write!(out, "expected {what}"),
            Self::Derivation(rule) => out.write_str(rule),
            Self::Pattern { at, expected } => {
                write!(out, "pattern, character {at}: expected {expected}")
            }
            Self::OverLimit(limit) => write!(out, "limit reached: {limit}"),
            Self::Tables(error) => error.fmt(out),
        }
    }
}

impl core::error::Error for XsdError {}
