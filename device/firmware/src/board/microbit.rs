//! The BBC micro:bit: nRF51822, Cortex-M0 at 16 MHz, 256 KB of flash, 16 KB of RAM.
//!
//! Names are those of Nordic's reference manual (nRF51 Series, 3.0). It has no SysTick; its TIMER0 counts
//! microseconds. TIMER1 wakes the processor, over and over by itself: a comparison that is set anew each time
//! is missed where the processor comes too late for it, and then not met for an hour. It wakes a sender too,
//! since QEMU raises no interrupt for a byte that had to wait for its end of the line.

#![allow(unsafe_code)]

use super::queue::RECEIVED;
use super::register::Register;
use super::{Board, cpu};
use weir_comet::Milliseconds;

/// Numbers of the interrupts.
const UART0: u32 = 2;
const TIMER1: u32 = 9;

// SAFETY: the reference manual has these registers here.
mod at {
    use super::Register;
    pub(super) const HFCLKSTART: Register = unsafe { Register::at(0x4000_0000) };
    pub(super) const STARTRX: Register = unsafe { Register::at(0x4000_2000) };
    pub(super) const STARTTX: Register = unsafe { Register::at(0x4000_2008) };
    pub(super) const RXDRDY: Register = unsafe { Register::at(0x4000_2108) };
    pub(super) const TXDRDY: Register = unsafe { Register::at(0x4000_211c) };
    pub(super) const INTENSET: Register = unsafe { Register::at(0x4000_2304) };
    pub(super) const INTENCLR: Register = unsafe { Register::at(0x4000_2308) };
    pub(super) const ENABLE: Register = unsafe { Register::at(0x4000_2500) };
    pub(super) const PSELTXD: Register = unsafe { Register::at(0x4000_250c) };
    pub(super) const PSELRXD: Register = unsafe { Register::at(0x4000_2514) };
    pub(super) const RXD: Register = unsafe { Register::at(0x4000_2518) };
    pub(super) const TXD: Register = unsafe { Register::at(0x4000_251c) };
    pub(super) const BAUDRATE: Register = unsafe { Register::at(0x4000_2524) };
    pub(super) const TIMER_START: Register = unsafe { Register::at(0x4000_8000) };
    pub(super) const TIMER_CAPTURE: Register = unsafe { Register::at(0x4000_8040) };
    pub(super) const TIMER_BITMODE: Register = unsafe { Register::at(0x4000_8508) };
    pub(super) const TIMER_PRESCALER: Register = unsafe { Register::at(0x4000_8510) };
    pub(super) const TIMER_CC0: Register = unsafe { Register::at(0x4000_8540) };
    pub(super) const NAP_START: Register = unsafe { Register::at(0x4000_9000) };
    pub(super) const NAP_COMPARE: Register = unsafe { Register::at(0x4000_9140) };
    pub(super) const NAP_SHORTS: Register = unsafe { Register::at(0x4000_9200) };
    pub(super) const NAP_INTENSET: Register = unsafe { Register::at(0x4000_9304) };
    pub(super) const NAP_PRESCALER: Register = unsafe { Register::at(0x4000_9510) };
    pub(super) const NAP_CC0: Register = unsafe { Register::at(0x4000_9540) };
}

/// How long it sleeps at most, microseconds: the line's 29 bytes, of the 85 at least that QEMU's end still has
/// when it takes more.
const NAP_US: u32 = 2_000;
/// Bits of RXDRDY and TXDRDY in INTENSET and INTENCLR.
const CAME: u32 = 1 << 2;
const SENT: u32 = 1 << 7;
/// 115,200 baud.
const BAUD: u32 = 0x01d7_e000;

/// The board.
pub struct Microbit {
    last: u32,
    rest: u32,
    now: Milliseconds,
    is_sending: bool,
}

impl Microbit {
    /// Starts its clock, its serial port (8N1) and its interrupts.
    pub fn start() -> Self {
        at::HFCLKSTART.write(1);
        at::PSELTXD.write(24);
        at::PSELRXD.write(25);
        at::BAUDRATE.write(BAUD);
        at::ENABLE.write(4);
        at::STARTRX.write(1);
        at::STARTTX.write(1);
        at::INTENSET.write(CAME);
        // 16 MHz by 2^4, 32 bits.
        at::TIMER_PRESCALER.write(4);
        at::TIMER_BITMODE.write(3);
        at::TIMER_START.write(1);
        // As fast, 16 bits, which begin anew where they meet CC0.
        at::NAP_PRESCALER.write(4);
        at::NAP_CC0.write(NAP_US);
        at::NAP_SHORTS.write(1);
        at::NAP_INTENSET.write(1 << 16);
        at::NAP_START.write(1);
        cpu::enable(&[UART0, TIMER1]);
        Self {
            last: 0,
            rest: 0,
            now: 0,
            is_sending: false,
        }
    }
}

fn microseconds() -> u32 {
    at::TIMER_CAPTURE.write(1);
    at::TIMER_CC0.read()
}

impl Board for Microbit {
    fn now(&mut self) -> Milliseconds {
        let now = microseconds();
        self.rest += now.wrapping_sub(self.last);
        self.last = now;
        self.now = self.now.wrapping_add(self.rest / 1_000);
        self.rest %= 1_000;
        self.now
    }

    fn noise(&mut self) -> u32 {
        microseconds()
    }

    fn receive(&mut self) -> Option<u8> {
        RECEIVED.take()
    }

    fn can_send(&mut self) -> bool {
        !self.is_sending || at::TXDRDY.has(1)
    }

    fn send(&mut self, byte: u8) {
        at::TXDRDY.write(0);
        self.is_sending = true;
        at::TXD.write(u32::from(byte));
    }

    fn sleep(&mut self, wants_to_send: bool) {
        cpu::alone(|| {
            at::INTENSET.write(if wants_to_send { CAME | SENT } else { CAME });
            if RECEIVED.is_empty() {
                cpu::wait();
            }
        });
    }
}

/// Takes what came; leaves in the port what there is no room for, until there is.
pub extern "C" fn on_uart() {
    // That a byte can be sent only wakes.
    at::INTENCLR.write(SENT);
    while at::RXDRDY.has(1) {
        let read = || {
            at::RXDRDY.write(0);
            at::RXD.read() as u8
        };
        if !RECEIVED.put(read) {
            return at::INTENCLR.write(CAME);
        }
    }
}

/// Only wakes.
pub extern "C" fn on_timer() {
    at::NAP_COMPARE.write(0);
}
