//! A schema document as a tree of elements with attributes: what the component model is built from.
//!
//! Text, comments and whatever stands below `xs:annotation` is left out: nothing in a schema that
//! matters to EXI is text.

use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::name::{Name, XML};

/// Index of an element in its [`Tree`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct NodeId(u32);

impl NodeId {
    /// The document element.
    pub(super) const ROOT: Self = Self(0);
}

/// The elements of a document in document order.
#[derive(Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    bindings: Vec<Binding>,
}

#[derive(Debug)]
struct Node {
    name: Name,
    parent: Option<NodeId>,
    attributes: Vec<(Name, String)>,
    children: Vec<NodeId>,
    scope: Option<u32>,
    offset: usize,
}

/// A namespace declaration and those around it.
#[derive(Debug)]
struct Binding {
    outer: Option<u32>,
    prefix: Rc<str>,
    uri: Rc<str>,
}

impl Tree {
    /// Adds an element to its parent; `None` for the document element.
    pub(super) fn open(&mut self, parent: Option<NodeId>, name: Name) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        let scope = parent.and_then(|parent| self.node(parent).scope);
        self.nodes.push(Node {
            name,
            parent,
            attributes: Vec::new(),
            children: Vec::new(),
            scope,
            offset: 0,
        });
        if let Some(parent) = parent {
            self.nodes[parent.0 as usize].children.push(id);
        }
        id
    }

    /// Says where an element begins, in bytes.
    pub(super) fn begins(&mut self, node: NodeId, offset: usize) {
        self.nodes[node.0 as usize].offset = offset;
    }

    /// Adds a namespace declaration to an element.
    pub(super) fn declare(&mut self, node: NodeId, prefix: &str, uri: &str) {
        let outer = self.node(node).scope;
        let binding = self.bindings.len() as u32;
        self.bindings.push(Binding {
            outer,
            prefix: prefix.into(),
            uri: uri.into(),
        });
        self.nodes[node.0 as usize].scope = Some(binding);
    }

    /// Adds an attribute to an element.
    pub(super) fn attribute(&mut self, node: NodeId, name: Name, value: String) {
        self.nodes[node.0 as usize].attributes.push((name, value));
    }

    /// Whether there is no element at all.
    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// The name of an element.
    pub(super) fn name(&self, id: NodeId) -> &Name {
        &self.node(id).name
    }

    /// The element around an element.
    pub(super) fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).parent
    }

    /// Where the element begins, in bytes.
    pub(super) fn offset(&self, id: NodeId) -> usize {
        self.node(id).offset
    }

    /// The elements directly below.
    pub(super) fn children(&self, id: NodeId) -> &[NodeId] {
        &self.node(id).children
    }

    /// Names of the attributes without namespace.
    pub(super) fn attribute_names(&self, id: NodeId) -> impl Iterator<Item = &str> {
        let attributes = self.node(id).attributes.iter();
        let own = attributes.filter(|(name, _)| name.uri.is_empty());
        own.map(|(name, _)| &*name.local)
    }

    /// The value of an attribute without namespace, as it is written.
    pub(super) fn value(&self, id: NodeId, name: &str) -> Option<&str> {
        let attributes = self.node(id).attributes.iter();
        attributes
            .filter(|(own, _)| own.uri.is_empty() && &*own.local == name)
            .map(|(_, value)| value.as_str())
            .next()
    }

    /// The namespace that a prefix stands for at an element; "" is the default namespace.
    pub(super) fn namespace(&self, id: NodeId, prefix: &str) -> Option<Rc<str>> {
        let mut next = self.node(id).scope;
        while let Some(binding) = next.map(|index| &self.bindings[index as usize]) {
            if &*binding.prefix == prefix {
                return Some(Rc::clone(&binding.uri));
            }
            next = binding.outer;
        }
        match prefix {
            "" => Some("".into()),
            "xml" => Some(XML.into()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_declaration_of_a_prefix_counts() {
        let mut tree = Tree::default();
        let outer = tree.open(None, Name::new("", "outer"));
        tree.declare(outer, "p", "one");
        let inner = tree.open(Some(outer), Name::new("", "inner"));
        tree.declare(inner, "p", "two");
        assert_eq!(tree.namespace(outer, "p").as_deref(), Some("one"));
        assert_eq!(tree.namespace(inner, "p").as_deref(), Some("two"));
        assert_eq!(tree.namespace(inner, "q"), None);
        assert_eq!(tree.namespace(inner, "").as_deref(), Some(""));
    }
}
