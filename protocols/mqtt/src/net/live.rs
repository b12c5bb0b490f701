//! A connection as others see it: it can be told that it is taken over.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::Waker;

/// A connection's sign.
#[derive(Default)]
pub(super) struct Live {
    taken_over: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Live {
    /// Tells the connection that another one is its client's now.
    pub(super) fn take_over(&self) {
        self.taken_over.store(true, Ordering::Release);
        let waker = self.lock().take();
        waker.into_iter().for_each(Waker::wake);
    }

    /// Says whether it was told so; else `waker` is woken when it is.
    pub(super) fn is_taken_over(&self, waker: &Waker) -> bool {
        if self.taken_over.load(Ordering::Acquire) {
            return true;
        }
        match &mut *self.lock() {
            Some(known) => known.clone_from(waker),
            empty => *empty = Some(waker.clone()),
        }
        self.taken_over.load(Ordering::Acquire)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Waker>> {
        self.waker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
