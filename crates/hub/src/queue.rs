//! A group's queue: what is pending, the chunks, and where each member stands among them.

use crate::counters::Counters;
use crate::framing::{Framing, frame_batch};
use crate::interest::{Ending, Interest, Policy, Shape};
use crate::limits::CHUNK_BYTES_MAX;
use crate::memory::{Memory, Room};
use crate::message::Item;
use crate::pace::Pacer;
use crate::trace::delivering::{Delivering, Traces};
use bytes::Bytes;
use slab::Slab;
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};
use weir_codec::Format;
use weir_model::Cursor;

/// Who is to be woken once the locks are given back.
pub(crate) type Wakers = SmallVec<[Waker; 4]>;

/// The queue.
pub(crate) struct Queue {
    pending: VecDeque<Item>,
    pending_bytes: usize,
    chunks: VecDeque<Chunk>,
    /// Number of the first chunk kept.
    base: u64,
    chunk_bytes: usize,
    members: Slab<Member>,
    waiting: Vec<usize>,
    /// Gathers what is offered, where it is thinned out.
    pub(crate) pacer: Option<Pacer>,
    memory: Arc<Memory>,
}

struct Chunk {
    held: Held,
    messages: u64,
    /// Bytes that it counts for: those that were published until it is framed, then its own.
    bytes: usize,
    last: Cursor,
    /// Members that have yet to take it.
    remaining: usize,
    traces: Traces,
    /// Of bytes that were made for it.
    room: Room,
}

/// What a chunk hands over.
#[derive(Clone, Debug)]
pub(crate) enum Load {
    Bytes(Bytes),
    Items(Arc<[Item]>),
    /// Bytes to be.
    Unframed(Arc<Unframed>),
}

/// What a chunk holds.
#[derive(Clone)]
pub(crate) enum Held {
    Ready(Load),
    Unframed(Arc<Unframed>),
}

/// Messages of a chunk that nobody has taken yet, framed by whoever does so first.
pub struct Unframed {
    items: Vec<Item>,
    traces: Traces,
    format: &'static Format,
    raw: bool,
    framing: Arc<dyn Framing>,
    /// Whether the bytes stay true: else everyone has them made anew.
    pub(crate) lasts: bool,
    framed: OnceLock<Bytes>,
    reads_past: OnceLock<bool>,
    memory: Arc<Memory>,
}

impl std::fmt::Debug for Unframed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Unframed({} messages)", self.items.len())
    }
}

impl Unframed {
    pub(crate) fn new(
        items: Vec<Item>,
        traces: Traces,
        interest: &Interest,
        shape: Framed<'_>,
        memory: &Arc<Memory>,
    ) -> Self {
        let Framed(format, framing) = shape;
        Self {
            memory: memory.clone(),
            lasts: !framing.ages() || !items.iter().any(expires),
            items,
            traces,
            format,
            raw: interest.raw,
            framing: framing.clone(),
            framed: OnceLock::new(),
            reads_past: OnceLock::new(),
        }
    }

    /// The framed bytes; whoever comes meanwhile waits for the first.
    pub fn framed(&self) -> Bytes {
        match self.lasts {
            true => self.framed.get_or_init(|| self.encoded()).clone(),
            false => self.encoded(),
        }
    }

    /// Whether framing them is left to whoever takes them.
    pub(crate) fn is_left(&self) -> bool {
        let reads_past = || self.framing.reads_past(&self.items);
        self.framed.get().is_none() && *self.reads_past.get_or_init(reads_past)
    }

    fn encoded(&self) -> Bytes {
        self.traces.encoding(self.format.name, || self.frame())
    }

    fn frame(&self) -> Bytes {
        let weights = self.items.iter().map(weight).sum::<usize>();
        let mut out = Vec::with_capacity(weights + self.items.len() * 64);
        frame_batch(&self.items, self.format, self.raw, &*self.framing, &mut out);
        if out.capacity() > 2 * out.len() {
            out.shrink_to_fit();
        }
        // A reader that is stuck holds what it was handed: it counts as long as anybody has it.
        self.memory.counted(out.into())
    }
}

/// What [`Shape::Framed`] holds.
pub(crate) struct Framed<'a>(pub(crate) &'static Format, pub(crate) &'a Arc<dyn Framing>);

