//! What changed, for who follows it.

use crate::hub::Hub;
use crate::state::journal::Changed;
use std::task::{Context, Poll};

impl Hub {
    /// How many descriptions changed so far.
    pub fn revision(&self) -> u64 {
        self.core().journal.revision
    }

    /// What was described, described anew or forgotten since a revision; all is new since `u64::MAX`.
    pub fn changed_since(&self, revision: u64) -> Changed {
        self.core().journal.since(revision)
    }

    /// What changed since a revision, once something has; wakes `cx` then.
    pub fn poll_changed(&self, revision: u64, cx: &mut Context<'_>) -> Poll<Changed> {
        let mut core = self.core();
        if core.journal.revision == revision {
            core.journal.wait(cx.waker());
            return Poll::Pending;
        }
        Poll::Ready(core.journal.since(revision))
    }
}
