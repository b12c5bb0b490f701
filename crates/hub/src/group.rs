//! A group: the subscribers that want the same bytes, one queue for all of them.
//!
//! A subscriber is a position in the queue. Messages wait unencoded until the first subscriber asks;
//! all that wait then become one *chunk*, shared by everyone who comes by, so a slow pass over many
//! subscribers writes more with each call instead of calling more often. A chunk goes once the last
//! position has moved past it; the queue is bounded in bytes, and at the bound the policies of those
//! left behind act.

use crate::access::Grants;
use crate::aggregate::Aggregate;
use crate::condition::Condition;
use crate::counters::Counters;
use crate::framing::{Framing, FramingKey, frame_batch};
use crate::limits::{CHUNK_BYTES_MAX, QUEUE_BYTES_MAX};
use crate::message::Item;
use crate::pace::Pacer;
use bytes::Bytes;
use slab::Slab;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use weir_codec::Format;
use weir_model::{Cursor, Filter};

/// What happens to a subscriber that is slower than its messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Policy {
    /// It gets the newest value of each datastream instead of all.
    Conflate,
    /// It misses the oldest messages and is told how many.
    #[default]
    DropOldest,
    /// It is disconnected, and may resume by its cursor.
    Disconnect,
}

impl Policy {
    /// Every policy with its name on the wire.
    pub const ALL: &'static [(&'static str, Policy)] = &[
        ("conflate", Policy::Conflate),
        ("drop-oldest", Policy::DropOldest),
        ("disconnect", Policy::Disconnect),
    ];
}

/// Why a subscription is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It was slower than its messages under [`Policy::Disconnect`].
    TooSlow,
    /// The hub stops.
    Stopping,
}

impl std::fmt::Display for Ending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Ending::TooSlow => "too slow for policy=disconnect: resume by the last cursor",
            Ending::Stopping => "the gateway is stopping",
        })
    }
}

