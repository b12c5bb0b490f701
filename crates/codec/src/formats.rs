//! THE list of formats, from which content negotiation, help, documentation and tests are derived.

#[cfg(feature = "cbor")]
mod cbor;
#[cfg(feature = "csv")]
mod csv;
#[cfg(feature = "json")]
pub(crate) mod json;
#[cfg(feature = "msgpack")]
mod msgpack;
#[cfg(feature = "plain")]
mod plain;
#[cfg(feature = "protobuf")]
mod protobuf;
#[cfg(any(feature = "senml-json", feature = "senml-cbor"))]
mod senml;
#[cfg(feature = "xml")]
mod xml;

use crate::format::Format;

/// Every format, in the order of `SURFACE`; the first is the default.
pub const FORMATS: &[Format] = &[
    #[cfg(feature = "json")]
    json::FORMAT,
    #[cfg(feature = "plain")]
    plain::FORMAT,
    #[cfg(feature = "senml-json")]
    senml::JSON,
    #[cfg(feature = "senml-cbor")]
    senml::CBOR,
    #[cfg(feature = "cbor")]
    cbor::FORMAT,
    #[cfg(feature = "msgpack")]
    msgpack::FORMAT,
    #[cfg(feature = "protobuf")]
    protobuf::FORMAT,
    #[cfg(feature = "xml")]
    xml::FORMAT,
    #[cfg(feature = "csv")]
    csv::FORMAT,
];

/// The format of this name.
pub fn by_name(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}
