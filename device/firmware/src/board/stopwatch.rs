//! Microseconds from SysTick's counter, for round trips.

use super::systick::Clock;
use crate::client::Micros;

/// The counter has so many bits.
const MASK: u32 = 0x00ff_ffff;

/// Counts cycles; must be read before the counter has gone round: 0.6 s at 25 MHz.
pub(super) struct Stopwatch {
    cycles_per_us: u64,
    last: u32,
    cycles: u64,
}

impl Stopwatch {
    /// Of a clock that was started.
    pub(super) fn new(cycles_per_us: u64) -> Self {
        Self {
            cycles_per_us,
            last: Clock::cycles(),
            cycles: 0,
        }
    }

    pub(super) fn now(&mut self) -> Micros {
        let cycles = Clock::cycles();
        self.cycles += u64::from(self.last.wrapping_sub(cycles) & MASK);
        self.last = cycles;
        self.cycles / self.cycles_per_us
    }
}
