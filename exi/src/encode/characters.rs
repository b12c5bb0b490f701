//! Character data, and values on their way into the stream or a channel.

use alloc::string::String;
use core::mem;

use super::body::Body;
use super::lexical::{collapsed, is_space};
use crate::codec::STRING;
use crate::fault::{Fault, Result};
use crate::grammar::{Production, StateId, Terminal, WhiteSpace};
use crate::machine::{At, Frame, Learned, Second};
use crate::value::Value;

impl Body {
    pub(super) fn characters(&mut self, value: &Value<'_>) -> Result<()> {
        let Some(frame) = self.machine.frame().copied() else {
            let blank = matches!(value, Value::Text(text) if text.chars().all(is_space));
            return if blank {
                Ok(())
            } else {
                Err(Fault::NotAllowed("text outside of an element"))
            };
        };
        match frame.at {
            At::BuiltInStart(grammar) => self.built_in_characters(&frame, value, grammar, true),
            At::BuiltInContent(grammar) => self.built_in_characters(&frame, value, grammar, false),
            At::Informed(state) => self.informed_characters(&frame, value, state),
        }
    }

    pub(super) fn built_in_characters(
        &mut self,
        frame: &Frame,
        value: &Value<'_>,
        grammar: u32,
        start: bool,
    ) -> Result<()> {
        let rules = self.machine.built_in(grammar);
        let productions = if start { &rules.start } else { &rules.content };
        match productions.find_characters() {
            Some(code) => self.writer.n_bit(code, productions.width()),
            None => {
                if self.limit_learning(grammar, start)?
                    && let At::Informed(state) = self.current()?.at
                {
                    return self.informed_characters(frame, value, state);
                }
                self.escape(grammar, start, Second::Characters)?;
                self.learn(grammar, start, Learned::Characters)?;
            }
        }
        self.machine.go(At::BuiltInContent(grammar))?;
        self.untyped_value(frame.name, value)
    }

    pub(super) fn informed_characters(
        &mut self,
        frame: &Frame,
        value: &Value<'_>,
        state: StateId,
    ) -> Result<()> {
        let (entry, productions) = self.machine.state(state);
        let content = entry.content;
        let found = productions
            .iter()
            .enumerate()
            .rev()
            .find_map(|(code, production)| match production.terminal {
                Terminal::Characters(datatype) => Some((code as u32, *production, datatype.0)),
                _ => None,
            });
        if let Some((code, Production { next, .. }, codec)) = found {
            self.content.stash.clear();
            if let Some(stored) = self.content.prepare(codec, value) {
                self.first(state, code)?;
                self.machine.go(At::Informed(next))?;
                return self.typed_value(frame.name, codec, value, &stored);
            }
        }
        if self.options.strict {
            return match value {
                Value::Text(text)
                    if text.chars().all(is_space) && !self.start.preserves_space() =>
                {
                    Ok(())
                }
                Value::Text(text) if found.is_some() => Err(Fault::not_in_datatype(text)),
                _ => Err(Fault::NotAllowed("characters")),
            };
        }
        self.second(state, Second::Characters)?;
        self.machine.go(At::Informed(content))?;
        self.untyped_value(frame.name, value)
    }

    /// A value as plain string.
    pub(super) fn untyped_value(&mut self, name: u32, value: &Value<'_>) -> Result<()> {
        if let Value::Text(text) = value {
            return self.text_value(name, text);
        }
        let form = self.content.take_form(value);
        let written = self.text_value(name, &form);
        self.content.give_form(form);
        written
    }

    pub(super) fn text_value(&mut self, name: u32, text: &str) -> Result<()> {
        let names = &mut self.machine.names;
        match &mut self.block {
            None => self.content.text(names, &mut self.writer, name, text),
            Some(block) => block.defer_text(names, name, STRING, text),
        }
        self.end_value()
    }

    /// A value that was read in its representation.
    pub(super) fn typed_value(
        &mut self,
        name: u32,
        codec: u32,
        value: &Value<'_>,
        stored: &crate::stored::Stored,
    ) -> Result<()> {
        let names = &mut self.machine.names;
        let Some(block) = &mut self.block else {
            return self
                .content
                .write(names, &mut self.writer, name, codec, stored);
        };
        match value {
            _ if !self.content.codecs.uses_table(codec) => {
                block.defer_typed(names, &mut self.content, name, codec, stored)?;
            }
            Value::Text(text) => block.defer_text(names, name, codec, text),
            other => {
                let form = self.content.take_form(other);
                block.defer_text(names, name, codec, &form);
                self.content.give_form(form);
            }
        }
        self.end_value()
    }

    /// A block ends with the value that fills it (section 9.1).
    pub(super) fn end_value(&mut self) -> Result<()> {
        let full = self
            .block
            .as_ref()
            .is_some_and(|block| block.values == self.options.block_size);
        if full { self.flush_block() } else { Ok(()) }
    }

    /// Writes what waits: the start tag and character data.
    pub(super) fn settle(&mut self, end: bool) -> Result<()> {
        self.close_start_tag()?;
        if self.text.is_empty() {
            return Ok(());
        }
        let text = mem::take(&mut self.text);
        let mut form = String::new();
        let written = match self.significant(&text, end, &mut form) {
            Some(kept) => self.characters(&Value::Text(kept)),
            None => Ok(()),
        };
        self.text = text;
        self.text.clear();
        written
    }

    /// Character data without the white space that does not matter, where that is asked for: by the
    /// facet whiteSpace of typed content; elsewhere, where it is all and no simple content
    /// (Canonical EXI section 4.3).
    pub(super) fn significant<'t>(
        &self,
        text: &'t str,
        end: bool,
        form: &'t mut String,
    ) -> Option<&'t str> {
        let lexical = self.options.preserve.lexical_values;
        // [C14N-4.3.2-2]
        if !self.manner.drop_space || lexical || self.start.preserves_space() {
            return Some(text);
        }
        match self.white_space() {
            Some(WhiteSpace::Preserve) => Some(text),
            // [C14N-4.3.1-1]
            Some(facet) => {
                *form = collapsed(text, facet);
                Some(&**form).filter(|form| !form.is_empty())
            }
            None if end && self.text_after_start => Some(text),
            // [C14N-4.3.2-1]
            None => Some(text).filter(|text| !text.chars().all(is_space)),
        }
    }

    /// The facet of typed content that may begin here.
    pub(super) fn white_space(&self) -> Option<WhiteSpace> {
        let At::Informed(state) = self.machine.frame()?.at else {
            return None;
        };
        match self.machine.state(state).1.first()?.terminal {
            Terminal::Characters(datatype) => Some(self.content.codecs.white_space(datatype.0)),
            _ => None,
        }
    }

    pub(super) fn characters_in(&mut self, value: &Value<'_>) -> Result<()> {
        if self.text.is_empty() {
            self.text_after_start = self.start.open;
        }
        self.close_start_tag()?;
        if let Value::Text(text) = value {
            // [C14N-4.3.1-2]
            self.text.push_str(text);
            return Ok(());
        }
        self.settle(false)?;
        self.characters(value)
    }
}
