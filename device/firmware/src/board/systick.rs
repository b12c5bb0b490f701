//! Time from SysTick's counter (ARMv7-M B3.3), which is read and not counted in interrupts: in an emulator,
//! and with interrupts shut out, some of those are lost.

#![allow(unsafe_code)]

use super::register::Register;
use weir_comet::Milliseconds;

// SAFETY: the architecture has SysTick here.
const CONTROL: Register = unsafe { Register::at(0xe000_e010) };
const RELOAD: Register = unsafe { Register::at(0xe000_e014) };
const CURRENT: Register = unsafe { Register::at(0xe000_e018) };

/// Counts down by the processor's clock.
const ENABLED: u32 = 1 | 1 << 2;
const MASK: u32 = 0x00ff_ffff;

/// A clock that must be read before the counter has gone round: 0.6 s at 25 MHz.
pub(super) struct Clock {
    cycles_per_ms: u32,
    last: u32,
    rest: u32,
    now: Milliseconds,
}

impl Clock {
    pub(super) fn start(cycles_per_ms: u32) -> Self {
        RELOAD.write(MASK);
        CURRENT.write(0);
        CONTROL.write(ENABLED);
        Self {
            cycles_per_ms,
            last: 0,
            rest: 0,
            now: 0,
        }
    }

    pub(super) fn cycles() -> u32 {
        CURRENT.read() & MASK
    }

    pub(super) fn now(&mut self) -> Milliseconds {
        let cycles = Self::cycles();
        self.rest += self.last.wrapping_sub(cycles) & MASK;
        self.last = cycles;
        self.now = self.now.wrapping_add(self.rest / self.cycles_per_ms);
        self.rest %= self.cycles_per_ms;
        self.now
    }
}
