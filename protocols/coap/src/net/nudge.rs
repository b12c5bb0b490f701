//! Which of many waiting things can go on: each has a waker of its own, so that one that is ready does
//! not have all others looked at.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Wake, Waker};

/// The numbers of those that can go on.
#[derive(Debug, Default)]
pub(super) struct Nudges {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    ready: Vec<usize>,
    driver: Option<Waker>,
}

struct Nudge {
    number: usize,
    nudges: Arc<Nudges>,
}

impl Wake for Nudge {
    fn wake(self: Arc<Self>) {
        self.nudges.add(self.number);
    }
}

impl Nudges {
    /// The waker of one of them.
    pub(super) fn waker(self: &Arc<Self>, number: usize) -> Waker {
        let nudges = self.clone();
        Arc::new(Nudge { number, nudges }).into()
    }

    /// Says that one of them can go on.
    pub(super) fn add(&self, number: usize) {
        let mut state = self.lock();
        state.ready.push(number);
        let driver = state.driver.take();
        drop(state);
        driver.into_iter().for_each(Waker::wake);
    }

    /// Those that can go on; where there are none, `driver` is woken by the first.
    pub(super) fn take(&self, driver: &Waker) -> Vec<usize> {
        let mut state = self.lock();
        if state.ready.is_empty() {
            state.driver = Some(driver.clone());
        }
        std::mem::take(&mut state.ready)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
