//! The carrier's limits; reaching one is an error that names it.

/// Longest payload of a control frame, bytes (RFC 6455 section 5.5).
pub const CONTROL_BYTES_MAX: usize = 125;
/// Certificates of one chain or of one file of roots.
pub const CERTIFICATES_MAX: usize = 1024;
