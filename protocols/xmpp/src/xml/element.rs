//! An element with all that is in it.

use super::text::{escape, escape_content};
use crate::limits::{ATTRIBUTES_MAX, DEPTH_MAX, NODES_MAX, STANZA_BYTES_MAX};
use std::ops::Range;
use weir_exi::xml::Reader;
use weir_exi::{Error, Event, Limits, Preserve};

/// An element. Names compare with their namespace; prefixes are forgotten.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Element {
    /// The local name.
    pub name: String,
    /// The namespace; empty for none.
    pub namespace: String,
    /// Attributes without a namespace, in order.
    pub attributes: Vec<(String, String)>,
    /// Elements and text, in order.
    pub children: Vec<Node>,
    /// Where it stands in the document that it was read from: from its start tag up to its end tag.
    pub place: Range<usize>,
}

/// What an element holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// An element.
    Element(Element),
    /// Text.
    Text(String),
}

impl Element {
    /// An empty element.
    pub fn new(namespace: &str, name: &str) -> Self {
        Self {
            name: name.into(),
            namespace: namespace.into(),
            ..Self::default()
        }
    }

    /// The element with one more attribute.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.attributes.push((name.into(), value.into()));
        self
    }

    /// The element with one more child.
    #[must_use]
    pub fn child(mut self, child: Element) -> Self {
        self.children.push(Node::Element(child));
        self
    }

    /// The element with more children.
    #[must_use]
    pub fn children(mut self, children: impl IntoIterator<Item = Element>) -> Self {
        self.children
            .extend(children.into_iter().map(Node::Element));
        self
    }

    /// The element with more text.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.children.push(Node::Text(text.into()));
        self
    }

    /// Whether it has this name.
    pub fn is(&self, namespace: &str, name: &str) -> bool {
        self.name == name && self.namespace == namespace
    }

    /// The value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        let mut attributes = self.attributes.iter();
        let found = attributes.find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The elements in it.
    pub fn elements(&self) -> impl Iterator<Item = &Element> {
        self.children.iter().filter_map(|node| match node {
            Node::Element(element) => Some(element),
            Node::Text(_) => None,
        })
    }

    /// The first element in it of this name.
    pub fn find(&self, namespace: &str, name: &str) -> Option<&Element> {
        self.elements().find(|child| child.is(namespace, name))
    }

    /// All text directly in it.
    pub fn own_text(&self) -> String {
        let texts = self.children.iter().filter_map(|node| match node {
            Node::Text(text) => Some(text.as_str()),
            Node::Element(_) => None,
        });
        texts.collect()
    }

    /// Puts it and all in it that is of one namespace into another.
    pub fn rename(&mut self, from: &str, to: &str) {
        if self.namespace == from {
            self.namespace = to.into();
        }
        for node in &mut self.children {
            if let Node::Element(child) = node {
                child.rename(from, to);
            }
        }
    }

    /// Appends it as text, where `around` is the default namespace.
    pub fn write(&self, around: &str, out: &mut String) {
        out.push('<');
        out.push_str(&self.name);
        if self.namespace != around {
            out.push_str(" xmlns='");
            escape(&self.namespace, out);
            out.push('\'');
        }
        for (name, value) in &self.attributes {
            out.push(' ');
            out.push_str(name);
            out.push_str("='");
            escape(value, out);
            out.push('\'');
        }
        if self.children.is_empty() {
            out.push_str("/>");
            return;
        }
        out.push('>');
        for node in &self.children {
            match node {
                Node::Element(child) => child.write(&self.namespace, out),
                Node::Text(text) => escape_content(text, out),
            }
        }
        out.push_str("</");
        out.push_str(&self.name);
        out.push('>');
    }

    /// Reads the element that stands in a document's root element: a stanza within its stream.
    ///
    /// # Errors
    /// What is wrong with the XML, and where.
    pub fn read_within(document: &[u8]) -> Result<Option<Self>, Error> {
        let root = Self::read(document)?;
        let children = root.into_iter().flat_map(|root| root.children);
        Ok(children.into_iter().find_map(|node| match node {
            Node::Element(element) => Some(element),
            Node::Text(_) => None,
        }))
    }

    /// Reads the root element of a document.
    ///
    /// # Errors
    /// What is wrong with the XML, and where.
    pub fn read(document: &[u8]) -> Result<Option<Self>, Error> {
        let mut reader = Reader::new(document, Preserve::default(), limits())?;
        let mut open: Vec<Element> = Vec::new();
        let mut root = None;
        loop {
            let Some(event) = reader.next_event()? else {
                return Ok(None);
            };
            let mut ends = false;
            match event {
                Event::StartElement(name) => open.push(Element::new(name.uri, name.local)),
                Event::Attribute(name, value) => {
                    if let (Some(element), true) = (open.last_mut(), name.uri.is_empty()) {
                        let value = (name.local.to_owned(), value.to_string());
                        element.attributes.push(value);
                    }
                }
                Event::Characters(value) => {
                    if let Some(element) = open.last_mut() {
                        element.children.push(Node::Text(value.to_string()));
                    }
                }
                Event::EndElement => ends = true,
                Event::EndDocument => return Ok(root),
                _ => {}
            }
            let at = reader.offset();
            if ends {
                end(&mut open, at, &mut root);
            } else if let Some(element) = open.last_mut()
                && element.place.start == 0
            {
                element.place.start = at;
            }
        }
    }
}

/// The innermost element ends at an offset: it is its parent's, or the root.
fn end(open: &mut Vec<Element>, at: usize, root: &mut Option<Element>) {
    let Some(mut element) = open.pop() else {
        return;
    };
    element.place.end = at;
    match open.last_mut() {
        Some(parent) => parent.children.push(Node::Element(element)),
        None => *root = Some(element),
    }
}

fn limits() -> Limits {
    Limits {
        depth: DEPTH_MAX + 2,
        input_bytes: 2 * STANZA_BYTES_MAX as u64,
        expanded_bytes: 4 * STANZA_BYTES_MAX as u64,
        events: NODES_MAX,
        attributes: ATTRIBUTES_MAX,
        value_bytes: STANZA_BYTES_MAX as u64,
        ..Limits::default()
    }
}
