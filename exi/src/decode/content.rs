//! Values of attributes and elements, read by their datatype (EXI 1.0 section 7.1).

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::number::{float, restricted};
use super::raw::Slot;
use crate::bits::{Reader, width};
use crate::codec::{Characters, Codec, Codecs};
use crate::fault::{Fault, Result};
use crate::grammar::Schema;
use crate::limits::{Limit, Limits};
use crate::names::Names;
use crate::options::Options;
use crate::partition::Values;
use crate::stored::{Keeper, Span, Store, Stored};
use crate::value::Value;

/// What values need: the value partitions, and memory for what is not in them.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) values: Values,
    pub(crate) codecs: Codecs,
    pub(crate) schema: Option<Arc<Schema>>,
    pub(crate) limits: Limits,
    pub(super) scratch: String,
    bytes: Vec<u8>,
    items: Vec<Stored>,
    /// The list whose bytes have not all arrived.
    open: Option<OpenList>,
    /// Values of events that are no text of the arena.
    typed: Vec<Stored>,
    /// Bytes handed out so far.
    pub(crate) spent: u64,
}

/// A list that is read as its bytes arrive: what it has is not read again.
#[derive(Debug, Clone, Copy)]
struct OpenList {
    /// Items it has.
    count: u32,
    /// Where they stand among the items; all behind are of it.
    at: u32,
    /// Bits from its count to the first item that is not there.
    bits: usize,
}

impl Keeper for Content {
    fn store(&self) -> Store<'_> {
        Store {
            arena: &self.values.arena,
            scratch: &self.scratch,
            bytes: &self.bytes,
            items: &self.items,
        }
    }
}

impl Content {
    pub(crate) fn new(schema: Option<Arc<Schema>>, limits: Limits) -> Self {
        Self {
            values: Values::new(false),
            codecs: Codecs::default(),
            schema,
            limits,
            scratch: String::new(),
            bytes: Vec::new(),
            items: Vec::new(),
            open: None,
            typed: Vec::new(),
            spent: 0,
        }
    }

    /// Goes to the start of a stream with the same options, and keeps the memory.
    pub(super) fn restart(&mut self, options: &Options) {
        self.values.reset(options);
        self.clear();
        self.spent = 0;
    }

    /// Whether a part of a value is kept until the rest of it arrives.
    #[inline]
    pub(super) fn waits(&self) -> bool {
        self.open.is_some()
    }

