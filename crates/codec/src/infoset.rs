//! Documents of qualified names: the pair of traits between vocabularies and XML or EXI.
//!
//! What a document says is a sequence of events: an element starts, its attributes, its content and
//! children, it ends. Values are *typed*: a reader is asked for a number or a time and not for text
//! to be parsed again, since EXI carries them so; a writer is handed an [`Atom`].
//!
//! Decode was settled first, on O&M: `om:result` with `xsi:type` (a name in a value, hence
//! [`Pull::name`]), `xlink:href` (attributes have namespaces of their own), times nested in
//! `gml:TimeInstant` (depth without meaning: the vocabulary walks it), and the text block of
//! `swe:values`, megabytes in one run (content is borrowed where it stands unescaped, and joined only
//! where it does not). Attributes come before content, as in EXI, in any order.

#[cfg(feature = "exi")]
pub(crate) mod exi;
pub(crate) mod walk;
pub(crate) mod xml;
pub(crate) mod xml_chars;
#[cfg(test)]
mod xml_tests;
pub(crate) mod xml_text;

use crate::error::DecodeError;
use weir_model::Time;

/// A name that a vocabulary knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Name<'a> {
    /// Namespace, empty where there is none.
    pub(crate) uri: &'a str,
    /// Name in it.
    pub(crate) local: &'a str,
}

impl Name<'static> {
    /// A name in no namespace.
    pub(crate) const fn local(local: &'static str) -> Self {
        Self { uri: "", local }
    }
}

/// A typed value of an attribute or of an element's content.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Atom<'a> {
    /// Text; characters that XML has not become U+FFFD.
    Text(&'a str),
    /// A number.
    Number(f64),
    /// A number where the schema allows any text.
    Result(f64),
    /// A boolean.
    Bool(bool),
    /// An instant.
    Time(Time),
    /// JSON text, in which any character can be escaped.
    Json(&'a str),
    /// A string, to be written as a JSON string.
    JsonString(&'a str),
    /// A qualified name (`xsi:type`).
    Name(Name<'static>),
    /// Two numbers in a list.
    Pair(f64, f64),
    /// An identifier that is counted: `o12`.
    Id(&'static str, usize),
}

/// Writes a document.
pub(crate) trait Emit {
    /// Begins an element.
    fn start(&mut self, name: Name<'static>);
    /// Adds an attribute to the element just begun.
    fn attribute(&mut self, name: Name<'static>, value: Atom<'_>);
    /// Adds content.
    fn content(&mut self, value: Atom<'_>);
    /// Ends the element begun last.
    fn end(&mut self, name: Name<'static>);
}

/// What comes next in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event<'a> {
    /// An element begins.
    Start(Name<'a>),
    /// An attribute of it; its value may be asked for.
    Attribute(Name<'a>),
    /// A run of content, which may be asked for.
    Content,
    /// The element begun last and not yet ended ends.
    End,
    /// The document ends.
    Done,
}

/// Reads a document.
pub(crate) trait Pull {
    /// Offset of the event met last.
    fn at(&self) -> usize;
    /// The next event.
    fn next(&mut self) -> Result<Event<'_>, DecodeError>;
    /// The value of the attribute or content met last, as text.
    fn text(&self) -> &str;
    /// The same as a finite number.
    fn number(&self) -> Result<f64, DecodeError>;
    /// The same as an instant.
    fn time(&self) -> Result<Time, DecodeError>;
    /// The same as a qualified name.
    fn name(&self) -> Result<Name<'_>, DecodeError>;
    /// Lets the next run of content be as long as the message, for blocks of values.
    fn long(&mut self);
}
