//! Time of a run.

/// A time in nanoseconds since the run began, or a span.
pub type Nanos = weir_link::Nanos;

/// A second.
pub const SECOND: Nanos = 1_000_000_000;
