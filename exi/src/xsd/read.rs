//! From the bytes of a schema document to its tree.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::error::{Rule, XsdError};
use super::name::{Name, XSD};
use super::tree::{NodeId, Tree};
use crate::error::Error;
use crate::event::{Event, QName};
use crate::limits::Limits;
use crate::options::Preserve;
use crate::value::push_lexical;
use crate::xml::{Reader, position};

/// Reads a document whose root must be xs:schema.
pub(super) fn read(location: &str, bytes: &[u8]) -> Result<Tree, XsdError> {
    let tree = elements(bytes).map_err(|error| {
        let (line, column) = position(bytes, error.byte as usize);
        failed(location, (line, column), Rule::NotWellFormed(error.kind))
    })?;
    let root = match tree.is_empty() {
        true => "an empty document".to_string(),
        false => tree.name(NodeId::ROOT).to_string(),
    };
    if tree.is_empty() || !tree.name(NodeId::ROOT).is_xsd("schema") {
        return Err(failed(location, (0, 0), Rule::NotASchema(root)));
    }
    Ok(tree)
}

/// An error at a line and column of a document.
pub(super) fn failed(location: &str, (line, column): (usize, usize), rule: Rule) -> XsdError {
    XsdError {
        location: location.to_string(),
        line: line as u32,
        column: column as u32,
        component: String::new(),
        rule,
    }
}

fn elements(bytes: &[u8]) -> Result<Tree, Error> {
    let preserve = Preserve {
        prefixes: true,
        ..Preserve::default()
    };
    let mut reader = Reader::new(bytes, preserve, Limits::default())?;
    let mut filling = Filling::default();
    loop {
        let opened = match reader.next_event()? {
            Some(event) => filling.take(event),
            None => return Ok(filling.tree),
        };
        if let Some(node) = opened {
            filling.tree.begins(node, reader.offset());
        }
    }
}

/// A tree while it grows.
#[derive(Default)]
struct Filling {
    tree: Tree,
    open: Vec<NodeId>,
    /// Elements open below one that is left out, that one included.
    left_out: u32,
}

impl Filling {
    /// Takes an event; gives the element that it opened.
    fn take(&mut self, event: Event<'_>) -> Option<NodeId> {
        match event {
            Event::StartElement(name) => return self.open(name),
            Event::EndElement => self.close(),
            Event::Namespace { prefix, uri, .. } if self.left_out == 0 => {
                if let Some(node) = self.open.last() {
                    self.tree.declare(*node, prefix, uri);
                }
            }
            Event::Attribute(name, value) if self.left_out == 0 => {
                if let Some(node) = self.open.last() {
                    let mut text = String::new();
                    push_lexical(&value, &mut text);
                    self.tree.attribute(*node, owned(name), text);
                }
            }
            _ => {}
        }
        None
    }

    fn open(&mut self, name: QName<'_>) -> Option<NodeId> {
        let parent = self.open.last().copied();
        let annotation = name.uri == XSD && name.local == "annotation";
        if self.left_out > 0 || annotation {
            self.left_out += 1;
            return None;
        }
        let node = self.tree.open(parent, owned(name));
        self.open.push(node);
        Some(node)
    }

    fn close(&mut self) {
        if self.left_out > 0 {
            self.left_out -= 1;
        } else {
            self.open.pop();
        }
    }
}

fn owned(name: QName<'_>) -> Name {
    Name::new(name.uri, name.local)
}
