//! Values of attributes and elements, written by their datatype (EXI 1.0 section 7.1).

use alloc::string::String;
use alloc::sync::Arc;
use core::mem;

use super::body::Manner;
use super::lexical::{Datatypes, Stash};
use crate::bits::{Writer, width};
use crate::codec::{Characters, Codec, Codecs};
use crate::fault::{Fault, Result};
use crate::grammar::Schema;
use crate::names::Names;
use crate::options::Options;
use crate::partition::Values;
use crate::stored::{Span, Stored, StoredDateTime, StoredUnsigned};
use crate::value::{Float, Value, push_lexical};

/// What values need.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) values: Values,
    pub(crate) codecs: Codecs,
    pub(crate) schema: Option<Arc<Schema>>,
    /// Whether values are referred to by local compact identifiers (EXI Profile).
    pub(crate) local_partitions: bool,
    /// Whether equal values are to have equal bytes (Canonical EXI section 4.5).
    pub(crate) canonical: bool,
    /// Whether date and time are normalized to UTC (Canonical EXI).
    pub(crate) utc: bool,
    pub(crate) stash: Stash,
    /// Where lexical forms are made.
    form: String,
}

impl Content {
    /// What a stream with these options begins with.
    pub(super) fn new(schema: Option<Arc<Schema>>, options: &Options, manner: Manner) -> Self {
        let mut values = Values::new(true);
        values.reset(options);
        let profile = options.profile;
        Self {
            values,
            codecs: Codecs::new(schema.as_deref(), options),
            schema,
            local_partitions: profile.is_none_or(|profile| profile.local_value_partitions),
            canonical: manner.sorted,
            utc: manner.utc,
            stash: Stash::default(),
            form: String::new(),
        }
    }

    /// Reads a value in a representation, or says that it has no such value.
    pub(crate) fn prepare(&mut self, codec: u32, value: &Value<'_>) -> Option<Stored> {
        let kind = self.codecs.codec(codec);
        if let Some(stored) = self.stash.typed(kind, value) {
            return Some(stored);
        }
        let types = Datatypes {
            codecs: &self.codecs,
            schema: self.schema.as_deref(),
            canonical: self.canonical,
        };
        if let Value::Text(text) = value {
            return self.stash.read(types, codec, text);
        }
        self.form.clear();
        push_lexical(value, &mut self.form);
        self.stash.read(types, codec, &self.form)
    }

    /// The lexical form of a value, in memory that is to be given back.
    pub(super) fn take_form(&mut self, value: &Value<'_>) -> String {
        let mut form = mem::take(&mut self.form);
        form.clear();
        push_lexical(value, &mut form);
        form
    }

    /// Takes the memory of a lexical form back.
    pub(super) fn give_form(&mut self, form: String) {
        self.form = form;
    }

    /// Writes what [`Content::prepare`] read.
    pub(crate) fn write(
        &mut self,
        names: &mut Names,
        writer: &mut Writer,
        name: u32,
        codec: u32,
        stored: &Stored,
    ) -> Result<()> {
        match (self.codecs.codec(codec), stored) {
            (Codec::String, Stored::Scratch(span)) => {
                self.string(names, writer, name, *span, None);
            }
            (Codec::Restricted(set), Stored::Scratch(span)) => {
                self.string(names, writer, name, *span, Some(set));
            }
            (Codec::List { item }, Stored::List(span)) => {
                writer.unsigned(u64::from(span.len));
                for at in span.at..span.at + span.len {
                    let stored = self.stash.items[at as usize];
                    self.write(names, writer, name, item, &stored)?;
                }
            }
            (kind, stored) => return self.typed(writer, kind, stored),
        }
        Ok(())
    }

