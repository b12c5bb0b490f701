//! Memory that exists once and is handed out once.

#![allow(unsafe_code)]

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};

/// A value for the program's whole life, outside of the stack.
pub struct Place<T> {
    value: UnsafeCell<T>,
    is_taken: AtomicBool,
}

// SAFETY: `take` gives it to one alone: there is one processor, and it is called before interrupts are.
unsafe impl<T: Send> Sync for Place<T> {}

impl<T> Place<T> {
    /// A place with its value.
    pub const fn new(value: T) -> Self {
        Self {
            value: UnsafeCell::new(value),
            is_taken: AtomicBool::new(false),
        }
    }

    /// The value, for who asks first. Interrupts do not ask.
    #[allow(clippy::mut_from_ref, reason = "it is handed out once")]
    pub fn take(&'static self) -> Option<&'static mut T> {
        if self.is_taken.load(Ordering::Relaxed) {
            return None;
        }
        self.is_taken.store(true, Ordering::Relaxed);
        // SAFETY: nobody took it before, and it lives for good.
        Some(unsafe { &mut *self.value.get() })
    }
}
