//! Comments, processing instructions, document types, entity references, self-contained elements.

use alloc::string::String;
use core::mem;

use super::body::{Body, write_plain};
use crate::bits::width;
use crate::event::{Event, QName};
use crate::fault::{Fault, Result};
use crate::machine::{At, Root, Second};
use crate::partition::Values;

impl Body {
    /// Events that the fidelity options may not keep: those are left out (EXI 1.0 section 6).
    pub(super) fn other(&mut self, event: &Event<'_>) -> Result<()> {
        let (preserve, loose) = (self.options.preserve, !self.options.strict);
        match event {
            Event::Comment(text) if preserve.comments && loose => {
                self.settle(true)?;
                self.miscellany(Second::Comment)?;
                self.plain(text);
            }
            Event::ProcessingInstruction { target, data }
                if preserve.processing_instructions && loose =>
            {
                self.settle(true)?;
                self.miscellany(Second::ProcessingInstruction)?;
                self.plain(target);
                self.plain(data);
            }
            Event::DocType {
                name,
                public,
                system,
                text,
            } if preserve.dtd && loose => {
                self.doc_type()?;
                [name, public, system, text]
                    .into_iter()
                    .for_each(|part| self.plain(part));
            }
            Event::EntityReference(name) if preserve.dtd && loose => {
                self.settle(false)?;
                self.code(Second::EntityReference)?;
                self.go_to_content()?;
                self.plain(name);
            }
            _ => {}
        }
        Ok(())
    }

    fn plain(&mut self, text: &str) {
        write_plain(&mut self.writer, text, 0);
    }

    fn go_to_content(&mut self) -> Result<()> {
        let at = match self.current()?.at {
            At::BuiltInStart(grammar) | At::BuiltInContent(grammar) => At::BuiltInContent(grammar),
            At::Informed(state) => At::Informed(self.machine.state(state).0.content),
        };
        self.machine.go(at)
    }

    /// CM and PI: with a third part below elements and in DocContent.
    fn miscellany(&mut self, kind: Second) -> Result<()> {
        if self.machine.frames.is_empty() && self.machine.root != Root::DocContent {
            return self.outside(kind);
        }
        if self.machine.frames.is_empty() {
            self.doc_content(Second::Miscellany)?;
        } else {
            self.code(Second::Miscellany)?;
            self.go_to_content()?;
        }
        let level = self.machine.levels.miscellany;
        let code = level
            .code(kind)
            .ok_or(Fault::NotAllowed(kind.described()))?;
        self.writer.n_bit(code, level.width());
        Ok(())
    }

    fn outside(&mut self, kind: Second) -> Result<()> {
        let first = match self.machine.root {
            Root::DocEnd => 1,
            Root::FragmentContent => self.fragment_len() + 2,
            _ => return Err(Fault::NotAllowed(kind.described())),
        };
        let level = self.machine.levels.outside;
        let code = level
            .code(kind)
            .ok_or(Fault::NotAllowed(kind.described()))?;
        self.writer.n_bit(first, width(first + 1));
        self.writer.n_bit(code, level.width());
        Ok(())
    }

    fn doc_content(&mut self, kind: Second) -> Result<()> {
        let schema = self.machine.schema.as_ref();
        let globals = schema.map_or(0, |schema| schema.global_elements.len()) as u32;
        let level = self.machine.levels.doc_content;
        let code = level
            .code(kind)
            .ok_or(Fault::NotAllowed(kind.described()))?;
        self.writer.n_bit(globals + 1, width(globals + 2));
        self.writer.n_bit(code, level.width());
        Ok(())
    }

    fn doc_type(&mut self) -> Result<()> {
        if self.machine.root != Root::DocContent {
            return Err(Fault::NotAllowed("a document type declaration"));
        }
        self.doc_content(Second::DocType)
    }

    /// SC: the element is written again as a fragment of its own, with fresh tables (section 8.4.3).
    pub(super) fn self_contained(&mut self) -> Result<()> {
        if !self.start.open {
            return Err(Fault::NotAllowed("a self-contained mark after content"));
        }
        let frame = self.current()?;
        self.code(Second::SelfContained)?;
        self.writer.align();
        let (uri, local) = self.machine.names.parts(frame.name);
        let (uri, local) = (String::from(uri), String::from(local));
        let prefix = self.start.element_prefix().map(String::from);
        let mut values = Values::new(true);
        values.reset(&self.options);
        mem::swap(&mut self.content.values, &mut values);
        // From here on the producer's numbers are not trusted: they are those of the outer tables.
        self.saved.push((self.machine.set_aside(), values));
        let name = QName {
            prefix: prefix.as_deref(),
            ..QName::new(&uri, &local)
        };
        let known = self.lookup(&name);
        let (id, target) = self.root_element(&name, known)?;
        self.machine.enter(id, target)
    }

    /// Goes on with what is around a self-contained element.
    pub(super) fn take_back(&mut self) {
        if let Some((aside, values)) = self.saved.pop() {
            self.machine.take_back(aside);
            self.content.values = values;
        }
    }

    /// ED of a self-contained element: back to what was before it.
    pub(super) fn end_self_contained(&mut self) -> Result<()> {
        self.end_fragment();
        self.writer.align();
        self.take_back();
        self.machine.leave()
    }
}
