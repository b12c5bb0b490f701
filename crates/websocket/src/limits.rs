//! The limits of frames.

/// Longest payload of a control frame, bytes (RFC 6455 section 5.5).
pub const CONTROL_BYTES_MAX: usize = 125;