    /// Forgets the values handed out so far.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.scratch.clear();
        self.bytes.clear();
        self.items.clear();
        self.open = None;
        self.typed.clear();
        self.values.compact();
    }

    /// Counts what is handed out against the limits.
    #[inline(always)]
    pub(crate) fn spend(&mut self, bytes: u64) -> Result<()> {
        self.spent += bytes;
        if self.spent > self.limits.expanded_bytes {
            return Err(Fault::Limit(Limit::ExpandedBytes));
        }
        if bytes > self.limits.value_bytes {
            return Err(Fault::Limit(Limit::ValueBytes));
        }
        Ok(())
    }

    /// Reads a value of an element or attribute.
    #[inline(always)]
    pub(crate) fn read(
        &mut self,
        names: &mut Names,
        reader: &mut Reader<'_>,
        name: u32,
        codec: u32,
    ) -> Result<Slot> {
        if self.codecs.is_string(codec) {
            return Ok(Slot::Text(self.string(names, reader, name, None)?));
        }
        self.typed(names, reader, name, codec)
    }

    #[inline(never)]
    fn typed(
        &mut self,
        names: &mut Names,
        reader: &mut Reader<'_>,
        name: u32,
        codec: u32,
    ) -> Result<Slot> {
        let spent = self.spent;
        match self.stored(names, reader, name, codec) {
            Ok(stored) => Ok(self.keep(stored)),
            Err(fault) => {
                // What is tried again with more input counts once.
                if !self.waits() {
                    self.spent = spent;
                }
                Err(fault)
            }
        }
    }

    /// Puts a value among the typed ones.
    pub(super) fn keep(&mut self, stored: Stored) -> Slot {
        if let Stored::Text(span) = stored {
            return Slot::Text(span);
        }
        self.typed.push(stored);
        Slot::Typed(self.typed.len() as u32 - 1)
    }

    /// A typed value as it is handed out.
    #[inline(never)]
    pub(super) fn typed_value(&self, index: u32) -> Value<'_> {
        match self.typed.get(index as usize) {
            Some(stored) => stored.value(self),
            None => Value::Text(""),
        }
    }

    fn stored(
        &mut self,
        names: &mut Names,
        reader: &mut Reader<'_>,
        name: u32,
        codec: u32,
    ) -> Result<Stored> {
        match self.codecs.codec(codec) {
            Codec::String => Ok(Stored::Text(self.string(names, reader, name, None)?)),
            Codec::Restricted(set) => {
                Ok(Stored::Text(self.string(names, reader, name, Some(set))?))
            }
            Codec::Boolean => Ok(Stored::Boolean(reader.boolean()?)),
            Codec::BooleanPattern => self.boolean_pattern(reader),
            Codec::Decimal => self.decimal(reader),
            Codec::Float => float(reader),
            Codec::Integer => self.integer(reader),
            Codec::Unsigned => {
                let magnitude = self.unsigned(reader)?;
                Ok(Stored::Integer {
                    negative: false,
                    magnitude,
                })
            }
            Codec::Bounded { min, range } => self.bounded(reader, min, range),
            Codec::DateTime(kind) => self.date_time(reader, kind),
            Codec::Base64 => Ok(Stored::Base64(self.binary(reader)?)),
            Codec::Hex => Ok(Stored::Hex(self.binary(reader)?)),
            Codec::List { item } => self.list(names, reader, name, item),
            Codec::Enumeration { first, count, .. } => self.enumeration(reader, first, count),
            // [EXI-7.4-2]
            Codec::Foreign => Err(Fault::Value(
                "the datatype representation map names a representation that is not known here",
            )),
        }
    }

    /// A string by the value partitions (section 7.3.3).
    #[inline(always)]
    pub(crate) fn string(
        &mut self,
        names: &mut Names,
        reader: &mut Reader<'_>,
        name: u32,
        set: Option<Characters>,
    ) -> Result<Span> {
        let span = match reader.count()? {
            0 => {
                let id = reader.n_bit(width(self.values.local_len(names, name)))?;
                self.values
                    .local(names, name, id)
                    .ok_or(Fault::Identifier)?
            }
            1 => {
                let id = reader.n_bit(width(self.values.len()))?;
                self.values.global(id).ok_or(Fault::Identifier)?
            }
            length => self.miss(names, reader, name, (length - 2, set))?,
        };
        self.spend(u64::from(span.len))?;
        Ok(span)
    }

    /// A string that no partition has, which is added to them.
    #[inline]
    fn miss(
        &mut self,
        names: &mut Names,
        reader: &mut Reader<'_>,
        name: u32,
        (length, set): (u32, Option<Characters>),
    ) -> Result<Span> {
        let span = self.literal(reader, length, set)?;
        self.values.add(names, name, span, 0);
        Ok(span)
    }

    /// A new string, or nothing if it cannot be had.
    #[inline(never)]
    pub(super) fn quick_literal(
        &mut self,
        names: &mut Names,
        reader: &mut Reader<'_>,
        name: u32,
        length: u32,
    ) -> Option<Span> {
        self.values.compact();
        self.miss(names, reader, name, (length, None)).ok()
    }

    /// Characters of a string, appended to the arena.
    fn literal(
        &mut self,
        reader: &mut Reader<'_>,
        length: u32,
        set: Option<Characters>,
    ) -> Result<Span> {
        if u64::from(length) > self.limits.value_bytes {
            return Err(Fault::Limit(Limit::ValueBytes));
        }
        let arena = &mut self.values.arena;
        let at = arena.len();
        if at as u64 + u64::from(length) > self.limits.table_bytes {
            return Err(Fault::Limit(Limit::TableBytes));
        }
        let schema = self.schema.as_deref();
        let read = match set {
            None => reader.characters(length, arena),
            Some(set) => restricted(reader, length, set, schema, arena),
        };
        let len = arena.len() - at;
        // Places in the arena have 32 bits, whatever the limits allow.
        let span = match (read, u32::try_from(at), u32::try_from(len)) {
            (Ok(_), Ok(at), Ok(len)) => Ok(Span { at, len }),
            (Err(fault), ..) => Err(fault),
            _ => Err(Fault::Limit(Limit::TableBytes)),
        };
        if span.is_err() {
            arena.truncate(at);
        }
        span
    }

    pub(super) fn scratch(&mut self, text: &str) -> Result<Stored> {
        let at = self.scratch.len() as u32;
        self.scratch.push_str(text);
        self.spend(text.len() as u64)?;
        Ok(Stored::Scratch(Span {
            at,
            len: text.len() as u32,
        }))
    }

    fn binary(&mut self, reader: &mut Reader<'_>) -> Result<Span> {
        let count = reader.count()?;
        self.spend(u64::from(count))?;
        let at = self.bytes.len() as u32;
        reader.octets(count, &mut self.bytes)?;
        Ok(Span { at, len: count })
    }

    fn enumeration(&mut self, reader: &mut Reader<'_>, first: u32, count: u32) -> Result<Stored> {
        let index = reader.n_bit(width(count))?;
        let schema = self.schema.clone().ok_or(Fault::Identifier)?;
        let text = schema
            .enumeration(first, count)
            .get(index as usize)
            .ok_or(Fault::Identifier)?;
        self.scratch(text)
    }

    /// A count and the items (section 7.1.11). A decoder that is tried again with more input comes back
    /// to the same list first, and goes on where its bytes ended.
    fn list(
        &mut self,
        names: &mut Names,
        reader: &mut Reader<'_>,
        name: u32,
        item: u32,
    ) -> Result<Stored> {
        let begun = reader.bit;
        let open = match self.open.take() {
            Some(open) => open,
            None => {
                let count = reader.count()?;
                self.spend(u64::from(count) * size_of::<Stored>() as u64)?;
                OpenList {
                    count,
                    at: self.items.len() as u32,
                    bits: reader.bit - begun,
                }
            }
        };
        reader.bit = begun + open.bits;
        let end = open.at as usize + open.count as usize;
        while self.items.len() < end {
            let before = reader.bit;
            if let Err(fault) = self.item(names, reader, name, item) {
                let bits = before - begun;
                self.open = Some(OpenList { bits, ..open });
                return Err(fault);
            }
        }
        Ok(Stored::List(Span {
            at: open.at,
            len: open.count,
        }))
    }

    /// An item of a list, or everything as it was.
    fn item(
        &mut self,
        names: &mut Names,
        reader: &mut Reader<'_>,
        name: u32,
        item: u32,
    ) -> Result<()> {
        let (scratch, bytes, spent) = (self.scratch.len(), self.bytes.len(), self.spent);
        match self.stored(names, reader, name, item) {
            Ok(stored) => {
                self.items.push(stored);
                Ok(())
            }
            Err(fault) => {
                self.scratch.truncate(scratch);
                self.bytes.truncate(bytes);
                self.spent = spent;
                Err(fault)
            }
        }
    }
}
