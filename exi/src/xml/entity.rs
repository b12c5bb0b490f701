//! References replaced in the values of attributes (XML 1.0 sections 3.3.3, 4.4.5).

use super::chars::{VALUE_SPECIAL, find};
use super::doctype::{Doctype, Entity};
use super::error::XmlError;
use super::scan::Scan;
use crate::limits::{Limit, Limits};
use alloc::string::String;

/// General entities within one another, at most; more is taken for one that holds itself.
pub(super) const ENTITY_DEPTH_MAX: usize = 32;

/// The entities that need no declaration (section 4.6).
pub(super) fn predefined(name: &str) -> Option<char> {
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "apos" => Some('\''),
        "quot" => Some('"'),
        _ => None,
    }
}

/// A normalization of an attribute's value.
#[derive(Debug)]
pub(super) struct Expansion<'d> {
    doctype: &'d Doctype,
    limits: &'d Limits,
    /// Bytes of the entities replaced so far.
    pub(super) expanded: u64,
    depth: usize,
}

impl<'d> Expansion<'d> {
    pub(super) fn new(doctype: &'d Doctype, limits: &'d Limits) -> Self {
        Self {
            doctype,
            limits,
            expanded: 0,
            depth: 0,
        }
    }

    /// Goes on with a count, maybe in the text of an entity.
    pub(super) fn resume(&mut self, expanded: u64, in_entity: bool) {
        self.expanded = expanded;
        self.depth = usize::from(in_entity);
    }

    /// Appends the value that stands from a place to the end of its text.
    pub(super) fn attribute(
        &mut self,
        mut scan: Scan<'_>,
        out: &mut String,
    ) -> Result<(), XmlError> {
        loop {
            let start = scan.at;
            scan.at = find(scan.text.as_bytes(), start, VALUE_SPECIAL);
            out.push_str(scan.since(start));
            let Some(special) = scan.peek() else {
                return Ok(());
            };
            if special == b'&' {
                self.reference(&mut scan, out)?;
                continue;
            }
            scan.at += 1;
            match special {
                b'<' => return Err(XmlError::expected(scan.at - 1, "no < in an attribute")),
                b'\r' if self.depth == 0 => {
                    scan.accept("\n");
                    out.push(' ');
                }
                b'\t' | b'\n' | b'\r' => out.push(' '),
                quote => out.push(char::from(quote)),
            }
        }
    }

    fn reference(&mut self, scan: &mut Scan<'_>, out: &mut String) -> Result<(), XmlError> {
        let at = scan.at;
        scan.at += 1;
        if scan.accept("#") {
            out.push(scan.character()?);
            return Ok(());
        }
        let name = scan.ncname()?;
        scan.expect(";")?;
        if let Some(character) = predefined(name) {
            out.push(character);
            return Ok(());
        }
        let doctype = self.doctype;
        let text = match doctype.entity(name).and_then(|id| doctype.entities.get(id)) {
            Some(Entity::Internal(text)) => text,
            Some(_) => return Err(XmlError::expected(at, "no external entity in an attribute")),
            None => return Err(XmlError::expected(at, "an entity that is declared")),
        };
        enter(&mut self.expanded, text.len(), self.limits, at)?;
        if self.depth == ENTITY_DEPTH_MAX {
            return Err(XmlError::expected(
                at,
                "an entity that does not hold itself",
            ));
        }
        self.depth += 1;
        let done = self.attribute(Scan::new(text, 0), out);
        self.depth -= 1;
        done.map_err(|error| error.in_entity(at))
    }
}

/// Counts the text of an entity that is read again.
pub(super) fn enter(
    expanded: &mut u64,
    len: usize,
    limits: &Limits,
    at: usize,
) -> Result<(), XmlError> {
    // An entity without text costs time as well.
    *expanded += len as u64 + 1;
    match *expanded > limits.expanded_bytes {
        true => Err(XmlError::over(at, Limit::ExpandedBytes)),
        false => Ok(()),
    }
}

/// Leaves no blanks at the ends of what was appended since `start`, and single ones within it
/// (section 3.3.3, other types than CDATA).
pub(super) fn collapse(value: &mut String, start: usize) {
    let mut tokens = String::with_capacity(value.len() - start);
    for token in value[start..].split(' ').filter(|token| !token.is_empty()) {
        if !tokens.is_empty() {
            tokens.push(' ');
        }
        tokens.push_str(token);
    }
    value.truncate(start);
    value.push_str(&tokens);
}
