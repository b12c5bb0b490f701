//! Which representation each datatype of a schema has in one stream: what the schema says, changed
//! by Preserve.lexicalValues (EXI 1.0 table 7-2) and the datatype representation map (section 7.4).

use alloc::vec::Vec;

use crate::bits::width;
use crate::grammar::{Datatype, Representation, Schema, WhiteSpace};
use crate::options::{ExpandedName, Options};
use crate::value::DateTimeKind;

/// The namespace of the built-in representations and of the options document.
pub(crate) const EXI_URI: &str = "http://www.w3.org/2009/exi";

/// Codec 0 is always the plain string.
pub(crate) const STRING: u32 = 0;

/// How values are read and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Codec {
    String,
    Restricted(Characters),
    Boolean,
    BooleanPattern,
    Decimal,
    Float,
    Integer,
    Unsigned,
    Bounded {
        min: i128,
        range: u32,
    },
    DateTime(DateTimeKind),
    Base64,
    Hex,
    List {
        item: u32,
    },
    Enumeration {
        first: u32,
        count: u32,
        of: u32,
    },
    /// A representation that is known by name only: values of it are an error (section 7.4).
    Foreign,
}

/// A restricted character set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Characters {
    /// Of a pattern facet: index in the schema.
    Pattern(u32),
    /// Of a built-in representation (table 7-2), sorted.
    BuiltIn(&'static str),
}

const BASE64: &str = "\t\n\r +/0123456789=ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const HEX: &str = "\t\n\r 0123456789ABCDEFabcdef";
const BOOLEAN: &str = "\t\n\r 01aeflrstu";
const DATE_TIME: &str = "\t\n\r +-.0123456789:TZ";
const DECIMAL: &str = "\t\n\r +-.0123456789";
const DOUBLE: &str = "\t\n\r +-.0123456789EFINae";
const INTEGER: &str = "\t\n\r +-0123456789";

/// The character set of xsi:nil when lexical values are preserved.
pub(crate) const NIL_CHARACTERS: Characters = Characters::BuiltIn(BOOLEAN);

impl Characters {
    /// How many characters there are.
    pub(crate) fn len(self, schema: Option<&Schema>) -> u32 {
        match self {
            Self::BuiltIn(set) => set.len() as u32,
            Self::Pattern(index) => pattern(schema, index).len() as u32,
        }
    }

    /// Bits of a character: those of the set and one code more (section 7.1.10.1).
    pub(crate) fn width(self, schema: Option<&Schema>) -> u32 {
        width(self.len(schema) + 1)
    }

    /// The character at a position.
    pub(crate) fn at(self, position: u32, schema: Option<&Schema>) -> Option<char> {
        match self {
            Self::BuiltIn(set) => set
                .as_bytes()
                .get(position as usize)
                .map(|b| char::from(*b)),
            Self::Pattern(index) => pattern(schema, index).get(position as usize).copied(),
        }
    }

    /// The position of a character.
    pub(crate) fn position(self, character: char, schema: Option<&Schema>) -> Option<u32> {
        let found = match self {
            Self::BuiltIn(set) if !character.is_ascii() || set.is_empty() => None,
            Self::BuiltIn(set) => set.as_bytes().binary_search(&(character as u8)).ok(),
            Self::Pattern(index) => pattern(schema, index).binary_search(&character).ok(),
        };
        found.map(|at| at as u32)
    }
}

fn pattern(schema: Option<&Schema>, index: u32) -> &[char] {
    schema
        .and_then(|schema| schema.character_sets.get(index as usize))
        .map_or(&[], |set| set)
}

/// The codecs of all datatypes of a schema, by the same index.
#[derive(Debug, Clone, Default)]
pub(crate) struct Codecs {
    codecs: Vec<Codec>,
    white_space: Vec<WhiteSpace>,
}

impl Codecs {
    pub(crate) fn new(schema: Option<&Schema>, options: &Options) -> Self {
        let Some(schema) = schema else {
            let (codecs, white_space) = (alloc::vec![Codec::String], Vec::new());
            return Self {
                codecs,
                white_space,
            };
        };
        let indices = 0..schema.datatypes.len();
        let codecs = indices.map(|index| resolve(schema, options, index));
        Self {
            codecs: codecs.collect(),
            white_space: schema
                .datatypes
                .iter()
                .map(|datatype| datatype.white_space)
                .collect(),
        }
    }

    #[inline]
    pub(crate) fn codec(&self, index: u32) -> Codec {
        self.codecs
            .get(index as usize)
            .copied()
            .unwrap_or(Codec::String)
    }

    /// Whether a codec is the plain string, which nearly all are.
    #[inline(always)]
    pub(crate) fn is_string(&self, index: u32) -> bool {
        index == STRING || matches!(self.codecs.get(index as usize), Some(Codec::String) | None)
    }

    pub(crate) fn white_space(&self, index: u32) -> WhiteSpace {
        self.white_space
            .get(index as usize)
            .copied()
            .unwrap_or_default()
    }

    /// Whether values take no bytes at all in a byte-aligned stream.
    pub(crate) fn is_void(&self, index: u32) -> bool {
        match self.codec(index) {
            Codec::Bounded { range, .. } => range == 1,
            Codec::Enumeration { count, .. } => count == 1,
            _ => false,
        }
    }

    /// Whether values use the string table, so that their bytes depend on their order.
    pub(crate) fn uses_table(&self, index: u32) -> bool {
        match self.codec(index) {
            Codec::String | Codec::Restricted(_) => true,
            Codec::List { item } => self.uses_table(item),
            _ => false,
        }
    }
}

fn resolve(schema: &Schema, options: &Options, index: usize) -> Codec {
    match options.preserve.lexical_values {
        true => lexical(schema, options, index),
        false => typed(schema, options, index),
    }
}