    /// Writes a value whose bytes do not depend on the string table.
    fn typed(&mut self, writer: &mut Writer, codec: Codec, stored: &Stored) -> Result<()> {
        match (codec, *stored) {
            (Codec::Boolean, Stored::Boolean(value)) => writer.boolean(value),
            (Codec::BooleanPattern, Stored::Scratch(span)) => {
                writer.n_bit(boolean_form(span.of(&self.stash.text)), 2);
            }
            (
                Codec::Decimal,
                Stored::Decimal {
                    negative,
                    integral,
                    reversed_fraction,
                },
            ) => {
                // A minus zero is written as zero (Canonical EXI section 4.5.3).
                // [C14N-4.5.3-1]
                let zero = [integral, reversed_fraction] == [StoredUnsigned::Small(0); 2];
                writer.boolean(negative && !(zero && self.canonical));
                self.unsigned(writer, integral);
                self.unsigned(writer, reversed_fraction);
            }
            (Codec::Float, Stored::Float(Float { mantissa, exponent })) => {
                word(writer, mantissa);
                word(writer, i64::from(exponent));
            }
            (
                Codec::Integer,
                Stored::Integer {
                    negative,
                    magnitude,
                },
            ) => {
                self.integer(writer, negative, magnitude);
            }
            (Codec::Unsigned, Stored::Integer { magnitude, .. }) => {
                self.unsigned(writer, magnitude);
            }
            (
                Codec::Bounded { range: count, .. } | Codec::Enumeration { count, .. },
                Stored::Integer {
                    magnitude: StoredUnsigned::Small(offset),
                    ..
                },
            ) => writer.n_bit(offset as u32, width(count)),
            (Codec::DateTime(_), Stored::DateTime(value)) => {
                let value = if self.canonical {
                    super::utc::midnight(&value)
                } else {
                    value
                };
                let value = if self.utc {
                    super::utc::normalized(&value)
                } else {
                    value
                };
                self.date_time(writer, &value);
            }
            (Codec::Base64, Stored::Base64(span)) | (Codec::Hex, Stored::Hex(span)) => {
                writer.unsigned(u64::from(span.len));
                let at = span.at as usize;
                writer.octets(&self.stash.bytes[at..at + span.len as usize]);
            }
            _ => {
                return Err(Fault::Value(
                    "it does not fit the representation of its datatype",
                ));
            }
        }
        Ok(())
    }

    fn unsigned(&self, writer: &mut Writer, value: StoredUnsigned) {
        match value {
            StoredUnsigned::Small(value) => writer.unsigned(value),
            StoredUnsigned::Big(span) => writer.unsigned_digits(span.of(&self.stash.text)),
        }
    }

    /// Sign and magnitude; negative ones have the magnitude minus one (section 7.1.5).
    fn integer(&self, writer: &mut Writer, negative: bool, magnitude: StoredUnsigned) {
        writer.boolean(negative);
        match magnitude {
            StoredUnsigned::Small(value) => writer.unsigned(value - u64::from(negative)),
            StoredUnsigned::Big(span) if negative => {
                writer.unsigned_digits(&decremented(span.of(&self.stash.text)));
            }
            big => self.unsigned(writer, big),
        }
    }

    fn date_time(&self, writer: &mut Writer, value: &StoredDateTime) {
        if value.kind.has_year() {
            word(writer, value.year.saturating_sub(2000));
        }
        if value.kind.has_month_day() {
            writer.n_bit(u32::from(value.month) * 32 + u32::from(value.day), 9);
        }
        if value.kind.has_time() {
            let time = value.time;
            let hour_minute = u32::from(time.hour) * 64 + u32::from(time.minute);
            writer.n_bit(hour_minute * 64 + u32::from(time.second), 17);
            writer.boolean(value.reversed_fraction.is_some());
            if let Some(fraction) = value.reversed_fraction {
                self.unsigned(writer, fraction);
            }
        }
        writer.boolean(value.zone_minutes.is_some());
        if let Some(minutes) = value.zone_minutes {
            let packed = minutes / 60 * 64 + minutes % 60 + 896;
            writer.n_bit(packed as u32, 11);
        }
    }

