//! What a log that several gateways append to can do.

use crate::log::LogFault;
use crate::record::Record;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use weir_model::Cursor;

/// What a log that others append to can do beside reading.
pub trait Shared: Send + Sync {
    /// Sends a record on its way behind the last one; the receipt says its place once it has one.
    ///
    /// A record with a key that was submitted lately, by whichever gateway, gets the place of the first.
    fn submit(&self, record: &Record<'_>) -> Result<Arc<Receipt>, LogFault>;

    /// Gives every record behind the head to the follower, in order, for as long as it says `true`.
    fn follow(&self, follower: Follower);

    /// Moves the head: the record was taken.
    fn taken(&self, cursor: Cursor);

    /// Says whether the log has come to this cursor, taken here or not: whoever keeps it is asked.
    fn reaches(&self, cursor: Cursor) -> Result<bool, LogFault>;
}

/// Takes the records of a shared log; `false` where it takes no more.
pub type Follower = Box<dyn FnMut(Cursor, &Record<'_>) -> bool + Send>;

/// The place of a record that was submitted, once it is known.
#[derive(Debug, Default)]
pub struct Receipt {
    state: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    place: Option<Result<Cursor, LogFault>>,
    wakers: Vec<Waker>,
}

impl Receipt {
    fn state(&self) -> MutexGuard<'_, Waiting> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says the place, or that the record may have none; what is said first stays.
    pub fn settle(&self, place: Result<Cursor, LogFault>) {
        let mut state = self.state();
        state.place.get_or_insert(place);
        let waiting = std::mem::take(&mut state.wakers);
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
    }

    /// The place, once it is known; wakes `cx` then.
    pub fn poll(&self, cx: &mut Context<'_>) -> Poll<Result<Cursor, LogFault>> {
        let mut state = self.state();
        if let Some(place) = &state.place {
            return Poll::Ready(place.clone());
        }
        if !state.wakers.iter().any(|known| known.will_wake(cx.waker())) {
            state.wakers.push(cx.waker().clone());
        }
        Poll::Pending
    }

    /// The place, where it is known.
    pub fn place(&self) -> Option<Cursor> {
        self.state().place.clone()?.ok()
    }
}
