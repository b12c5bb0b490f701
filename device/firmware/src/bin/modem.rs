//! The image of the client behind a modem, for the MPS2 with AN385.
#![no_std]
#![no_main]
#![allow(unsafe_code)]

use weir_firmware::board::mps2::{Mps2, on_receive, on_sent, on_timer};
use weir_firmware::board::{Vector, cpu, run_behind_modem};

/// The processor has 25 MHz.
const CYCLES_PER_US: u64 = 25;

unsafe extern "C" {
    static _stack_top: u32;
}

// SAFETY: the linker puts it where the processor looks for it; nothing else is in its section.
#[unsafe(link_section = ".vectors")]
#[unsafe(no_mangle)]
static VECTORS: [Vector; 16 + 9] = Vector::table(
    &raw const _stack_top,
    &[(0, on_receive), (1, on_sent), (8, on_timer)],
);

/// Called by `reset`, once memory is ready.
// SAFETY: `reset` looks for it by this name.
#[unsafe(no_mangle)]
extern "C" fn main() -> ! {
    run_behind_modem(&mut Mps2::start(), CYCLES_PER_US);
    cpu::restart()
}
