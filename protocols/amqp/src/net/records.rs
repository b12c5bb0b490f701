//! What the log keeps for this binding, read and written again: for whoever checks records that others wrote.

use super::bridge::rewritten;
use super::durable::Stored;
use bytes::Bytes;

/// A durable link's record; `None` for what is none.
pub fn link(bytes: &[u8]) -> Option<Bytes> {
    Stored::read(bytes).map(|stored| stored.write())
}

/// A bridge's memory; `None` for what is none.
pub fn bridge(bytes: &[u8]) -> Option<Bytes> {
    rewritten(bytes)
}
