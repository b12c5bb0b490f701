//! Which of many sources have something: each wakes by its number, so that nobody asks all of them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Wake, Waker};

/// The numbers of the sources that woke.
#[derive(Default)]
pub(super) struct Ready {
    numbers: Mutex<Vec<u64>>,
    parent: Mutex<Option<Waker>>,
}

impl Ready {
    /// What is woken from here on when a source is.
    pub(super) fn tell(&self, waker: &Waker) {
        let mut parent = self.parent.lock().unwrap_or_else(PoisonError::into_inner);
        if !parent.as_ref().is_some_and(|known| known.will_wake(waker)) {
            *parent = Some(waker.clone());
        }
    }

    /// Those that woke since this was last asked.
    pub(super) fn take(&self) -> Vec<u64> {
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *numbers)
    }

    fn push(&self, number: u64) {
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        numbers.push(number);
    }
}

/// One source's bell.
pub(super) struct Bell {
    ready: Arc<Ready>,
    number: u64,
    rung: AtomicBool,
}

impl Bell {
    pub(super) fn new(ready: &Arc<Ready>, number: u64) -> Arc<Self> {
        Arc::new(Self {
            ready: ready.clone(),
            number,
            rung: AtomicBool::new(false),
        })
    }

    /// It is being answered: from here on it rings again.
    pub(super) fn answered(&self) {
        self.rung.store(false, Ordering::Release);
    }

    /// Notes that there may be more, without waking anybody.
    pub(super) fn again(&self) {
        if !self.rung.swap(true, Ordering::AcqRel) {
            self.ready.push(self.number);
        }
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.again();
        let parent = self
            .ready
            .parent
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(parent) = &*parent {
            parent.wake_by_ref();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bell_is_heard_once_until_it_is_answered() {
        let ready = Arc::new(Ready::default());
        let bell = Bell::new(&ready, 7);
        Waker::from(bell.clone()).wake();
        Waker::from(bell.clone()).wake();
        assert_eq!(ready.take(), [7]);
        bell.answered();
        Waker::from(bell).wake();
        assert_eq!(ready.take(), [7]);
    }
}
