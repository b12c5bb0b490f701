//! What the members of a message are called, over any tree syntax, infoset or graph.

pub(crate) mod iso_time;
pub(crate) mod members;
pub(crate) mod message;
#[cfg(any(feature = "xml", feature = "soap", feature = "exi"))]
pub(crate) mod message_xml;
#[cfg(any(feature = "om", feature = "om1", feature = "exi"))]
pub(crate) mod om;
#[cfg(any(feature = "senml-json", feature = "senml-cbor"))]
pub(crate) mod senml;
#[cfg(any(feature = "senml-json", feature = "senml-cbor"))]
mod senml_name;
#[cfg(any(feature = "jsonld", feature = "turtle", feature = "ntriples"))]
pub(crate) mod sosa;
#[cfg(any(feature = "om", feature = "om1", feature = "swe-text", feature = "exi"))]
pub(crate) mod swe;
