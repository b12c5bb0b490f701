//! What prefixes mean where the reader is (Namespaces in XML section 6).

use super::names::{DEFAULT, Prefix, Uri, XML, XMLNS};
use alloc::string::String;
use alloc::vec::Vec;
use hashbrown::HashMap;

/// Namespace of the prefix `xml`.
pub(super) const XML_URI: &str = "http://www.w3.org/XML/1998/namespace";
/// Namespace of the prefix `xmlns`.
pub(super) const XMLNS_URI: &str = "http://www.w3.org/2000/xmlns/";
/// Namespace of `xsi:type`.
pub(super) const XSI_URI: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// No namespace.
pub(super) const NONE: Uri = 0;
/// The number of [`XSI_URI`].
pub(super) const XSI: Uri = 3;
const UNBOUND: Uri = Uri::MAX;

/// A binding that a start tag changed, as it was before.
#[derive(Debug)]
struct Changed {
    depth: u32,
    prefix: Prefix,
    before: Uri,
}

/// The namespaces of a document, and the bindings in scope.
#[derive(Debug, Default)]
pub(super) struct Namespaces {
    uris: Vec<String>,
    ids: HashMap<String, Uri>,
    /// By prefix.
    bound: Vec<Uri>,
    changed: Vec<Changed>,
    bytes: u64,
}

impl Namespaces {
    pub(super) fn new() -> Self {
        let mut namespaces = Self::default();
        for uri in ["", XML_URI, XMLNS_URI, XSI_URI] {
            namespaces.id(uri);
        }
        for (prefix, uri) in [(DEFAULT, NONE), (XML, 1), (XMLNS, 2)] {
            namespaces.set(prefix, uri);
        }
        namespaces
    }

    /// The number of a namespace.
    pub(super) fn id(&mut self, uri: &str) -> Uri {
        if let Some(&id) = self.ids.get(uri) {
            return id;
        }
        let id = self.uris.len() as Uri;
        self.bytes += uri.len() as u64;
        self.uris.push(String::from(uri));
        self.ids.insert(String::from(uri), id);
        id
    }

    /// Bytes of the names of all namespaces.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// A namespace's name.
    #[inline]
    pub(super) fn uri(&self, uri: Uri) -> &str {
        self.uris.get(uri as usize).map_or("", String::as_str)
    }

    /// What a prefix means here.
    #[inline]
    pub(super) fn of(&self, prefix: Prefix) -> Option<Uri> {
        self.bound
            .get(prefix as usize)
            .copied()
            .filter(|&uri| uri != UNBOUND)
    }

    /// Binds a prefix within the element at a depth.
    pub(super) fn bind(&mut self, prefix: Prefix, uri: &str, depth: u32) {
        let bound = self.of(prefix);
        if bound.is_some_and(|bound| self.uri(bound) == uri) {
            return;
        }
        let uri = self.id(uri);
        self.changed.push(Changed {
            depth,
            prefix,
            before: bound.unwrap_or(UNBOUND),
        });
        self.set(prefix, uri);
    }

    fn set(&mut self, prefix: Prefix, uri: Uri) {
        let index = prefix as usize;
        if self.bound.len() <= index {
            self.bound.resize(index + 1, UNBOUND);
        }
        self.bound[index] = uri;
    }

    /// Takes back what the element at a depth bound.
    #[inline]
    pub(super) fn leave(&mut self, depth: u32) {
        while let Some(changed) = self.changed.pop_if(|changed| changed.depth >= depth) {
            self.set(changed.prefix, changed.before);
        }
    }
}
