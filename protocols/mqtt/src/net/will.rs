//! Wills: what is published in the name of a client that is gone.
//!
//! Nobody is left who would say it again, so a will that the log does not take waits until it does. One of a session
//! that is kept stays in that session, and in its record; one of a client that leaves nothing waits here. The decision
//! worth arguing: not for ever. A will that came hours late would tell of a client that may long be there again by
//! another way, so it is given up after [`WILL_WAIT_MAX`], counted and told.

use super::publish::{Refused, publish};
use super::record::Stored;
use super::refused::{is_dropped, set_aside};
use crate::limits::{WILL_RETRY, WILL_WAIT_MAX, WILLS_BYTES_MAX, WILLS_MAX};
use crate::session::{Message, Will};
use crate::wire::ReasonCode;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use weir_binding::bridge::{Taken, count};
use weir_binding::{Gateway, Metric};
use weir_carrier::clock::now;
use weir_hub::{Principal, Standing, Ticket};
use weir_model::{Cursor, Time};
use weir_sansio::Instant;

static GIVEN_UP: Metric = Metric {
    name: "weir_mqtt_wills_given_up_total",
    counts: true,
    help: "Wills of MQTT clients that the log did not take in time, or that were too many.",
};

/// A will that is due.
pub(super) struct DueWill {
    owner: Principal,
    id: Arc<str>,
    message: Message,
    /// Under which it is kept once, however often it is given and by which gateway.
    key: Option<Vec<u8>>,
    since: Instant,
}

/// What became of it.
enum Attempt {
    /// The log has it, or nobody is to get it.
    Done,
    /// A shared log has not said yet that it has it.
    Submitted(Ticket),
    /// It may be taken later; what a message behind it is told meanwhile.
    Refused(Refused),
}

impl DueWill {
    /// The one of a client that is known.
    pub(super) fn new(
        context: &dyn Gateway,
        (owner, id): (&Principal, &Arc<str>),
        connection: Cursor,
        message: Message,
    ) -> Box<Self> {
        // Several gateways may publish it: the connection that it is of is its key.
        let of = match connection {
            Cursor::START if context.hub().is_shared() => Some(weir_random::number()),
            Cursor::START => None,
            of => Some(of.bits()),
        };
        Box::new(Self {
            owner: owner.clone(),
            id: id.clone(),
            message,
            key: of.map(|of| format!("mqtt-will/{of:x}").into_bytes()),
            since: now(),
        })
    }

    /// The one of a session without a connection, in the name of its owner, if the policy still knows that.
    fn of_stored(
        context: &dyn Gateway,
        id: &Arc<str>,
        stored: &Stored,
        will: &Will,
    ) -> Option<Box<Self>> {
        let owner = context.named(&stored.owner)?;
        let message = will.message.clone();
        Some(Self::new(context, (&owner, id), stored.connection, message))
    }

    /// Publishes it as far as its owner may; it counts with no rate, since a client that sent as much as it may would
    /// be missed by nobody.
    fn give(&self, context: &dyn Gateway) -> Attempt {
        if self.owner.standing.is_revoked() {
            return Attempt::Done;
        }
        let principal = Principal {
            standing: Standing::default(),
            ..self.owner.clone()
        };
        let (hub, publisher) = (context.hub(), (&principal, &*self.id));
        let key = self.key.clone();
        // Nobody is left to be told.
        match publish(
            hub,
            context.now(),
            publisher,
            None,
            &self.message,
            key,
            false,
        ) {
            Ok(ticket) => submitted(context, ticket),
            Err(Refused::Code(code, reason)) if !is_dropped(code) => {
                match set_aside(context, &self.message, &reason) {
                    Taken::Logged(ticket) => submitted(context, ticket),
                    Taken::Busy => Attempt::Refused(Refused::Busy),
                    Taken::Over => Attempt::Refused(over()),
                    Taken::Refused(_) => Attempt::Done,
                }
            }
            Err(Refused::Over(code)) if code == ReasonCode::NOT_AUTHORIZED => Attempt::Done,
            Err(refused @ (Refused::Busy | Refused::Over(_))) => Attempt::Refused(refused),
            Err(Refused::Code(..) | Refused::Another) => Attempt::Done,
        }
    }

