//! What a participant can do with a datastream, for descriptions.

use weir_binding::{Credential, Operation, Way};

/// An instance of the one keyed topic. A URL names the domain alone, so the words that name topic, type, key and
/// where the type is defined are our own: the W3C has no binding template for DDS.
pub(super) const WAYS: &[Way] = &[Way {
    schemes: &[("dds", ["dds"; 2])],
    operations: &[Operation::Observe, Operation::Publish],
    target: "/",
    channel: "weir/Observation",
    subprotocol: None,
    terms: &[
        ("ddsv:topic", r#""weir/Observation""#),
        ("ddsv:type", r#""weir::Observation""#),
        ("ddsv:idl", r#""/schema/Observation.idl""#),
        ("ddsv:key", r#""{topic}""#),
    ],
    vocabulary: ("ddsv", "https://weir.example/ns/dds#"),
    credential: Credential::Nowhere,
    lists_formats: false,
    // No type is registered for samples in XCDR (DDS-XTypes 1.3 section 7.4).
    media: Some("application/octet-stream"),
}];
