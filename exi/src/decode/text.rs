//! Names, prefixes and plain text (EXI 1.0 sections 7.1.7, 7.1.10 and 7.3).

use super::body::Body;
use super::raw::Raw;
use crate::bits::{Reader, width};
use crate::fault::{Fault, Result};
use crate::grammar::Terminal;
use crate::limits::Limit;
use crate::machine::Second;
use crate::names::{NONE, Names};
use crate::partition::Values;
use crate::stored::Span;

impl Body {
    /// Uri, local name and prefix of a name that is in the stream.
    pub(super) fn qname(&mut self, reader: &mut Reader<'_>) -> Result<(u32, u32)> {
        let names = &mut self.machine.names;
        let uri = read_uri(names, reader)?;
        let name = read_local(names, reader, uri)?;
        Ok((name, self.prefix(reader, name)?))
    }

    /// A name whose uri may be known by the production: AT(uri:*) and SE(uri:*).
    pub(super) fn qname_of(
        &mut self,
        reader: &mut Reader<'_>,
        terminal: Terminal,
    ) -> Result<(u32, u32)> {
        match terminal {
            Terminal::AttributeInUri(uri) | Terminal::StartElementInUri(uri) => {
                let name = read_local(&mut self.machine.names, reader, uri.0)?;
                Ok((name, self.prefix(reader, name)?))
            }
            _ => self.qname(reader),
        }
    }

    /// The prefix of a name, if prefixes are preserved (section 7.1.7).
    #[inline(always)]
    pub(super) fn prefix(&mut self, reader: &mut Reader<'_>, name: u32) -> Result<u32> {
        if !self.options.preserve.prefixes {
            return Ok(NONE);
        }
        self.known_prefix(reader, name)
    }

    #[inline(never)]
    fn known_prefix(&self, reader: &mut Reader<'_>, name: u32) -> Result<u32> {
        let names = &self.machine.names;
        let prefixes = names.prefixes_of(names.name(name).uri);
        let code = reader.n_bit(width(prefixes.len() as u32))?;
        // [EXI-7.1.7-1]
        // A prefix that is not there is that of a namespace declaration to come.
        Ok(prefixes.get(code as usize).copied().unwrap_or(NONE))
    }

    /// NS: uri, prefix and local-element-ns.
    pub(super) fn namespace(&mut self, reader: &mut Reader<'_>) -> Result<Raw> {
        let names = &mut self.machine.names;
        let uri = read_uri(names, reader)?;
        let prefixes = names.prefixes_of(uri);
        let code = reader.n_bit(width(prefixes.len() as u32 + 1))?;
        let prefix = match code.checked_sub(1) {
            Some(index) => *prefixes.get(index as usize).ok_or(Fault::Identifier)?,
            None => {
                let length = reader.count()?;
                let text = names.append(|text| reader.characters(length, text))?;
                names.add_prefix(uri, text)
            }
        };
        let local_element_ns = reader.boolean()?;
        self.machine.scope.push((prefix, uri));
        if self.machine.scope.len() > self.limits.table_entries as usize {
            return Err(Fault::Limit(Limit::TableEntries));
        }
        Ok(Raw::Namespace {
            prefix,
            uri,
            local_element_ns,
        })
    }

    /// A string outside of the string table.
    fn plain(&mut self, reader: &mut Reader<'_>) -> Result<Span> {
        let length = reader.count()?;
        let at = self.text.len();
        if let Err(fault) = reader.characters(length, &mut self.text) {
            self.text.truncate(at);
            return Err(fault);
        }
        let len = (self.text.len() - at) as u32;
        self.content.spend(u64::from(len))?;
        Ok(Span { at: at as u32, len })
    }

    /// CM or PI below a third part.
    pub(super) fn miscellany(&mut self, reader: &mut Reader<'_>) -> Result<Raw> {
        let level = self.machine.levels.miscellany;
        let code = reader.n_bit(level.width())?;
        self.comment_or_instruction(reader, level.kind(code))
    }

    pub(super) fn comment_or_instruction(
        &mut self,
        reader: &mut Reader<'_>,
        kind: Option<Second>,
    ) -> Result<Raw> {
        match kind {
            Some(Second::Comment) => Ok(Raw::Comment(self.plain(reader)?)),
            Some(Second::ProcessingInstruction) => {
                let target = self.plain(reader)?;
                Ok(Raw::ProcessingInstruction(target, self.plain(reader)?))
            }
            _ => Err(Fault::Code),
        }
    }

    pub(super) fn entity_reference(&mut self, reader: &mut Reader<'_>) -> Result<Raw> {
        Ok(Raw::EntityReference(self.plain(reader)?))
    }

    pub(super) fn read_doc_type(&mut self, reader: &mut Reader<'_>) -> Result<Raw> {
        let mut parts = [Span::default(); 4];
        for part in &mut parts {
            *part = self.plain(reader)?;
        }
        self.doc_type = parts;
        Ok(Raw::DocType)
    }

    /// SC: the element is read again as a fragment of its own, with fresh tables (section 8.4.3).
    pub(super) fn self_contained(&mut self, reader: &mut Reader<'_>) -> Result<Raw> {
        let mut values = Values::new(false);
        values.reset(&self.options);
        core::mem::swap(&mut self.content.values, &mut values);
        self.saved.push((self.machine.set_aside(), values));
        // Until all of it could be read, nothing is taken from the stream.
        let mut ahead = *reader;
        ahead.align();
        if let Err(fault) = self.attempt_fragment(&mut ahead) {
            self.take_back();
            return Err(fault);
        }
        *reader = ahead;
        self.mark = self.machine.names.mark();
        Ok(Raw::SelfContained)
    }

    /// Goes on with what is around a self-contained element.
    pub(super) fn take_back(&mut self) {
        if let Some((aside, values)) = self.saved.pop() {
            self.machine.take_back(aside);
            self.content.values = values;
        }
    }

    /// SE(qname) of the element that is self-contained.
    fn attempt_fragment(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        match self.fragment_content(reader)? {
            Raw::StartElement { .. } => Ok(()),
            _ => Err(Fault::Code),
        }
    }

    /// ED of a self-contained element: back to what was before it.
    pub(super) fn end_self_contained(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        let mut ahead = *reader;
        match self.fragment_content(&mut ahead)? {
            Raw::EndDocument => {}
            _ => return Err(Fault::Code),
        }
        ahead.align();
        *reader = ahead;
        self.take_back();
        self.machine.leave()
    }
}

/// The uri partition is optimized for compact identifiers (section 7.3.2).
fn read_uri(names: &mut Names, reader: &mut Reader<'_>) -> Result<u32> {
    let code = reader.n_bit(width(names.uris_len() + 1))?;
    match code.checked_sub(1) {
        Some(uri) if uri < names.uris_len() => Ok(uri),
        Some(_) => Err(Fault::Identifier),
        None => {
            let length = reader.count()?;
            let text = names.append(|text| reader.characters(length, text))?;
            Ok(names.add_uri(text))
        }
    }
}

/// Local-name partitions are optimized for literals (section 7.3.3).
fn read_local(names: &mut Names, reader: &mut Reader<'_>, uri: u32) -> Result<u32> {
    match reader.count()? {
        0 => {
            let code = reader.n_bit(width(names.locals_len(uri)))?;
            names.name_at(uri, code)
        }
        length => {
            let text = names.append(|text| reader.characters(length - 1, text))?;
            Ok(names.add_local(uri, text))
        }
    }
}
