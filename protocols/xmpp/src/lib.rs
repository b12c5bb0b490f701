//! XMPP: streams and stanzas, the machines of a client and of a component, and the binding over the hub.
//!
//! What it deliberately does not do: no server of its own. XMPP is spoken through the server that people
//! run already; weir is a publish-subscribe service behind it (XEP-0114 and XEP-0060), or a client of one.
//! The decision worth arguing: streams are our own (`docs/decisions`), a machine without clock and socket
//! over the XML reader that is there.
#![forbid(unsafe_code)]

pub mod jid;
pub mod limits;
pub mod names;
pub mod session;
pub mod xml;

#[cfg(feature = "net")]
mod net;
#[cfg(feature = "net")]
pub use net::Xmpp;
