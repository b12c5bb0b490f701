//! How deep the stack ever was: what lies there at the start is paint, and what is paint still was not used.

#![allow(unsafe_code)]

use crate::Memory;

/// What `start` fills the stack with.
const PAINT: u32 = 0xc0de_c0de;

unsafe extern "C" {
    static _stack_bottom: u32;
    static _stack_top: u32;
    static _bss_begin: u32;
    static _bss_end: u32;
}

/// What memory is used.
pub(super) fn memory() -> Memory {
    let (bottom, top) = (&raw const _stack_bottom, &raw const _stack_top);
    let (begin, end) = (&raw const _bss_begin, &raw const _bss_end);
    let mut painted = bottom;
    // SAFETY: from the bottom of the stack on is memory; the compiler keeps nothing below the stack's
    // pointer, where this stops at the latest.
    while painted < top && unsafe { core::ptr::read_volatile(painted) } == PAINT {
        painted = painted.wrapping_add(1);
    }
    Memory {
        statics: (end as usize - begin as usize) as u32,
        stack: (top as usize - painted as usize) as u32,
        stack_reserved: (top as usize - bottom as usize) as u32,
    }
}
