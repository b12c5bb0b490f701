//! The sessions of the gateway: which client has a connection, what is left of those that have none,
//! and what is due when.
//!
//! One lock, held for the time of a look-up; it is never held while the hub is asked.

use super::claims::Claims;
use super::live::Live;
use super::record::Stored;
use super::share::Shares;
use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};
use weir_model::{Cursor, Time};

/// All sessions.
#[derive(Default)]
pub(super) struct Sessions {
    inner: Mutex<Inner>,
    /// Whether what the log holds of them was read.
    pub(super) loaded: OnceLock<()>,
    /// Where gateways share a log.
    claims: OnceLock<Claims>,
    pub(super) shares: Shares,
    pub(super) counts: Counts,
}

/// What was counted since the start, for `$SYS`.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) connections: AtomicU64,
    pub(super) subscriptions: AtomicU64,
    pub(super) received: AtomicU64,
    pub(super) sent: AtomicU64,
    pub(super) bytes_received: AtomicU64,
    pub(super) bytes_sent: AtomicU64,
    pub(super) refused: AtomicU64,
}

impl Counts {
    pub(super) fn add(counter: &AtomicU64, count: u64) {
        counter.fetch_add(count, Ordering::Relaxed);
    }
}

#[derive(Default)]
struct Inner {
    clients: HashMap<Arc<str>, Entry>,
    /// When something of a session without a connection is due.
    due: BTreeSet<(Time, Arc<str>)>,
    /// Shares that sessions without a connection belong to, by principal and filter.
    shares: HashMap<(Arc<str>, String), Left>,
    /// Whoever waits for the first of `due`.
    watcher: Option<Waker>,
}

/// A share as members that are away have left it.
#[derive(Default)]
struct Left {
    members: usize,
    position: Cursor,
}

#[derive(Default)]
struct Entry {
    owner: Arc<str>,
    live: Option<Arc<Live>>,
    /// Connections that wait until the one before has let go.
    waiting: Vec<Waker>,
    stored: Option<Box<Stored>>,
}

/// A client identifier that belongs to another principal.
#[derive(Debug)]
pub(super) struct NotYours;

impl Stored {
    fn next_due(&self) -> Option<Time> {
        let due = match (self.will_due(), self.ends()) {
            (Some(will), Some(end)) => Some(will.min(end)),
            (will, end) => will.or(end),
        };
        let until = self.put_off.map(|(_, until)| until);
        due.map(|due| until.map_or(due, |until| due.max(until)))
    }
}

