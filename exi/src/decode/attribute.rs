//! Attributes and character data, xsi:type and xsi:nil among them.

use super::body::Body;
use super::raw::{Raw, Slot};
use crate::bits::{Reader, width};
use crate::codec::{NIL_CHARACTERS, STRING};
use crate::fault::{Fault, Result};
use crate::grammar::{DatatypeId, NameId, Production, StateId, Terminal};
use crate::machine::{At, Machine};
use crate::stored::Stored;

impl Body {
    /// xsi:type: its value stays in the structure channel, and the grammar of the type, if there is
    /// one, takes over (sections 8.4.3 and 8.5.4.4.1).
    pub(super) fn xsi_type(&mut self, reader: &mut Reader<'_>, prefix: u32) -> Result<Raw> {
        let name = self.machine.names.xsi_type;
        if self.options.preserve.lexical_values {
            let names = &mut self.machine.names;
            let span = self.content.string(names, reader, name, None)?;
            let text = span.of(&self.content.values.arena);
            let found = lexical_type(&self.machine, text);
            if let Some(type_id) = found.and_then(|name| self.machine.named_type(name)) {
                self.machine.cast(type_id)?;
            }
            return Ok(Raw::Attribute {
                name,
                prefix,
                slot: Slot::Text(span),
            });
        }
        let (value, value_prefix) = self.qname(reader)?;
        if let Some(type_id) = self.machine.named_type(value) {
            self.machine.cast(type_id)?;
        }
        Ok(Raw::XsiType {
            prefix,
            value,
            value_prefix,
        })
    }

    /// xsi:nil of a schema-informed grammar: also in the structure channel.
    pub(super) fn xsi_nil(&mut self, reader: &mut Reader<'_>) -> Result<Raw> {
        let name = self.machine.names.xsi_nil;
        let prefix = self.prefix(reader, name)?;
        let (slot, nil) = if self.options.preserve.lexical_values {
            let names = &mut self.machine.names;
            let span = self
                .content
                .string(names, reader, name, Some(NIL_CHARACTERS))?;
            let text = span.of(&self.content.values.arena).trim();
            (Slot::Text(span), matches!(text, "true" | "1"))
        } else {
            let nil = reader.boolean()?;
            (self.content.keep(Stored::Boolean(nil)), nil)
        };
        if nil {
            self.machine.nil()?;
        }
        Ok(Raw::Attribute { name, prefix, slot })
    }

    /// The value of an attribute, or its place in a channel.
    #[inline(always)]
    pub(super) fn attribute(
        &mut self,
        r: &mut Reader<'_>,
        name: u32,
        prefix: u32,
        codec: u32,
    ) -> Result<Raw> {
        let slot = self.value(r, name, codec)?;
        Ok(Raw::Attribute { name, prefix, slot })
    }

    #[inline(always)]
    pub(super) fn characters(&mut self, reader: &mut Reader<'_>, codec: u32) -> Result<Raw> {
        let name = self.machine.frame().ok_or(Fault::Code)?.name;
        let slot = self.value(reader, name, codec)?;
        Ok(Raw::Characters { slot })
    }

    #[inline(always)]
    pub(super) fn value(&mut self, reader: &mut Reader<'_>, name: u32, codec: u32) -> Result<Slot> {
        if self.channels {
            self.block.defer(&mut self.machine.names, name, codec);
            return Ok(Slot::Waiting);
        }
        self.content
            .read(&mut self.machine.names, reader, name, codec)
    }

    /// AT(qname) or AT(*) with an untyped value: the third part says which.
    pub(super) fn untyped(&mut self, reader: &mut Reader<'_>, state: StateId) -> Result<Raw> {
        let (_, productions) = self.machine.state(state);
        let is_attribute = |p: &&Production| matches!(p.terminal, Terminal::Attribute { .. });
        let count = productions.iter().take_while(is_attribute).count() as u32;
        let code = reader.n_bit(width(count + 1))?;
        let declared = productions
            .get(code as usize)
            .copied()
            .filter(|_| code < count);
        match declared {
            Some(Production {
                terminal: Terminal::Attribute { name, .. },
                next,
            }) => {
                let prefix = self.prefix(reader, name.0)?;
                let raw = self.attribute(reader, name.0, prefix, STRING)?;
                self.machine.go(At::Informed(next))?;
                Ok(raw)
            }
            _ if code == count => {
                let (name, prefix) = self.qname(reader)?;
                self.attribute(reader, name, prefix, STRING)
            }
            _ => Err(Fault::Code),
        }
    }

    /// The codec of a global attribute, or the string (section 8.5.4.1.3.2).
    pub(super) fn global_attribute(&self, name: u32) -> u32 {
        let schema = self.machine.schema.as_ref();
        let datatype = schema.and_then(|schema| schema.global_attribute(NameId(name)));
        datatype.unwrap_or(DatatypeId::STRING).0
    }
}

/// The name that the lexical value of xsi:type means.
fn lexical_type(machine: &Machine, text: &str) -> Option<u32> {
    let (prefix, local) = text.trim().split_once(':').unwrap_or(("", text.trim()));
    machine.names.find(machine.resolve(prefix)?, local)
}