/// A chunk as a member takes it.
pub(crate) struct Portion {
    pub(crate) number: u64,
    pub(crate) held: Held,
    pub(crate) messages: u64,
    pub(crate) bytes: usize,
    pub(crate) last: Cursor,
    /// Whether others are still to take it.
    pub(crate) wanted: bool,
    pub(crate) traces: Traces,
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
    /// A chunk, the cursor of its last message, how many it holds, and what ends when it is taken.
    Chunk(Load, Cursor, u64, Delivering),
    /// So many messages were dropped before what comes next.
    Missed(u64),
    /// Its policy ended it, or the hub is closing.
    Ended(Ending),
}

impl Queue {
    /// An empty queue of nobody.
    pub(crate) fn new(pacer: Option<Pacer>, memory: Arc<Memory>) -> Self {
        Self {
            memory,
            pending: VecDeque::new(),
            pending_bytes: 0,
            chunks: VecDeque::new(),
            base: 0,
            chunk_bytes: 0,
            members: Slab::new(),
            waiting: Vec::new(),
            pacer,
        }
    }

    /// Says whether nobody is there to take anything.
    pub(crate) fn is_unwatched(&self) -> bool {
        self.members.is_empty()
    }

    /// Puts a message behind the others; those to be woken are added to `wakers`.
    pub(crate) fn push(&mut self, item: Item, counters: &Counters, wakers: &mut Wakers) {
        self.pending_bytes += weight(&item);
        self.pending.push_back(item);
        self.bound(counters.memory.all.queue_bytes_max(), counters);
        self.wake(wakers);
    }

    /// Adds a member that gets what is pushed from now on.
    pub(crate) fn join(&mut self, policy: Policy, interest: &Interest) -> usize {
        while !self.pending.is_empty() {
            self.seal(interest);
        }
        let next = self.end_number();
        self.members.insert(Member {
            next,
            policy,
            missed: 0,
            ended: None,
            waker: None,
        })
    }

    /// Takes a member out.
    pub(crate) fn leave(&mut self, key: usize) {
        let Some(member) = self.members.try_remove(key) else {
            return;
        };
        if member.waker.is_some() {
            self.forget_waiting(key);
        }
        // A member that its policy ended stands still while the queue moves on.
        let from = member.next.saturating_sub(self.base) as usize;
        self.chunks
            .range_mut(from..)
            .for_each(|chunk| chunk.remaining -= 1);
        self.free_taken();
        if self.members.is_empty() {
            self.pending.clear();
            self.pending_bytes = 0;
        }
    }

