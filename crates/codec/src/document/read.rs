//! XML, and the events that EXI comes as, to a tree.

use super::tree::{Attribute, Element, Node};
use super::{ELEMENTS_MAX, Fault, limits};
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use weir_exi::xml::Reader;
use weir_exi::{Event, Preserve, QName};

/// Reads a whole XML document.
pub fn read_xml(bytes: &[u8]) -> Result<Element, Fault> {
    read(bytes, &|_| false)
}

/// Reads an XML document up to the first element for whose local name `ends` is true, which is left out
/// with all after it: the head of a request whose body is a message.
pub fn read_head(bytes: &[u8], ends: &dyn Fn(&str) -> bool) -> Result<Element, Fault> {
    read(bytes, ends)
}

fn read(bytes: &[u8], ends: &dyn Fn(&str) -> bool) -> Result<Element, Fault> {
    let preserve = Preserve {
        dtd: true,
        prefixes: true,
        ..Preserve::default()
    };
    let fault = |error: weir_exi::Error| Fault::new(error.byte as usize, error.kind);
    let mut reader = Reader::new(bytes, preserve, limits()).map_err(fault)?;
    let mut tree = Tree::default();
    loop {
        let taken = match reader.next_event() {
            Ok(Some(Event::StartElement(name))) if ends(name.local) => break,
            Ok(Some(ref event)) => tree.take(event),
            Ok(None) => break,
            Err(error) => return Err(fault(error)),
        };
        taken.map_err(|problem| Fault::new(reader.offset(), problem))?;
    }
    tree.finish()
        .ok_or_else(|| Fault::new(bytes.len(), "an element was expected"))
}

/// Builds a tree from events.
#[derive(Default)]
pub(super) struct Tree {
    /// The elements that are open, outermost first.
    open: Vec<Element>,
    root: Option<Element>,
    count: usize,
}

impl Tree {
    pub(super) fn take(&mut self, event: &Event<'_>) -> Result<(), &'static str> {
        match *event {
            Event::DocType { .. } => return Err("a document type is not allowed here"),
            Event::EntityReference(_) => {
                return Err("a reference to an entity is not allowed here");
            }
            Event::StartElement(name) => return self.start(&name),
            Event::Namespace {
                prefix,
                uri,
                local_element_ns,
            } => self.declare(prefix, uri, local_element_ns),
            Event::Attribute(name, ref value) => self.attribute(&name, value.to_string()),
            Event::Characters(ref value) => self.text(value.to_string()),
            Event::EndElement => self.end(),
            _ => {}
        }
        Ok(())
    }

    fn start(&mut self, name: &QName<'_>) -> Result<(), &'static str> {
        self.count += 1;
        if self.count > ELEMENTS_MAX {
            return Err("too many elements");
        }
        let scope = self.open.last().map(|outer| outer.scope.clone());
        self.open.push(Element {
            uri: name.uri.into(),
            local: name.local.into(),
            prefix: name.prefix.unwrap_or_default().into(),
            scope: scope.unwrap_or_default(),
            ..Element::default()
        });
        Ok(())
    }

    fn declare(&mut self, prefix: &str, uri: &str, of_element: bool) {
        if let Some(element) = self.open.last_mut() {
            if of_element {
                element.prefix = prefix.into();
            }
            let scope: &mut Vec<_> = Arc::make_mut(&mut element.scope);
            scope.push((prefix.into(), uri.into()));
        }
    }

    fn attribute(&mut self, name: &QName<'_>, value: String) {
        let Some(element) = self.open.last_mut() else {
            return;
        };
        element.attributes.push(Attribute {
            uri: name.uri.into(),
            local: name.local.into(),
            prefix: name.prefix.unwrap_or_default().into(),
            value,
        });
    }

    fn text(&mut self, text: String) {
        if let Some(element) = self.open.last_mut() {
            element.nodes.push(Node::Text(text));
        }
    }

    fn end(&mut self) {
        let Some(mut ended) = self.open.pop() else {
            return;
        };
        tidy(&mut ended);
        match self.open.last_mut() {
            Some(outer) => outer.nodes.push(Node::Element(ended)),
            None => self.root = Some(ended),
        }
    }

    /// The root, with whatever is still open closed.
    pub(super) fn finish(mut self) -> Option<Element> {
        while !self.open.is_empty() {
            self.end();
        }
        self.root
    }
}

/// White space between elements says nothing.
fn tidy(element: &mut Element) {
    if element.elements().next().is_some() {
        element
            .nodes
            .retain(|node| !matches!(node, Node::Text(text) if text.trim().is_empty()));
    }
}
