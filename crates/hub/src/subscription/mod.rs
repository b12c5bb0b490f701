//! A consumer: snapshot or replay first, then its group's queue, with no hole and no duplicate.

pub(crate) mod replay;
mod retained;
pub(crate) mod snapshot;

use crate::access::{Principal, check_filters};
use crate::fault::Fault;
use crate::framing::Frame;
use crate::group::Group;
use crate::hub::{Core, GroupSlot, Hub};
use crate::interest::{Ending, Interest, Policy, Shape};
use crate::limits::CHUNK_BYTES_MAX;
use crate::message::Item;
use crate::queue::{Framed, Load, Taken, Unframed};
use crate::requests::{Since, Subscribe};
use crate::selection;
use crate::standing::Standing;
use crate::subscription::replay::{Replay, Replayed};
use crate::trace::delivering::{Delivering, Traces};
use bytes::Bytes;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use weir_model::{Cursor, Time};
use weir_storage::units::Uncompared;
use weir_storage::{Gap, GapReason, Resume};

/// Messages as they come; pulled, so that not pulling is the back-pressure.
pub struct Subscription {
    pub(crate) hub: Arc<Hub>,
    pub(crate) group: Arc<Group>,
    policy: Policy,
    /// Whether its reader may still read.
    standing: Standing,
    pub(crate) stage: Stage,
    /// The last message handed over, or where it began.
    pub(crate) position: Cursor,
    /// Whether nothing is handed over before it is on disk.
    committed: bool,
    /// Whose last values are left out.
    pub(crate) but_through: Option<Arc<str>>,
    /// What waits for that, with the position before it.
    held: Option<Box<(Next, Cursor)>>,
    /// Messages taken that nobody has counted yet.
    handed: u64,
    /// What was handed over last, in its traces.
    delivering: Delivering,
}

pub(crate) enum Stage {
    /// Something is missing before what follows.
    Gap(Gap, Box<Stage>),
    /// The retained messages up to where the subscription begins, then what follows.
    Retained {
        due: Cursor,
        /// Topics up to this one were handed over.
        upto: Option<Arc<str>>,
        then: Box<Stage>,
    },
    /// The last values up to a head, those after `after`; the member waits in the group already.
    Snapshot {
        after: Cursor,
        head: Cursor,
        member: usize,
        /// Topics up to this one were handed over.
        upto: Option<Arc<str>>,
    },
    /// Messages from memory, those after this cursor.
    Recent(Cursor),
    /// Messages from the log.
    Replay(Box<Replay>),
    /// The group's queue.
    Live(usize),
    /// Over.
    Ended(Ending),
}

/// What a subscriber gets next.
#[derive(Clone, Debug)]
pub enum Next {
    /// Framed messages that others share, up to this cursor.
    Bytes(Bytes, Cursor),
    /// The same, whose framing reads of the past: it is done where that holds up nobody.
    Unframed(Arc<Unframed>, Cursor),
    /// Messages as published, up to this cursor.
    Items(Arc<[Item]>, Cursor),
    /// Messages are missing before what follows (only where items are asked for; else it is framed).
    Gap(Gap, Cursor),
    /// It is over.
    Ended(Ending),
}

/// Messages or records looked at in one poll, so that one reader does not hold up a thread or the lock.
pub(crate) const RECORDS_PER_POLL: usize = 2048;

impl Hub {
    pub(crate) fn subscribe(
        self: &Arc<Self>,
        now: Time,
        principal: &Principal,
        subscribe: Subscribe,
    ) -> Result<Box<Subscription>, Fault> {
        check_filters(principal, &subscribe.filters)?;
        self.check_unit(principal, &subscribe.filters, &subscribe.unit)?;
        let mut filters = subscribe.filters;
        filters.sort();
        filters.dedup();
        let interest = Interest {
            filters: filters.into(),
            grants: principal.grants.clone(),
            condition: subscribe.condition,
            aggregate: subscribe.aggregate,
            unit: subscribe.unit,
            shape: subscribe.shape,
            raw: subscribe.raw,
        };
        let mut core = self.core();
        if core.stopping {
            return Err(Fault::Stopping);
        }
        let group = self.enter(&mut core, interest, &principal.name)?;
        let policy = subscribe.policy;
        let (mut stage, position) = self.first_stage(&group, policy, subscribe.since);
        if subscribe.retained {
            self.expire_retained(&mut core, now);
            stage = Stage::Retained {
                due: position,
                upto: None,
                then: Box::new(stage),
            };
        }
        drop(core);
        Ok(Box::new(Subscription {
            hub: self.clone(),
            group,
            policy,
            standing: principal.standing.clone(),
            stage,
            position,
            committed: subscribe.committed,
            but_through: subscribe.but_through,
            held: None,
            handed: 0,
            delivering: Delivering::default(),
        }))
    }

