//! Events by identifier, and how they are shown.

use super::body::Body;
use crate::event::{Event, NameHint, QName};
use crate::names::{NONE, Names};
use crate::stored::Span;
use crate::value::Value;

/// An event that borrows nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Raw {
    StartDocument,
    EndDocument,
    StartElement {
        name: u32,
        prefix: u32,
    },
    EndElement,
    Attribute {
        name: u32,
        prefix: u32,
        slot: u32,
    },
    XsiType {
        prefix: u32,
        value: u32,
        value_prefix: u32,
    },
    Namespace {
        prefix: u32,
        uri: u32,
        local_element_ns: bool,
    },
    Characters {
        slot: u32,
    },
    Comment(Span),
    ProcessingInstruction(Span, Span),
    DocType,
    EntityReference(Span),
    SelfContained,
}

impl Body {
    /// The event as it is handed out.
    #[inline]
    pub(crate) fn show(&self, raw: Raw) -> Event<'_> {
        let names = &self.machine.names;
        match raw {
            Raw::StartDocument => Event::StartDocument,
            Raw::EndDocument => Event::EndDocument,
            Raw::StartElement { name, prefix } => {
                Event::StartElement(self.qname_of_ids(name, prefix))
            }
            Raw::EndElement => Event::EndElement,
            Raw::Attribute { name, prefix, slot } => {
                Event::Attribute(self.qname_of_ids(name, prefix), self.slot(slot))
            }
            Raw::XsiType {
                prefix,
                value,
                value_prefix,
            } => Event::Attribute(
                self.qname_of_ids(names.xsi_type, prefix),
                Value::QName(self.qname_of_ids(value, value_prefix)),
            ),
            Raw::Namespace {
                prefix,
                uri,
                local_element_ns,
            } => Event::Namespace {
                prefix: names.prefix(prefix),
                uri: names.uri(uri),
                local_element_ns,
            },
            Raw::Characters { slot } => Event::Characters(self.slot(slot)),
            Raw::Comment(text) => Event::Comment(text.of(&self.text)),
            Raw::ProcessingInstruction(target, data) => Event::ProcessingInstruction {
                target: target.of(&self.text),
                data: data.of(&self.text),
            },
            Raw::DocType => {
                let [name, public, system, text] = self.doc_type.map(|span| span.of(&self.text));
                Event::DocType {
                    name,
                    public,
                    system,
                    text,
                }
            }
            Raw::EntityReference(name) => Event::EntityReference(name.of(&self.text)),
            Raw::SelfContained => Event::SelfContained,
        }
    }

    #[inline]
    fn slot(&self, slot: u32) -> Value<'_> {
        match self.slots.get(slot as usize) {
            Some(stored) => self.content.store().value(stored),
            None => Value::Text(""),
        }
    }

    #[inline]
    fn qname_of_ids(&self, name: u32, prefix: u32) -> QName<'_> {
        let names: &Names = &self.machine.names;
        QName {
            uri: names.uri_of(name),
            local: names.local(name),
            prefix: (prefix != NONE).then(|| names.prefix(prefix)),
            // Inside of self-contained elements the same numbers mean other names.
            hint: self.saved.is_empty().then_some(NameHint(name)),
        }
    }
}
