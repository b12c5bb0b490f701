//! What two documents must share to say the same: their events, as far as a stream's options keep them.
//!
//! Attributes have no order; declarations count where prefixes are kept; text that was divided is joined;
//! white space between elements counts only where the caller says so. Where a schema was at work and the
//! lexical form was not kept, values are compared as what they mean: `12.00` is `1.2E1`.
//!
//! It deliberately does not know schemas: a value is compared as each datatype that could have its form.

mod lexical;

use crate::error::Error;
use crate::event::{Event, QName};
use crate::options::Preserve;
use crate::value::Value;
use crate::xml::Reader;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

pub use lexical::same_value;

/// Namespace of `xsi:type` and its like.
const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// What counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules {
    /// What is kept: comments, processing instructions, document type, prefixes, lexical form.
    pub preserve: Preserve,
    /// Whether a schema gave values their types.
    pub typed: bool,
    /// Which white space counts.
    pub white_space: WhiteSpace,
}

/// Which white space counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhiteSpace {
    /// All of it.
    Kept,
    /// All but text that is nothing else and stands beside an element.
    #[default]
    NotBetween,
    /// None at the ends of text.
    Trimmed,
}

/// One item of a document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Item {
    /// An element begins.
    Start {
        /// Namespace.
        uri: String,
        /// Local name.
        local: String,
        /// Prefix; empty where prefixes do not count.
        prefix: String,
    },
    /// A declaration of a prefix, in the order of prefixes.
    Namespace(String, String),
    /// An attribute: namespace, local name and value, in the order of names. The value of `xsi:type` is
    /// `{namespace}local`.
    Attribute(String, String, String),
    /// Character data, as long as it goes.
    Text(String),
    /// An element ends.
    End,
    /// A comment.
    Comment(String),
    /// A processing instruction: target and data.
    Instruction(String, String),
    /// A document type: name, public and system identifier, internal subset.
    DocType(String, String, String, String),
    /// A reference to a general entity.
    Reference(String),
}

/// Collects the items of a document from its events.
#[derive(Debug, Default)]
pub struct Infoset {
    rules: Rules,
    items: Vec<Item>,
    /// Where the declarations and attributes of the element begun last stand.
    tag: Option<usize>,
}

impl Infoset {
    /// Begins to collect.
    pub fn new(rules: Rules) -> Self {
        Self {
            rules,
            ..Self::default()
        }
    }

    /// The items of an XML document.
    ///
    /// # Errors
    /// What the reader refuses.
    pub fn of_xml(mut reader: Reader<'_>, rules: Rules) -> Result<Vec<Item>, Error> {
        let mut infoset = Self::new(rules);
        while let Some(event) = reader.next_event()? {
            infoset.push(&event);
        }
        Ok(infoset.finish())
    }

    /// Takes an event.
    pub fn push(&mut self, event: &Event<'_>) {
        let preserve = self.rules.preserve;
        let in_tag = matches!(
            event,
            Event::Namespace { .. } | Event::Attribute(..) | Event::SelfContained
        );
        if !in_tag {
            self.end_tag();
        }
        match *event {
            Event::StartDocument | Event::EndDocument | Event::SelfContained => {}
            Event::StartElement(name) => self.start(&name),
            Event::Namespace {
                prefix,
                uri,
                local_element_ns,
            } => {
                self.namespace(prefix, uri, local_element_ns);
            }
            Event::Attribute(name, ref value) => self.attribute(&name, value),
            Event::Characters(ref value) => self.text(&value.to_string()),
            Event::EndElement => self.items.push(Item::End),
            Event::Comment(text) if preserve.comments => {
                self.items.push(Item::Comment(text.into()))
            }
            Event::ProcessingInstruction { target, data } if preserve.processing_instructions => {
                self.items
                    .push(Item::Instruction(target.into(), data.into()));
            }
            Event::DocType {
                name,
                public,
                system,
                text,
            } if preserve.dtd => {
                let [name, public, system, text] = [name, public, system, text].map(String::from);
                self.items.push(Item::DocType(name, public, system, text));
            }
            Event::EntityReference(name) if preserve.dtd => {
                self.items.push(Item::Reference(name.into()))
            }
            _ => {}
        }
    }

    /// The items.
    pub fn finish(mut self) -> Vec<Item> {
        self.end_tag();
        match self.rules.white_space {
            WhiteSpace::Kept => {}
            WhiteSpace::NotBetween => drop_white_space(&mut self.items),
            WhiteSpace::Trimmed => trim(&mut self.items),
        }
        self.items
    }