    fn is_overdue(&self) -> bool {
        now() >= self.since + WILL_WAIT_MAX
    }

    fn give_up(&self, context: &dyn Gateway, why: &str) {
        count(&context.meter(&GIVEN_UP, ""));
        let (client, topic) = (&*self.id, &*self.message.topic);
        tracing::warn!(client, topic, "a will is given up: {why}");
    }
}

/// When the will of a session is given to the log again.
pub(super) fn put_off_until(now: Time) -> Time {
    let nanos = i64::try_from(WILL_RETRY.as_nanos()).unwrap_or(i64::MAX);
    now.plus_nanos(nanos)
}

fn over() -> Refused {
    Refused::Over(ReasonCode::IMPLEMENTATION_SPECIFIC_ERROR)
}

/// A log of this gateway's own keeps what it took, in its order, or fails for good; a shared one may say no.
fn submitted(context: &dyn Gateway, ticket: Ticket) -> Attempt {
    if context.hub().is_shared() {
        Attempt::Submitted(ticket)
    } else {
        Attempt::Done
    }
}

/// Wills that are due and that the log has not taken.
#[derive(Default)]
pub(super) struct Wills {
    inner: Mutex<Inner>,
    /// How many there are: most often none, which costs no lock.
    count: AtomicUsize,
}

#[derive(Default)]
struct Inner {
    waiting: VecDeque<(Box<DueWill>, Option<Ticket>)>,
    bytes: usize,
    watcher: Option<Waker>,
}

impl Wills {
    /// Publishes a will, now or as soon as the log takes it.
    pub(super) fn publish(&self, context: &dyn Gateway, due: Box<DueWill>) {
        if let Err(due) = self.try_publish(context, due) {
            self.wait(context, due, None);
        }
    }

    /// The same where the will stays with who has it as long as the log does not take it.
    pub(super) fn try_publish(
        &self,
        context: &dyn Gateway,
        due: Box<DueWill>,
    ) -> Result<(), Box<DueWill>> {
        // Behind what is the same client's.
        if self.poll_of(context, &due.id).is_err() {
            return Err(due);
        }
        match due.give(context) {
            Attempt::Done => {}
            Attempt::Submitted(ticket) => self.wait(context, due, Some(ticket)),
            Attempt::Refused(_) => return Err(due),
        }
        Ok(())
    }

    /// The will of a session without a connection, which is due: `false` where it is to be tried again.
    pub(super) fn try_stored(
        &self,
        context: &dyn Gateway,
        id: &Arc<str>,
        stored: &Stored,
        will: &Will,
    ) -> bool {
        let Some(due) = DueWill::of_stored(context, id, stored, will) else {
            return true;
        };
        match self.try_publish(context, due) {
            Ok(()) => true,
            Err(mut due) => {
                due.since = stored.put_off.map_or(due.since, |(since, _)| since);
                let overdue = due.is_overdue();
                if overdue {
                    due.give_up(context, "the log took nothing for an hour");
                }
                overdue
            }
        }
    }

    /// The will of a session that its client ends, or that is due when it comes back.
    pub(super) fn publish_stored(
        &self,
        context: &dyn Gateway,
        id: &Arc<str>,
        stored: &Stored,
        will: &Will,
    ) {
        if let Some(due) = DueWill::of_stored(context, id, stored, will) {
            self.publish(context, due);
        }
    }

