//! The events of an EXI stream (EXI 1.0 section 4), which are also what the XML reader gives and
//! the XML writer takes.
//!
//! Order within an element, in both directions: `StartElement`, `SelfContained`, `Namespace`s,
//! `Attribute`s (xsi:type first, then xsi:nil), content, `EndElement`.

use crate::value::Value;

/// A producer's own number of a name, dense from 0. Within one producer equal numbers mean equal
/// (uri, local), so a consumer that has seen one skips hashing the strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NameHint(pub u32);

/// A qualified name. Two are equal when `uri` and `local` are (Namespaces in XML section 2.1).
#[derive(Debug, Clone, Copy)]
pub struct QName<'a> {
    /// Namespace; empty for none.
    pub uri: &'a str,
    /// Local name.
    pub local: &'a str,
    /// Prefix, where the producer knows one; `Some("")` is the default namespace.
    pub prefix: Option<&'a str>,
    /// The producer's number of this (uri, local), if it keeps such.
    pub hint: Option<NameHint>,
}

impl<'a> QName<'a> {
    /// Makes a name without prefix and hint.
    pub const fn new(uri: &'a str, local: &'a str) -> Self {
        Self {
            uri,
            local,
            prefix: None,
            hint: None,
        }
    }

    /// Adds a prefix.
    pub const fn with_prefix(self, prefix: &'a str) -> Self {
        Self {
            prefix: Some(prefix),
            ..self
        }
    }
}

impl PartialEq for QName<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.local == other.local && self.uri == other.uri
    }
}

impl Eq for QName<'_> {}

/// One event (EXI 1.0 section 4, table 4-1).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Event<'a> {
    /// SD: the document or fragment begins.
    StartDocument,
    /// ED: the document or fragment ends.
    EndDocument,
    /// SE: an element begins.
    StartElement(QName<'a>),
    /// EE: the innermost open element ends.
    EndElement,
    /// AT: an attribute; xsi:type has a [`Value::QName`].
    Attribute(QName<'a>, Value<'a>),
    /// NS: a namespace declaration.
    Namespace {
        /// Declared prefix; empty for the default namespace.
        prefix: &'a str,
        /// Declared namespace; empty to undeclare.
        uri: &'a str,
        /// Whether the prefix is that of the element just started (local-element-ns).
        local_element_ns: bool,
    },
    /// CH: character data. Adjacent ones never come out of a decoder.
    Characters(Value<'a>),
    /// CM: a comment.
    Comment(&'a str),
    /// PI: a processing instruction.
    ProcessingInstruction {
        /// Its target.
        target: &'a str,
        /// What follows the target.
        data: &'a str,
    },
    /// DT: the document type declaration.
    DocType {
        /// Name of the root element.
        name: &'a str,
        /// Public identifier, or empty.
        public: &'a str,
        /// System identifier, or empty.
        system: &'a str,
        /// Internal subset, or empty.
        text: &'a str,
    },
    /// ER: a reference to a general entity that was not expanded.
    EntityReference(&'a str),
    /// SC: the element just started is self-contained (section 8.5.4.5).
    SelfContained,
}
