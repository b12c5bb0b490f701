//! Bytes in pieces of any size, until they are packets.

use alloc::vec::Vec;

/// Gives `take` what was kept and what has come, as one piece; what it leaves is kept.
pub(super) fn feed(mut rest: Vec<u8>, bytes: &[u8], take: impl FnOnce(&[u8]) -> usize) -> Vec<u8> {
    if rest.is_empty() {
        let taken = take(bytes);
        rest.extend_from_slice(&bytes[taken..]);
        return rest;
    }
    rest.extend_from_slice(bytes);
    let taken = take(&rest);
    if taken == rest.len() {
        return Vec::new();
    }
    rest.drain(..taken);
    rest
}
