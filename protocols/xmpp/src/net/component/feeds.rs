//! Who is subscribed to what, and the messages on their way there.
//!
//! What is here deliberately is no queue: a feed is a subscription of the hub, and what waits is in the log.
//! The decision worth arguing: a feed remembers up to where the server is known to have taken what was sent,
//! by a ping through it; so neither a broken stream nor an end of the gateway loses a message silently.

use super::answer::Refusal;
use super::event;
use super::kept::{self, Kept};
use super::node::Wanted;
use super::ready::{Bell, Ready};
use crate::jid;
use crate::limits::{SUBSCRIPTIONS_MAX, SUBSCRIPTIONS_OF_ONE_MAX, UNSENT_BYTES_MAX};
use crate::net::settings::ComponentPlan;
use crate::net::told::Told;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use weir_binding::Gateway;
use weir_codec::Format;
use weir_hub::{
    Ending, Fault, Next, Policy, Principal, Shape, Since, Subscribe, Subscription, Ticket,
};
use weir_model::Cursor;

/// Pieces taken from one feed in one turn.
const TAKES_MAX: usize = 16;

/// One subscription of a user.
pub(super) struct Feed {
    pub(super) jid: String,
    pub(super) wanted: Wanted,
    format: &'static Format,
    source: Option<Box<Subscription>>,
    bell: Arc<Bell>,
    /// Up to here it was written.
    position: Cursor,
    /// Up to here the server has it.
    confirmed: Cursor,
}

/// How far a feed had come. A feed that has taken the identifier since is told by its bell.
pub(super) struct Position {
    id: u64,
    bell: Arc<Bell>,
    cursor: Cursor,
}

/// The greatest identifier, which every reader of numbers keeps (RFC 7493 section 2.2).
const ID_MAX: u64 = (1 << 53) - 1;

/// All of them, by the identifier of the subscription.
pub(super) struct Feeds {
    plan: Arc<ComponentPlan>,
    context: Arc<dyn Gateway>,
    by_id: BTreeMap<u64, Feed>,
    /// Those whose record is on its way to the disk and that do not begin before, with what they take the place of.
    pending: BTreeMap<u64, Option<Feed>>,
    ready: Arc<Ready>,
    /// Users whose record in the log says something else.
    changed: BTreeSet<String>,
    /// The log did not take the last record, and that was told.
    told: bool,
}

