//! The bridge's time.

/// Nanoseconds since the bridge began.
pub type Nanos = u64;
