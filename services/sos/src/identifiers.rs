//! Identifiers that the service makes, and what they were made of: offerings, topics, names of XML, digests.

use crate::named::PROCEDURE;
use weir_model::{percent, topic};

/// Ends the identifier of the offering of a procedure.
const OFFERING: &str = "/observations";

/// The offering that is named after a procedure.
pub(crate) fn offering_of(procedure: &str) -> String {
    format!("{procedure}{OFFERING}")
}

/// The procedure that an offering is named after.
pub(crate) fn procedure_of(offering: &str) -> Option<String> {
    offering.strip_suffix(OFFERING).map(str::to_owned)
}

/// The topic of a datastream that this service brings into being: the one that names in the service's own
/// words came from, else one of both names.
pub(crate) fn topic_of(procedure: &str, property: &str) -> String {
    let above = procedure.strip_prefix(PROCEDURE);
    if let Some(topic) = above.and_then(|above| topic_again(above, property)) {
        return topic;
    }
    let level = |id: &str| percent::encode(id, b":.-_~");
    format!("sos/{}/{}", level(procedure), level(property))
}

/// The topic that [`named`] makes these names of.
fn topic_again(above: &str, property: &str) -> Option<String> {
    let topic = if above == property {
        property.to_owned()
    } else {
        format!("{above}/{property}")
    };
    let is_topic = topic::check(&topic).is_ok() && !topic.starts_with('$');
    (is_topic && !property.contains('/')).then_some(topic)
}

/// An identifier as an XML name without colon, which version 1.0.0 needs (`gml:id`); bijective.
pub(crate) fn nc_name(id: &str) -> String {
    let mut name = String::from("_");
    for byte in id.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' => name.push(char::from(byte)),
            other => name.push_str(&format!("_{other:02x}")),
        }
    }
    name
}

/// The identifier behind such a name.
pub(crate) fn of_nc_name(name: &str) -> Option<String> {
    let (mut id, mut rest) = (Vec::new(), name.strip_prefix('_')?.as_bytes());
    while let [first, tail @ ..] = rest {
        rest = tail;
        match first {
            b'_' => {
                id.push(percent::byte(tail)?);
                rest = &tail[2..];
            }
            other => id.push(*other),
        }
    }
    String::from_utf8(id).ok().filter(|id| nc_name(id) == name)
}

/// FNV-1a: the same text has the same digest, so the same description is the same sensor.
pub(crate) fn fingerprint(text: &str) -> u64 {
    let fold = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, fold)
}
