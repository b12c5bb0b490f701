//! XML as XMPP uses it: the stanzas of a stream, each as a tree.
//!
//! What it deliberately does not do: no document types, comments or instructions (RFC 6120 section 11.1
//! forbids them), no tree of more than one stanza.

mod element;
mod framer;
mod text;

pub use element::{Element, Node};
pub use framer::{Frame, Framer, Skipped, StreamFault};
pub use text::{escape, escape_content, is_carried};
