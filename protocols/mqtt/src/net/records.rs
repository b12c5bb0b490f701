//! What the log keeps for this binding, read and written again: for whoever checks records that others wrote.

use super::bridge::rewritten;
use super::record::Stored;
use bytes::Bytes;

/// A session's record as this version writes it; `None` for what is none.
pub fn session(bytes: &[u8]) -> Option<Bytes> {
    Stored::read(bytes).map(|stored| stored.write())
}

/// A bridge's memory as this version writes it; `None` for what is none.
pub fn bridge(bytes: &[u8]) -> Option<Bytes> {
    rewritten(bytes)
}
