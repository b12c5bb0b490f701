//! What the log, its readers and its threads share.

use crate::connection::Connection;
use crate::limits::LOOKS_SHORT_MAX;
use crate::name::Names;
use crate::pending::{self, Pending};
use crate::pull::Pull;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Instant;
use weir_model::Cursor;
use weir_storage::LogFault;

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
    pub(crate) ends: Ends,
    /// When a look was answered last, which needs servers that agree.
    pub(crate) seen: Option<Instant>,
    pub(crate) pending: Pending,
    pub(crate) newest: Newest,
    /// Number of the last submission.
    pub(crate) submitted: u64,
    waiters: Vec<(u64, Waker)>,
    pub(crate) pulls: Vec<Weak<Pull>>,
    /// Why nothing is taken or told any more.
    pub(crate) fault: Option<LogFault>,
}

/// Where looks found the end of the stream, for those who come from beyond what this gateway has taken.
#[derive(Default)]
pub(crate) struct Ends {
    looks: u64,
    last: u64,
    /// Sequences that are asked for, and how many looks there had been by then.
    asked: BTreeMap<u64, u64>,
    wakers: Vec<Waker>,
}

impl Ends {
    /// Notes an answer to a look; gives those who wait for one.
    pub(crate) fn note(&mut self, last: u64) -> Vec<Waker> {
        self.looks += 1;
        self.last = last;
        // Who still waits has asked since the look before; who left is forgotten.
        let kept = u64::from(LOOKS_SHORT_MAX) + 2;
        self.asked.retain(|_, first| self.looks <= *first + kept);
        std::mem::take(&mut self.wakers)
    }

    /// Ready once enough looks that were begun since the first asking have shown an end before a sequence.
    fn poll_before(&mut self, sequence: u64, cx: &mut Context<'_>) -> Poll<()> {
        let first = *self.asked.entry(sequence).or_insert(self.looks);
        // One may have been under way already.
        let enough = self.looks > first + u64::from(LOOKS_SHORT_MAX);
        if self.last < sequence && !enough {
            if !self.wakers.iter().any(|known| known.will_wake(cx.waker())) {
                self.wakers.push(cx.waker().clone());
            }
            return Poll::Pending;
        }
        self.asked.remove(&sequence);
        if self.last < sequence {
            Poll::Ready(())
        } else {
            // It is there, and comes.
            Poll::Pending
        }
    }
}

/// A record as it was read: its sequence and its bytes.
pub(crate) type Read = (u64, Vec<u8>);

/// What was read last.
#[derive(Default)]
pub(crate) struct Newest {
    /// The number of the connection that was there then.
    round: u64,
    last: Option<Read>,
    /// The last one by the connection before.
    before: Option<Read>,
}

impl Newest {
    /// Notes a record that was read, and the connection that is there, where one is.
    pub(crate) fn note(&mut self, round: Option<u64>, read: Read) {
        let round = round.unwrap_or(self.round);
        if std::mem::replace(&mut self.round, round) != round {
            self.before = self.last.take();
        }
        self.last = Some(read);
    }

    /// Those of which one was read last by the connection before: what waits in memory is noted late.
    pub(crate) fn of_before(&mut self) -> Vec<Read> {
        self.before
            .take()
            .into_iter()
            .chain(self.last.clone())
            .collect()
    }
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
            seen: Some(Instant::now()),
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

    /// Ready once the stream is known to end before a sequence.
    pub(crate) fn poll_ends_before(&self, sequence: u64, cx: &mut Context<'_>) -> Poll<()> {
        self.state().ends.poll_before(sequence, cx)
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

#[cfg(test)]
mod tests {
    use super::{Ends, Newest};
    use crate::limits::LOOKS_SHORT_MAX;
    use std::task::{Context, Waker};

    fn sequences(newest: &mut Newest) -> Vec<u64> {
        newest
            .of_before()
            .iter()
            .map(|(sequence, _)| *sequence)
            .collect()
    }

    #[test]
    fn an_end_before_a_sequence_is_believed_after_enough_looks() {
        let mut ends = Ends::default();
        let mut cx = Context::from_waker(Waker::noop());
        ends.note(5);
        for _ in 0..=LOOKS_SHORT_MAX {
            assert!(ends.poll_before(9, &mut cx).is_pending());
            ends.note(5);
        }
        assert!(ends.poll_before(9, &mut cx).is_ready());
        assert!(ends.poll_before(5, &mut cx).is_pending());
        assert!(ends.poll_before(9, &mut cx).is_pending());
        assert_eq!(ends.asked.len(), 1);
        (0..LOOKS_SHORT_MAX + 3).for_each(|_| drop(ends.note(5)));
        assert!(ends.asked.is_empty());
    }

    #[test]
    fn what_the_last_connection_read_is_known_whenever_asked() {
        let mut newest = Newest::default();
        newest.note(Some(1), (6, vec![6]));
        newest.note(None, (7, vec![7]));
        assert_eq!(sequences(&mut newest), [7]);
        newest.note(Some(2), (8, vec![8]));
        newest.note(Some(2), (9, vec![9]));
        assert_eq!(sequences(&mut newest), [7, 9]);
        assert_eq!(sequences(&mut newest), [9]);
    }
}
