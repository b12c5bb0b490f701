//! What a document type declaration says that a non-validating processor must heed (XML 1.0
//! section 5.1): entities, and the types and defaults of attributes, of the internal subset.
//!
//! It deliberately does not read external subsets and entities, and it checks no content models beyond
//! their grammar.

mod content;
mod subset;

use super::error::XmlError;
use super::scan::Scan;
use crate::limits::Limits;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

pub(super) use subset::Declarations;

/// A general entity.
#[derive(Debug)]
pub(super) enum Entity {
    /// Its replacement text.
    Internal(String),
    /// It stands in another file.
    External,
    /// It stands in another file, and is no XML.
    Unparsed,
}

/// What an `ATTLIST` declares of an attribute.
#[derive(Debug)]
pub(super) struct Declared {
    pub(super) name: String,
    /// Of another type than `CDATA`, so that white space is collapsed (section 3.3.3).
    pub(super) tokenized: bool,
    /// Value where the document has none, normalized.
    pub(super) default: Option<String>,
}

/// A document type declaration.
#[derive(Debug, Default)]
pub(super) struct Doctype {
    pub(super) name: String,
    pub(super) public: String,
    pub(super) system: String,
    /// The internal subset as written.
    pub(super) subset: String,
    /// Whether declarations may exist that are not read (section 4.1, Entity Declared).
    pub(super) partial: bool,
    /// Whether a parameter entity was passed over: declarations after it may not be the first of their
    /// name, and do not count (section 5.1).
    unread: bool,
    pub(super) entities: Vec<Entity>,
    pub(super) entity_ids: BTreeMap<String, usize>,
    /// Replacement texts of parameter entities; none of external ones.
    parameters: BTreeMap<String, Option<String>>,
    attributes: BTreeMap<String, Vec<Declared>>,
}

impl Doctype {
    /// Reads a declaration after its `<!DOCTYPE` (production 28).
    pub(super) fn read(scan: &mut Scan<'_>, limits: &Limits) -> Result<Self, XmlError> {
        scan.needs_space()?;
        let mut doctype = Self {
            name: String::from(scan.name()?),
            ..Self::default()
        };
        if scan.space() && matches!(scan.peek(), Some(b'S' | b'P')) {
            (doctype.public, doctype.system) = external_id(scan)?;
            doctype.partial = true;
            scan.space();
        }
        if scan.accept("[") {
            let start = scan.at;
            let mut declarations = Declarations::new(&mut doctype, *scan, limits);
            declarations.read()?;
            scan.at = declarations.at();
            doctype.subset = lines(scan.since(start));
            scan.expect("]")?;
            scan.space();
        }
        scan.expect(">")?;
        Ok(doctype)
    }

    /// The number of an entity.
    pub(super) fn entity(&self, name: &str) -> Option<usize> {
        self.entity_ids.get(name).copied()
    }

    /// The replacement text of an entity.
    pub(super) fn text(&self, entity: usize) -> Option<&str> {
        match self.entities.get(entity) {
            Some(Entity::Internal(text)) => Some(text),
            _ => None,
        }
    }

    /// What is declared of the attributes of an element.
    pub(super) fn attributes(&self, element: &str) -> &[Declared] {
        match self.attributes.is_empty() {
            true => &[],
            false => self.attributes.get(element).map_or(&[], Vec::as_slice),
        }
    }
}

/// Reads `SYSTEM` or `PUBLIC` with what belongs to them (production 75).
pub(super) fn external_id(scan: &mut Scan<'_>) -> Result<(String, String), XmlError> {
    let mut public = String::new();
    if scan.accept("PUBLIC") {
        scan.needs_space()?;
        public = public_literal(scan)?;
    } else {
        scan.expect("SYSTEM")?;
    }
    scan.needs_space()?;
    let (_, system) = scan.quoted("a system identifier in quotes")?;
    Ok((public, lines(system)))
}

/// Reads a public identifier (production 12), its white space as section 4.2.2 has it.
pub(super) fn public_literal(scan: &mut Scan<'_>) -> Result<String, XmlError> {
    let (at, literal) = scan.quoted("a public identifier in quotes")?;
    let allowed =
        |byte: u8| byte.is_ascii_alphanumeric() || b" \r\n-'()+,./:=?;!*#@$_%".contains(&byte);
    match literal.bytes().position(|byte| !allowed(byte)) {
        Some(wrong) => Err(XmlError::expected(
            at + wrong,
            "a character of public identifiers",
        )),
        None => Ok(literal
            .split_ascii_whitespace()
            .collect::<Vec<_>>()
            .join(" ")),
    }
}

/// Line ends normalized (section 2.11).
pub(super) fn lines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}