impl Feeds {
    pub(super) fn new(plan: Arc<ComponentPlan>, context: Arc<dyn Gateway>) -> Self {
        let mut feeds = Self {
            plan,
            context,
            by_id: BTreeMap::new(),
            pending: BTreeMap::new(),
            ready: Arc::default(),
            changed: BTreeSet::new(),
            told: false,
        };
        feeds.recall();
        feeds
    }

    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Those of an address: all of a user's where it has no resource.
    pub(super) fn of<'a>(&'a self, who: &'a str) -> impl Iterator<Item = (u64, &'a Feed)> {
        let all = self.by_id.iter();
        let of_user = all.filter(move |(_, feed)| jid::bare(&feed.jid) == jid::bare(who));
        of_user.map(|(id, feed)| (*id, feed))
    }

    /// Subscribes an address; where it is already, again from where it wants. Says by which identifier, from
    /// where on, and when it is on disk, after which it is to begin. What the log does not keep is no subscription.
    pub(super) fn subscribe(
        &mut self,
        principal: &Principal,
        who: &str,
        wanted: Wanted,
        since: Since,
    ) -> Result<(u64, Cursor, Ticket), Refusal> {
        let known = self
            .of(who)
            .find(|(_, feed)| feed.jid == who && feed.wanted.node == wanted.node);
        let known = known.map(|(id, _)| id);
        let source = self.open(principal, &wanted, since)?;
        let many =
            self.of(who).count() >= SUBSCRIPTIONS_OF_ONE_MAX || self.len() >= SUBSCRIPTIONS_MAX;
        if known.is_none() && many {
            let text = format!(
                "more than {SUBSCRIPTIONS_OF_ONE_MAX} subscriptions of one user, or {SUBSCRIPTIONS_MAX} of all"
            );
            return Err(
                Refusal::new("wait", "policy-violation", text).with("too-many-subscriptions")
            );
        }
        let format = wanted.format.unwrap_or(self.plan.format);
        let id = known.unwrap_or_else(|| self.drawn_id());
        let position = source.position();
        let feed = Feed {
            jid: who.into(),
            wanted,
            format,
            source: Some(source),
            bell: Bell::new(&self.ready, id),
            position,
            confirmed: position,
        };
        let before = self.by_id.insert(id, feed);
        match self.keep(who) {
            Ok(ticket) => {
                // What was there when the first of several began is what there is if none comes to the disk.
                self.pending.entry(id).or_insert(before);
                Ok((id, position, ticket))
            }
            Err(fault) => {
                match before {
                    Some(feed) => self.by_id.insert(id, feed),
                    None => self.by_id.remove(&id),
                };
                self.tell(who, &fault);
                Err(Refusal::new(
                    "wait",
                    "resource-constraint",
                    fault.to_string(),
                ))
            }
        }
    }

    /// Has a subscription begin that is on disk.
    pub(super) fn begin(&mut self, id: u64) {
        self.pending.remove(&id);
        if let Some(feed) = self.by_id.get(&id) {
            feed.bell.answered();
            feed.bell.again();
        }
    }

    /// Puts what was there in the place of a subscription that did not come to the disk.
    pub(super) fn give_up(&mut self, id: u64) {
        match self.pending.remove(&id).flatten() {
            Some(before) => {
                before.bell.answered();
                before.bell.again();
                self.by_id.insert(id, before);
            }
            None => {
                self.by_id.remove(&id);
            }
        }
    }

    /// Notes that a user's record may not be on disk as it should: it is kept again.
    pub(super) fn doubt(&mut self, who: &str) {
        self.changed.insert(jid::bare(who).into());
    }

    fn open(
        &self,
        principal: &Principal,
        wanted: &Wanted,
        since: Since,
    ) -> Result<Box<Subscription>, Fault> {
        let mut subscribe = Subscribe::new(vec![wanted.filter.clone()], Shape::Items);
        subscribe.since = since;
        subscribe.policy = Policy::DropOldest;
        subscribe.raw = wanted.format.is_none();
        let hub = self.context.hub();
        hub.caller(self.context.now(), principal)?
            .subscribe(subscribe)
    }

    /// Ends subscriptions of an address to a node, or the one of this identifier; says how many.
    pub(super) fn unsubscribe(&mut self, who: &str, node: &str, id: Option<u64>) -> usize {
        let meant = |known: u64, feed: &Feed| {
            feed.jid == who && feed.wanted.node == node && id.is_none_or(|id| id == known)
        };
        self.remove(meant)
    }

    /// Ends all subscriptions of an address that is gone.
    pub(super) fn gone(&mut self, who: &str) -> usize {
        self.remove(|_, feed| feed.jid == who)
    }

    fn remove(&mut self, meant: impl Fn(u64, &Feed) -> bool) -> usize {
        let (before, changed) = (self.by_id.len(), &mut self.changed);
        self.by_id.retain(|id, feed| {
            let ends = meant(*id, feed);
            if ends {
                changed.insert(jid::bare(&feed.jid).into());
            }
            !ends
        });
        self.pending.retain(|id, _| self.by_id.contains_key(id));
        before - self.by_id.len()
    }

    /// The stream is there: what was sent and is not known to have arrived is sent again.
    pub(super) fn resume(&mut self) {
        let ids: Vec<u64> = self.by_id.keys().copied().collect();
        for id in ids {
            let confirmed = self.by_id.get(&id).map(|feed| feed.confirmed);
            if let Some(from) = confirmed {
                self.reopen(id, from);
            }
        }
    }

    /// Has a feed go on from a position, under the rules of now.
    fn reopen(&mut self, id: u64, from: Cursor) {
        let Some(feed) = self.by_id.get(&id) else {
            return;
        };
        let (who, wanted) = (feed.jid.clone(), feed.wanted.clone());
        let principal = self.context.vouched(jid::bare(&who));
        match self.open(&principal, &wanted, Since::Cursor(from)) {
            Ok(source) => {
                if let Some(feed) = self.by_id.get_mut(&id) {
                    feed.source = Some(source);
                    feed.position = from;
                    feed.bell.answered();
                    feed.bell.again();
                }
            }
            // Who is subscribed when the gateway ends is so when it is back.
            Err(Fault::Stopping) => {}
            // What may not be read any more is nobody's subscription any more.
            Err(fault) => {
                tracing::warn!(
                    "XMPP: {who} is no longer subscribed to `{}`: {fault}",
                    wanted.node
                );
                self.by_id.remove(&id);
                self.changed.insert(jid::bare(&who).into());
            }
        }
    }

    /// The stream is gone: nothing is taken from the log meanwhile.
    pub(super) fn pause(&mut self) {
        self.pending.clear();
        self.by_id.values_mut().for_each(|feed| feed.source = None);
    }

    /// Writes what is due, up to a limit; says whether there may be more at once.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        told: &Told,
        waiting: usize,
    ) -> Result<(String, bool), Fault> {
        self.ready.tell(cx.waker());
        let mut out = String::new();
        let ready = self.ready.take();
        let mut left = false;
        for (at, id) in ready.iter().enumerate() {
            if waiting + out.len() >= UNSENT_BYTES_MAX {
                // The rest is asked again when the socket has taken this.
                for id in &ready[at..] {
                    if let Some(feed) = self.by_id.get(id) {
                        feed.bell.answered();
                        feed.bell.again();
                    }
                }
                return Ok((out, true));
            }
            let Some(feed) = self.by_id.get_mut(id) else {
                continue;
            };
            if self.pending.contains_key(id) {
                continue;
            }
            match feed.poll(&self.plan.domain, told, &mut out) {
                // The rules are others now: it goes on under them, if it may.
                Err(Fault::Revoked(_)) => {
                    let from = feed.position;
                    self.reopen(*id, from);
                }
                more => left |= more?,
            }
        }
        Ok((out, left))
    }

    /// Where each stands, to be confirmed once the server is known to have it.
    pub(super) fn positions(&self) -> Vec<Position> {
        let moved = self
            .by_id
            .iter()
            .filter(|(_, feed)| feed.position != feed.confirmed);
        let position = |(id, feed): (&u64, &Feed)| Position {
            id: *id,
            bell: feed.bell.clone(),
            cursor: feed.position,
        };
        moved.map(position).collect()
    }

    /// The server has all up to these positions.
    pub(super) fn confirm(&mut self, positions: &[Position]) {
        for position in positions {
            if let Some(feed) = self.by_id.get_mut(&position.id)
                && Arc::ptr_eq(&feed.bell, &position.bell)
            {
                feed.confirmed = position.cursor;
                self.changed.insert(jid::bare(&feed.jid).into());
            }
        }
    }

    fn kept(&self) -> Kept<'_> {
        Kept {
            hub: self.context.hub(),
            now: self.context.now(),
            domain: &self.plan.domain,
        }
    }

    /// An identifier that no subscription has, drawn so that it does not tell how many there are.
    fn drawn_id(&self) -> u64 {
        let is_free = |id: &u64| !self.by_id.contains_key(id) && !self.pending.contains_key(id);
        let mut drawn = std::iter::repeat_with(|| weir_random::number() & ID_MAX);
        drawn.find(is_free).unwrap_or_default()
    }

    /// Takes up the subscriptions of the last run.
    fn recall(&mut self) {
        for line in self.kept().recall() {
            let Ok(wanted) = Wanted::parse(&line.node) else {
                continue;
            };
            let format = wanted.format.unwrap_or(self.plan.format);
            let feed = Feed {
                jid: line.jid,
                wanted,
                format,
                source: None,
                bell: Bell::new(&self.ready, line.id),
                position: line.cursor,
                confirmed: line.cursor,
            };
            self.by_id.insert(line.id, feed);
        }
    }

    /// Keeps in the log to what a user is subscribed, and up to where each has everything; says when it is on disk.
    pub(super) fn keep(&mut self, who: &str) -> Result<Ticket, Fault> {
        let mut record = String::new();
        self.of(who)
            .for_each(|(id, feed)| feed.write(id, &mut record));
        let ticket = self.kept().put(jid::bare(who), record)?;
        self.changed.remove(jid::bare(who));
        Ok(ticket)
    }

    /// Keeps that of all users for whom something has changed; what the log does not take is tried again.
    pub(super) fn remember(&mut self) {
        let changed = std::mem::take(&mut self.changed).into_iter();
        let mut records: BTreeMap<String, String> =
            changed.map(|who| (who, String::new())).collect();
        for (id, feed) in &self.by_id {
            if let Some(record) = records.get_mut(jid::bare(&feed.jid)) {
                feed.write(*id, record);
            }
        }
        for (who, record) in records {
            if let Err(fault) = self.kept().put(&who, record) {
                self.tell(&who, &fault);
                self.changed.insert(who);
            }
        }
        self.told &= !self.changed.is_empty();
    }

    /// Tells that the log does not take a record: once until it takes all again.
    fn tell(&mut self, who: &str, fault: &Fault) {
        if !std::mem::replace(&mut self.told, true) {
            tracing::warn!("XMPP: the subscriptions of {who} are not kept: {fault}");
        }
    }
}

