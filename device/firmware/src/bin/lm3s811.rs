//! The image for the LM3S811.
#![no_std]
#![no_main]
#![allow(unsafe_code)]

use weir_firmware::board::lm3s811::{Lm3s811, on_timer, on_uart};
use weir_firmware::board::{Vector, cpu, run};

unsafe extern "C" {
    static _stack_top: u32;
}

// SAFETY: the linker puts it where the processor looks for it; nothing else is in its section.
#[unsafe(link_section = ".vectors")]
#[unsafe(no_mangle)]
static VECTORS: [Vector; 16 + 6] = Vector::table(&raw const _stack_top, &[(5, on_uart)]);

// SAFETY: the same; the linker's script says where the vector of interrupt 19 is.
#[unsafe(link_section = ".vectors.late")]
#[unsafe(no_mangle)]
static TIMER: Vector = Vector { handler: on_timer };

/// Called by `reset`, once memory is ready.
// SAFETY: `reset` looks for it by this name.
#[unsafe(no_mangle)]
extern "C" fn main() -> ! {
    run(&mut Lm3s811::start());
    cpu::restart()
}
