//! What the log, its readers and its threads share.

use crate::connection::Connection;
use crate::name::Names;
use crate::pending::{self, Pending};
use crate::pull::Pull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use weir_hub::LogFault;
use weir_model::Cursor;

pub(crate) struct Shared {
    pub(crate) nats: Arc<Connection>,
    pub(crate) names: Names,
    /// Of the stream's identity.
    pub(crate) epoch: u16,
    /// Sequence of the last record taken.
    head: AtomicU64,
    state: Mutex<State>,
}

#[derive(Default)]
pub(crate) struct State {
    /// Sequence of the oldest record kept, as of the last look.
    pub(crate) first: u64,
    pub(crate) pending: Pending,
    /// Number of the last submission.
    pub(crate) submitted: u64,
    waiters: Vec<(u64, Waker)>,
    pub(crate) pulls: Vec<Weak<Pull>>,
    /// Why nothing is taken or told any more.
    pub(crate) fault: Option<LogFault>,
}

impl Shared {
    pub(crate) fn new(
        nats: Arc<Connection>,
        names: Names,
        epoch: u16,
        (first, head): (u64, u64),
    ) -> Self {
        let state = State {
            first,
            ..State::default()
        };
        Self {
            nats,
            names,
            epoch,
            head: AtomicU64::new(head),
            state: Mutex::new(state),
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn cursor(&self, sequence: u64) -> Cursor {
        Cursor::new(self.epoch, sequence)
    }

    pub(crate) fn head(&self) -> u64 {
        self.head.load(Ordering::Acquire)
    }

    pub(crate) fn set_head(&self, sequence: u64) {
        self.head.fetch_max(sequence, Ordering::AcqRel);
    }

    /// A pull that is looked after.
    pub(crate) fn pull(&self, stream: &str, filter: Option<String>, after: u64) -> Arc<Pull> {
        let pull = Pull::new(&self.nats, stream, filter, after);
        let mut state = self.state();
        state.pulls.retain(|known| known.strong_count() > 0);
        state.pulls.push(Arc::downgrade(&pull));
        let has_ended = state.fault.is_some();
        drop(state);
        if has_ended {
            pull.end();
        }
        pull
    }

    /// Ready once the record of a sequence was taken.
    pub(crate) fn poll_head(
        &self,
        sequence: u64,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), LogFault>> {
        let mut state = self.state();
        // Under the lock: whoever moves the head looks for waiters behind that.
        if sequence <= self.head() {
            return Poll::Ready(Ok(()));
        }
        if let Some(fault) = &state.fault {
            return Poll::Ready(Err(fault.clone()));
        }
        let known = |(of, waker): &(u64, Waker)| *of == sequence && waker.will_wake(cx.waker());
        if !state.waiters.iter().rev().take(8).any(known) {
            state.waiters.push((sequence, cx.waker().clone()));
        }
        Poll::Pending
    }

    /// Wakes those whose record was taken.
    pub(crate) fn wake(&self) {
        let mut state = self.state();
        let (head, all) = (self.head(), state.fault.is_some());
        let over = state
            .waiters
            .extract_if(.., |(sequence, _)| all || *sequence <= head);
        let over: Vec<Waker> = over.map(|(_, waker)| waker).collect();
        drop(state);
        over.into_iter().for_each(Waker::wake);
    }

    /// Takes and tells nothing any more.
    pub(crate) fn end(&self, fault: LogFault) {
        let mut state = self.state();
        let fault = state.fault.get_or_insert(fault).clone();
        let receipts = state.pending.drain();
        let pulls: Vec<_> = state.pulls.iter().filter_map(Weak::upgrade).collect();
        drop(state);
        pulls.iter().for_each(|pull| pull.end());
        pending::fail(receipts, &fault);
        self.wake();
    }
}
