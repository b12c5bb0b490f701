//! Instructions of the processor, and its system registers (ARMv6-M and ARMv7-M alike).

#![allow(unsafe_code)]

use super::register::Register;
use core::arch::asm;

// SAFETY: both architecture manuals have these registers here (B3.4 and B3.2.6).
const ENABLE: Register = unsafe { Register::at(0xe000_e100) };
const RESTART: Register = unsafe { Register::at(0xe000_ed0c) };
const RESTART_KEY: u32 = 0x05fa_0004;

/// Lets the interrupts with these numbers, 31 at most, in.
pub fn enable(numbers: &[u32]) {
    let bits = numbers.iter().fold(0, |bits, number| bits | 1 << number);
    ENABLE.write(bits);
    // SAFETY: what interrupts share with others is atomic.
    unsafe { asm!("cpsie i", options(nostack)) };
}

/// Runs while no interrupt is let in.
pub(super) fn alone<R>(run: impl FnOnce() -> R) -> R {
    // SAFETY: nothing here is called by an interrupt, so that they were let in before and are after.
    unsafe { asm!("cpsid i", options(nostack)) };
    let result = run();
    unsafe { asm!("cpsie i", options(nostack)) };
    result
}

/// Waits for an interrupt; one that is not let in ends it too.
pub(super) fn wait() {
    // SAFETY: it only waits.
    unsafe { asm!("wfi", options(nomem, nostack, preserves_flags)) };
}

/// Starts the processor anew.
pub fn restart() -> ! {
    RESTART.write(RESTART_KEY);
    loop {
        wait();
    }
}
