//! The tables that grammars are interpreted from.
//!
//! [`SchemaParts`] is what lowering a schema gives: names as the string tables begin with them,
//! element declarations, types, datatypes, and the normalized grammars as flat arrays of states and
//! productions (EXI 1.0 section 8.5.4). Undeclared productions (section 8.5.4.4) are NOT in here:
//! they follow from the options of a stream and are added while interpreting. So are the built-in
//! grammars (sections 8.4 and 8.5.1 to 8.5.2: document and fragment), which need no table.
//!
//! [`Schema`] is the same checked (every identifier in range) and indexed; only such is run.

mod bytes;
mod schema;

use alloc::string::String;
use alloc::vec::Vec;

pub use bytes::BytesError;
pub use schema::{Schema, SchemaError};

use crate::value::DateTimeKind;

macro_rules! identifiers {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// The identifier as an index.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

identifiers! {
    /// Index of a namespace in [`SchemaParts::uris`]; also its compact identifier in the uri
    /// partition.
    UriId
    /// A (uri, local name) pair. Dense over the whole schema: the local names of uri 0 come first,
    /// in their order, then those of uri 1, and so on. [`SchemaParts::name`] finds one.
    NameId
    /// Index in [`SchemaParts::elements`].
    ElementId
    /// Index in [`SchemaParts::types`].
    TypeId
    /// Index in [`SchemaParts::datatypes`].
    DatatypeId
    /// Index in [`SchemaParts::states`].
    StateId
    /// Index in [`SchemaParts::character_sets`].
    CharacterSetId
}

impl DatatypeId {
    /// The plain string: entry 0 of every schema.
    pub const STRING: Self = Self(0);
}

/// A schema, lowered. Fill it and give it to [`Schema::new`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SchemaParts {
    /// The identifier that `schemaId` names it by, if it has one.
    pub id: Option<String>,
    /// Namespaces in the order of the uri partition (appendix D.1): "", XML, XSI, XSD, then the
    /// schema's own sorted by code point; local names and prefixes as appendices D.2 and D.3 ask
    /// (local names sorted by code point; XML, XSI and XSD have those of the appendix, merged with
    /// what the schema adds). In every schema at least the first four are there.
    pub uris: Vec<UriNames>,
    /// Element declarations, global and local; equal (name, type, nillable) may be shared.
    pub elements: Vec<Element>,
    /// Global elements in the order of the document grammar: by local name, then by uri
    /// (section 8.5.1). They are also what SE(*) and SE(uri:*) resolve to.
    pub global_elements: Vec<ElementId>,
    /// Every element name declared anywhere, once, by local name, then by uri: the F of the
    /// fragment grammar (section 8.5.2). Where declarations of one name differ in type or nillable,
    /// the element here has the type [`SchemaParts::element_fragment`].
    pub fragment_elements: Vec<ElementId>,
    /// Global attributes and their datatypes: what AT(*) and AT(uri:*) resolve to.
    pub global_attributes: Vec<(NameId, DatatypeId)>,
    /// Type definitions: named simple and complex types (the built-in ones of XML Schema included,
    /// anyType too) and anonymous ones.
    pub types: Vec<Type>,
    /// The schema-informed element fragment grammar (section 8.5.3) as a type: its `start` is
    /// ElementFragment 0 and its `empty` ElementFragmentTypeEmpty 0. `None` if fragments need it
    /// nowhere.
    pub element_fragment: Option<TypeId>,
    /// States of all grammars: the non-terminals.
    pub states: Vec<State>,
    /// Right-hand sides; each state has a run of them in the order of their event codes.
    pub productions: Vec<Production>,
    /// Representations of values. Entry 0 is the plain string.
    pub datatypes: Vec<Datatype>,
    /// Lexical forms of enumerated values; each enumeration has a run of them in schema order.
    pub enumeration_values: Vec<String>,
    /// Restricted character sets (section 7.1.10.1): sorted by code point, at most 255 characters.
    pub character_sets: Vec<Vec<char>>,
}

impl SchemaParts {
    /// The identifier of a name, by its place in the string tables.
    pub fn name(&self, uri: UriId, local: usize) -> NameId {
        let before: usize = self.uris[..uri.index()]
            .iter()
            .map(|uri| uri.locals.len())
            .sum();
        NameId((before + local) as u32)
    }
}

/// A namespace as the string tables begin with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UriNames {
    /// The namespace.
    pub uri: String,
    /// Initial prefixes: "" for the empty namespace, `xml`, `xsi`; none for others.
    pub prefixes: Vec<String>,
    /// Initial local names, in the order of their compact identifiers.
    pub locals: Vec<String>,
}

/// An element declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Element {
    /// Its name.
    pub name: NameId,
    /// Its type, whose grammar is the element's.
    pub element_type: TypeId,
    /// Whether it is nillable: allows xsi:nil in strict streams (section 8.5.4.4.2).
    pub nillable: bool,
}

