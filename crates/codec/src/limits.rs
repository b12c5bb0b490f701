//! The codec's own limits; those of a message are [`weir_model::Limits`].

/// Most columns of a table in csv.
pub const CSV_COLUMNS_MAX: usize = 64;
/// Most columns of a table in Arrow, nested ones apart.
pub const ARROW_COLUMNS_MAX: usize = 64;
/// Longest metadata of a message of an Arrow stream, in bytes.
pub const ARROW_METADATA_BYTES_MAX: usize = 1 << 24;
/// Most bytes of text that references in a message stand for, for each byte that a message may have.
pub const REFERENCED_PER_BYTE_MAX: usize = 4;
/// Longest payload without a declared format that is taken for plain text, in bytes.
pub const SNIFFED_PLAIN_BYTES_MAX: usize = 4096;
/// Longest base unit of SenML, in bytes; UCUM's codes are far shorter.
pub const SENML_UNIT_BYTES_MAX: usize = 256;
/// Most attributes of an XML element, namespace declarations included.
pub const XML_ATTRIBUTES_MAX: usize = 64;
/// Most namespace declarations in scope at once.
pub const XML_NAMESPACES_MAX: usize = 96;
/// Most fields of a record of SWE Common.
pub const SWE_FIELDS_MAX: usize = 32;
/// Tokens that stand for no result, or values that are allowed, of a field.
pub const SWE_RULES_MAX: usize = 256;
/// Times of O&M that others may refer to: so many of those given last.
pub const OM_TIMES_MAX: usize = 16;
/// The same of features.
pub const OM_FEATURES_MAX: usize = 16;
/// Datastreams of a block of SWE Common that are kept without the heap.
pub const SWE_STREAMS_ON_STACK: usize = 48;
/// Most triples of RDF to an observation that may be allowed, on average.
pub const RDF_TRIPLES_PER_OBSERVATION_MAX: usize = 32;
/// Fewest bytes of a message that a triple of RDF takes, on average.
pub const RDF_BYTES_PER_TRIPLE_MIN: usize = 8;
/// Longest IRI of RDF, in bytes, once prefixes are replaced.
pub const RDF_IRI_BYTES_MAX: usize = 8192;
/// Most terms of the contexts of JSON-LD in force at once.
pub const JSONLD_TERMS_MAX: usize = 1024;
