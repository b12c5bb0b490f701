//! The quick path: what a document of elements, attributes and plain text consists of nearly
//! everywhere, found without going through results that are wider than registers. Whatever else
//! stands there (references, comments, entities, line ends to be normalized, mistakes) is left to
//! the way that does everything.

use super::{Input, Span, State, Step};
use crate::error::Error;
use crate::event::Event;
use crate::value::Value;
use crate::xml::chars::find_in_text;

/// A quick event.
#[derive(Clone, Copy)]
pub(super) enum Quick {
    StartElement,
    /// By its index.
    Attribute(usize),
    /// From one offset to another.
    Characters(usize, usize),
    EndElement,
}

impl State {
    /// The next event, if it is quick.
    #[inline(always)]
    pub(super) fn quick(&mut self, input: Input<'_>) -> Option<Quick> {
        if !self.frames.is_empty() || self.events >= input.settings.limits.events {
            return None;
        }
        let quick = match self.step {
            Step::Content => self.quick_content(input)?,
            Step::Attributes(index) => self.quick_attribute(index, input)?,
            _ => return None,
        };
        self.events += 1;
        Some(quick)
    }

    /// An attribute whose value stands in the document, or what comes after the last.
    #[inline(always)]
    fn quick_attribute(&mut self, index: usize, input: Input<'_>) -> Option<Quick> {
        let own = index.checked_sub(self.declarations.len())?;
        if let Some(attribute) = self.attributes.get(own) {
            let resolved = own == 0 && self.type_name.is_some();
            if resolved || !matches!(attribute.value, Span::Here(..)) {
                return None;
            }
            self.step = Step::Attributes(index + 1);
            self.event_at = attribute.at;
            return Some(Quick::Attribute(own));
        }
        self.step = Step::Content;
        if self.empty {
            self.leave();
            return Some(Quick::EndElement);
        }
        self.quick_content(input)
    }

    #[inline(always)]
    fn quick_content(&mut self, input: Input<'_>) -> Option<Quick> {
        let (bytes, start) = (input.source.text.as_bytes(), self.at);
        if *bytes.get(start)? != b'<' {
            return self.quick_text(input, start);
        }
        match *bytes.get(start + 1)? {
            b'/' => self.quick_end(bytes, start),
            b'!' | b'?' => None,
            _ => match self.start_tag(input) {
                Ok(_) => Some(Quick::StartElement),
                Err(error) => {
                    self.failed = Some(error);
                    None
                }
            },
        }
    }

    /// Text between two tags.
    #[inline(always)]
    fn quick_text(&mut self, input: Input<'_>, start: usize) -> Option<Quick> {
        let bytes = input.source.text.as_bytes();
        let end = find_in_text(bytes, start);
        let is_tag =
            *bytes.get(end)? == b'<' && !matches!(bytes.get(end + 1), Some(b'!' | b'?') | None);
        let is_long = (end - start) as u64 > input.settings.limits.value_bytes;
        if !is_tag || is_long || input.source.brackets {
            return None;
        }
        (self.event_at, self.at) = (start, end);
        Some(Quick::Characters(start, end))
    }

    /// The end tag of the innermost element, without white space in it.
    #[inline(always)]
    fn quick_end(&mut self, bytes: &[u8], start: usize) -> Option<Quick> {
        let name = self.names.bytes(*self.open.last()?);
        let rest = bytes.get(start + 2..)?.strip_prefix(name)?;
        if *rest.first()? != b'>' {
            return None;
        }
        (self.event_at, self.at) = (start, start + name.len() + 3);
        self.leave();
        Some(Quick::EndElement)
    }

    /// A quick event as it is handed out. Every kind is put together where it is returned, so that
    /// it is written once.
    #[inline(always)]
    pub(super) fn show_quick<'t>(
        &'t self,
        quick: Quick,
        text: &'t str,
    ) -> Result<Option<Event<'t>>, Error> {
        match quick {
            Quick::StartElement => Ok(Some(Event::StartElement(self.name(self.element)))),
            Quick::EndElement => Ok(Some(Event::EndElement)),
            Quick::Characters(start, end) => {
                let text = text.get(start..end).unwrap_or_default();
                Ok(Some(Event::Characters(Value::Text(text))))
            }
            Quick::Attribute(index) => match self.attributes.get(index) {
                Some(attribute) => Ok(Some(Event::Attribute(
                    self.name((attribute.tag, attribute.uri, attribute.hint)),
                    Value::Text(attribute.here(text)),
                ))),
                None => Ok(None),
            },
        }
    }
}
