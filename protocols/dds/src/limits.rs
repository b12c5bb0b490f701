//! Everything that is bounded.

use core::time::Duration;

/// Longest sample that is read, bytes.
pub const SAMPLE_BYTES_MAX: usize = 1 << 20;

/// Longest string of a sample, bytes.
pub const TEXT_BYTES_MAX: usize = 1 << 18;

/// Samples taken from the stack at once, so that one busy writer does not hold up a network thread.
pub const SAMPLES_PER_TURN: usize = 256;

/// Bytes shown of a sample that was set aside.
pub const SHOWN_BYTES_MAX: usize = 64;

/// Samples set aside a second that are told one by one; the others are counted only.
pub const TOLD_PER_SECOND: u32 = 10;

/// Samples that wait in the stack, for a slow reader before the hub keeps what comes, or for the hub.
pub const WINDOW_SAMPLES: i32 = 8192;

/// The greatest domain whose ports exist (DDSI-RTPS 2.5 section 9.6.2.3: 7400 + 250 x domain).
pub const DOMAIN_MAX: u16 = 232;
/// Samples in a row that cannot be had, after each of which the next is tried at once.
pub const SET_ASIDE_AT_ONCE_MAX: u32 = 1000;
/// How long the next is waited for then.
pub const SET_ASIDE_REST: Duration = Duration::from_millis(100);
