//! The first instructions: paints the stack, clears what begins as zeros, and goes to the image's `main`.

#![allow(unsafe_code)]

use core::arch::global_asm;

/// An entry of the table of vectors (ARMv7-M B1.5.3): the stack's end, a handler, or nothing.
#[derive(Clone, Copy)]
pub union Vector {
    /// Where the stack begins: the address of the linker's symbol.
    pub stack: *const u32,
    /// Who handles it.
    pub handler: unsafe extern "C" fn(),
    /// Kept free.
    pub nothing: usize,
}

impl Vector {
    /// A table of so many entries: the processor's 16, then interrupts by their numbers.
    pub const fn table<const ENTRIES: usize>(
        stack: *const u32,
        interrupts: &[(usize, extern "C" fn())],
    ) -> [Self; ENTRIES] {
        let mut table = [Self { nothing: 0 }; ENTRIES];
        table[0] = Self { stack };
        table[1] = Self { handler: reset };
        // NMI and the four faults.
        let mut number = 2;
        while number <= 6 {
            table[number] = Self { handler: fault };
            number += 1;
        }
        let mut rest = interrupts;
        while let [(number, handler), more @ ..] = rest {
            table[16 + *number] = Self { handler: *handler };
            rest = more;
        }
        table
    }
}

extern "C" fn fault() {
    super::cpu::restart()
}

// SAFETY: the table is only read, by the processor.
unsafe impl Sync for Vector {}

global_asm!(
    ".section .text.reset,\"ax\",%progbits",
    ".global reset",
    ".thumb_func",
    "reset:",
    "ldr r0, =_stack_bottom",
    "ldr r1, =_stack_top",
    "ldr r2, =0xc0dec0de",
    "1: cmp r0, r1",
    "bhs 2f",
    "str r2, [r0]",
    "adds r0, r0, #4",
    "b 1b",
    "2: ldr r0, =_bss_begin",
    "ldr r1, =_bss_end",
    "movs r2, #0",
    "3: cmp r0, r1",
    "bhs 4f",
    "str r2, [r0]",
    "adds r0, r0, #4",
    "b 3b",
    "4: bl main",
    "b .",
    ".ltorg",
);

// What the compiler calls to copy and fill memory, as short as it can be: the library's are 2,600 bytes.
global_asm!(
    ".section .text.memory,\"ax\",%progbits",
    ".global memcpy, memmove, memset, __aeabi_memcpy, __aeabi_memcpy4, __aeabi_memcpy8",
    ".global __aeabi_memmove, __aeabi_memmove4, __aeabi_memmove8",
    ".global __aeabi_memclr, __aeabi_memclr4, __aeabi_memclr8",
    ".thumb_func",
    "memmove:",
    ".thumb_func",
    "__aeabi_memmove:",
    ".thumb_func",
    "__aeabi_memmove4:",
    ".thumb_func",
    "__aeabi_memmove8:",
    "cmp r0, r1",
    "bls memcpy",
    // Backwards, since the end may lie on the beginning.
    "1: subs r2, r2, #1",
    "blo 2f",
    "ldrb r3, [r1, r2]",
    "strb r3, [r0, r2]",
    "b 1b",
    "2: bx lr",
    ".thumb_func",
    "memcpy:",
    ".thumb_func",
    "__aeabi_memcpy:",
    ".thumb_func",
    "__aeabi_memcpy4:",
    ".thumb_func",
    "__aeabi_memcpy8:",
    "push {{r4, lr}}",
    "movs r3, #0",
    "1: cmp r3, r2",
    "bhs 2f",
    "ldrb r4, [r1, r3]",
    "strb r4, [r0, r3]",
    "adds r3, r3, #1",
    "b 1b",
    "2: pop {{r4, pc}}",
    ".thumb_func",
    "__aeabi_memclr:",
    ".thumb_func",
    "__aeabi_memclr4:",
    ".thumb_func",
    "__aeabi_memclr8:",
    "mov r2, r1",
    "movs r1, #0",
    ".thumb_func",
    "memset:",
    "1: subs r2, r2, #1",
    "blo 2f",
    "strb r1, [r0, r2]",
    "b 1b",
    "2: bx lr",
);

unsafe extern "C" {
    /// Where the processor begins.
    pub fn reset();
}

/// A program that found a mistake of its own begins anew.
#[cfg(not(test))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    super::cpu::restart()
}
