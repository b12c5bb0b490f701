//! MPS2 with the image AN385: Cortex-M3 at 25 MHz, 4 MB of RAM, a CMSDK UART without a queue.
//!
//! Names are those of Arm's application note 385 and of the Cortex-M System Design Kit (DDI 0479).

#![allow(unsafe_code)]

use super::queue::RECEIVED;
use super::register::Register;
use super::systick::Clock;
use super::{Board, cpu};
use weir_comet::Milliseconds;

/// Numbers of the interrupts.
const UART0_RX: u32 = 0;
const UART0_TX: u32 = 1;
const TIMER0: u32 = 8;

// SAFETY: the application note has these registers here.
mod at {
    use super::Register;
    pub(super) const TIMER_CTRL: Register = unsafe { Register::at(0x4000_0000) };
    pub(super) const TIMER_VALUE: Register = unsafe { Register::at(0x4000_0004) };
    pub(super) const TIMER_RELOAD: Register = unsafe { Register::at(0x4000_0008) };
    pub(super) const TIMER_INTCLEAR: Register = unsafe { Register::at(0x4000_000c) };
    pub(super) const UART_DATA: Register = unsafe { Register::at(0x4000_4000) };
    pub(super) const UART_STATE: Register = unsafe { Register::at(0x4000_4004) };
    pub(super) const UART_CTRL: Register = unsafe { Register::at(0x4000_4008) };
    pub(super) const UART_INTCLEAR: Register = unsafe { Register::at(0x4000_400c) };
    pub(super) const UART_BAUDDIV: Register = unsafe { Register::at(0x4000_4010) };
}

const CYCLES_PER_MS: u32 = 25_000;
/// How long it sleeps at most.
const NAP_MS: u32 = 5;

/// Bits of UART_STATE.
const TX_FULL: u32 = 1;
const RX_FULL: u32 = 1 << 1;
/// Values of UART_CTRL: both ways on, and which of them interrupt.
const ON: u32 = 0b11;
const CAME: u32 = 1 << 3;
const SENT: u32 = 1 << 2;

/// The board.
pub struct Mps2 {
    clock: Clock,
}

impl Mps2 {
    /// Starts its clock, its serial port (115,200 baud, 8N1) and its interrupts.
    pub fn start() -> Self {
        at::UART_BAUDDIV.write(CYCLES_PER_MS * 1_000 / 115_200);
        at::UART_CTRL.write(ON | CAME);
        at::TIMER_RELOAD.write(NAP_MS * CYCLES_PER_MS);
        at::TIMER_VALUE.write(NAP_MS * CYCLES_PER_MS);
        at::TIMER_CTRL.write(1 | 1 << 3);
        let clock = Clock::start(CYCLES_PER_MS);
        cpu::enable(&[UART0_RX, UART0_TX, TIMER0]);
        Self { clock }
    }
}

impl Board for Mps2 {
    fn now(&mut self) -> Milliseconds {
        self.clock.now()
    }

    fn noise(&mut self) -> u32 {
        Clock::cycles()
    }

    fn receive(&mut self) -> Option<u8> {
        RECEIVED.take()
    }

    fn can_send(&mut self) -> bool {
        !at::UART_STATE.has(TX_FULL)
    }

    fn send(&mut self, byte: u8) {
        at::UART_DATA.write(u32::from(byte));
    }

    fn sleep(&mut self, wants_to_send: bool) {
        cpu::alone(|| {
            let sent = if wants_to_send { SENT } else { 0 };
            at::UART_CTRL.write(ON | CAME | sent);
            // What came while its interrupt was off causes none.
            let is_full = at::UART_STATE.has(RX_FULL);
            let is_ready = wants_to_send && !at::UART_STATE.has(TX_FULL);
            if is_full {
                on_receive();
            } else if RECEIVED.is_empty() && !is_ready {
                cpu::wait();
            }
        });
    }
}

/// Takes what came; leaves in the port what there is no room for, until there is.
pub extern "C" fn on_receive() {
    at::UART_INTCLEAR.write(1 << 1);
    while at::UART_STATE.has(RX_FULL) {
        if !RECEIVED.put(|| at::UART_DATA.read() as u8) {
            return at::UART_CTRL.write(ON);
        }
    }
}

/// Only wakes.
pub extern "C" fn on_sent() {
    at::UART_INTCLEAR.write(1);
    at::UART_CTRL.write(ON | CAME);
}

/// Only wakes.
pub extern "C" fn on_timer() {
    at::TIMER_INTCLEAR.write(1);
}
