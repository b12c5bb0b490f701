//! Expanded names of schema components, in the order that EXI sorts by.

use alloc::rc::Rc;
use alloc::string::{String, ToString};
use core::fmt;

/// The namespace of XML Schema itself.
pub(super) const XSD: &str = "http://www.w3.org/2001/XMLSchema";
/// The namespace of `xml:lang` and its like.
pub(super) const XML: &str = "http://www.w3.org/XML/1998/namespace";
/// The namespace of `xsi:type` and `xsi:nil`.
pub(super) const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// A (local name, namespace) pair. The order of the fields makes `Ord` the order of EXI 1.0
/// sections 8.5.1 and 8.5.4: by local name, then by namespace; both by code point.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Name {
    pub(super) local: Rc<str>,
    pub(super) uri: Rc<str>,
}

impl Name {
    pub(super) fn new(uri: &str, local: &str) -> Self {
        Self {
            local: local.into(),
            uri: uri.into(),
        }
    }

    /// Whether this is a name of XML Schema's own vocabulary.
    pub(super) fn is_xsd(&self, local: &str) -> bool {
        &*self.local == local && &*self.uri == XSD
    }
}

impl fmt::Display for Name {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.uri {
            "" => out.write_str(&self.local),
            uri => write!(out, "{{{uri}}}{}", self.local),
        }
    }
}

/// White space at both ends removed, runs of it made one space (facet whiteSpace `collapse`).
pub(super) fn collapse(text: &str) -> String {
    let mut out = String::new();
    for word in words(text) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Each white space character made a space (facet whiteSpace `replace`).
pub(super) fn replace(text: &str) -> String {
    if text.contains(is_space) {
        text.replace(is_space, " ")
    } else {
        text.to_string()
    }
}

/// The items of a list.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}

fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_by_local_name_first() {
        let mut names = [
            Name::new("a", "z"),
            Name::new("z", "a"),
            Name::new("b", "a"),
        ];
        names.sort();
        let shown: alloc::vec::Vec<_> = names.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["{b}a", "{z}a", "{a}z"]);
    }

    #[test]
    fn white_space_is_collapsed_and_replaced() {
        assert_eq!(collapse("\n a\t b "), "a b");
        assert_eq!(replace("a\tb "), "a b ");
    }
}
