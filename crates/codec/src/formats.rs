//! THE list of formats, from which content negotiation, help, documentation and tests are derived.

pub(crate) mod arrow;
pub(crate) mod block;
mod csv;
mod exi;
pub(crate) mod influx;
pub(crate) mod json;
pub(crate) mod om;
mod plain;
pub(crate) mod protobuf;
mod rdf;
mod senml;
mod soap;
pub(crate) mod swe_text;
pub(crate) mod trees;
mod xml;

use crate::format::Format;
#[cfg(feature = "legacy")]
use crate::legacy;
#[cfg(feature = "legacy")]
pub use crate::legacy::carriages::CARRIAGES;

/// None, in a build without `legacy`.
#[cfg(not(feature = "legacy"))]
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
    "legacy" => legacy::trees::UBJSON,
    "protobuf" => protobuf::FORMAT,
    "legacy" => legacy::pbf_string::FORMAT,
    "legacy" => legacy::trees::AMF3,
    "legacy" => legacy::gwt::FORMAT,
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
