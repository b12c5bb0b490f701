//! THE list of formats, from which content negotiation, help, documentation and tests are derived.

pub(crate) mod arrow;
mod block;
mod csv;
mod exi;
mod gwt;
pub(crate) mod influx;
pub(crate) mod json;
pub(crate) mod om;
mod pbf_string;
mod plain;
mod protobuf;
mod rdf;
mod senml;
mod soap;
pub(crate) mod swe_text;
mod trees;
mod xml;

use crate::format::Format;
#[cfg(feature = "block")]
pub use block::CARRIAGES;
#[cfg(feature = "pbf-string")]
pub use pbf_string::{TextSize, text_size};

/// None, in a build without `block`.
#[cfg(not(feature = "block"))]
pub const CARRIAGES: &[Format] = &[];

/// Writes [`FORMATS`]: each format with the feature that builds it.
macro_rules! formats {
    ($($feature:literal => $row:path,)+) => {
        /// Every format; the first is the default, and of equally good ones the first is taken.
        pub const FORMATS: &[Format] = &[$(
            #[cfg(feature = $feature)]
            $row,
        )+];
    };
}

formats! {
    "json" => json::FORMAT,
    "plain" => plain::FORMAT,
    "senml-json" => senml::JSON,
    "senml-cbor" => senml::CBOR,
    "cbor" => trees::CBOR,
    "msgpack" => trees::MSGPACK,
    "bson" => trees::BSON,
    "ubjson" => trees::UBJSON,
    "protobuf" => protobuf::FORMAT,
    "pbf-string" => pbf_string::FORMAT,
    "amf3" => trees::AMF3,
    "gwt" => gwt::FORMAT,
    "xml" => xml::FORMAT,
    "om" => om::OM,
    "om1" => om::OM1,
    "swe-text" => swe_text::FORMAT,
    "exi" => exi::EXI,
    "exi" => exi::EXI_C,
    "exi" => exi::EXI_S,
    "exi" => exi::EXI_SC,
    "exi" => exi::EXI_OM,
    "exi" => exi::EXI_OM_C,
    "soap" => soap::FORMAT,
    "csv" => csv::FORMAT,
    "jsonld" => rdf::JSON_LD,
    "turtle" => rdf::TURTLE,
    "ntriples" => rdf::N_TRIPLES,
    "influx" => influx::FORMAT,
    "arrow" => arrow::FORMAT,
    "block" => block::FORMAT,
}

/// The format of this name, of the list or of what carries `block`.
pub fn by_name(name: &str) -> Option<&'static Format> {
    let mut all = FORMATS.iter().chain(CARRIAGES);
    all.find(|format| format.name == name)
}
