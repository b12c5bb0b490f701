//! A group: the subscribers that want the same bytes, one queue for all of them.
//!
//! A subscriber is a position in the queue. Messages wait unencoded until the first subscriber asks;
//! all that wait then become one *chunk*, shared by everyone who comes by, so a slow pass over many
//! subscribers writes more with each call instead of calling more often. A chunk goes once the last
//! position has moved past it; the queue is bounded in bytes, and at the bound the policies of those
//! left behind act.
//!
//! Publishers hold the hub's lock while they wait for a queue's, so nothing is encoded under either: who
//! takes a chunk first frames it with no lock but the chunk's own, for which nobody waits but others
//! who take the same chunk.

use crate::counters::Counters;
use crate::interest::{Interest, Policy};
use crate::limits::CHUNK_BYTES_MAX;
use crate::message::Item;
use crate::pace::Pacer;
use crate::queue::{Held, Load, Queue, Taken, Wakers};
use crate::trace::delivering::Delivering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use weir_storage::Incomparable;
use weir_storage::units::Uncompared;

/// The queue of a group.
pub(crate) struct Group {
    pub(crate) interest: Interest,
    queue: Mutex<Queue>,
    uncompared: Mutex<Uncompared>,
    counters: Arc<Counters>,
}

impl Group {
    pub(crate) fn new(interest: Interest, counters: Arc<Counters>) -> Self {
        let pacer = interest.aggregate;
        let pacer = pacer.map(|aggregate| Pacer::new(aggregate, &counters.memory.all));
        let queue = Mutex::new(Queue::new(pacer, counters.memory.all.clone()));
        Self {
            interest,
            queue,
            uncompared: Mutex::default(),
            counters,
        }
    }

    /// Observations were left out, and why.
    #[cold]
    pub(crate) fn note_uncompared(&self, count: u64, why: &Incomparable) {
        self.counters.uncompared(count);
        let mut known = self.uncompared();
        known.count += count;
        known.last = Some(why.clone());
    }

    pub(crate) fn uncompared(&self) -> MutexGuard<'_, Uncompared> {
        let known = self.uncompared.lock();
        known.unwrap_or_else(PoisonError::into_inner)
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a message behind the others; those to be woken are added to `wakers`.
    pub(crate) fn offer(&self, item: Item, wakers: &mut Wakers) {
        let mut queue = self.queue();
        if queue.is_unwatched() {
            return;
        }
        match &mut queue.pacer {
            Some(pacer) => pacer.add(&item),
            None => queue.push(item, &self.counters, wakers),
        }
    }

    /// When the next window of an aggregating group closes, Unix nanoseconds.
    pub(crate) fn next_close(&self) -> Option<i64> {
        self.queue().pacer.as_ref()?.next_close()
    }

    /// Closes the windows that end at or before now.
    pub(crate) fn close_windows(&self, now_nanos: i64, wakers: &mut Wakers) {
        let mut queue = self.queue();
        let closed = queue.pacer.as_mut();
        if let Some(item) = closed.and_then(|pacer| pacer.close(now_nanos)) {
            queue.push(item, &self.counters, wakers);
        }
    }

    /// Adds a member that gets what is offered from now on.
    pub(crate) fn join(&self, policy: Policy) -> usize {
        self.queue().join(policy, &self.interest)
    }

    /// Takes a member out.
    pub(crate) fn leave(&self, key: usize) {
        self.queue().leave(key);
    }

    /// The next chunk of a member, or wakes it when there is one.
    pub(crate) fn poll_take(&self, key: usize, cx: &mut Context<'_>) -> Poll<Taken> {
        let polled = self.queue().poll_portion(key, &self.interest, cx);
        let portion = match ready!(polled) {
            Ok(portion) => portion,
            Err(taken) => return Poll::Ready(taken),
        };
        let (load, bytes) = match portion.held {
            Held::Ready(load) => (load, portion.bytes),
            Held::Unframed(unframed) if unframed.is_left() => {
                (Load::Unframed(unframed), portion.bytes)
            }
            Held::Unframed(unframed) => {
                let framed = unframed.framed();
                if portion.wanted && unframed.lasts {
                    let room = self.counters.memory.all.hold_small(framed.len());
                    self.queue().settle(portion.number, &framed, room);
                }
                let bytes = framed.len();
                (Load::Bytes(framed), bytes)
            }
        };
        self.counters.delivered(portion.messages, bytes as u64);
        // A reader that is stuck holds what it was handed: bytes count by themselves, of messages what is much.
        let is_counted = matches!(load, Load::Bytes(_)) || bytes <= CHUNK_BYTES_MAX;
        let room = (!is_counted).then(|| self.counters.memory.all.hold(bytes));
        let delivering = Delivering::begin(portion.traces, room);
        Poll::Ready(Taken::Chunk(
            load,
            portion.last,
            portion.messages,
            delivering,
        ))
    }

    /// Says whether there is something for a member, or wakes it when there is.
    pub(crate) fn poll_more(&self, key: usize, cx: &mut Context<'_>) -> bool {
        self.queue().poll_more(key, cx)
    }

    /// Moves a member to the end: what it has not taken, it will not get.
    pub(crate) fn skip(&self, key: usize, policy: Policy) -> usize {
        self.leave(key);
        self.join(policy)
    }

    /// Keeps no more than so many bytes for those who are behind.
    pub(crate) fn shed(&self, bytes_max: usize) {
        self.queue().bound(bytes_max, &self.counters);
    }

    /// Messages that wait for a member.
    pub(crate) fn waiting(&self, key: usize) -> u64 {
        self.queue().waiting(key)
    }

    /// Has all members look at what they are, though there is nothing for them.
    pub(crate) fn rouse(&self, wakers: &mut Wakers) {
        self.queue().rouse(wakers);
    }

    /// Ends all members.
    pub(crate) fn end(&self, wakers: &mut Wakers) {
        self.queue().end(wakers);
    }

    pub(crate) fn bytes_held(&self) -> usize {
        self.queue().bytes_held()
    }
}
