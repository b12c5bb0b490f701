//! Events by identifier, and how they are shown.

use super::body::Body;
use crate::event::{Event, NameHint, QName};
use crate::names::{NONE, Names};
use crate::stored::Span;
use crate::value::Value;

/// Where the value of an event is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Slot {
    /// In the arena of the value partitions. Nearly all values are such, so they are not put among
    /// the typed ones, which are wide.
    Text(Span),
    /// Among the typed values.
    Typed(u32),
    /// In a channel that is not read yet: the next value of the block that no event had.
    Waiting,
}

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
        slot: Slot,
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
        slot: Slot,
    },
    Comment(Span),
    ProcessingInstruction(Span, Span),
    DocType,
    EntityReference(Span),
    SelfContained,
}

impl Body {
    /// The event as it is handed out.
    #[inline(always)]
    pub(crate) fn show(&self, raw: Raw) -> Event<'_> {
        match raw {
            Raw::StartElement { name, prefix } => {
                Event::StartElement(self.qname_of_ids(name, prefix))
            }
            Raw::EndElement => Event::EndElement,
            Raw::Attribute { name, prefix, slot } => {
                Event::Attribute(self.qname_of_ids(name, prefix), self.slot(slot))
            }
            Raw::Characters { slot } => Event::Characters(self.slot(slot)),
            other => self.show_other(other),
        }
    }

    /// What is met less often.
    #[inline(never)]
    fn show_other(&self, raw: Raw) -> Event<'_> {
        let names = &self.machine.names;
        match raw {
            Raw::StartElement { .. }
            | Raw::EndElement
            | Raw::Attribute { .. }
            | Raw::Characters { .. } => self.show(raw),
            Raw::StartDocument => Event::StartDocument,
            Raw::EndDocument => Event::EndDocument,
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

    #[inline(always)]
    fn slot(&self, slot: Slot) -> Value<'_> {
        match slot {
            Slot::Text(span) => Value::Text(span.of(&self.content.values.arena)),
            Slot::Typed(index) => self.content.typed_value(index),
            Slot::Waiting => Value::Text(""),
        }
    }

    #[inline(always)]
    pub(super) fn qname_of_ids(&self, name: u32, prefix: u32) -> QName<'_> {
        let names: &Names = &self.machine.names;
        let (uri, local) = names.parts(name);
        QName {
            uri,
            local,
            prefix: (prefix != NONE).then(|| names.prefix(prefix)),
            // Inside of self-contained elements the same numbers mean other names.
            hint: self.saved.is_empty().then_some(NameHint(name)),
        }
    }
}
