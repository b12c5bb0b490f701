//! Documents and fragments outside of their elements (EXI 1.0 sections 8.4.1, 8.4.2, 8.5.1, 8.5.2).

use super::body::Body;
use super::raw::Raw;
use crate::bits::{Reader, width};
use crate::fault::{Fault, Result};
use crate::machine::{Learned, Root, Second, Target};
use crate::names::NONE;

impl Body {
    #[inline(never)]
    pub(super) fn root_event(&mut self, reader: &mut Reader<'_>) -> Result<Raw> {
        match self.machine.root {
            Root::Start => {
                let fragment = self.machine.is_fragment;
                self.machine.root = if fragment {
                    Root::FragmentContent
                } else {
                    Root::DocContent
                };
                Ok(Raw::StartDocument)
            }
            Root::DocContent => self.doc_content(reader),
            Root::DocEnd => self.doc_end(reader),
            Root::FragmentContent => self.fragment_content(reader),
            Root::Done => Err(Fault::Code),
        }
    }

    /// DocContent (sections 8.4.1 and 8.5.1).
    pub(super) fn doc_content(&mut self, reader: &mut Reader<'_>) -> Result<Raw> {
        let schema = self.machine.schema.clone();
        let globals = schema
            .as_ref()
            .map_or(&[][..], |schema| &schema.global_elements);
        let level = self.machine.levels.doc_content;
        let count = globals.len() as u32;
        let code = reader.n_bit(width(count + 1 + u32::from(!level.is_empty())))?;
        let raw = if let Some(element) = globals.get(code as usize) {
            let name = schema
                .as_ref()
                .map_or(NONE, |s| s.elements[element.index()].name.0);
            self.start(reader, name, Target::Declared(*element))?
        } else if code == count {
            self.start_any(reader)?
        } else {
            let kind = level.kind(reader.n_bit(level.width())?);
            return match kind.filter(|_| !level.is_empty() && code == count + 1) {
                Some(Second::DocType) => self.read_doc_type(reader),
                Some(Second::Miscellany) => self.miscellany(reader),
                _ => Err(Fault::Code),
            };
        };
        self.machine.root = Root::DocEnd;
        Ok(raw)
    }

    pub(super) fn doc_end(&mut self, reader: &mut Reader<'_>) -> Result<Raw> {
        let level = self.machine.levels.outside;
        let code = reader.n_bit(width(1 + u32::from(!level.is_empty())))?;
        if code != 0 {
            return self.outside(reader);
        }
        self.machine.root = Root::Done;
        Ok(Raw::EndDocument)
    }

    /// CM and PI outside of elements.
    pub(super) fn outside(&mut self, reader: &mut Reader<'_>) -> Result<Raw> {
        let level = self.machine.levels.outside;
        let code = reader.n_bit(level.width())?;
        self.comment_or_instruction(reader, level.kind(code))
    }

    /// FragmentContent (sections 8.4.2 and 8.5.2).
    pub(super) fn fragment_content(&mut self, reader: &mut Reader<'_>) -> Result<Raw> {
        let schema = self.machine.schema.clone();
        let count = match &schema {
            Some(schema) => schema.fragment_elements.len() as u32,
            None => self.machine.fragment.len(),
        };
        let extra = u32::from(!self.machine.levels.outside.is_empty());
        let code = reader.n_bit(width(count + 2 + extra))?;
        if code < count {
            let (name, target) = match (&schema, self.machine.fragment.get(code)) {
                (Some(schema), _) => {
                    let element = schema.fragment_elements[code as usize];
                    (
                        schema.elements[element.index()].name.0,
                        Target::Declared(element),
                    )
                }
                (None, Some(Learned::StartElement(name, target))) => (name, target),
                (None, _) => return Err(Fault::Code),
            };
            return self.start(reader, name, target);
        }
        match code - count {
            0 => {
                let raw = self.start_any(reader)?;
                if let (None, Raw::StartElement { name, .. }) = (&schema, raw) {
                    let target = self.machine.target_of(name);
                    self.machine.count_learned()?;
                    self.machine
                        .fragment
                        .learn(Learned::StartElement(name, target));
                }
                Ok(raw)
            }
            1 => {
                self.machine.root = Root::Done;
                Ok(Raw::EndDocument)
            }
            2 if extra == 1 => self.outside(reader),
            _ => Err(Fault::Code),
        }
    }

    /// An element whose name is known.
    pub(super) fn start(
        &mut self,
        reader: &mut Reader<'_>,
        name: u32,
        target: Target,
    ) -> Result<Raw> {
        let prefix = self.prefix(reader, name)?;
        self.machine.enter(name, target)?;
        Ok(Raw::StartElement { name, prefix })
    }

    /// An element whose name is in the stream.
    pub(super) fn start_any(&mut self, reader: &mut Reader<'_>) -> Result<Raw> {
        let (name, prefix) = self.qname(reader)?;
        let target = self.machine.target_of(name);
        self.machine.enter(name, target)?;
        Ok(Raw::StartElement { name, prefix })
    }
}
