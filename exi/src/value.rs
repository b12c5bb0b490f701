//! Typed content of attributes and elements (EXI 1.0 section 7.1).
//!
//! `Display` gives the lexical form that a schema-informed decoder reports; text is given as it is.

mod datetime;
mod number;

use alloc::string::String;
use core::fmt;

pub use datetime::{DateTime, DateTimeKind, TimeOfDay};
pub use number::{Decimal, Float, Integer, Unsigned};

use crate::event::QName;

/// A value. Producers may give [`Value::Text`] everywhere: an encoder reads it by the datatype that
/// the schema has for its place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// Characters.
    Text(&'a str),
    /// `true` or `false`.
    Boolean(bool),
    /// A whole number of any size.
    Integer(Integer<'a>),
    /// A decimal number of any size.
    Decimal(Decimal<'a>),
    /// Mantissa and decimal exponent.
    Float(Float),
    /// A date, a time, or a part of them.
    DateTime(DateTime<'a>),
    /// Bytes, shown as base64.
    Base64(&'a [u8]),
    /// Bytes, shown as hexadecimal digits.
    Hex(&'a [u8]),
    /// Values with one space between them.
    List(List<'a>),
    /// A qualified name: xsi:type.
    QName(QName<'a>),
}

impl<'a> Value<'a> {
    /// The characters, if this is text.
    pub fn as_text(&self) -> Option<&'a str> {
        if let Self::Text(text) = self {
            Some(text)
        } else {
            None
        }
    }
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => out.write_str(text),
            Self::Boolean(value) => out.write_str(if *value { "true" } else { "false" }),
            Self::Integer(value) => value.fmt(out),
            Self::Decimal(value) => value.fmt(out),
            Self::Float(value) => value.fmt(out),
            Self::DateTime(value) => value.fmt(out),
            Self::Base64(bytes) => write_base64(bytes, out),
            Self::Hex(bytes) => bytes.iter().try_for_each(|byte| write!(out, "{byte:02X}")),
            Self::List(list) => list.fmt(out),
            Self::QName(name) => write_name(name, out),
        }
    }
}

fn write_name(name: &QName<'_>, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    if let Some(prefix) = name.prefix.filter(|prefix| !prefix.is_empty()) {
        write!(out, "{prefix}:")?;
    }
    out.write_str(name.local)
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Writes RFC 4648 section 4 with padding.
fn write_base64(bytes: &[u8], out: &mut fmt::Formatter<'_>) -> fmt::Result {
    use fmt::Write;
    for chunk in bytes.chunks(3) {
        let mut word = [0u8; 4];
        word[1..=chunk.len()].copy_from_slice(chunk);
        let word = u32::from_be_bytes(word);
        for digit in 0..4 {
            let index = (word >> (18 - 6 * digit)) & 63;
            let known = digit <= chunk.len();
            out.write_char(if known {
                char::from(BASE64[index as usize])
            } else {
                '='
            })?;
        }
    }
    Ok(())
}

/// The items of a list.
#[derive(Debug, Clone, Copy)]
pub struct List<'a>(Items<'a>);

#[derive(Debug, Clone, Copy)]
enum Items<'a> {
    Given(&'a [Value<'a>]),
    Stored(crate::stored::StoredList<'a>),
}

impl<'a> List<'a> {
    /// Makes a list of the given items.
    pub fn new(items: &'a [Value<'a>]) -> Self {
        Self(Items::Given(items))
    }

    pub(crate) fn stored(items: crate::stored::StoredList<'a>) -> Self {
        Self(Items::Stored(items))
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        match self.0 {
            Items::Given(items) => items.len(),
            Items::Stored(items) => items.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The item at an index below [`List::len`].
    pub fn item(&self, index: usize) -> Option<Value<'a>> {
        match self.0 {
            Items::Given(items) => items.get(index).copied(),
            Items::Stored(items) => items.item(index),
        }
    }

    /// The items in order.
    pub fn iter(&self) -> impl Iterator<Item = Value<'a>> + use<'a> {
        let list = *self;
        (0..list.len()).filter_map(move |index| list.item(index))
    }
}

impl PartialEq for List<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().zip(other.iter()).all(|(one, two)| one == two)
    }
}

impl fmt::Display for List<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, item) in self.iter().enumerate() {
            if index > 0 {
                out.write_str(" ")?;
            }
            item.fmt(out)?;
        }
        Ok(())
    }
}

/// Appends the lexical form of a value to a string.
pub fn push_lexical(value: &Value<'_>, out: &mut String) {
    use fmt::Write;
    match value {
        Value::Text(text) => out.push_str(text),
        other => {
            let _ = write!(out, "{other}");
        }
    }
}
