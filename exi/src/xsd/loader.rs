//! Where the documents of a schema come from: the caller has files, this crate has not.

use super::error::XsdError;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Gives documents. A closure from a location to its bytes is one.
pub trait Loader {
    /// The location that a reference means; the same document should get the same one. By default
    /// the schemaLocation, relative to the document that refers; an xs:import without one has none.
    fn locate(&mut self, reference: &Reference<'_>) -> Option<String> {
        reference
            .location
            .map(|location| join(reference.base, location))
    }

    /// The bytes of a document, if there is one.
    fn load(&mut self, location: &str) -> Option<Vec<u8>>;

    /// Told of an xs:import whose document is not there, where it says where to find it. XML Schema lets
    /// a schema go on without (part 1 section 4.2.3), though it may be another one then, and with it the
    /// grammars: that must be wanted, so by default it is an error.
    ///
    /// # Errors
    /// The one that is told, to go no further.
    fn missed(&mut self, import: XsdError) -> Result<(), XsdError> {
        Err(import)
    }
}

impl<F: FnMut(&str) -> Option<Vec<u8>>> Loader for F {
    fn load(&mut self, location: &str) -> Option<Vec<u8>> {
        self(location)
    }
}

/// A reference from one document to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reference<'a> {
    /// By which element.
    pub kind: ReferenceKind,
    /// The namespace that the other document should describe; empty for none.
    pub namespace: &'a str,
    /// The schemaLocation as written, if there is one.
    pub location: Option<&'a str>,
    /// The location of the document that refers.
    pub base: &'a str,
}

/// How a document refers to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReferenceKind {
    /// xs:include.
    Include,
    /// xs:import.
    Import,
    /// xs:redefine.
    Redefine,
}

/// A location relative to another, for paths and for URIs (RFC 3986 section 5.2, without queries).
pub fn join(base: &str, location: &str) -> String {
    if location.starts_with('/') || has_scheme(location) {
        return location.to_string();
    }
    let folder = base.rfind('/').map_or("", |at| &base[..=at]);
    let root = root_len(folder);
    let mut parts: Vec<&str> = Vec::new();
    for part in folder[root..].split('/').chain(location.split('/')) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if root > 0 => {}
            part => parts.push(part),
        }
    }
    alloc::format!("{}{}", &folder[..root], parts.join("/"))
}

fn has_scheme(location: &str) -> bool {
    location.split_once(':').is_some_and(|(scheme, _)| {
        scheme.len() > 1 && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Length of what no `..` may remove: `/`, or scheme and authority.
fn root_len(folder: &str) -> usize {
    match folder.find("://") {
        Some(at) => folder[at + 3..]
            .find('/')
            .map_or(folder.len(), |slash| at + 4 + slash),
        None => usize::from(folder.starts_with('/')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_relative_to_the_document_that_refers() {
        assert_eq!(join("a/b/c.xsd", "../d.xsd"), "a/d.xsd");
        assert_eq!(join("c.xsd", "./d.xsd"), "d.xsd");
        assert_eq!(join("a/c.xsd", "../../d.xsd"), "../d.xsd");
        assert_eq!(join("/a/c.xsd", "../../d.xsd"), "/d.xsd");
        assert_eq!(join("http://h/a/c.xsd", "../d.xsd"), "http://h/d.xsd");
        assert_eq!(join("a.xsd", "http://h/d.xsd"), "http://h/d.xsd");
    }
}
