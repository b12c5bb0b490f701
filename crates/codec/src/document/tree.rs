//! A document as a tree.

use super::write::Xml;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Prefixes and the namespaces they stand for, from the root on; what comes later hides what is before.
pub type Scope = Arc<Vec<(String, String)>>;

/// An element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Element {
    /// Its namespace; empty for none.
    pub uri: String,
    /// Its name in that.
    pub local: String,
    /// Its prefix in the document.
    pub prefix: String,
    /// Its attributes.
    pub attributes: Vec<Attribute>,
    /// Its content, in order.
    pub nodes: Vec<Node>,
    /// Prefixes that its content and its attributes may use.
    pub scope: Scope,
}

/// An attribute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attribute {
    /// Its namespace; empty for none.
    pub uri: String,
    /// Its name in that.
    pub local: String,
    /// Its prefix in the document.
    pub prefix: String,
    /// Its value.
    pub value: String,
}

/// What an element holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// Another.
    Element(Element),
    /// Text.
    Text(String),
}

impl Element {
    /// Says whether it is of this namespace and name.
    pub fn is(&self, uri: &str, local: &str) -> bool {
        self.uri == uri && self.local == local
    }

    /// The elements in it.
    pub fn elements(&self) -> impl Iterator<Item = &Element> {
        self.nodes.iter().filter_map(|node| match node {
            Node::Element(element) => Some(element),
            Node::Text(_) => None,
        })
    }

    /// The elements in it, of which it keeps none.
    pub fn into_elements(self) -> impl Iterator<Item = Element> {
        self.nodes.into_iter().filter_map(|node| match node {
            Node::Element(element) => Some(element),
            Node::Text(_) => None,
        })
    }

    /// The elements in it of this name, whatever their namespace.
    pub fn all<'a>(&'a self, local: &'a str) -> impl Iterator<Item = &'a Element> {
        self.elements()
            .filter(move |element| element.local == local)
    }

    /// The first element in it of this name.
    pub fn child(&self, local: &str) -> Option<&Element> {
        self.elements().find(|element| element.local == local)
    }

    /// The first element in it.
    pub fn first(&self) -> Option<&Element> {
        self.elements().next()
    }

    /// The first element of this name at any depth, itself included.
    pub fn find(&self, local: &str) -> Option<&Element> {
        if self.local == local {
            return Some(self);
        }
        self.elements().find_map(|element| element.find(local))
    }

    /// The value of the first attribute of this name, whatever its namespace.
    pub fn attribute(&self, local: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|own| own.local == local);
        found.map(|own| own.value.as_str())
    }

    /// Its own text, without white space around it.
    pub fn text(&self) -> String {
        String::from(self.content().trim())
    }

    /// Its own text as it stands.
    pub fn content(&self) -> String {
        let mut all = String::new();
        for node in &self.nodes {
            if let Node::Text(text) = node {
                all.push_str(text);
            }
        }
        all
    }

    /// The element as a document of its own, with all the prefixes that were in scope.
    pub fn to_xml(&self) -> String {
        let mut xml = Xml::new();
        self.write(&mut xml, None);
        xml.finish()
    }

    /// Writes it within another document; `around` is what that has in scope of the same prefixes.
    pub fn write(&self, xml: &mut Xml, around: Option<&Scope>) {
        if self.is_bound(&self.prefix, &self.uri) {
            xml.start_as(&self.prefix, &self.local)
        } else {
            // EXI may keep no prefixes.
            xml.start(&self.local).attribute("xmlns", &self.uri)
        };
        self.declare(xml, around);
        for (number, own) in self.attributes.iter().enumerate() {
            if own.uri.is_empty() || own.prefix == "xml" || self.is_bound(&own.prefix, &own.uri) {
                xml.attribute_as(&own.prefix, &own.local, &own.value);
                continue;
            }
            let prefix = format!("a{number}");
            xml.attribute_as("xmlns", &prefix, &own.uri);
            xml.attribute_as(&prefix, &own.local, &own.value);
        }
        for node in &self.nodes {
            match node {
                Node::Element(element) => element.write(xml, Some(&self.scope)),
                Node::Text(text) => {
                    xml.text(text);
                }
            }
        }
        xml.end();
    }

    /// The namespace that a prefix stands for in its content; none stands for no namespace where that has
    /// no other.
    pub fn namespace(&self, prefix: &str) -> Option<&str> {
        let bound = self.scope.iter().rev().find(|(own, _)| own == prefix);
        let bound = bound.map(|(_, uri)| uri.as_str());
        bound.or_else(|| prefix.is_empty().then_some(""))
    }

    /// Says whether a prefix stands for a namespace here.
    fn is_bound(&self, prefix: &str, uri: &str) -> bool {
        let bound = self.scope.iter().rev().find(|(own, _)| own == prefix);
        match bound {
            Some((_, known)) => known == uri,
            None => uri.is_empty() && prefix.is_empty() && !self.scope.is_empty(),
        }
    }

    fn declare(&self, xml: &mut Xml, around: Option<&Scope>) {
        if around.is_some_and(|around| Arc::ptr_eq(around, &self.scope)) {
            return;
        }
        let mut told: Vec<&str> = Vec::new();
        for (prefix, uri) in self.scope.iter().rev() {
            if told.contains(&prefix.as_str()) {
                continue;
            }
            told.push(prefix);
            // The element's own declaration stands there already.
            let own = prefix.is_empty() && !self.is_bound(&self.prefix, &self.uri);
            match prefix.as_str() {
                "xml" => {}
                _ if own => {}
                "" => {
                    xml.attribute("xmlns", uri);
                }
                prefix => {
                    xml.attribute_as("xmlns", prefix, uri);
                }
            }
        }
    }
}
