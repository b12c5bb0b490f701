//! What a stream may cost. Reaching a limit is an error with its place, never a panic.

use core::fmt;

/// Upper bounds for one stream; the defaults suit a gateway that reads from strangers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Open elements at one time.
    pub depth: u32,
    /// Bytes of input.
    pub input_bytes: u64,
    /// Bytes of text and binary handed out, plus inflated bytes: what a bomb expands to.
    pub expanded_bytes: u64,
    /// Bytes kept in string tables: names and values together.
    pub table_bytes: u64,
    /// Entries kept in string tables, and productions that built-in grammars learn.
    pub table_entries: u32,
    /// Events.
    pub events: u64,
    /// Attributes and namespace declarations of one element, for the XML reader.
    pub attributes: u32,
    /// Bytes of one value.
    pub value_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            depth: 1_000,
            input_bytes: 1 << 32,
            expanded_bytes: 1 << 32,
            table_bytes: 1 << 28,
            table_entries: 1 << 24,
            events: 1 << 32,
            attributes: 4_096,
            value_bytes: 1 << 28,
        }
    }
}

/// Which limit was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[allow(
    missing_docs,
    reason = "each is the field of `Limits` of the same name"
)]
pub enum Limit {
    Depth,
    InputBytes,
    ExpandedBytes,
    TableBytes,
    TableEntries,
    Events,
    Attributes,
    ValueBytes,
}

impl fmt::Display for Limit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Depth => "depth (elements inside each other)",
            Self::InputBytes => "input_bytes (bytes of input)",
            Self::ExpandedBytes => "expanded_bytes (bytes of values and of inflated blocks)",
            Self::TableBytes => "table_bytes (bytes of string tables)",
            Self::TableEntries => "table_entries (entries of string tables and grammars)",
            Self::Events => "events (events of the document)",
            Self::Attributes => "attributes (attributes of one element)",
            Self::ValueBytes => "value_bytes (bytes of one value)",
        })
    }
}
