//! What an owner decides about a log.

use std::time::Duration;

/// Sizes and ages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Bytes of a segment, taken from the disk ahead.
    pub segment_bytes: u64,
    /// Bytes of segments above which the oldest released ones are dropped.
    pub retention_bytes: u64,
    /// Time after which a released segment is dropped.
    pub retention_age: Duration,
    /// Bytes that may wait for the disk before an append is refused with [`weir_storage::LogFault::Busy`].
    pub pending_bytes_max: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            segment_bytes: 64 << 20,
            retention_bytes: 1 << 30,
            retention_age: Duration::from_secs(7 * 86_400),
            pending_bytes_max: 32 << 20,
        }
    }
}