    /// The next chunk of a member; an error is what comes in the place of one.
    pub(crate) fn poll_portion(
        &mut self,
        key: usize,
        interest: &Interest,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Portion, Taken>> {
        let end = self.end_number();
        let Some(member) = self.members.get_mut(key) else {
            return Poll::Ready(Err(Taken::Ended(Ending::Stopping)));
        };
        if let Some(ending) = member.ended {
            return Poll::Ready(Err(Taken::Ended(ending)));
        }
        if member.missed > 0 {
            let missed = std::mem::take(&mut member.missed);
            return Poll::Ready(Err(Taken::Missed(missed)));
        }
        if member.next == end {
            if self.pending.is_empty() {
                self.wait(key, cx);
                return Poll::Pending;
            }
            self.seal(interest);
        }
        Poll::Ready(Ok(self.take(key)))
    }

    /// Says whether there is something for a member, or wakes it when there is.
    pub(crate) fn poll_more(&mut self, key: usize, cx: &mut Context<'_>) -> bool {
        let end = self.end_number();
        let Some(member) = self.members.get(key) else {
            return true;
        };
        let is_owed = member.ended.is_some() || member.missed > 0 || member.next < end;
        let more = is_owed || !self.pending.is_empty();
        if !more {
            self.wait(key, cx);
        }
        more
    }

    /// Ends all members.
    pub(crate) fn end(&mut self, wakers: &mut Wakers) {
        for (_, member) in &mut self.members {
            member.ended = member.ended.or(Some(Ending::Stopping));
        }
        self.rouse(wakers);
    }

    /// Wakes all members.
    pub(crate) fn rouse(&mut self, wakers: &mut Wakers) {
        self.wake(wakers);
        let stuck = self.members.iter_mut();
        wakers.extend(stuck.filter_map(|(_, member)| member.waker.take()));
    }

    /// Bytes that chunks and pending messages count for.
    pub(crate) fn bytes_held(&self) -> usize {
        self.chunk_bytes + self.pending_bytes
    }

    /// Messages that a member has not taken.
    pub(crate) fn waiting(&self, key: usize) -> u64 {
        let Some(member) = self.members.get(key) else {
            return 0;
        };
        let from = member.next.saturating_sub(self.base) as usize;
        let chunks = self.chunks.range(from.min(self.chunks.len())..);
        chunks.map(|chunk| chunk.messages).sum::<u64>() + self.pending.len() as u64
    }

    /// Number of the chunk that is made next.
    fn end_number(&self) -> u64 {
        self.base + self.chunks.len() as u64
    }

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

    fn wake(&mut self, wakers: &mut Wakers) {
        for key in self.waiting.drain(..) {
            wakers.extend(
                self.members
                    .get_mut(key)
                    .and_then(|member| member.waker.take()),
            );
        }
    }

    /// Makes one chunk of what is pending, as far as a chunk goes.
    fn seal(&mut self, interest: &Interest) {
        let (taken, bytes) = match &interest.shape {
            Shape::Framed(..) => self.due(),
            Shape::Items => (self.pending.len(), self.pending_bytes),
        };
        let items: Vec<Item> = self.pending.drain(..taken).collect();
        let Some(last) = items.last().map(|item| item.message.cursor) else {
            return;
        };
        let traces = Traces::of(&items);
        let held = match &interest.shape {
            Shape::Framed(format, framing) => {
                let shape = Framed(format, framing);
                Held::Unframed(Arc::new(Unframed::new(
                    items,
                    traces.clone(),
                    interest,
                    shape,
                    &self.memory,
                )))
            }
            Shape::Items => Held::Ready(Load::Items(items.into())),
        };
        self.pending_bytes -= bytes;
        self.chunk_bytes += bytes;
        self.chunks.push_back(Chunk {
            held,
            messages: taken as u64,
            bytes,
            last,
            remaining: self.members.len(),
            traces,
            room: Room::default(),
        });
    }

    /// How many of those pending make a chunk, at least one, and the bytes that they count for.
    fn due(&self) -> (usize, usize) {
        let (mut taken, mut bytes) = (0, 0);
        for item in &self.pending {
            taken += 1;
            bytes += weight(item);
            if bytes >= CHUNK_BYTES_MAX {
                break;
            }
        }
        (taken, bytes)
    }

    fn take(&mut self, key: usize) -> Portion {
        let member = &mut self.members[key];
        let number = member.next;
        let chunk = &mut self.chunks[(number - self.base) as usize];
        member.next += 1;
        chunk.remaining -= 1;
        let portion = Portion {
            number,
            held: chunk.held.clone(),
            messages: chunk.messages,
            bytes: chunk.bytes,
            last: chunk.last,
            wanted: chunk.remaining > 0,
            traces: chunk.traces.clone(),
        };
        self.free_taken();
        portion
    }

    /// Keeps the bytes of a chunk in the place of its messages, unless it is gone or was settled before.
    pub(crate) fn settle(&mut self, number: u64, framed: &Bytes, room: Room) {
        let index = number.checked_sub(self.base).map(|index| index as usize);
        let Some(chunk) = index.and_then(|index| self.chunks.get_mut(index)) else {
            return;
        };
        if let Held::Unframed(_) = chunk.held {
            chunk.held = Held::Ready(Load::Bytes(framed.clone()));
            self.chunk_bytes = self.chunk_bytes - chunk.bytes + framed.len();
            chunk.bytes = framed.len();
            chunk.room = room;
        }
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
    pub(crate) fn bound(&mut self, bytes_max: usize, counters: &Counters) {
        while self.chunk_bytes + self.pending_bytes > bytes_max && !self.chunks.is_empty() {
            let messages = self.drop_front();
            self.lap(messages, self.base, counters);
        }
        let older = self.pending.len().saturating_sub(1);
        if self.pending_bytes > bytes_max && older > 0 {
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

fn expires(item: &Item) -> bool {
    item.message.attributes.expires.is_some()
}

/// Bytes that a waiting message counts for: those published, or, where the gateway made it, those held.
pub(crate) fn weight(item: &Item) -> usize {
    match item.message.body.len() {
        0 => item.message.memory_bytes(),
        published => published.max(64),
    }
}
