//! Namespaces, each with the document that defines it.

/// Streams (RFC 6120 section 4.8.1).
pub const STREAMS: &str = "http://etherx.jabber.org/streams";
/// Stanzas between a client and its server (RFC 6120 section 4.8.2).
pub const CLIENT: &str = "jabber:client";
/// Stanzas between a component and its server (XEP-0114).
pub const COMPONENT: &str = "jabber:component:accept";
/// STARTTLS (RFC 6120 section 5).
pub const TLS: &str = "urn:ietf:params:xml:ns:xmpp-tls";
/// SASL (RFC 6120 section 6).
pub const SASL: &str = "urn:ietf:params:xml:ns:xmpp-sasl";
/// Resource binding (RFC 6120 section 7).
pub const BIND: &str = "urn:ietf:params:xml:ns:xmpp-bind";
/// Conditions of stanza errors (RFC 6120 section 8.3).
pub const STANZAS: &str = "urn:ietf:params:xml:ns:xmpp-stanzas";
/// Conditions of stream errors (RFC 6120 section 4.9).
pub const STREAM_ERRORS: &str = "urn:ietf:params:xml:ns:xmpp-streams";
/// Stream management (XEP-0198).
pub const MANAGEMENT: &str = "urn:xmpp:sm:3";
/// Relation of a link to a server's WebSocket (XEP-0156 section 3.1).
pub const WEBSOCKET: &str = "urn:xmpp:alt-connections:websocket";
/// Ping (XEP-0199).
pub const PING: &str = "urn:xmpp:ping";
/// Service discovery: what an entity is (XEP-0030).
pub const INFO: &str = "http://jabber.org/protocol/disco#info";
/// Service discovery: what an entity holds (XEP-0030).
pub const ITEMS: &str = "http://jabber.org/protocol/disco#items";
/// Publish-subscribe (XEP-0060).
pub const PUBSUB: &str = "http://jabber.org/protocol/pubsub";
/// Its notifications.
pub const EVENT: &str = "http://jabber.org/protocol/pubsub#event";
/// What a node's owner asks.
pub const OWNER: &str = "http://jabber.org/protocol/pubsub#owner";
/// Its conditions of errors.
pub const PUBSUB_ERRORS: &str = "http://jabber.org/protocol/pubsub#errors";
/// Options of a subscription.
pub const SUBSCRIBE_OPTIONS: &str = "http://jabber.org/protocol/pubsub#subscribe_options";
/// What a node is, as a form.
pub const METADATA: &str = "http://jabber.org/protocol/pubsub#meta-data";
/// Data forms (XEP-0004).
pub const FORMS: &str = "jabber:x:data";
/// Pages of a result (XEP-0059).
pub const PAGES: &str = "http://jabber.org/protocol/rsm";
/// Headers of a stanza (XEP-0131).
pub const HEADERS: &str = "http://jabber.org/protocol/shim";
/// JSON (XEP-0335).
pub const JSON: &str = "urn:xmpp:json:0";
/// Messages in formats that no other namespace is for: ours.
pub const MESSAGE: &str = "urn:weir:message:0";
/// The sensor message as elements (format `xml`): ours.
pub const OBSERVATIONS: &str = "urn:weir:observations:0";
