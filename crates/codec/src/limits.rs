//! The codec's own limits; those of a message are [`weir_model::Limits`].

/// Most columns of a table in csv.
pub const CSV_COLUMNS_MAX: usize = 64;
/// Most columns of a table in Arrow, nested ones apart.
pub const ARROW_COLUMNS_MAX: usize = 64;
/// Longest payload without a declared format that is taken for plain text, in bytes.
pub const SNIFFED_PLAIN_BYTES_MAX: usize = 4096;
/// Longest base unit of SenML, in bytes; UCUM's codes are far shorter.
pub const SENML_UNIT_BYTES_MAX: usize = 256;
/// Most attributes of an XML element, namespace declarations included.
pub const XML_ATTRIBUTES_MAX: usize = 64;
/// Most namespace declarations in scope at once.
pub const XML_NAMESPACES_MAX: usize = 96;
