//! Lowered tables as compact bytes, for schemas compiled ahead of time.
//!
//! The form is private to one version of this crate: a magic, then each table as a count and its
//! entries, numbers as LEB128. It is read with the same distrust as any input.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::{
    CharacterSetId, Datatype, DatatypeId, Element, ElementId, NameId, Production, Representation,
    Schema, SchemaError, SchemaParts, State, StateId, Terminal, Type, TypeId, UriId, UriNames,
    WhiteSpace,
};
use crate::value::DateTimeKind;

const MAGIC: &[u8; 8] = b"weirexi1";

/// Why bytes are no schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BytesError {
    /// The bytes are no tables of this version; the place where that shows.
    Malformed(usize),
    /// The tables contradict themselves.
    Schema(SchemaError),
}

impl fmt::Display for BytesError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(at) => write!(
                out,
                "no compiled schema of this version: damaged at byte {at}"
            ),
            Self::Schema(error) => error.fmt(out),
        }
    }
}

impl core::error::Error for BytesError {}

impl Schema {
    /// Reads what [`SchemaParts::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BytesError> {
        let mut reader = Reader { bytes, at: 0 };
        let parts = reader.magic().and_then(|()| SchemaParts::read(&mut reader));
        match parts {
            Some(parts) if reader.at == bytes.len() => Self::new(parts).map_err(BytesError::Schema),
            _ => Err(BytesError::Malformed(reader.at)),
        }
    }
}

impl SchemaParts {
    /// The tables as compact bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        self.write(&mut out);
        out
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn magic(&mut self) -> Option<()> {
        self.at = MAGIC.len();
        self.bytes.starts_with(MAGIC).then_some(())
    }

    fn take(&mut self, len: usize) -> Option<&[u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(len)?)?;
        self.at += len;
        Some(taken)
    }
}

/// What has a form in bytes.
trait Wire: Sized {
    fn write(&self, out: &mut Vec<u8>);
    fn read(from: &mut Reader<'_>) -> Option<Self>;
}

impl Wire for u64 {
    fn write(&self, out: &mut Vec<u8>) {
        let mut rest = *self;
        while rest > 127 {
            out.push(rest as u8 | 128);
            rest >>= 7;
        }
        out.push(rest as u8);
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = from.take(1)?[0];
            value |= u64::from(byte & 127).checked_shl(shift)?;
            if byte < 128 {
                return Some(value);
            }
        }
        None
    }
}

impl Wire for u32 {
    fn write(&self, out: &mut Vec<u8>) {
        u64::from(*self).write(out);
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        u64::read(from)?.try_into().ok()
    }
}

impl Wire for i128 {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self::from_le_bytes(from.take(16)?.try_into().ok()?))
    }
}

impl Wire for bool {
    fn write(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        match from.take(1)? {
            [0] => Some(false),
            [1] => Some(true),
            _ => None,
        }
    }
}

impl Wire for char {
    fn write(&self, out: &mut Vec<u8>) {
        u32::from(*self).write(out);
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        char::from_u32(u32::read(from)?)
    }
}

impl Wire for String {
    fn write(&self, out: &mut Vec<u8>) {
        (self.len() as u64).write(out);
        out.extend_from_slice(self.as_bytes());
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let len = u64::read(from)?.try_into().ok()?;
        core::str::from_utf8(from.take(len)?).ok().map(String::from)
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn write(&self, out: &mut Vec<u8>) {
        (self.len() as u64).write(out);
        self.iter().for_each(|item| item.write(out));
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let len = u64::read(from)?;
        (0..len).map(|_| T::read(from)).collect()
    }
}

impl<T: Wire> Wire for Option<T> {
    fn write(&self, out: &mut Vec<u8>) {
        self.is_some().write(out);
        if let Some(value) = self {
            value.write(out);
        }
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        if bool::read(from)? {
            T::read(from).map(Some)
        } else {
            Some(None)
        }
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn write(&self, out: &mut Vec<u8>) {
        self.0.write(out);
        self.1.write(out);
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Some((A::read(from)?, B::read(from)?))
    }
}

macro_rules! wire_identifiers {
    ($($name:ident)*) => {$(
        impl Wire for $name {
            fn write(&self, out: &mut Vec<u8>) {
                self.0.write(out);
            }

            fn read(from: &mut Reader<'_>) -> Option<Self> {
                u32::read(from).map(Self)
            }
        }
    )*};
}

wire_identifiers! { UriId NameId ElementId TypeId DatatypeId StateId CharacterSetId }

macro_rules! wire_structs {
    ($($name:ident { $($field:ident),* })*) => {$(
        impl Wire for $name {
            fn write(&self, out: &mut Vec<u8>) {
                $(self.$field.write(out);)*
            }

            fn read(from: &mut Reader<'_>) -> Option<Self> {
                Some(Self { $($field: Wire::read(from)?),* })
            }
        }
    )*};
}

wire_structs! {
    SchemaParts {
        id, uris, elements, global_elements, fragment_elements, global_attributes, types,
        element_fragment, states, productions, datatypes, enumeration_values, character_sets
    }
    UriNames { uri, prefixes, locals }
    Element { name, element_type, nillable }
    Type { name, start, empty, castable, datatype }
    State { first, count, is_first, has_attributes, content }
    Production { terminal, next }
    Datatype { name, base, white_space, representation, character_set }
}

/// Enums are a tag and the fields of the variant.
macro_rules! wire_enum {
    ($name:ident {
        $($tag:literal => $variant:ident $(($($item:ident),*))? $({$($field:ident),*})?),*
    }) => {
        impl Wire for $name {
            fn write(&self, out: &mut Vec<u8>) {
                match self {
                    $(Self::$variant $(($($item),*))? $({$($field),*})? => {
                        out.push($tag);
                        $($($item.write(out);)*)?
                        $($($field.write(out);)*)?
                    })*
                }
            }

            fn read(from: &mut Reader<'_>) -> Option<Self> {
                Some(match from.take(1)?[0] {
                    $($tag => {
                        $($(let $item = Wire::read(from)?;)*)?
                        $($(let $field = Wire::read(from)?;)*)?
                        Self::$variant $(($($item),*))? $({$($field),*})?
                    })*
                    _ => return None,
                })
            }
        }
    };
}

wire_enum!(WhiteSpace { 0 => Preserve, 1 => Replace, 2 => Collapse });
wire_enum!(DateTimeKind {
    0 => GYear, 1 => GYearMonth, 2 => Date, 3 => DateTime, 4 => GMonth, 5 => GMonthDay, 6 => GDay,
    7 => Time
});
wire_enum!(Terminal {
    0 => Attribute { name, datatype }, 1 => AttributeInUri(uri), 2 => AttributeAny,
    3 => StartElement(element), 4 => StartElementInUri(uri), 5 => StartElementAny,
    6 => EndElement, 7 => Characters(datatype)
});
wire_enum!(Representation {
    0 => Base64, 1 => Hex, 2 => Boolean, 3 => BooleanPattern, 4 => Decimal, 5 => Float,
    6 => Integer, 7 => UnsignedInteger, 8 => BoundedInteger { min, range }, 9 => DateTime(kind),
    10 => String, 11 => List(item), 12 => Enumeration { first, count, of }
});
