//! The one clock of a run: `CLOCK_MONOTONIC`, which every process of a machine shares.
//!
//! Deliberately no wall clock here: a latency is a difference on this clock and on no other.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds since the machine started, the same in every process.
pub fn now_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
