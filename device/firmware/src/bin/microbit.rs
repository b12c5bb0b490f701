//! The image for the micro:bit.
#![no_std]
#![no_main]
#![allow(unsafe_code)]

use weir_firmware::board::microbit::{Microbit, on_timer, on_uart};
use weir_firmware::board::{Vector, cpu, run};

unsafe extern "C" {
    static _stack_top: u32;
}

// SAFETY: the linker puts it where the processor looks for it; nothing else is in its section.
#[unsafe(link_section = ".vectors")]
#[unsafe(no_mangle)]
static VECTORS: [Vector; 16 + 10] =
    Vector::table(&raw const _stack_top, &[(2, on_uart), (9, on_timer)]);

/// Called by `reset`, once memory is ready.
// SAFETY: `reset` looks for it by this name.
#[unsafe(no_mangle)]
extern "C" fn main() -> ! {
    run(&mut Microbit::start());
    cpu::restart()
}
