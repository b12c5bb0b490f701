//! Values of attributes and elements, read by their datatype (EXI 1.0 section 7.1).

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt::Write;

use crate::bits::{Reader, width};
use crate::codec::{Characters, Codec, Codecs};
use crate::fault::{Fault, Result};
use crate::grammar::Schema;
use crate::limits::{Limit, Limits};
use crate::names::Names;
use crate::partition::Values;
use crate::stored::{Span, Store, Stored, StoredDateTime, StoredUnsigned};
use crate::value::{DateTimeKind, Float, TimeOfDay};

/// What values need: the value partitions, and memory for what is not in them.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) values: Values,
    pub(crate) codecs: Codecs,
    pub(crate) schema: Option<Arc<Schema>>,
    pub(crate) limits: Limits,
    scratch: String,
    bytes: Vec<u8>,
    items: Vec<Stored>,
    /// Bytes handed out so far.
    spent: u64,
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
            spent: 0,
        }
    }

    /// Forgets the values handed out so far.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.scratch.clear();
        self.bytes.clear();
        self.items.clear();
        self.values.compact();
    }

    pub(crate) fn store(&self) -> Store<'_> {
        Store {
            arena: &self.values.arena,
            scratch: &self.scratch,
            bytes: &self.bytes,
            items: &self.items,
        }
    }

    /// Counts what is handed out against the limits.
    #[inline]
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
    #[inline]
    pub(crate) fn read(
        &mut self,
        names: &mut Names,
        reader: &mut Reader<'_>,
        name: u32,
        codec: u32,
    ) -> Result<Stored> {
        match self.codecs.codec(codec) {
            Codec::String => self.string(names, reader, name, None),
            other => self.typed(names, reader, name, other),
        }
    }

    fn typed(
        &mut self,
        names: &mut Names,
        reader: &mut Reader<'_>,
        name: u32,
        codec: Codec,
    ) -> Result<Stored> {
        match codec {
            Codec::String => self.string(names, reader, name, None),
            Codec::Restricted(set) => self.string(names, reader, name, Some(set)),
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
            Codec::Foreign => Err(Fault::Value("a representation that is not known here")),
        }
    }

    /// A string by the value partitions (section 7.3.3).
    pub(crate) fn string(
        &mut self,
        names: &mut Names,
        reader: &mut Reader<'_>,
        name: u32,
        set: Option<Characters>,
    ) -> Result<Stored> {
        let start = reader.bit;
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
            length => {
                let span = self.literal(reader, length - 2, set).inspect_err(|fault| {
                    if !matches!(fault, Fault::End(_)) {
                        return;
                    }
                    reader.bit = start;
                })?;
                self.values.add(names, name, span, 0);
                span
            }
        };
        self.spend(u64::from(span.len))?;
        Ok(Stored::Text(span))
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
        if let Err(fault) = read {
            arena.truncate(at);
            return Err(fault);
        }
        Ok(Span {
            at: at as u32,
            len: (arena.len() - at) as u32,
        })
    }

    fn scratch(&mut self, text: &str) -> Result<Stored> {
        let at = self.scratch.len() as u32;
        self.scratch.push_str(text);
        self.spend(text.len() as u64)?;
        Ok(Stored::Scratch(Span {
            at,
            len: text.len() as u32,
        }))
    }

    /// Two bits that keep the lexical form (section 7.1.2).
    fn boolean_pattern(&mut self, reader: &mut Reader<'_>) -> Result<Stored> {
        const FORMS: [&str; 4] = ["false", "0", "true", "1"];
        let form = reader.n_bit(2)? as usize;
        self.scratch(FORMS.get(form).ok_or(Fault::Value("boolean"))?)
    }

    /// An unsigned integer of any size.
    fn unsigned(&mut self, reader: &mut Reader<'_>) -> Result<StoredUnsigned> {
        match reader.unsigned() {
            Ok(value) => Ok(StoredUnsigned::Small(value)),
            Err(Fault::TooBig) => {
                let at = self.scratch.len();
                reader.unsigned_digits(&mut self.scratch)?;
                let len = (self.scratch.len() - at) as u32;
                self.spend(u64::from(len))?;
                Ok(StoredUnsigned::Big(Span { at: at as u32, len }))
            }
            Err(fault) => Err(fault),
        }
    }

    /// Sign and magnitude; negative ones have the magnitude minus one (section 7.1.5).
    fn integer(&mut self, reader: &mut Reader<'_>) -> Result<Stored> {
        let negative = reader.boolean()?;
        let magnitude = self.unsigned(reader)?;
        let magnitude = if negative {
            self.one_more(magnitude)
        } else {
            magnitude
        };
        Ok(Stored::Integer {
            negative,
            magnitude,
        })
    }

    fn one_more(&mut self, magnitude: StoredUnsigned) -> StoredUnsigned {
        if let StoredUnsigned::Small(value) = magnitude
            && value < u64::MAX
        {
            return StoredUnsigned::Small(value + 1);
        }
        let digits = match magnitude {
            StoredUnsigned::Small(value) => alloc::format!("{value}"),
            StoredUnsigned::Big(span) => span.of(&self.scratch).into(),
        };
        let at = self.scratch.len() as u32;
        let sum = incremented(digits);
        self.scratch.push_str(&sum);
        StoredUnsigned::Big(Span {
            at,
            len: sum.len() as u32,
        })
    }

    fn decimal(&mut self, reader: &mut Reader<'_>) -> Result<Stored> {
        let negative = reader.boolean()?;
        let integral = self.unsigned(reader)?;
        let reversed_fraction = self.unsigned(reader)?;
        Ok(Stored::Decimal {
            negative,
            integral,
            reversed_fraction,
        })
    }

    /// n bits above the least value (section 7.1.5).
    fn bounded(&mut self, reader: &mut Reader<'_>, min: i128, range: u32) -> Result<Stored> {
        let offset = reader.n_bit(width(range))?;
        if offset >= range {
            return Err(Fault::Value("outside of the bounded range"));
        }
        let value = min.saturating_add(i128::from(offset));
        let magnitude = match u64::try_from(value.unsigned_abs()) {
            Ok(small) => StoredUnsigned::Small(small),
            Err(_) => {
                let at = self.scratch.len();
                let _ = write!(self.scratch, "{}", value.unsigned_abs());
                let len = (self.scratch.len() - at) as u32;
                StoredUnsigned::Big(Span { at: at as u32, len })
            }
        };
        Ok(Stored::Integer {
            negative: value < 0,
            magnitude,
        })
    }

    /// The components of table 7-4 (section 7.1.8).
    fn date_time(&mut self, reader: &mut Reader<'_>, kind: DateTimeKind) -> Result<Stored> {
        let mut value = StoredDateTime {
            kind,
            year: 0,
            month: 0,
            day: 0,
            time: TimeOfDay::default(),
            reversed_fraction: None,
            zone_minutes: None,
        };
        if kind.has_year() {
            value.year = word(reader)?
                .checked_add(2000)
                .ok_or(Fault::Value("year"))?;
        }
        if kind.has_month_day() {
            let month_day = reader.n_bit(9)?;
            (value.month, value.day) = ((month_day / 32) as u8, (month_day % 32) as u8);
        }
        if kind.has_time() {
            let packed = reader.n_bit(17)?;
            let (hour, minute, second) = (packed >> 12, packed >> 6 & 63, packed & 63);
            let good = hour <= 24 && minute <= 59 && second <= 60;
            if !good {
                return Err(Fault::Value("time of day"));
            }
            let (hour, minute, second) = (hour as u8, minute as u8, second as u8);
            value.time = TimeOfDay {
                hour,
                minute,
                second,
            };
            if reader.boolean()? {
                value.reversed_fraction = Some(self.unsigned(reader)?);
            }
        }
        if reader.boolean()? {
            value.zone_minutes = Some(zone(reader)?);
        }
        Ok(Stored::DateTime(value))
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

    /// A count and the items (section 7.1.11).
    fn list(
        &mut self,
        names: &mut Names,
        reader: &mut Reader<'_>,
        name: u32,
        item: u32,
    ) -> Result<Stored> {
        let count = reader.count()?;
        self.spend(u64::from(count) * size_of::<Stored>() as u64)?;
        self.values.begin();
        let read = self.items(names, reader, name, item, count);
        self.values.end(names, read.is_ok());
        Ok(Stored::List(read?))
    }

    fn items(
        &mut self,
        names: &mut Names,
        reader: &mut Reader<'_>,
        name: u32,
        item: u32,
        count: u32,
    ) -> Result<Span> {
        let at = self.items.len() as u32;
        for _ in 0..count {
            let stored = self.read(names, reader, name, item)?;
            self.items.push(stored);
        }
        Ok(Span { at, len: count })
    }
}

