//! Names as they are written: which prefix each gets, what is declared for it, and what is none.

use super::{Tag, Writer};
use crate::error::ErrorKind;
use crate::event::QName;
use crate::value::Value;
use crate::xml::chars::is_ncname;
use crate::xml::escape;
use crate::xml::namespaces::{XML_URI, XMLNS_URI, XSI_URI};
use alloc::string::String;
use alloc::vec::Vec;

/// Characters of a wrong name that its error shows.
const SHOWN: usize = 64;

impl Writer {
    pub(super) fn namespace(
        &mut self,
        prefix: &str,
        uri: &str,
        of_element: bool,
    ) -> Result<(), ErrorKind> {
        if self.tag != Tag::Pending {
            return Err(ErrorKind::NotAllowed(
                "a namespace declaration after an attribute or content",
            ));
        }
        if of_element && self.pending.prefix.as_deref() != Some(prefix) {
            self.pending.prefix = Some(String::from(prefix));
        }
        if is_reserved(prefix, uri)? {
            return Ok(());
        }
        let depth = self.depth();
        if self.scope.is_declared(prefix, depth) {
            return Err(ErrorKind::NotAllowed(
                "a prefix declared twice in one element",
            ));
        }
        self.scope.bind(prefix, uri, depth);
        Ok(())
    }

    /// Appends an element's name to the names of open elements, binding what is not bound.
    pub(super) fn push_name(&mut self, name: &QName<'_>, attribute: bool) -> Result<(), ErrorKind> {
        let known = name
            .hint
            .and_then(|hint| self.scope.known(hint, name.prefix, attribute));
        if let Some(known) = known {
            self.open.push_str(known);
            return Ok(());
        }
        if !name
            .hint
            .is_some_and(|hint| self.scope.was_written(hint, attribute))
        {
            ncname(name.local)?;
        }
        let start = self.open.len();
        let (prefix, _) = self.prefix(name, attribute)?;
        push_qualified(&prefix, name.local, &mut self.open);
        if let Some(hint) = name.hint {
            self.scope
                .remember(hint, prefix.len(), &self.open[start..], attribute);
        }
        Ok(())
    }

    /// The prefix to write a name with, which is bound then, and whether that was not so before.
    pub(super) fn prefix(
        &mut self,
        name: &QName<'_>,
        attribute: bool,
    ) -> Result<(String, bool), ErrorKind> {
        if attribute && name.uri.is_empty() {
            return Ok((String::new(), false));
        }
        let wanted = name
            .prefix
            .filter(|prefix| !(attribute && prefix.is_empty()));
        if let Some(prefix) = wanted.filter(|prefix| self.scope.of(prefix) == Some(name.uri)) {
            return Ok((String::from(prefix), false));
        }
        if let Some(prefix) = self.scope.prefix_of(name.uri, attribute) {
            return Ok((String::from(prefix), false));
        }
        let prefix = self.new_prefix(name.uri, wanted)?;
        self.scope.bind(&prefix, name.uri, self.depth());
        Ok((prefix, true))
    }

    /// A prefix that a namespace can be bound to here without another name meaning something else.
    fn new_prefix(&mut self, uri: &str, wanted: Option<&str>) -> Result<String, ErrorKind> {
        if uri == XMLNS_URI {
            return Err(ErrorKind::Xml("no name in the namespace of xmlns"));
        }
        if self.tag == Tag::Closed {
            return Err(ErrorKind::NotAllowed(
                "a name in content whose namespace has no prefix there",
            ));
        }
        if uri.is_empty() {
            return match self.is_free("") {
                true => Ok(String::new()),
                false => Err(ErrorKind::Xml(
                    "no name without namespace where one is the default",
                )),
            };
        }
        if let Some(prefix) = wanted.filter(|prefix| self.is_free(prefix)) {
            is_reserved(prefix, uri)?;
            return Ok(String::from(prefix));
        }
        Ok(match uri {
            XSI_URI if self.scope.of("xsi").is_none() => String::from("xsi"),
            _ => self.scope.fresh(),
        })
    }