impl Sessions {
    /// Which gateway has which session, where gateways share a log.
    pub(super) fn claims(&self) -> Option<&Claims> {
        self.claims.get()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A client identifier that no session has [MQTT-3.2.2-16].
    pub(super) fn assign(&self) -> Arc<str> {
        loop {
            // Drawn, so that it does not tell how many there were.
            let drawn = weir_random::number();
            let id: Arc<str> = format!("weir-{drawn:016x}").into();
            if !self.lock().clients.contains_key(&id) {
                return id;
            }
        }
    }

    /// Makes a connection its client's: tells the one before, waits until that has let go, and takes
    /// what is left of the session [MQTT-3.1.4-3].
    pub(super) fn poll_claim(
        &self,
        id: &Arc<str>,
        owner: &Arc<str>,
        live: &Arc<Live>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<Box<Stored>>, NotYours>> {
        let mut inner = self.lock();
        let entry = inner.clients.entry(id.clone()).or_insert_with(|| Entry {
            owner: owner.clone(),
            ..Entry::default()
        });
        if entry.owner != *owner {
            return Poll::Ready(Err(NotYours));
        }
        if let Some(before) = &entry.live {
            let before = before.clone();
            entry.waiting.push(cx.waker().clone());
            drop(inner);
            before.take_over();
            return Poll::Pending;
        }
        entry.live = Some(live.clone());
        let stored = inner.take(id);
        if let Some(due) = stored.as_ref().and_then(|stored| stored.next_due()) {
            inner.due.remove(&(due, id.clone()));
        }
        Poll::Ready(Ok(stored))
    }

    /// Lets go of a client, leaving what is left of its session.
    pub(super) fn release(&self, id: &Arc<str>, live: &Arc<Live>, stored: Option<Stored>) {
        let mut inner = self.lock();
        let Some(entry) = inner.clients.get_mut(id) else {
            return;
        };
        if !entry.live.as_ref().is_some_and(|of| Arc::ptr_eq(of, live)) {
            return;
        }
        entry.live = None;
        let waiting = std::mem::take(&mut entry.waiting);
        match stored {
            Some(stored) => inner.keep(id.clone(), stored),
            None if waiting.is_empty() => _ = inner.clients.remove(id),
            None => {}
        }
        let watcher = inner.watcher.take();
        drop(inner);
        waiting.into_iter().chain(watcher).for_each(Waker::wake);
    }

    /// What is due now of a session without a connection: its client identifier and what was left.
    /// It is taken out; what is to stay is put back.
    pub(super) fn take_due(&self, now: Time) -> Option<(Arc<str>, Box<Stored>)> {
        let mut inner = self.lock();
        let (due, id) = inner.due.first().cloned()?;
        if due > now {
            return None;
        }
        inner.due.remove(&(due, id.clone()));
        let stored = inner.take(&id)?;
        Some((id, stored))
    }

    /// Puts back what [`Sessions::take_due`] took, or ends the session.
    pub(super) fn put_back(&self, id: &Arc<str>, stored: Option<Stored>) {
        let mut inner = self.lock();
        match stored {
            Some(stored) => inner.keep(id.clone(), stored),
            None => {
                let idle = |entry: &Entry| entry.live.is_none() && entry.stored.is_none();
                let gone = if inner.clients.get(id).is_some_and(idle) {
                    inner.clients.remove(id)
                } else {
                    None
                };
                drop(inner);
                let waiting = gone.map(|entry| entry.waiting).unwrap_or_default();
                waiting.into_iter().for_each(Waker::wake);
            }
        }
    }

    /// Where a share goes on whose members are all away; `None` where there is no such member.
    pub(super) fn share_position(&self, owner: &Arc<str>, filter: &str) -> Option<Cursor> {
        let left = &self.lock().shares;
        left.get(&(owner.clone(), filter.to_owned()))
            .map(|left| left.position)
    }

    /// Notes how far a share is, for members that are away.
    pub(super) fn note_share(&self, owner: &Arc<str>, filter: &str, position: Cursor) {
        let left = &mut self.lock().shares;
        if let Some(left) = left.get_mut(&(owner.clone(), filter.to_owned())) {
            left.position = left.position.max(position);
        }
    }

    /// When something is due next; `waker` is woken when that changes.
    pub(super) fn next_due(&self, waker: &Waker) -> Option<Time> {
        let mut inner = self.lock();
        inner.watcher = Some(waker.clone());
        inner.due.first().map(|(due, _)| *due)
    }

    /// How many clients have a connection, and how many sessions have none.
    pub(super) fn clients(&self) -> (usize, usize) {
        let inner = self.lock();
        let live = inner.clients.values().filter(|entry| entry.live.is_some());
        let live = live.count();
        (live, inner.clients.len() - live)
    }
}

impl Sessions {
    /// From here on other gateways have sessions, too.
    pub(super) fn share(&self, me: &str) -> &Claims {
        self.claims.get_or_init(|| Claims::new(me))
    }

    /// Keeps what is left of a session until its client comes.
    pub(super) fn keep(&self, id: Arc<str>, stored: Stored) {
        self.lock().keep(id, stored);
    }

    /// Takes a record of a shared log. The hub is locked meanwhile.
    pub(super) fn taken(&self, at: Cursor, key: &str, bytes: &bytes::Bytes) {
        let lost = self.claims.get().and_then(|of| of.take(at, key, bytes));
        if let Some(id) = lost {
            self.lose(&id, at);
        }
    }

    /// Another gateway has the session from there on.
    fn lose(&self, id: &Arc<str>, at: Cursor) {
        let mut inner = self.lock();
        if let Some(due) = inner.take(id).and_then(|stored| stored.next_due()) {
            inner.due.remove(&(due, id.clone()));
        }
        let Some(entry) = inner.clients.get(id) else {
            return;
        };
        match &entry.live {
            Some(live) => live.lose(at),
            None if entry.waiting.is_empty() => _ = inner.clients.remove(id),
            None => {}
        }
    }

    /// Says whether no other gateway has left anything later of a session.
    pub(super) fn is_latest_here(&self, id: &str) -> bool {
        let claims = self.claims.get();
        claims.is_none_or(|claims| claims.latest(id).is_none_or(|of| claims.is_me(&of.gateway)))
    }

    /// Whose session it is, if one of this gateway's connections has it or it waits here for its client.
    pub(super) fn owner_here(&self, id: &str) -> Option<Arc<str>> {
        let inner = self.lock();
        let entry = inner.clients.get(id)?;
        let here = entry.live.is_some() || entry.stored.is_some();
        here.then(|| entry.owner.clone())
    }
}

impl Inner {
    fn keep(&mut self, id: Arc<str>, stored: Stored) {
        let owner: Arc<str> = stored.owner.as_str().into();
        for of in stored.subscriptions.iter().filter(|of| of.is_shared()) {
            let key = (owner.clone(), of.filter.clone());
            let left = self.shares.entry(key).or_default();
            left.members += 1;
            left.position = left.position.max(of.delivered);
        }
        if let Some(due) = stored.next_due() {
            self.due.insert((due, id.clone()));
        }
        let entry = self.clients.entry(id).or_default();
        entry.owner = owner;
        entry.stored = Some(Box::new(stored));
    }

    /// Takes out what is left of a session.
    fn take(&mut self, id: &str) -> Option<Box<Stored>> {
        let entry = self.clients.get_mut(id)?;
        let mut stored = entry.stored.take()?;
        for of in stored.subscriptions.iter_mut().filter(|of| of.is_shared()) {
            let key = (entry.owner.clone(), of.filter.clone());
            if let Some(left) = self.shares.get_mut(&key) {
                of.delivered = of.delivered.max(left.position);
                left.members -= 1;
                if left.members == 0 {
                    self.shares.remove(&key);
                }
            }
        }
        Some(stored)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn an_identifier_that_is_assigned_does_not_tell_how_many_were() {
        let sessions = Sessions::default();
        let number = |id: Arc<str>| u64::from_str_radix(id.strip_prefix("weir-").unwrap(), 16);
        let drawn: Vec<u64> = (0..8).map(|_| number(sessions.assign()).unwrap()).collect();
        assert!(
            drawn.windows(2).all(|two| two[0].abs_diff(two[1]) > 1000),
            "{drawn:?}"
        );
        // MQTT 3.1.1 section 3.1.3.1 lets servers take no longer ones.
        assert!(sessions.assign().len() <= 23);
    }
}