    /// The group of an interest, made where there is none.
    fn enter(
        &self,
        core: &mut Core,
        interest: Interest,
        owner: &Arc<str>,
    ) -> Result<Arc<Group>, Fault> {
        let key = interest.key();
        if let Some(&id) = core.by_key.get(&key) {
            self.counters.subscribed();
            core.groups[id].subscribers += 1;
            return Ok(core.groups[id].group.clone());
        }
        core.held.take(owner, interest.filters.len())?;
        self.counters.subscribed();
        let group = Arc::new(Group::new(interest, self.counters.clone()));
        let id = core.groups.insert(GroupSlot {
            group: group.clone(),
            subscribers: 1,
            owner: owner.clone(),
        });
        for filter in group.interest.filters.iter() {
            core.tree.insert(filter, id as u32);
        }
        core.by_key.insert(key, id);
        core.raw_groups += usize::from(group.interest.raw);
        core.generation += 1;
        Ok(group)
    }

    /// Leaves a group, which goes with its last subscriber.
    fn exit(&self, group: &Group) {
        self.counters.unsubscribed();
        let key = group.interest.key();
        let mut core = self.core();
        let Some(&id) = core.by_key.get(&key) else {
            return;
        };
        core.groups[id].subscribers -= 1;
        if core.groups[id].subscribers == 0 {
            core.by_key.remove(&key);
            core.raw_groups -= usize::from(group.interest.raw);
            let slot = core.groups.remove(id);
            core.held
                .give_back(&slot.owner, group.interest.filters.len());
            for filter in group.interest.filters.iter() {
                core.tree.remove(filter, id as u32);
            }
            core.generation += 1;
        }
    }

    fn first_stage(&self, group: &Group, policy: Policy, since: Since) -> (Stage, Cursor) {
        let head = self.log.head();
        match since {
            Since::Now => (Stage::Live(group.join(policy)), head),
            Since::Snapshot => {
                let member = group.join(policy);
                (
                    Stage::Snapshot {
                        after: Cursor::START,
                        head,
                        member,
                        upto: None,
                    },
                    head,
                )
            }
            Since::Cursor(cursor) => match self.log.resume(cursor) {
                Resume::From(from) => (resumed(group, policy, from), from),
                Resume::Gap(gap, from) => {
                    let then = Box::new(resumed(group, policy, from));
                    (Stage::Gap(gap, then), from)
                }
            },
        }
    }
}

/// What a piece comes to: it is handed over; one that is empty is passed over, after a turn of all others
/// where more pieces follow.
fn handed(
    next: Option<Next>,
    whole: bool,
    cx: &mut Context<'_>,
) -> Option<Poll<Result<Next, Fault>>> {
    match next {
        Some(next) => Some(Poll::Ready(Ok(next))),
        None if whole => None,
        None => {
            cx.waker().wake_by_ref();
            Some(Poll::Pending)
        }
    }
}

/// What follows a cursor: from memory where it is recent, else from the log.
fn resumed(group: &Group, policy: Policy, from: Cursor) -> Stage {
    if group.interest.aggregate.is_none() {
        return Stage::Recent(from);
    }
    // Windows that closed meanwhile were nobody's, and one that was open is not whole.
    let gap = Gap {
        reason: GapReason::Policy,
        count: None,
    };
    Stage::Gap(gap, Box::new(Stage::Live(group.join(policy))))
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.leave(&self.stage);
        self.hub.exit(&self.group);
    }
}

impl Subscription {
    fn leave(&self, stage: &Stage) {
        match stage {
            Stage::Gap(_, then) | Stage::Retained { then, .. } => self.leave(then),
            Stage::Snapshot { member, .. } | Stage::Live(member) => {
                self.group.leave(*member);
            }
            Stage::Recent(_) | Stage::Replay(_) | Stage::Ended(_) => {}
        }
    }

    /// Ends it, with what was held for its reader.
    fn end_revoked(&mut self) -> Ending {
        if !matches!(self.stage, Stage::Ended(_)) {
            let stage = std::mem::replace(&mut self.stage, Stage::Ended(Ending::Revoked));
            self.leave(&stage);
            self.held = None;
        }
        self.ending().unwrap_or(Ending::Revoked)
    }

    /// Observations that those who share this were not given, since they could not be compared.
    pub fn uncompared(&self) -> Uncompared {
        self.group.uncompared().clone()
    }

    /// How many messages were taken since the last time that this was asked.
    pub fn take_count(&mut self) -> u64 {
        std::mem::take(&mut self.handed)
    }

    /// Notes that what was handed over last is with the client, for its trace; who asks for more says so
    /// too.
    pub fn delivered(&mut self) {
        self.delivering = Delivering::default();
    }

