//! Shared subscriptions (section 4.8.2): one consumer, whose messages its members take in turns.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Wake, Waker};
use weir_hub::{Fault, Grants, Item, Next, Subscription};
use weir_model::Cursor;

/// All shares by name, filter and what their members may read.
#[derive(Default)]
pub(super) struct Shares {
    by_key: Mutex<HashMap<ShareKey, Weak<Share>>>,
}

/// What tells a share from every other.
pub(super) type ShareKey = (String, Arc<Grants>);

/// Messages that wait for one member at most.
const QUEUE_MAX: usize = 16;

/// One share.
pub(super) struct Share {
    inner: Mutex<Inner>,
    wakers: Arc<Wakers>,
}

struct Inner {
    subscription: Box<Subscription>,
    members: Vec<Member>,
    /// Whose turn it is.
    turn: usize,
    next_key: u64,
    /// Messages that came and are nobody's yet, those given back first.
    waiting: VecDeque<Item>,
    /// Messages that came and are not done: neither acknowledged nor a member's own affair.
    open: BTreeSet<Cursor>,
}

struct Member {
    key: u64,
    queue: VecDeque<Item>,
}

/// Wakes every member: whoever comes first hands the messages round.
#[derive(Default)]
struct Wakers(Mutex<Vec<(u64, Waker)>>);

impl Wake for Wakers {
    fn wake(self: Arc<Self>) {
        let wakers = std::mem::take(&mut *lock(&self.0));
        wakers.into_iter().for_each(|(_, waker)| waker.wake());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shares {
    /// The share of this key, made where there is none.
    pub(super) fn join(
        &self,
        key: ShareKey,
        subscribe: impl FnOnce() -> Result<Box<Subscription>, Fault>,
    ) -> Result<(Arc<Share>, u64), Fault> {
        let mut by_key = lock(&self.by_key);
        by_key.retain(|_, share| share.strong_count() > 0);
        if let Some(share) = by_key.get(&key).and_then(Weak::upgrade) {
            let member = share.enter();
            return Ok((share, member));
        }
        let share = Arc::new(Share {
            inner: Mutex::new(Inner {
                subscription: subscribe()?,
                members: Vec::new(),
                turn: 0,
                next_key: 0,
                waiting: VecDeque::new(),
                open: BTreeSet::new(),
            }),
            wakers: Arc::default(),
        });
        by_key.insert(key, Arc::downgrade(&share));
        let member = share.enter();
        Ok((share, member))
    }
}

impl Share {
    fn enter(&self) -> u64 {
        let mut inner = lock(&self.inner);
        inner.next_key += 1;
        let key = inner.next_key;
        inner.members.push(Member {
            key,
            queue: VecDeque::new(),
        });
        key
    }

    /// The next message of a member.
    pub(super) fn poll_take(
        &self,
        member: u64,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<Item>, Fault>> {
        self.wait(member, cx);
        let mut inner = lock(&self.inner);
        let pumped = inner.pump(&Waker::from(self.wakers.clone()));
        let of_member = inner.members.iter_mut().find(|of| of.key == member);
        let item = of_member.and_then(|of| of.queue.pop_front());
        let others = inner.members.iter();
        let others = others.filter(|of| of.key != member && !of.queue.is_empty());
        let others: Vec<u64> = others.map(|of| of.key).collect();
        drop(inner);
        self.wake(&others);
        match (item, pumped) {
            (Some(item), _) => Poll::Ready(Ok(Some(item))),
            (None, Ok(true)) => Poll::Pending,
            (None, Ok(false)) => Poll::Ready(Ok(None)),
            (None, Err(fault)) => Poll::Ready(Err(fault)),
        }
    }

    /// Notes that nobody else is to get a message any more.
    pub(super) fn done(&self, cursor: Cursor) {
        lock(&self.inner).open.remove(&cursor);
    }

    /// Up to where all messages are done: where the share goes on when its members have all been away.
    pub(super) fn position(&self) -> Cursor {
        let inner = lock(&self.inner);
        let first = inner.open.first().copied();
        first.map_or_else(|| inner.subscription.position(), before)
    }

    fn wait(&self, member: u64, cx: &mut Context<'_>) {
        let mut wakers = lock(&self.wakers.0);
        match wakers.iter_mut().find(|(key, _)| *key == member) {
            Some((_, waker)) => waker.clone_from(cx.waker()),
            None => wakers.push((member, cx.waker().clone())),
        }
    }

    fn wake(&self, members: &[u64]) {
        let mut wakers = lock(&self.wakers.0);
        let woken = wakers.extract_if(.., |(key, _)| members.contains(key));
        let woken: Vec<Waker> = woken.map(|(_, waker)| waker).collect();
        drop(wakers);
        woken.into_iter().for_each(Waker::wake);
    }

    /// Takes a member out; what it was handed and did not acknowledge goes to the others, first of all.
    pub(super) fn leave(&self, member: u64, unacknowledged: Vec<Item>) {
        let mut inner = lock(&self.inner);
        let Some(at) = inner.members.iter().position(|of| of.key == member) else {
            return;
        };
        let gone = inner.members.remove(at);
        let back = unacknowledged.into_iter().chain(gone.queue);
        back.rev_into(&mut inner.waiting);
        drop(inner);
        lock(&self.wakers.0).retain(|(key, _)| *key != member);
        self.wakers.clone().wake();
    }
}

/// The position before a message.
pub(super) fn before(cursor: Cursor) -> Cursor {
    Cursor::new(cursor.epoch(), cursor.sequence().saturating_sub(1))
}

/// Puts things at the front of a queue, in their order.
trait RevInto<T> {
    fn rev_into(self, queue: &mut VecDeque<T>);
}

impl<T, I: Iterator<Item = T>> RevInto<T> for I {
    fn rev_into(self, queue: &mut VecDeque<T>) {
        let all: Vec<T> = self.collect();
        all.into_iter()
            .rev()
            .for_each(|item| queue.push_front(item));
    }
}

impl Inner {
    /// Hands messages round while members have room; says whether more may come.
    fn pump(&mut self, waker: &Waker) -> Result<bool, Fault> {
        loop {
            while let Some(member) = self.next_with_room() {
                let Some(item) = self.waiting.pop_front() else {
                    break;
                };
                self.members[member].queue.push_back(item);
                self.turn = member + 1;
            }
            if !self.waiting.is_empty() {
                return Ok(true);
            }
            match self.subscription.poll_next(&mut Context::from_waker(waker)) {
                Poll::Pending => return Ok(true),
                Poll::Ready(next) => match next? {
                    Next::Items(items, _) => {
                        self.open
                            .extend(items.iter().map(|item| item.message.cursor));
                        self.waiting.extend(items.iter().cloned());
                    }
                    Next::Bytes(..) | Next::Unframed(..) | Next::Gap(..) => {}
                    Next::Ended(_) => return Ok(false),
                },
            }
        }
    }

    fn next_with_room(&self) -> Option<usize> {
        let count = self.members.len();
        let turns = (0..count).map(|step| (self.turn + step) % count);
        turns
            .into_iter()
            .find(|&member| self.members[member].queue.len() < QUEUE_MAX)
    }
}