/// What a subscriber wants to be handed.
#[derive(Clone)]
pub enum Shape {
    /// Messages in a format, framed: bytes that all share.
    Framed(&'static Format, Arc<dyn Framing>),
    /// The messages themselves, as published.
    Items,
}

/// What a group's subscribers have in common.
#[derive(Clone)]
pub struct Interest {
    /// Topic filters, sorted.
    pub filters: Arc<[Filter]>,
    /// What they may read.
    pub grants: Arc<Grants>,
    /// Condition on results.
    pub condition: Option<Condition>,
    /// One observation a window instead of all.
    pub aggregate: Option<Aggregate>,
    /// What they are handed.
    pub shape: Shape,
}

/// What tells a group from every other; the condition by its text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct GroupKey {
    filters: Arc<[Filter]>,
    grants: Arc<Grants>,
    condition: Option<String>,
    aggregate: Option<Aggregate>,
    shape: Option<(&'static str, FramingKey)>,
}

impl Interest {
    pub(crate) fn key(&self) -> GroupKey {
        GroupKey {
            filters: self.filters.clone(),
            grants: self.grants.clone(),
            condition: self
                .condition
                .as_ref()
                .map(|condition| format!("{condition:?}")),
            aggregate: self.aggregate,
            shape: match &self.shape {
                Shape::Framed(format, framing) => Some((format.name, framing.key())),
                Shape::Items => None,
            },
        }
    }
}

/// The queue of a group.
pub(crate) struct Group {
    pub(crate) interest: Interest,
    queue: Mutex<Queue>,
    counters: Arc<Counters>,
}

struct Queue {
    pending: Vec<Item>,
    pending_bytes: usize,
    chunks: VecDeque<Chunk>,
    /// Number of the first chunk kept.
    base: u64,
    chunk_bytes: usize,
    members: Slab<Member>,
    waiting: Vec<usize>,
    pacer: Option<Pacer>,
}

struct Chunk {
    load: Load,
    messages: u64,
    bytes: usize,
    last: Cursor,
    /// Members that have yet to take it.
    remaining: usize,
}

/// What a chunk hands over.
#[derive(Clone, Debug)]
pub(crate) enum Load {
    Bytes(Bytes),
    Items(Arc<[Item]>),
}

struct Member {
    /// Number of the chunk it takes next.
    next: u64,
    policy: Policy,
    /// Messages dropped since it last took one.
    missed: u64,
    ended: Option<Ending>,
    waker: Option<Waker>,
}

/// What a member is handed.
pub(crate) enum Taken {
    /// A chunk, and the cursor of its last message.
    Chunk(Load, Cursor),
    /// So many messages were dropped before what comes next.
    Missed(u64),
    /// Its policy ended it, or the hub is closing.
    Ended(Ending),
}

impl Group {
    pub(crate) fn new(interest: Interest, counters: Arc<Counters>) -> Self {
        let pacer = interest.aggregate.map(Pacer::new);
        let queue = Queue {
            pending: Vec::new(),
            pending_bytes: 0,
            chunks: VecDeque::new(),
            base: 0,
            chunk_bytes: 0,
            members: Slab::new(),
            waiting: Vec::new(),
            pacer,
        };
        Self {
            interest,
            queue: Mutex::new(queue),
            counters,
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a message behind the others; those to be woken are added to `wakers`.
    pub(crate) fn offer(&self, item: Item, wakers: &mut Vec<Waker>) {
        let mut queue = self.queue();
        if queue.members.is_empty() {
            return;
        }
        match &mut queue.pacer {
            Some(pacer) => pacer.add(&item),
            None => self.enqueue(&mut queue, item, wakers),
        }
    }

    fn enqueue(&self, queue: &mut Queue, item: Item, wakers: &mut Vec<Waker>) {
        queue.pending_bytes += weight(&item);
        queue.pending.push(item);
        queue.bound(&self.counters);
        queue.wake(wakers);
    }

    /// When the next window of an aggregating group closes, Unix nanoseconds.
    pub(crate) fn next_close(&self) -> Option<i64> {
        self.queue().pacer.as_ref()?.next_close()
    }

    /// Closes the windows that end at or before now.
    pub(crate) fn close_windows(&self, now_nanos: i64, wakers: &mut Vec<Waker>) {
        let mut queue = self.queue();
        let Some(item) = queue
            .pacer
            .as_mut()
            .and_then(|pacer| pacer.close(now_nanos))
        else {
            return;
        };
        self.enqueue(&mut queue, item, wakers);
    }

    /// Adds a member that gets what is offered from now on.
    pub(crate) fn join(&self, policy: Policy) -> usize {
        let mut queue = self.queue();
        while !queue.pending.is_empty() {
            queue.seal(&self.interest.shape);
        }
        let next = queue.base + queue.chunks.len() as u64;
        queue.members.insert(Member {
            next,
            policy,
            missed: 0,
            ended: None,
            waker: None,
        })
    }

    /// Takes a member out.
    pub(crate) fn leave(&self, key: usize) {
        let mut queue = self.queue();
        let Some(member) = queue.members.try_remove(key) else {
            return;
        };
        if member.waker.is_some() {
            queue.forget_waiting(key);
        }
        // A member that its policy ended stands still while the queue moves on.
        let from = member.next.saturating_sub(queue.base) as usize;
        queue
            .chunks
            .range_mut(from..)
            .for_each(|chunk| chunk.remaining -= 1);
        queue.free_taken();
        if queue.members.is_empty() {
            queue.pending.clear();
            queue.pending_bytes = 0;
        }
    }

    /// The next chunk of a member, or wakes it when there is one.
    pub(crate) fn poll_take(&self, key: usize, cx: &mut Context<'_>) -> Poll<Taken> {
        let mut queue = self.queue();
        let queue = &mut *queue;
        let Some(member) = queue.members.get_mut(key) else {
            return Poll::Ready(Taken::Ended(Ending::Stopping));
        };
        if let Some(ending) = member.ended {
            return Poll::Ready(Taken::Ended(ending));
        }
        if member.missed > 0 {
            return Poll::Ready(Taken::Missed(std::mem::take(&mut member.missed)));
        }
        if member.next == queue.base + queue.chunks.len() as u64 {
            if queue.pending.is_empty() {
                queue.wait(key, cx);
                return Poll::Pending;
            }
            queue.seal(&self.interest.shape);
        }
        Poll::Ready(queue.take(key, &self.counters))
    }

    /// Moves a member to the end: what it has not taken, it will not get.
    pub(crate) fn skip(&self, key: usize, policy: Policy) -> usize {
        self.leave(key);
        self.join(policy)
    }

    /// Ends all members.
    pub(crate) fn end(&self, wakers: &mut Vec<Waker>) {
        let mut queue = self.queue();
        queue
            .members
            .iter_mut()
            .for_each(|(_, member)| member.ended = member.ended.or(Some(Ending::Stopping)));
        queue.wake(wakers);
        let stuck = queue
            .members
            .iter_mut()
            .filter_map(|(_, member)| member.waker.take());
        wakers.extend(stuck);
    }

    pub(crate) fn bytes_held(&self) -> usize {
        let queue = self.queue();
        queue.chunk_bytes + queue.pending_bytes
    }
}

impl Queue {
    fn wait(&mut self, key: usize, cx: &mut Context<'_>) {
        let member = &mut self.members[key];
        match &mut member.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            empty => {
                *empty = Some(cx.waker().clone());
                self.waiting.push(key);
            }
        }
    }

    fn forget_waiting(&mut self, key: usize) {
        if let Some(place) = self.waiting.iter().position(|&waiting| waiting == key) {
            self.waiting.swap_remove(place);
        }
    }

    fn wake(&mut self, wakers: &mut Vec<Waker>) {
        for key in self.waiting.drain(..) {
            wakers.extend(
                self.members
                    .get_mut(key)
                    .and_then(|member| member.waker.take()),
            );
        }
    }

    /// Makes one chunk of what is pending, as far as a chunk goes.
    fn seal(&mut self, shape: &Shape) {
        let (load, taken, bytes) = match shape {
            Shape::Framed(format, framing) => self.seal_framed(format, &**framing),
            Shape::Items => {
                let items: Arc<[Item]> = self.pending.as_slice().into();
                (Load::Items(items), self.pending.len(), self.pending_bytes)
            }
        };
        let last = self.pending[taken - 1].message.cursor;
        self.pending.drain(..taken);
        self.pending_bytes = self.pending.iter().map(weight).sum();
        let remaining = self.members.len();
        self.chunk_bytes += bytes;
        self.chunks.push_back(Chunk {
            load,
            messages: taken as u64,
            bytes,
            last,
            remaining,
        });
    }

    fn seal_framed(&self, format: &'static Format, framing: &dyn Framing) -> (Load, usize, usize) {
        let mut out = Vec::with_capacity(self.pending_bytes + self.pending.len() * 64);
        let taken = frame_batch(&self.pending, format, framing, CHUNK_BYTES_MAX, &mut out);
        out.shrink_to_fit();
        let bytes = out.len();
        (Load::Bytes(out.into()), taken, bytes)
    }

    fn take(&mut self, key: usize, counters: &Counters) -> Taken {
        let member = &mut self.members[key];
        let chunk = &mut self.chunks[(member.next - self.base) as usize];
        member.next += 1;
        chunk.remaining -= 1;
        counters.delivered(chunk.messages, chunk.bytes as u64);
        let taken = Taken::Chunk(chunk.load.clone(), chunk.last);
        self.free_taken();
        taken
    }

    fn free_taken(&mut self) {
        while self
            .chunks
            .front()
            .is_some_and(|chunk| chunk.remaining == 0)
        {
            self.drop_front();
        }
    }

    fn drop_front(&mut self) -> u64 {
        let Some(chunk) = self.chunks.pop_front() else {
            return 0;
        };
        self.chunk_bytes -= chunk.bytes;
        self.base += 1;
        chunk.messages
    }

    /// Keeps the queue within its bound: the oldest goes, and whoever had not taken it is told.
    ///
    /// The newest message stays, however long it is: else nobody would ever get it.
    fn bound(&mut self, counters: &Counters) {
        while self.chunk_bytes + self.pending_bytes > QUEUE_BYTES_MAX && !self.chunks.is_empty() {
            let messages = self.drop_front();
            self.lap(messages, self.base, counters);
        }
        let older = self.pending.len().saturating_sub(1);
        if self.pending_bytes > QUEUE_BYTES_MAX && older > 0 {
            self.pending.drain(..older);
            self.pending_bytes = self.pending.iter().map(weight).sum();
            self.lap(older as u64, u64::MAX, counters);
        }
    }

    /// Applies the policies of the members that wanted something just dropped: those whose next chunk
    /// lay before `bound`. Those that wait are woken by whoever put the message in.
    fn lap(&mut self, messages: u64, bound: u64, counters: &Counters) {
        for (_, member) in &mut self.members {
            if member.next >= bound || member.ended.is_some() {
                continue;
            }
            member.next = member.next.max(self.base);
            member.missed += messages;
            if member.policy == Policy::Disconnect {
                member.ended = Some(Ending::TooSlow);
            }
            counters.lapped(member.policy, messages);
        }
    }
}

/// Bytes that a waiting message counts for: those published, or, where the gateway made it, those held.
fn weight(item: &Item) -> usize {
    match item.message.body.len() {
        0 => item.message.memory_bytes(),
        published => published.max(64),
    }
}
