//! LM3S811: Cortex-M3 at 20 MHz, 64 KB of flash, 8 KB of RAM, a PL011 as serial port.
//!
//! Names are those of the data sheet (Stellaris LM3S811, SPMS150).

#![allow(unsafe_code)]

use super::queue::RECEIVED;
use super::register::Register;
use super::systick::Clock;
use super::{Board, cpu};
use weir_comet::Milliseconds;

/// Numbers of the interrupts.
const UART0: u32 = 5;
const TIMER0A: u32 = 19;

// SAFETY: the data sheet has these registers here.
mod at {
    use super::Register;
    pub(super) const RIS: Register = unsafe { Register::at(0x400f_e050) };
    pub(super) const RCC: Register = unsafe { Register::at(0x400f_e060) };
    pub(super) const RCGC1: Register = unsafe { Register::at(0x400f_e104) };
    pub(super) const RCGC2: Register = unsafe { Register::at(0x400f_e108) };
    pub(super) const GPIOAFSEL: Register = unsafe { Register::at(0x4000_4420) };
    pub(super) const GPIODEN: Register = unsafe { Register::at(0x4000_451c) };
    pub(super) const UARTDR: Register = unsafe { Register::at(0x4000_c000) };
    pub(super) const UARTFR: Register = unsafe { Register::at(0x4000_c018) };
    pub(super) const UARTIBRD: Register = unsafe { Register::at(0x4000_c024) };
    pub(super) const UARTFBRD: Register = unsafe { Register::at(0x4000_c028) };
    pub(super) const UARTLCRH: Register = unsafe { Register::at(0x4000_c02c) };
    pub(super) const UARTCTL: Register = unsafe { Register::at(0x4000_c030) };
    pub(super) const UARTIM: Register = unsafe { Register::at(0x4000_c038) };
    pub(super) const GPTMCFG: Register = unsafe { Register::at(0x4003_0000) };
    pub(super) const GPTMTAMR: Register = unsafe { Register::at(0x4003_0004) };
    pub(super) const GPTMCTL: Register = unsafe { Register::at(0x4003_000c) };
    pub(super) const GPTMIMR: Register = unsafe { Register::at(0x4003_0018) };
    pub(super) const GPTMICR: Register = unsafe { Register::at(0x4003_0024) };
    pub(super) const GPTMTAILR: Register = unsafe { Register::at(0x4003_0028) };
}

const CYCLES_PER_MS: u32 = 20_000;
/// How long it sleeps at most.
const NAP_MS: u32 = 5;

/// Bits of RCC: the PLL's 200 MHz by 10, from a crystal of 6 MHz.
const BYPASS: u32 = 1 << 11;
const BY_TEN: u32 = 9 << 23 | 1 << 22;
const CRYSTAL: u32 = 0xb << 6;
const PLL_LOCKED: u32 = 1 << 6;
/// Looks at whether the PLL has locked: more than the half millisecond that it may take.
const LOOKS: u32 = 100_000;

/// Bits of UARTFR and UARTIM.
const EMPTY: u32 = 1 << 4;
const FULL: u32 = 1 << 5;
const CAME: u32 = 1 << 4 | 1 << 6;
const SENT: u32 = 1 << 5;

/// The board.
pub struct Lm3s811 {
    clock: Clock,
}

impl Lm3s811 {
    /// Starts its clock, its serial port (115,200 baud, 8N1) and its interrupts.
    pub fn start() -> Self {
        start_pll();
        at::RCGC1.write(1 | 1 << 16);
        at::RCGC2.write(1);
        // Three cycles must pass before what has a clock now is touched.
        at::RCGC2.read();
        at::GPIOAFSEL.write(0b11);
        at::GPIODEN.write(0b11);
        // 20 MHz / (16 x 115,200) = 10 + 54/64.
        at::UARTIBRD.write(10);
        at::UARTFBRD.write(54);
        at::UARTLCRH.write(0x70);
        at::UARTCTL.write(0x301);
        at::UARTIM.write(CAME);
        at::GPTMCFG.write(0);
        at::GPTMTAMR.write(2);
        at::GPTMTAILR.write(NAP_MS * CYCLES_PER_MS);
        at::GPTMIMR.write(1);
        at::GPTMCTL.write(1);
        let clock = Clock::start(CYCLES_PER_MS);
        cpu::enable(&[UART0, TIMER0A]);
        Self { clock }
    }
}

fn start_pll() {
    at::RCC.write(at::RCC.read() | BYPASS);
    at::RCC.write(BYPASS | CRYSTAL | BY_TEN);
    let mut looks = 0;
    while !at::RIS.has(PLL_LOCKED) && looks < LOOKS {
        looks += 1;
    }
    at::RCC.write(CRYSTAL | BY_TEN);
}

impl Board for Lm3s811 {
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
        !at::UARTFR.has(FULL)
    }

    fn send(&mut self, byte: u8) {
        at::UARTDR.write(u32::from(byte));
    }

    fn sleep(&mut self, wants_to_send: bool) {
        cpu::alone(|| {
            at::UARTIM.write(if wants_to_send { CAME | SENT } else { CAME });
            if RECEIVED.is_empty() {
                cpu::wait();
            }
        });
    }
}

/// Takes what came; leaves in the port what there is no room for, until there is.
pub extern "C" fn on_uart() {
    while !at::UARTFR.has(EMPTY) {
        if !RECEIVED.put(|| at::UARTDR.read() as u8) {
            return at::UARTIM.write(0);
        }
    }
    at::UARTIM.write(CAME);
}

/// Only wakes.
pub extern "C" fn on_timer() {
    at::GPTMICR.write(1);
}