    /// Why it is over, once it is.
    pub fn ending(&self) -> Option<Ending> {
        match self.stage {
            Stage::Ended(ending) => Some(ending),
            _ => None,
        }
    }

    /// Position after what was handed over last.
    pub fn position(&self) -> Cursor {
        self.held.as_ref().map_or(self.position, |held| held.1)
    }

    /// What comes next; wakes `cx` when there is something.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Next, Fault>> {
        self.delivered();
        if self.standing.is_revoked() {
            return Poll::Ready(Ok(Next::Ended(self.end_revoked())));
        }
        if !self.committed {
            return self.poll_live(cx);
        }
        if self.held.is_none() {
            let before = self.position;
            let next = ready!(self.poll_live(cx))?;
            self.held = Some(Box::new((next, before)));
        }
        ready!(self.hub.log.poll_committed(self.position, cx))?;
        match self.held.take() {
            Some(held) => Poll::Ready(Ok(held.0)),
            None => Poll::Pending,
        }
    }

    /// Says whether [`Self::poll_next`] may give more at once, or wakes `cx` when it may; takes nothing.
    ///
    /// Where many share what is framed once, who took again at once would have the few messages framed that
    /// came meanwhile, for all of them; after a turn of all others it is one chunk of all that came.
    pub fn poll_more(&mut self, cx: &mut Context<'_>) -> bool {
        match self.stage {
            Stage::Live(member) if self.held.is_none() => self.group.poll_more(member, cx),
            _ => true,
        }
    }

    /// What comes next, whether it is on disk or not.
    fn poll_live(&mut self, cx: &mut Context<'_>) -> Poll<Result<Next, Fault>> {
        loop {
            match std::mem::replace(&mut self.stage, Stage::Ended(Ending::Stopping)) {
                Stage::Ended(ending) => {
                    self.stage = Stage::Ended(ending);
                    return Poll::Ready(Ok(Next::Ended(ending)));
                }
                Stage::Gap(gap, then) => {
                    self.stage = *then;
                    return Poll::Ready(Ok(self.gap(gap)));
                }
                Stage::Retained { due, upto, then } => {
                    let piece = self.retained(due, upto.as_deref());
                    let whole = piece.upto.is_none();
                    self.stage = match piece.upto {
                        None => *then,
                        upto => Stage::Retained { due, upto, then },
                    };
                    if let Some(polled) = handed(piece.next, whole, cx) {
                        return polled;
                    }
                }
                Stage::Snapshot {
                    after,
                    head,
                    member,
                    upto,
                } => {
                    let piece = self.snapshot(after, head, upto.as_deref());
                    let whole = piece.upto.is_none();
                    self.stage = match piece.upto {
                        None => Stage::Live(member),
                        upto => Stage::Snapshot {
                            after,
                            head,
                            member,
                            upto,
                        },
                    };
                    if let Some(polled) = handed(piece.next, whole, cx) {
                        return polled;
                    }
                }
                Stage::Recent(from) => {
                    let next = match ready!(self.poll_taken(from, cx))? {
                        true => self.recent(from),
                        false => Some(self.undone()),
                    };
                    if let Some(next) = next {
                        return Poll::Ready(Ok(next));
                    }
                }
                Stage::Replay(replay) => match ready!(self.poll_replay(replay, cx))? {
                    Replayed::Next(next) => return Poll::Ready(Ok(next)),
                    Replayed::CaughtUp(last) => self.stage = Stage::Recent(last),
                    Replayed::Later => {
                        cx.waker().wake_by_ref();
                        return Poll::Pending;
                    }
                },
                Stage::Live(member) => {
                    self.stage = Stage::Live(member);
                    let taken = ready!(self.group.poll_take(member, cx));
                    if let Some(next) = self.live(member, taken) {
                        return Poll::Ready(Ok(next));
                    }
                }
            }
        }
    }

    /// Ready once the log is taken up to a cursor: of a shared one another gateway may have taken more. `false` where
    /// it never came so far, since servers lost what they had.
    fn poll_taken(&mut self, from: Cursor, cx: &mut Context<'_>) -> Poll<Result<bool, Fault>> {
        self.stage = Stage::Recent(from);
        match from > self.hub.log.head() {
            true => self.hub.log.poll_reached(from, cx).map_err(Fault::Log),
            false => Poll::Ready(Ok(true)),
        }
    }

    /// What the client had seen is not in the log any more: it goes on with what is there now.
    fn undone(&mut self) -> Next {
        let head = self.hub.log.head();
        (self.stage, self.position) = (Stage::Recent(head), head);
        self.gap(Gap {
            reason: GapReason::Rollback,
            count: None,
        })
    }

    /// Reads on in the log, once it is its turn and that does not wait.
    fn poll_replay(
        &mut self,
        mut replay: Box<Replay>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Replayed, Fault>> {
        let Poll::Ready(_turn) = replay.poll_ready(&self.hub.replays, cx) else {
            self.stage = Stage::Replay(replay);
            return Poll::Pending;
        };
        Poll::Ready(self.replay(replay))
    }

    /// Some messages from memory; behind the last, joins the group while no one publishes.
    fn recent(&mut self, from: Cursor) -> Option<Next> {
        let hub = self.hub.clone();
        let core = hub.core();
        let Some(mut messages) = core.recent.after(from) else {
            drop(core);
            let replay = Replay::new(hub.log.read(from), from);
            self.stage = Stage::Replay(Box::new(replay));
            return None;
        };
        let (mut items, mut bytes, mut last) = (Vec::new(), 0, from);
        for message in messages.by_ref().take(RECORDS_PER_POLL) {
            last = message.cursor;
            bytes += message.body.len();
            items.extend(selection::project(message, &self.group));
            if bytes >= CHUNK_BYTES_MAX {
                break;
            }
        }
        self.stage = match messages.next() {
            Some(_) => Stage::Recent(last),
            None if core.stopping => Stage::Ended(Ending::Stopping),
            None => Stage::Live(self.group.join(self.policy)),
        };
        drop(messages);
        drop(core);
        self.hand_over(items)
    }

    fn live(&mut self, member: usize, taken: Taken) -> Option<Next> {
        match taken {
            Taken::Chunk(load, last, messages, delivering) => {
                self.handed += messages;
                self.delivering = delivering;
                self.position = self.position.max(last);
                Some(match load {
                    Load::Bytes(bytes) => Next::Bytes(bytes, last),
                    Load::Items(items) => Next::Items(items, last),
                    Load::Unframed(unframed) => Next::Unframed(unframed, last),
                })
            }
            Taken::Missed(_) if self.policy == Policy::Conflate => {
                self.conflate(member);
                None
            }
            Taken::Missed(count) => {
                let gap = Gap {
                    reason: GapReason::Policy,
                    count: Some(count),
                };
                Some(self.gap(gap))
            }
            Taken::Ended(ending) => {
                self.group.leave(member);
                self.stage = Stage::Ended(ending);
                Some(Next::Ended(ending))
            }
        }
    }

    /// Says whether it has caught up: what it gets is what is published.
    pub fn is_live(&self) -> bool {
        matches!(self.stage, Stage::Live(_))
    }

    /// Passes over what is not the newest: where more than one message waits, what comes next is the
    /// last value of each datastream that they changed, as under [`Policy::Conflate`].
    ///
    /// Windows of an aggregate are few as they are, and who wants messages as published gets them all.
    pub fn thin(&mut self) {
        let Stage::Live(member) = self.stage else {
            return;
        };
        let interest = &self.group.interest;
        if interest.aggregate.is_some() || interest.raw {
            return;
        }
        let waiting = self.group.waiting(member);
        if waiting > 1 {
            self.hub.counters.lapped(Policy::Conflate, waiting);
            self.conflate(member);
        }
    }

    /// Instead of all that was missed: the last value of each datastream that changed since.
    fn conflate(&mut self, member: usize) {
        let core = self.hub.core();
        let member = self.group.skip(member, self.policy);
        let head = self.hub.log.head();
        drop(core);
        self.stage = Stage::Snapshot {
            after: self.position,
            head,
            member,
            upto: None,
        };
    }

    fn gap(&mut self, gap: Gap) -> Next {
        self.hub.counters.gap();
        match &self.group.interest.shape {
            Shape::Items => Next::Gap(gap, self.position),
            Shape::Framed(format, framing) => {
                let mut out = Vec::new();
                let cursor = self.position;
                let frame = Frame {
                    format,
                    payload: None,
                    cursor,
                    gap: Some(gap),
                    item: None,
                };
                framing.frame(&frame, &mut out);
                Next::Bytes(out.into(), cursor)
            }
        }
    }

    /// Messages that only this subscriber needs now.
    pub(crate) fn hand_over(&mut self, items: Vec<Item>) -> Option<Next> {
        let last = items.last()?.message.cursor;
        self.position = self.position.max(last);
        self.handed += items.len() as u64;
        let interest = &self.group.interest;
        Some(match &interest.shape {
            Shape::Items => Next::Items(items.into(), last),
            Shape::Framed(format, framing) => {
                let shape = Framed(format, framing);
                let memory = self.hub.memory();
                let unframed = Unframed::new(items, Traces::default(), interest, shape, memory);
                match unframed.is_left() {
                    true => Next::Unframed(Arc::new(unframed), last),
                    false => Next::Bytes(unframed.framed(), last),
                }
            }
        })
    }
}
