//! Time on the link.

/// A time in nanoseconds since the link was made, or a span.
pub type Nanos = u64;
