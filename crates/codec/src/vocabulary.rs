//! What the members of a message are called, over any tree syntax.

pub(crate) mod message;
#[cfg(any(feature = "senml-json", feature = "senml-cbor"))]
pub(crate) mod senml;