impl Feed {
    fn write(&self, id: u64, record: &mut String) {
        kept::write(id, self.confirmed, &self.jid, &self.wanted.node, record);
    }

    /// Writes what is due; says whether there may be more.
    fn poll(&mut self, from: &str, told: &Told, out: &mut String) -> Result<bool, Fault> {
        let waker = Waker::from(self.bell.clone());
        let mut cx = Context::from_waker(&waker);
        self.bell.answered();
        for _ in 0..TAKES_MAX {
            let Some(source) = &mut self.source else {
                return Ok(false);
            };
            let Poll::Ready(next) = source.poll_next(&mut cx) else {
                return Ok(false);
            };
            match next? {
                Next::Items(items, cursor) => {
                    for item in items.iter() {
                        let each = event::items(&self.wanted, self.format, item);
                        each.iter()
                            .for_each(|one| event::write(from, &self.jid, &self.wanted, one, out));
                        told.tally.send(each.len() as u64);
                    }
                    self.position = cursor;
                }
                Next::Gap(gap, cursor) => {
                    event::write_gap(from, &self.jid, &self.wanted.node, &gap, out);
                    self.position = cursor;
                }
                Next::Bytes(..) | Next::Unframed(..) => {}
                Next::Ended(Ending::Revoked) => {
                    return Err(Fault::Revoked(self.jid.as_str().into()));
                }
                Next::Ended(_) => return Err(Fault::Stopping),
            }
        }
        self.bell.again();
        Ok(true)
    }
}
