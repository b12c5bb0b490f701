//! The quick path: events that a built-in grammar has learned, with the texts of the value
//! partitions. In a document of any length nearly all events are such.
//!
//! It reads one word for an event code and the identifier of a value, fails at nothing and gives a
//! few scalars, which stay in registers; the way that does everything returns events through memory,
//! and waiting for that memory costs more than decoding. Whatever is not quick (a production not yet
//! learned, a schema, a prefix, the end of the input, a limit) is left as it was for that way.

use super::body::Body;
use crate::bits::{Reader, Window};
use crate::error::Error;
use crate::event::Event;
use crate::machine::{At, Learned, Target};
use crate::names::NONE;
use crate::stored::Span;
use crate::value::Value;

/// A quick event.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quick {
    pub(super) kind: Kind,
    /// Of an element or attribute.
    pub(super) name: u32,
    /// Of an attribute or of characters; empty where values are in channels.
    pub(super) text: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    StartElement,
    Attribute,
    Characters,
    EndElement,
}

impl Body {
    /// The next event to be handed out, if it is quick.
    #[inline(always)]
    pub(super) fn next_quick(&mut self, input: &[u8]) -> Option<Quick> {
        if self.events >= self.limits.events {
            return None;
        }
        let quick = if self.channels {
            self.block.pop_quick()?
        } else {
            let mut reader = Reader::new(input, self.bit, self.aligned);
            let quick = self.quick(&mut reader)?;
            (self.begun, self.bit) = (self.bit, reader.bit);
            quick
        };
        self.events += 1;
        Some(quick)
    }

    /// Reads an event, if it is quick.
    #[inline(always)]
    pub(super) fn quick(&mut self, reader: &mut Reader<'_>) -> Option<Quick> {
        if self.options.preserve.prefixes {
            return None;
        }
        let frame = self.machine.frames.last()?;
        let (grammar, start) = match frame.at {
            At::BuiltInStart(grammar) => (grammar, true),
            At::BuiltInContent(grammar) => (grammar, false),
            At::Informed(_) => return None,
        };
        let mut window = reader.window()?;
        let rules = self.machine.built_in(grammar);
        let productions = if start { &rules.start } else { &rules.content };
        let code = window.take(productions.width())?;
        let (kind, name, text) = match productions.get(code)? {
            Learned::StartElement(name, Target::BuiltIn(inner)) => {
                self.machine.enter_quick(name, grammar, inner)?;
                (Kind::StartElement, name, Span::default())
            }
            Learned::EndElement => {
                self.machine.leave().ok()?;
                (Kind::EndElement, NONE, Span::default())
            }
            Learned::Characters => {
                let text = self.quick_text(reader, &mut window, frame.name)?;
                self.machine.go(At::BuiltInContent(grammar)).ok()?;
                (Kind::Characters, NONE, text)
            }
            Learned::Attribute(name) if name != self.machine.names.xsi_type => {
                let text = self.quick_text(reader, &mut window, name)?;
                (Kind::Attribute, name, text)
            }
            _ => return None,
        };
        reader.bit += window.used();
        Some(Quick { kind, name, text })
    }

    /// A text by its identifier in the value partitions, or a new one.
    #[inline(always)]
    fn quick_text(
        &mut self,
        reader: &mut Reader<'_>,
        window: &mut Window,
        name: u32,
    ) -> Option<Span> {
        if self.channels {
            self.block
                .defer(&mut self.machine.names, name, crate::codec::STRING);
            return Some(Span::default());
        }
        let (names, values) = (&mut self.machine.names, &self.content.values);
        let text = match window.take(8)? {
            0 => values.quick_local(names, name, window)?,
            1 => values.quick_global(window)?,
            length if length < 128 => {
                let mut ahead = *reader;
                ahead.bit += window.used();
                let text = self
                    .content
                    .quick_literal(names, &mut ahead, name, length - 2)?;
                // All that was read is counted here; the window has nothing more.
                *reader = ahead;
                *window = Window::default();
                text
            }
            _ => return None,
        };
        self.content.spend(u64::from(text.len)).ok()?;
        Some(text)
    }

    /// A quick event as it is handed out. Every kind is put together where it is returned, so that
    /// it is written once.
    #[inline(always)]
    pub(super) fn show_quick(&self, quick: Quick) -> Result<Option<Event<'_>>, Error> {
        match quick.kind {
            Kind::StartElement => Ok(Some(Event::StartElement(
                self.qname_of_ids(quick.name, NONE),
            ))),
            Kind::EndElement => Ok(Some(Event::EndElement)),
            Kind::Attribute => Ok(Some(Event::Attribute(
                self.qname_of_ids(quick.name, NONE),
                Value::Text(quick.text.of(&self.content.values.arena)),
            ))),
            Kind::Characters => Ok(Some(Event::Characters(Value::Text(
                quick.text.of(&self.content.values.arena),
            )))),
        }
    }
}