/// Characters of a restricted set; those outside of it are escaped (section 7.1.10.1).
fn restricted(
    reader: &mut Reader<'_>,
    length: u32,
    set: Characters,
    schema: Option<&Schema>,
    out: &mut String,
) -> Result<()> {
    let width = set.width(schema);
    for _ in 0..length {
        let position = reader.n_bit(width)?;
        let character = match set.at(position, schema) {
            Some(character) => character,
            None if position == set.len(schema) => crate::bits::character(reader.unsigned()?)?,
            None => return Err(Fault::Identifier),
        };
        out.push(character);
    }
    Ok(())
}

/// An integer that fits a word.
fn word(reader: &mut Reader<'_>) -> Result<i64> {
    let negative = reader.boolean()?;
    let magnitude = i64::try_from(reader.unsigned()?).map_err(|_| Fault::TooBig)?;
    Ok(if negative { -1 - magnitude } else { magnitude })
}

/// Mantissa and exponent; others than these MUST NOT be used (section 7.1.4).
fn float(reader: &mut Reader<'_>) -> Result<Stored> {
    let mantissa = word(reader)?;
    let exponent = word(reader)?;
    match i16::try_from(exponent) {
        Ok(exponent) if (Float::SPECIAL..=16_383).contains(&exponent) => {
            Ok(Stored::Float(Float { mantissa, exponent }))
        }
        _ => Err(Fault::Value("exponent of a float")),
    }
}

/// TimeZone: hours times 64 plus minutes, offset by 896 (table 7-3).
fn zone(reader: &mut Reader<'_>) -> Result<i16> {
    let packed = reader.n_bit(11)? as i16 - 896;
    let minutes = packed / 64 * 60 + packed % 64;
    if minutes.abs() > 14 * 60 {
        Err(Fault::Value("time zone"))
    } else {
        Ok(minutes)
    }
}

/// Adds one to a number of decimal digits.
fn incremented(digits: String) -> String {
    let mut bytes = digits.into_bytes();
    for byte in bytes.iter_mut().rev() {
        if *byte < b'9' {
            *byte += 1;
            return String::from_utf8(bytes).unwrap_or_default();
        }
        *byte = b'0';
    }
    bytes.insert(0, b'1');
    String::from_utf8(bytes).unwrap_or_default()
}