fn typed(schema: &Schema, options: &Options, index: usize) -> Codec {
    if !options.datatype_representation_map.is_empty()
        && let Some((codec, ancestor)) = mapped(schema, options, index)
        && !keeps_enumeration(schema, index, ancestor)
    {
        return codec;
    }
    declared(&schema.datatypes[index])
}

/// Strings with the set of the representation that would be used otherwise (table 7-2). A map decides
/// over that too: section 5.4 says that it has no effect here, but the W3C's own streams and the other
/// implementations let it choose the set.
fn lexical(schema: &Schema, options: &Options, index: usize) -> Codec {
    let set = match typed(schema, options, index) {
        Codec::Base64 => BASE64,
        Codec::Hex => HEX,
        Codec::Boolean | Codec::BooleanPattern => BOOLEAN,
        Codec::DateTime(_) => DATE_TIME,
        Codec::Decimal => DECIMAL,
        Codec::Float => DOUBLE,
        Codec::Integer | Codec::Unsigned | Codec::Bounded { .. } => INTEGER,
        Codec::String | Codec::Restricted(_) | Codec::Foreign => return Codec::String,
        Codec::List { item: of } | Codec::Enumeration { of, .. } => {
            return lexical(schema, options, of as usize);
        }
    };
    Codec::Restricted(Characters::BuiltIn(set))
}

/// What a datatype has without any map.
pub(crate) fn declared(datatype: &Datatype) -> Codec {
    match datatype.representation {
        Representation::Base64 => Codec::Base64,
        Representation::Hex => Codec::Hex,
        Representation::Boolean => Codec::Boolean,
        Representation::BooleanPattern => Codec::BooleanPattern,
        Representation::Decimal => Codec::Decimal,
        Representation::Float => Codec::Float,
        Representation::Integer => Codec::Integer,
        Representation::UnsignedInteger => Codec::Unsigned,
        Representation::BoundedInteger { min, range } => Codec::Bounded { min, range },
        Representation::DateTime(kind) => Codec::DateTime(kind),
        Representation::List(item) => Codec::List { item: item.0 },
        Representation::Enumeration { first, count, of } => Codec::Enumeration {
            first,
            count,
            of: of.0,
        },
        Representation::String => match datatype.character_set {
            Some(set) => Codec::Restricted(Characters::Pattern(set.0)),
            None => Codec::String,
        },
    }
}

/// The entry of the map for the closest ancestor that has one (section 7.4). Types that table 7-1
/// associates with a representation are such ancestors too: what is derived from xs:integer does not
/// follow an entry for xs:decimal.
fn mapped(schema: &Schema, options: &Options, index: usize) -> Option<(Codec, usize)> {
    let mut at = index;
    loop {
        let datatype = &schema.datatypes[at];
        if let Some(name) = datatype.name {
            let (uri, local) = schema.name_parts(name);
            let uri = &schema.uris[uri as usize];
            let wanted = (&uri.uri, &uri.locals[local as usize]);
            let map = &options.datatype_representation_map;
            let entry = map
                .iter()
                .find(|e| (&e.datatype.uri, &e.datatype.local) == wanted);
            if let Some(entry) = entry {
                return Some((
                    built_in(&entry.representation, &schema.datatypes[index]),
                    at,
                ));
            }
            if uri.uri == XSD_URI && ASSOCIATED.contains(&wanted.1.as_str()) {
                return None;
            }
        }
        at = datatype.base?.index();
    }
}

/// The namespace of XML Schema.
pub(crate) const XSD_URI: &str = "http://www.w3.org/2001/XMLSchema";

/// Types of table 7-1.
pub(crate) const ASSOCIATED: [&str; 17] = [
    "base64Binary",
    "hexBinary",
    "boolean",
    "dateTime",
    "time",
    "date",
    "gYearMonth",
    "gYear",
    "gMonthDay",
    "gDay",
    "gMonth",
    "decimal",
    "float",
    "double",
    "integer",
    "string",
    "anySimpleType",
];

/// Enumerated types stay indices unless what the map names is enumerated itself (section 7.4).
fn keeps_enumeration(schema: &Schema, index: usize, ancestor: usize) -> bool {
    let is = |at: usize| {
        matches!(
            schema.datatypes[at].representation,
            Representation::Enumeration { .. }
        )
    };
    is(index) && !is(ancestor)
}

/// The representation of an identifier of table 7-1; integers by their facets (section 7.1.5).
fn built_in(name: &ExpandedName, datatype: &Datatype) -> Codec {
    if name.uri != EXI_URI {
        return Codec::Foreign;
    }
    match &*name.local {
        "base64Binary" => Codec::Base64,
        "hexBinary" => Codec::Hex,
        "boolean" => Codec::Boolean,
        "decimal" => Codec::Decimal,
        "double" => Codec::Float,
        "integer" => match declared(datatype) {
            codec @ (Codec::Unsigned | Codec::Bounded { .. }) => codec,
            _ => Codec::Integer,
        },
        "string" => Codec::String,
        "dateTime" => Codec::DateTime(DateTimeKind::DateTime),
        "date" => Codec::DateTime(DateTimeKind::Date),
        "time" => Codec::DateTime(DateTimeKind::Time),
        "gYearMonth" => Codec::DateTime(DateTimeKind::GYearMonth),
        "gMonthDay" => Codec::DateTime(DateTimeKind::GMonthDay),
        "gYear" => Codec::DateTime(DateTimeKind::GYear),
        "gMonth" => Codec::DateTime(DateTimeKind::GMonth),
        "gDay" => Codec::DateTime(DateTimeKind::GDay),
        _ => Codec::Foreign,
    }
}
