//! The schemas of the message, to be served to whoever generates code from them.

/// Protocol Buffers, of the format `protobuf`.
pub const PROTO: &str = include_str!("../schema/weir.proto");
/// XML Schema 1.0, of the format `xml`.
pub const XSD: &str = include_str!("../schema/weir.xsd");
/// CDDL (RFC 8610), of the formats `json` and `cbor`.
pub const CDDL: &str = include_str!("../schema/weir.cddl");
