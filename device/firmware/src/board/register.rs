//! Registers of devices.

#![allow(unsafe_code)]

/// A register of 32 bits at its address.
#[derive(Clone, Copy)]
pub(super) struct Register(usize);

impl Register {
    /// # Safety
    /// At the address is a register of a device, which may be read and written whenever it pleases, and
    /// nothing that Rust knows of.
    pub(super) const unsafe fn at(address: usize) -> Self {
        Self(address)
    }

    pub(super) fn read(self) -> u32 {
        // SAFETY: `at` says what is there.
        unsafe { core::ptr::read_volatile(self.0 as *const u32) }
    }

    pub(super) fn write(self, value: u32) {
        // SAFETY: `at` says what is there.
        unsafe { core::ptr::write_volatile(self.0 as *mut u32, value) }
    }

    pub(super) fn has(self, bits: u32) -> bool {
        self.read() & bits != 0
    }
}