/// A type definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Type {
    /// Its name; `None` for anonymous ones. Named types are what xsi:type may ask for.
    pub name: Option<NameId>,
    /// State 0 of its normalized grammar Type (section 8.5.4).
    pub start: StateId,
    /// State 0 of its normalized grammar TypeEmpty, in effect after xsi:nil="true".
    pub empty: StateId,
    /// Whether a strict stream may have xsi:type here: some named type is derived from it, or it is
    /// a simple type definition with variety union (section 8.5.4.4.2).
    pub castable: bool,
    /// The datatype, where the type is simple or a complex one with simple content.
    pub datatype: Option<DatatypeId>,
}

/// A non-terminal of a normalized grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    /// Index of its first production in [`SchemaParts::productions`].
    pub first: u32,
    /// How many productions it has, in the order of their event codes 0, 1, ... as section 8.5.4.3
    /// assigns them: AT(qname) by local name then uri, AT(uri:*), AT(*), SE(qname) in schema order,
    /// SE(uri:*), SE(*), EE, CH.
    pub count: u32,
    /// Whether this is state 0 of Type or TypeEmpty: xsi:type, xsi:nil, NS and SC are added here.
    pub is_first: bool,
    /// Whether its index is at most the content index (section 8.5.4.1.1 and 8.5.4.4.1): undeclared
    /// attributes are added here.
    pub has_attributes: bool,
    /// The state after an undeclared SE(*), CH, ER, CM or PI: for states with `has_attributes` the
    /// copy `content2` of the content state, with the same declared productions but
    /// `has_attributes: false`; for all other states the state itself.
    pub content: StateId,
}

/// A right-hand side: what occurs, and the state after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Production {
    /// What occurs.
    pub terminal: Terminal,
    /// The state after it, in the same grammar. For [`Terminal::EndElement`] it is not read; give
    /// any state.
    pub next: StateId,
}

/// What a declared production begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Terminal {
    /// AT(qname), its value in the datatype.
    Attribute {
        /// Name.
        name: NameId,
        /// Datatype.
        datatype: DatatypeId,
    },
    /// AT(uri:*).
    AttributeInUri(UriId),
    /// AT(*).
    AttributeAny,
    /// SE(qname) of a declaration.
    StartElement(ElementId),
    /// SE(uri:*).
    StartElementInUri(UriId),
    /// SE(*).
    StartElementAny,
    /// EE.
    EndElement,
    /// CH in the datatype of simple content; mixed content has [`DatatypeId::STRING`].
    Characters(DatatypeId),
}

/// How values of a simple type are represented (section 7.1, table 7-1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Datatype {
    /// Name of the simple type: what the datatype representation map may ask for.
    pub name: Option<NameId>,
    /// The datatype of the type it is derived from, for the map (section 7.4); `None` at the root.
    /// List types have the datatype of anySimpleType's list, that is `None`, unless derived by
    /// restriction from another list.
    pub base: Option<DatatypeId>,
    /// What is done with white space before a lexical value is read.
    pub white_space: WhiteSpace,
    /// The representation.
    pub representation: Representation,
    /// The restricted character set that the built-in base type has when lexical values are
    /// preserved (table 7-2) does not belong here: it follows from `representation`. This one is
    /// that of a pattern facet on a type represented as string (section 7.1.10.1).
    pub character_set: Option<CharacterSetId>,
}

/// The facet whiteSpace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "named as in XML Schema")]
pub enum WhiteSpace {
    #[default]
    Preserve,
    Replace,
    Collapse,
}

/// Built-in EXI datatype representations (section 7.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Representation {
    /// xs:base64Binary.
    Base64,
    /// xs:hexBinary.
    Hex,
    /// xs:boolean without pattern facets: one bit.
    Boolean,
    /// xs:boolean with pattern facets: two bits that keep the lexical form (section 7.1.2).
    BooleanPattern,
    /// xs:decimal.
    Decimal,
    /// xs:float and xs:double.
    Float,
    /// xs:integer and derived types with neither of the two below.
    Integer,
    /// Derived from xs:nonNegativeInteger, or bounded below by 0 or more (section 7.1.5).
    UnsignedInteger,
    /// Bounded with at most 4096 values: `value - min` in n bits (section 7.1.5).
    BoundedInteger {
        /// The least value.
        min: i128,
        /// Number of values, 1 to 4096.
        range: u32,
    },
    /// The eight date and time types.
    DateTime(DateTimeKind),
    /// xs:string, anySimpleType, unions, QName, NOTATION, and whatever has no other.
    String,
    /// Lists; the items have a datatype of their own.
    List(DatatypeId),
    /// Enumerated values as an index in n bits (section 7.2); not for unions, QName, NOTATION and
    /// lists.
    Enumeration {
        /// Index of the first in [`SchemaParts::enumeration_values`].
        first: u32,
        /// How many there are.
        count: u32,
        /// The datatype that the values are compared in: that of the base type.
        of: DatatypeId,
    },
}
