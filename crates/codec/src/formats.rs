//! THE list of formats, from which content negotiation, help, documentation and tests are derived.

#[cfg(feature = "amf3")]
mod amf3;
#[cfg(feature = "arrow")]
pub(crate) mod arrow;
#[cfg(feature = "bson")]
mod bson;
#[cfg(feature = "cbor")]
mod cbor;
#[cfg(feature = "csv")]
mod csv;
#[cfg(feature = "gwt")]
mod gwt;
#[cfg(feature = "influx")]
pub(crate) mod influx;
#[cfg(feature = "json")]
pub(crate) mod json;
#[cfg(feature = "msgpack")]
mod msgpack;
#[cfg(feature = "pbf-string")]
mod pbf_string;
#[cfg(feature = "plain")]
mod plain;
#[cfg(feature = "protobuf")]
mod protobuf;
#[cfg(any(feature = "senml-json", feature = "senml-cbor"))]
mod senml;
#[cfg(feature = "ubjson")]
mod ubjson;
#[cfg(feature = "xml")]
mod xml;

use crate::format::Format;
#[cfg(feature = "pbf-string")]
pub use pbf_string::{TextSize, text_size};

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
    #[cfg(feature = "bson")]
    bson::FORMAT,
    #[cfg(feature = "ubjson")]
    ubjson::FORMAT,
    #[cfg(feature = "protobuf")]
    protobuf::FORMAT,
    #[cfg(feature = "pbf-string")]
    pbf_string::FORMAT,
    #[cfg(feature = "amf3")]
    amf3::FORMAT,
    #[cfg(feature = "gwt")]
    gwt::FORMAT,
    #[cfg(feature = "xml")]
    xml::FORMAT,
    #[cfg(feature = "csv")]
    csv::FORMAT,
    #[cfg(feature = "influx")]
    influx::FORMAT,
    #[cfg(feature = "arrow")]
    arrow::FORMAT,
];

/// The format of this name.
pub fn by_name(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}