    fn wait(&self, context: &dyn Gateway, due: Box<DueWill>, ticket: Option<Ticket>) {
        let mut inner = self.lock();
        let bytes = inner.bytes + due.message.payload.len();
        if inner.waiting.len() >= WILLS_MAX || bytes > WILLS_BYTES_MAX {
            drop(inner);
            return due.give_up(context, "too many wait for the log");
        }
        if ticket.is_none() && inner.waiting.is_empty() {
            let client = &*due.id;
            tracing::warn!(client, "a will waits: the log takes nothing now");
        }
        inner.bytes = bytes;
        inner.waiting.push_back((due, ticket));
        self.count.store(inner.waiting.len(), Ordering::Release);
        let watcher = inner.watcher.take();
        drop(inner);
        watcher.into_iter().for_each(Waker::wake);
    }

    /// Says why a message of a client cannot be taken yet: it comes behind the will of its connection before.
    pub(super) fn poll_of(&self, context: &dyn Gateway, id: &str) -> Result<(), Refused> {
        if self.count.load(Ordering::Acquire) == 0 {
            return Ok(());
        }
        let mut cx = Context::from_waker(Waker::noop());
        match self.settle(context, |due| *due.id == *id, &mut cx) {
            None => Ok(()),
            Some(refused) => Err(refused),
        }
    }

    /// Tries those that wait; says when again, and wakes `cx` when there are more.
    pub(super) fn poll(&self, context: &dyn Gateway, cx: &mut Context<'_>) -> Instant {
        self.lock().watcher = Some(cx.waker().clone());
        if self.count.load(Ordering::Acquire) == 0 {
            return Instant::NEVER;
        }
        match self.settle(context, |_| true, cx) {
            None => Instant::NEVER,
            Some(_) => now() + WILL_RETRY,
        }
    }

    /// Goes through some of them, the first ones first, up to one that is refused; gives why that one waits.
    fn settle(
        &self,
        context: &dyn Gateway,
        of: impl Fn(&DueWill) -> bool,
        cx: &mut Context<'_>,
    ) -> Option<Refused> {
        let mut inner = self.lock();
        let mut waits = None;
        let mut is_refused = false;
        let mut waiting = std::mem::take(&mut inner.waiting);
        waiting.retain_mut(|(due, ticket)| {
            if is_refused || !of(due) {
                return true;
            }
            match due.go_on(context, ticket, cx) {
                None => return false,
                Some(refused) => {
                    // What was submitted holds up nothing but its client.
                    is_refused = ticket.is_none();
                    waits = Some(refused);
                }
            }
            let overdue = ticket.is_none() && due.is_overdue();
            if overdue {
                due.give_up(context, "the log took nothing for an hour");
            }
            !overdue
        });
        inner.bytes = waiting
            .iter()
            .map(|(due, _)| due.message.payload.len())
            .sum();
        self.count.store(waiting.len(), Ordering::Release);
        inner.waiting = waiting;
        waits
    }

    /// Gives up all that wait, since the gateway ends.
    pub(super) fn end(&self, context: &dyn Gateway) {
        let waiting = std::mem::take(&mut self.lock().waiting);
        self.count.store(0, Ordering::Release);
        for (due, _) in waiting {
            due.give_up(context, "the gateway ends, and the log has not taken it");
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DueWill {
    /// Why it still waits; what the log did not keep is given to it again.
    fn go_on(
        &self,
        context: &dyn Gateway,
        ticket: &mut Option<Ticket>,
        cx: &mut Context<'_>,
    ) -> Option<Refused> {
        match ticket.as_ref().map(|ticket| ticket.poll(cx)) {
            Some(Poll::Pending) => return Some(Refused::Busy),
            Some(Poll::Ready(Ok(_))) => return None,
            Some(Poll::Ready(Err(_))) => *ticket = None,
            None => {}
        }
        match self.give(context) {
            Attempt::Done => None,
            Attempt::Submitted(given) => {
                *ticket = Some(given);
                Some(Refused::Busy)
            }
            Attempt::Refused(refused) => Some(refused),
        }
    }
}
