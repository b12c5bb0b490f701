//! What a client can do with a datastream by XMPP, for descriptions.

use weir_binding::{Credential, Operation, Way};

/// A node of the service (XEP-0060): its last item, its items as they come, and a new one. The URI is that of a
/// node (XEP-0060 section 12.21). The W3C has no binding template for XMPP yet, so the one term is our own.
pub(super) const WAYS: &[Way] = &[Way {
    schemes: &[("xmpp", ["xmpp"; 2])],
    operations: &[Operation::Read, Operation::Observe, Operation::Publish],
    target: "?;node=$as/{format}/{path}",
    channel: "$as/{format}/{topic}",
    subprotocol: None,
    terms: &[("xmppv:node", r#""$as/{format}/{topic}""#)],
    vocabulary: ("xmppv", "https://weir.example/ns/xmpp#"),
    credential: Credential::Elsewhere,
    lists_formats: false,
    media: None,
}];
