//! Formats that papers measured and hardly anybody sends: AMF 3, GWT-RPC, UBJSON, Protocol Buffers as
//! text, and messages of `block` inside other formats.
//!
//! They are here so that what was measured can be measured again. A build without the feature `legacy`
//! lacks them and nothing else.

mod amf3;
pub(crate) mod carriages;
pub mod carried;
pub(crate) mod gwt;
pub(crate) mod pbf_string;
pub(crate) mod trees;
mod ubjson;