    fn start(&mut self, name: &QName<'_>) {
        let prefix = name
            .prefix
            .filter(|_| self.rules.preserve.prefixes)
            .unwrap_or_default();
        let (uri, local, prefix) = (name.uri.into(), name.local.into(), prefix.into());
        self.items.push(Item::Start { uri, local, prefix });
        self.tag = Some(self.items.len());
    }

    fn namespace(&mut self, declared: &str, uri: &str, of_element: bool) {
        if !self.rules.preserve.prefixes {
            return;
        }
        if let (true, Some(Item::Start { prefix, .. })) = (
            of_element,
            self.tag.and_then(|tag| self.items.get_mut(tag - 1)),
        ) {
            *prefix = declared.into();
        }
        self.items
            .push(Item::Namespace(declared.into(), uri.into()));
    }

    /// Hints where schemas are say nothing of the document.
    fn attribute(&mut self, name: &QName<'_>, value: &Value<'_>) {
        if name.uri == XSI && matches!(name.local, "schemaLocation" | "noNamespaceSchemaLocation") {
            return;
        }
        self.items.push(Item::Attribute(
            name.uri.into(),
            name.local.into(),
            text_of(name, value, self.rules.preserve.lexical_values),
        ));
    }

    fn end_tag(&mut self) {
        if let Some(tag) = self.tag.take() {
            self.items[tag..].sort_unstable();
        }
    }

    fn text(&mut self, text: &str) {
        match self.items.last_mut() {
            Some(Item::Text(before)) => before.push_str(text),
            _ if text.is_empty() => {}
            _ => self.items.push(Item::Text(text.into())),
        }
    }
}

/// A value as text; a name as `{namespace}local`. A name whose prefix is not bound is all local (EXI 1.0
/// section 7.1.7), and so is one whose lexical form is kept.
fn text_of(name: &QName<'_>, value: &Value<'_>, lexical: bool) -> String {
    match value {
        Value::QName(name) if lexical => alloc::format!("{{}}{value}"),
        Value::QName(name) => alloc::format!("{{{}}}{}", name.uri, name.local),
        Value::Text(text) if name.uri == XSI && name.local == "type" => {
            alloc::format!("{{}}{}", text.trim())
        }
        other => other.to_string(),
    }
}

/// Leaves no white space at the ends of text, and no text of white space.
fn trim(items: &mut Vec<Item>) {
    items.retain_mut(|item| {
        let Item::Text(text) = item else { return true };
        let trimmed = text.trim_matches([' ', '\t', '\n', '\r']);
        if trimmed.len() < text.len() {
            *text = trimmed.into();
        }
        !text.is_empty()
    });
}

/// Drops text of white space that stands beside an element and is not all that its element holds.
fn drop_white_space(items: &mut Vec<Item>) {
    let mut kept: Vec<Item> = Vec::with_capacity(items.len());
    let mut rest = core::mem::take(items).into_iter().peekable();
    while let Some(item) = rest.next() {
        let is_space = |text: &str| text.bytes().all(|byte| byte.is_ascii_whitespace());
        let blank = matches!(&item, Item::Text(text) if is_space(text));
        let begun = matches!(
            kept.last(),
            Some(Item::Start { .. } | Item::Attribute(..) | Item::Namespace(..))
        );
        let whole = begun && matches!(rest.peek(), Some(Item::End));
        if !blank || whole {
            kept.push(item);
        }
    }
    *items = kept;
}

/// The first difference of two documents.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Number of the item.
    pub index: usize,
    /// What was expected there; nothing at the end.
    pub expected: Option<Item>,
    /// What was there.
    pub actual: Option<Item>,
}

impl fmt::Display for Difference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "item {}: expected {:?}, met {:?}",
            self.index, self.expected, self.actual
        )
    }
}

/// Compares what was collected by the same rules.
///
/// # Errors
/// The first difference.
pub fn compare(expected: &[Item], actual: &[Item], rules: Rules) -> Result<(), Box<Difference>> {
    let loose = rules.typed && !rules.preserve.lexical_values;
    for index in 0..expected.len().max(actual.len()) {
        let (expected, actual) = (expected.get(index), actual.get(index));
        let same = match (expected, actual) {
            (Some(Item::Text(expected)), Some(Item::Text(actual))) if loose => {
                same_value(expected, actual)
            }
            (
                Some(Item::Attribute(uri, local, expected)),
                Some(Item::Attribute(uri2, local2, actual)),
            ) if loose || uri == XSI => {
                uri == uri2 && local == local2 && same_value(expected, actual)
            }
            (expected, actual) => expected == actual,
        };
        if !same {
            return Err(Box::new(Difference {
                index,
                expected: expected.cloned(),
                actual: actual.cloned(),
            }));
        }
    }
    Ok(())
}
