//! A message of `block` inside other formats: base64 for JSON and events, CBOR, Protocol Buffers, SWE
//! Common, SenML.
//!
//! What it deliberately does not do: it opens no chunk. `docs/reference/block.md`, "Inside other
//! formats", says who defines what. Each is a name of `weir convert` too ([`crate::CARRIAGES`]).

mod binary;
#[cfg(any(feature = "senml-json", feature = "senml-cbor"))]
mod senml;
mod swe;

pub(crate) use crate::base64::place as place_in_base64;
pub use crate::base64::{from_base64, to_base64};
pub use binary::{from_cbor, from_protobuf, to_cbor, to_protobuf};
#[cfg(feature = "senml-cbor")]
pub use senml::{from_senml_cbor, to_senml_cbor};
#[cfg(feature = "senml-json")]
pub use senml::{from_senml_json, to_senml_json};
pub use swe::{Swe, from_swe, to_swe};
