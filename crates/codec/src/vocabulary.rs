//! What the members of a message are called, over any tree syntax or infoset.

pub(crate) mod message;
#[cfg(feature = "xml")]
pub(crate) mod message_xml;
#[cfg(any(feature = "senml-json", feature = "senml-cbor"))]
pub(crate) mod senml;
