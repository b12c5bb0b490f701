//! A connection as others see it: it can be told that it is taken over.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::Waker;
use weir_model::Cursor;

/// A connection's sign.
#[derive(Default)]
pub(super) struct Live {
    taken_over: AtomicBool,
    /// Where in the log another gateway claimed the session.
    claimed_at: AtomicU64,
    waker: Mutex<Option<Waker>>,
}

impl Live {
    /// Tells the connection that another one is its client's now.
    pub(super) fn take_over(&self) {
        self.taken_over.store(true, Ordering::Release);
        let waker = self.lock().take();
        waker.into_iter().for_each(Waker::wake);
    }

    /// Tells the connection that another gateway has the session from there on.
    pub(super) fn lose(&self, at: Cursor) {
        self.claimed_at.fetch_max(at.bits(), Ordering::AcqRel);
        let waker = self.lock().take();
        waker.into_iter().for_each(Waker::wake);
    }

    /// Says whether another gateway has claimed the session since it was claimed here.
    pub(super) fn is_lost(&self, claim: Cursor) -> bool {
        self.claimed_at.load(Ordering::Acquire) > claim.bits()
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
