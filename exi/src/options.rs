//! The EXI options (EXI 1.0 section 5.4), plus what the header and the EXI Profile add.

use alloc::string::String;
use alloc::vec::Vec;

/// How event codes and values are laid out (`alignment` and `compression`, section 5.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Alignment {
    /// Packed in bits without padding.
    #[default]
    BitPacked,
    /// Aligned on bytes.
    ByteAligned,
    /// Values grouped in channels, aligned on bytes, not deflated (section 9).
    PreCompression,
    /// Values grouped in channels and deflated: the option `compression`.
    Compression,
}

impl Alignment {
    /// Whether values are grouped in channels.
    pub fn has_channels(self) -> bool {
        matches!(self, Self::PreCompression | Self::Compression)
    }
}

/// The fidelity options (section 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Preserve {
    /// Comments.
    pub comments: bool,
    /// Processing instructions.
    pub processing_instructions: bool,
    /// Document type declaration and entity references.
    pub dtd: bool,
    /// Namespace declarations and prefixes.
    pub prefixes: bool,
    /// The lexical form of values.
    pub lexical_values: bool,
}

impl Preserve {
    /// Keeps everything there is.
    pub const ALL: Self = Self {
        comments: true,
        processing_instructions: true,
        dtd: true,
        prefixes: true,
        lexical_values: true,
    };
}

/// Which schema a stream is read with (`schemaId`, section 5.4).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SchemaId {
    /// Nothing said: it is agreed on out of band.
    #[default]
    Unspecified,
    /// `xsi:nil="true"`: no schema.
    None,
    /// The empty string: no schema but the built-in types of XML Schema.
    BuiltInTypes,
    /// A schema by its identifier.
    Id(String),
}

/// A name of its own, without borrowed parts.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct ExpandedName {
    /// Namespace; empty for none.
    pub uri: String,
    /// Local name.
    pub local: String,
}

impl ExpandedName {
    /// Makes a name.
    pub fn new(uri: &str, local: &str) -> Self {
        Self {
            uri: uri.into(),
            local: local.into(),
        }
    }
}

/// One pair of the datatype representation map (section 7.4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Representation {
    /// The schema datatype.
    pub datatype: ExpandedName,
    /// What represents it: `exi:string` and its like.
    pub representation: ExpandedName,
}

impl Representation {
    /// Local names of the representations that EXI has (table 7-1), in the namespace of EXI.
    pub const BUILT_IN: [&'static str; 15] = [
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
        "double",
        "integer",
        "string",
    ];

    /// Whether the representation is one that EXI has: values in another cannot be coded.
    pub fn is_built_in(&self) -> bool {
        let ExpandedName { uri, local } = &self.representation;
        uri == crate::codec::EXI_URI && Self::BUILT_IN.contains(&local.as_str())
    }
}

/// The parameters of the EXI Profile (W3C EXI Profile for limiting usage of dynamic memory).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    /// Whether local value partitions are used.
    pub local_value_partitions: bool,
    /// `maximumNumberOfBuiltInElementGrammars`; `None` is unbounded.
    pub built_in_element_grammars_max: Option<u32>,
    /// `maximumNumberOfBuiltInProductions`; `None` is unbounded.
    pub built_in_productions_max: Option<u32>,
}

/// All options of a stream. A decoder takes them for a stream without an options document, and
/// replaces them by the stream's own where there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Layout.
    pub alignment: Alignment,
    /// Only what the schema allows may occur (section 8.5.4.4.2).
    pub strict: bool,
    /// Several roots, or none, instead of a document.
    pub fragment: bool,
    /// What is kept beyond elements, attributes and values.
    pub preserve: Preserve,
    /// Whether elements may be self-contained.
    pub self_contained: bool,
    /// The schema.
    pub schema_id: SchemaId,
    /// Other representations for datatypes of the schema.
    pub datatype_representation_map: Vec<Representation>,
    /// Values in one block of a compressed stream (`blockSize`).
    pub block_size: u32,
    /// Characters of the longest string kept in the value partitions (`valueMaxLength`).
    pub value_max_length: Option<u32>,
    /// Entries of the global value partition (`valuePartitionCapacity`).
    pub value_partition_capacity: Option<u32>,
    /// The EXI Profile, if the stream keeps to it.
    pub profile: Option<Profile>,
    /// User-defined elements of the options document: their names, kept in order, content skipped.
    pub user_defined: Vec<ExpandedName>,
}

impl Options {
    /// `blockSize` where nothing is said (section 5.4).
    pub const BLOCK_SIZE: u32 = 1_000_000;
}

impl Default for Options {
    fn default() -> Self {
        Self {
            alignment: Alignment::default(),
            strict: false,
            fragment: false,
            preserve: Preserve::default(),
            self_contained: false,
            schema_id: SchemaId::default(),
            datatype_representation_map: Vec::new(),
            block_size: Self::BLOCK_SIZE,
            value_max_length: None,
            value_partition_capacity: None,
            profile: None,
            user_defined: Vec::new(),
        }
    }
}

/// What an encoder writes before the body (section 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Header {
    /// The four bytes `$EXI`.
    pub cookie: bool,
    /// The options document.
    pub options: bool,
}