    fn string(
        &mut self,
        names: &mut Names,
        writer: &mut Writer,
        name: u32,
        span: Span,
        set: Option<Characters>,
    ) {
        let text = span.of(&self.stash.text);
        let schema = self.schema.as_deref();
        write_string(
            &mut self.values,
            names,
            writer,
            name,
            text,
            set,
            schema,
            self.local_partitions,
        );
    }

    /// Writes a string without making it a stored value first.
    #[inline]
    pub(crate) fn text(&mut self, names: &mut Names, writer: &mut Writer, name: u32, text: &str) {
        let local = self.local_partitions;
        write_string(
            &mut self.values,
            names,
            writer,
            name,
            text,
            None,
            None,
            local,
        );
    }

    /// The same with the restricted character set of xsi:nil.
    pub(crate) fn nil_text(
        &mut self,
        names: &mut Names,
        writer: &mut Writer,
        name: u32,
        text: &str,
    ) {
        let (local, set) = (self.local_partitions, Some(crate::codec::NIL_CHARACTERS));
        write_string(
            &mut self.values,
            names,
            writer,
            name,
            text,
            set,
            None,
            local,
        );
    }
}

/// A string by the value partitions (section 7.3.3).
#[inline]
#[allow(
    clippy::too_many_arguments,
    reason = "parts of one structure that are borrowed apart"
)]
fn write_string(
    values: &mut Values,
    names: &mut Names,
    writer: &mut Writer,
    name: u32,
    text: &str,
    set: Option<Characters>,
    schema: Option<&Schema>,
    local_partitions: bool,
) {
    if text.is_empty() {
        return writer.unsigned(2);
    }
    let hash = values.hash(text);
    if let Some(hit) = values.find(name, text, hash) {
        match hit.local.filter(|_| local_partitions) {
            Some(local) => {
                writer.unsigned(0);
                writer.n_bit(local, width(values.local_len(names, name)));
            }
            None => {
                writer.unsigned(1);
                writer.n_bit(hit.global, width(values.len()));
            }
        }
        return;
    }
    let count = if text.is_ascii() {
        text.len()
    } else {
        text.chars().count()
    };
    writer.unsigned(count as u64 + 2);
    match set {
        None => writer.characters(text),
        Some(set) => restricted(writer, text, set, schema),
    }
    values.insert(names, name, text, hash);
}

/// Characters of a restricted set; those outside of it are escaped (section 7.1.10.1).
fn restricted(writer: &mut Writer, text: &str, set: Characters, schema: Option<&Schema>) {
    let width = set.width(schema);
    for character in text.chars() {
        match set.position(character, schema) {
            Some(position) => writer.n_bit(position, width),
            None => {
                writer.n_bit(set.len(schema), width);
                writer.unsigned(u64::from(u32::from(character)));
            }
        }
    }
}

/// An integer that fits a word.
fn word(writer: &mut Writer, value: i64) {
    writer.boolean(value < 0);
    writer.unsigned(if value < 0 {
        !value as u64
    } else {
        value as u64
    });
}

/// Takes one from a number of decimal digits that is not zero.
fn decremented(digits: &str) -> alloc::string::String {
    let mut bytes = digits.as_bytes().to_vec();
    for byte in bytes.iter_mut().rev() {
        if *byte > b'0' {
            *byte -= 1;
            break;
        }
        *byte = b'9';
    }
    let text = alloc::string::String::from_utf8(bytes).unwrap_or_default();
    let trimmed = text.trim_start_matches('0');
    if trimmed.is_empty() {
        "0".into()
    } else {
        trimmed.into()
    }
}

/// The number of a boolean's lexical form (section 7.1.2).
fn boolean_form(text: &str) -> u32 {
    match text {
        "false" => 0,
        "0" => 1,
        "true" => 2,
        _ => 3,
    }
}
