//! THE list of formats, from which content negotiation, help, documentation and tests are derived.

#[cfg(feature = "arrow")]
pub(crate) mod arrow;
#[cfg(feature = "block")]
mod block;
#[cfg(feature = "csv")]
mod csv;
#[cfg(feature = "exi")]
mod exi;
#[cfg(feature = "gwt")]
mod gwt;
#[cfg(feature = "influx")]
pub(crate) mod influx;
#[cfg(feature = "json")]
pub(crate) mod json;
#[cfg(any(feature = "om", feature = "om1"))]
pub(crate) mod om;
#[cfg(feature = "pbf-string")]
mod pbf_string;
#[cfg(feature = "plain")]
mod plain;
#[cfg(feature = "protobuf")]
mod protobuf;
#[cfg(any(feature = "jsonld", feature = "turtle", feature = "ntriples"))]
mod rdf;
#[cfg(any(feature = "senml-json", feature = "senml-cbor"))]
mod senml;
#[cfg(feature = "soap")]
mod soap;
#[cfg(feature = "swe-text")]
pub(crate) mod swe_text;
#[cfg(any(
    feature = "amf3",
    feature = "bson",
    feature = "cbor",
    feature = "msgpack",
    feature = "ubjson"
))]
mod trees;
#[cfg(feature = "xml")]
mod xml;

use crate::format::Format;
#[cfg(feature = "block")]
pub use block::CARRIAGES;
#[cfg(feature = "pbf-string")]
pub use pbf_string::{TextSize, text_size};

/// None, in a build without `block`.
#[cfg(not(feature = "block"))]
pub const CARRIAGES: &[Format] = &[];

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
    trees::CBOR,
    #[cfg(feature = "msgpack")]
    trees::MSGPACK,
    #[cfg(feature = "bson")]
    trees::BSON,
    #[cfg(feature = "ubjson")]
    trees::UBJSON,
    #[cfg(feature = "protobuf")]
    protobuf::FORMAT,
    #[cfg(feature = "pbf-string")]
    pbf_string::FORMAT,
    #[cfg(feature = "amf3")]
    trees::AMF3,
    #[cfg(feature = "gwt")]
    gwt::FORMAT,
    #[cfg(feature = "xml")]
    xml::FORMAT,
    #[cfg(feature = "om")]
    om::OM,
    #[cfg(feature = "om1")]
    om::OM1,
    #[cfg(feature = "swe-text")]
    swe_text::FORMAT,
    #[cfg(feature = "exi")]
    exi::EXI,
    #[cfg(feature = "exi")]
    exi::EXI_C,
    #[cfg(feature = "exi")]
    exi::EXI_S,
    #[cfg(feature = "exi")]
    exi::EXI_SC,
    #[cfg(feature = "exi")]
    exi::EXI_OM,
    #[cfg(feature = "exi")]
    exi::EXI_OM_C,
    #[cfg(feature = "soap")]
    soap::FORMAT,
    #[cfg(feature = "csv")]
    csv::FORMAT,
    #[cfg(feature = "jsonld")]
    rdf::JSON_LD,
    #[cfg(feature = "turtle")]
    rdf::TURTLE,
    #[cfg(feature = "ntriples")]
    rdf::N_TRIPLES,
    #[cfg(feature = "influx")]
    influx::FORMAT,
    #[cfg(feature = "arrow")]
    arrow::FORMAT,
    #[cfg(feature = "block")]
    block::FORMAT,
];

/// The format of this name, of the list or of what carries `block`.
pub fn by_name(name: &str) -> Option<&'static Format> {
    let mut all = FORMATS.iter().chain(CARRIAGES);
    all.find(|format| format.name == name)
}