    /// Whether a prefix can be bound in the start tag. Once the element's name is written, it and the
    /// names of attributes may stand with what was bound before.
    fn is_free(&self, prefix: &str) -> bool {
        if matches!(prefix, "xml" | "xmlns") {
            return false;
        }
        if self.tag == Tag::Pending {
            return !self.scope.is_declared(prefix, self.depth());
        }
        let written = self.starts.last().map_or("", |start| &self.open[*start..]);
        match prefix {
            "" => written.contains(':') && !self.scope.is_declared("", self.depth()),
            prefix => self.scope.of(prefix).is_none(),
        }
    }

    pub(super) fn attribute(
        &mut self,
        name: &QName<'_>,
        value: &Value<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), ErrorKind> {
        if self.tag == Tag::Closed {
            return Err(ErrorKind::NotAllowed("an attribute outside a start tag"));
        }
        self.open_tag(out)?;
        let known = name
            .hint
            .and_then(|hint| self.scope.known(hint, name.prefix, true));
        if known.is_none() {
            self.declare_for_attribute(name, out)?;
        }
        if !self.attributes.add(name) {
            return Err(ErrorKind::NotAllowed("an attribute twice in one element"));
        }
        if let Value::QName(name) = value {
            self.prefix_for_value(name, out)?;
        }
        out.push(b' ');
        let start = self.open.len();
        self.push_name(name, true)?;
        out.extend_from_slice(&self.open.as_bytes()[start..]);
        self.open.truncate(start);
        out.extend_from_slice(b"=\"");
        self.value(value, true, out)?;
        out.push(b'"');
        Ok(())
    }

    /// Declares the prefix of an attribute's name, if there is none.
    fn declare_for_attribute(
        &mut self,
        name: &QName<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), ErrorKind> {
        if !name.uri.is_empty() {
            return match self.prefix(name, true)? {
                (prefix, true) => declare(&prefix, name.uri, out),
                _ => Ok(()),
            };
        }
        match name.local {
            "xmlns" => Err(ErrorKind::Xml("no attribute named xmlns")),
            _ => Ok(()),
        }
    }

    /// Declares the prefix of a name in a value, if there is none. A name whose prefix was not bound is all
    /// local (EXI 1.0 section 7.1.7), and stays as it was.
    pub(super) fn prefix_for_value(
        &mut self,
        name: &QName<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), ErrorKind> {
        if name.uri.is_empty() && name.local.contains(':') {
            return Ok(());
        }
        match self.prefix(name, false)? {
            (prefix, true) => declare(&prefix, name.uri, out),
            _ => Ok(()),
        }
    }
}

/// Whether a declaration binds a prefix as it always is, so that it need not be written. What may not be
/// declared is an error (Namespaces in XML, Reserved Prefixes and No Prefix Undeclaring).
fn is_reserved(prefix: &str, uri: &str) -> Result<bool, ErrorKind> {
    match (prefix, uri) {
        ("xml", XML_URI) => Ok(true),
        ("xml", _) | (_, XML_URI) => Err(ErrorKind::Xml(
            "xml as the prefix of its namespace, and of no other",
        )),
        ("xmlns", _) | (_, XMLNS_URI) => Err(ErrorKind::Xml(
            "no declaration of xmlns and of its namespace",
        )),
        ("", _) => Ok(false),
        (_, "") => Err(ErrorKind::Xml("no prefix bound to no namespace")),
        (prefix, _) => ncname(prefix).map(|()| false),
    }
}

/// Fails unless a text is a name without colons (Namespaces in XML, production 4).
pub(super) fn ncname(name: &str) -> Result<(), ErrorKind> {
    match is_ncname(name) {
        true => Ok(()),
        false => Err(ErrorKind::NotAName(name.chars().take(SHOWN).collect())),
    }
}

pub(super) fn push_qualified(prefix: &str, local: &str, out: &mut String) {
    if !prefix.is_empty() {
        out.push_str(prefix);
        out.push(':');
    }
    out.push_str(local);
}

pub(super) fn declare(prefix: &str, uri: &str, out: &mut Vec<u8>) -> Result<(), ErrorKind> {
    out.extend_from_slice(b" xmlns");
    if !prefix.is_empty() {
        out.push(b':');
        out.extend_from_slice(prefix.as_bytes());
    }
    out.extend_from_slice(b"=\"");
    escape::value(uri, out).map_err(|_| ErrorKind::Xml("a character that XML allows"))?;
    out.push(b'"');
    Ok(())
}
