//! The hub itself: its parts, its lock, and the door.

pub(crate) mod change;
mod consumers;
pub(crate) mod distribute;
mod entities;
mod extent;
mod feed;
mod given;
mod journal;
mod learn;
mod memory;
mod problems;
pub(crate) mod publish;
mod retained;
mod rights;
mod shared;
pub(crate) mod start;
mod stood;
mod withdrawn;

use crate::access::{Grants, Principal, Verb, check_filters};
use crate::counters::{Counters, Counts};
use crate::fault::Fault;
use crate::group::Group;
use crate::interest::GroupKey;
use crate::limits::{PAGE_OBSERVATIONS_MAX, UNASKED_NANOS_MAX};
use crate::message::Message;
use crate::problem::Problem;
use crate::queue::Wakers;
use crate::requests::{Latest, Past};
use crate::state::catalog::{Catalog, Entry, push_last};
use crate::state::consumers::{Consumers, Watch};
use crate::state::entities::Entities;
use crate::state::feeder::Feeder;
use crate::state::forgotten::Forgotten;
use crate::state::held::Held;
use crate::state::journal::Journal;
use crate::state::keys::Keys;
use crate::state::numbers::Streams;
use crate::state::recent::Recent;
use crate::state::retained::Retained;
use crate::state::routes::Routes;
use crate::state::stood::Before;
use crate::state::tree::Tree;
use crate::state::withdrawn::Withdrawn;
use crate::ticket::{InLog, Ticket};
use crate::trace::{Traced, Tracer};
use crate::turns::Turns;
use slab::Slab;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Waker;
use weir_model::{BatchBuilder, Cursor, Datastream, Filter, Limits, Time};
use weir_storage::Log;
use weir_storage::Steady;
use weir_storage::aggregate::{Aggregate, Function};
use weir_storage::units::{InUnit, Units, conversion, in_unit};
use weir_storage::{History, Page, Range};

type Auditor = Box<dyn Fn(&Principal, &Fault) + Send + Sync>;
type Watcher = Box<dyn Fn(&Problem<'_>) + Send + Sync>;

/// The one door to log, history, catalog and subscribers.
pub struct Hub {
    pub(crate) log: Arc<dyn Log>,
    pub(crate) history: Arc<dyn History>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) limits: Limits,
    pub(crate) feeder: Mutex<Feeder>,
    /// What observations' ages are counted from.
    pub(crate) age: Mutex<Steady>,
    /// The log's head as this run began.
    started: Cursor,
    /// When the first of what nobody waits for was appended, Unix nanoseconds; `i64::MAX` where there is
    /// none.
    pub(crate) unasked: AtomicI64,
    /// A message was handed on and is to be kept.
    pub(crate) owes: AtomicBool,
    /// When queues were cut last, Unix nanoseconds.
    pub(crate) shed: AtomicI64,
    /// Whose turn it is to read the log.
    pub(crate) replays: Arc<Turns>,
    /// Held by whoever feeds the history store.
    pub(crate) feeding: Mutex<()>,
    /// Who is told of refusals.
    pub(crate) auditor: OnceLock<Auditor>,
    /// Who is told of messages that are not kept as they were meant.
    pub(crate) watcher: OnceLock<Watcher>,
    /// Where spans go, where anybody wants them.
    pub(crate) tracer: OnceLock<Arc<dyn Tracer>>,
    core: Mutex<Core>,
}

/// What one lock guards; held for microseconds, and never across I/O or an encoding.
pub(crate) struct Core {
    pub(crate) catalog: Catalog,
    pub(crate) tree: Tree,
    pub(crate) groups: Slab<GroupSlot>,
    pub(crate) by_key: HashMap<GroupKey, usize>,
    pub(crate) held: Held,
    /// Counts changes of the subscriptions, so that remembered routes are known to be stale.
    pub(crate) generation: u64,
    /// How many groups want messages as published.
    pub(crate) raw_groups: usize,
    /// Who wants messages as published, by the topic that they are published at.
    pub(crate) published: Routes,
    pub(crate) keys: Keys,
    pub(crate) recent: Recent,
    pub(crate) retained: Retained,
    pub(crate) consumers: Consumers,
    pub(crate) watch: Option<Watch>,
    pub(crate) entities: Entities,
    pub(crate) withdrawn: Withdrawn,
    pub(crate) forgotten: Forgotten,
    /// What follows in the log was read by this run, or written.
    pub(crate) read_from: Cursor,
    pub(crate) journal: Journal,
    pub(crate) before: Before,
    /// The message that was handed on last, where nothing of the core was looked at since: it is kept
    /// before anything is.
    pub(crate) handed_on: Option<(Arc<Message>, Streams)>,
    pub(crate) stopping: bool,
}

pub(crate) struct GroupSlot {
    pub(crate) group: Arc<Group>,
    pub(crate) subscribers: usize,
    /// Whose subscription began it.
    pub(crate) owner: Arc<str>,
}

impl Hub {
    pub(crate) fn assemble(log: Arc<dyn Log>, history: Arc<dyn History>, limits: Limits) -> Self {
        let core = Core {
            catalog: Catalog::default(),
            tree: Tree::default(),
            groups: Slab::new(),
            by_key: HashMap::new(),
            held: Held::default(),
            generation: 1,
            raw_groups: 0,
            published: Routes::default(),
            keys: Keys::default(),
            recent: Recent::new(log.head()),
            retained: Retained::default(),
            consumers: Consumers::default(),
            watch: None,
            entities: Entities::default(),
            withdrawn: Withdrawn::default(),
            forgotten: Forgotten::default(),
            read_from: Cursor::START,
            journal: Journal::default(),
            before: Before::default(),
            handed_on: None,
            stopping: false,
        };
        let counters = Arc::new(Counters::default());
        let feeder = Mutex::new(Feeder::new(log.head()));
        let feeding = Mutex::default();
        // Of the threads of the network, of which half as many are as processors, half.
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let started = log.head();
        Self {
            log,
            history,
            counters,
            limits,
            feeder,
            age: Mutex::default(),
            started,
            replays: Turns::new(cores / 4),
            feeding,
            unasked: AtomicI64::new(i64::MAX),
            owes: AtomicBool::new(false),
            shed: AtomicI64::new(i64::MIN / 2),
            auditor: OnceLock::new(),
            watcher: OnceLock::new(),
            tracer: OnceLock::new(),
            core: Mutex::new(core),
        }
    }

    pub(crate) fn core(&self) -> MutexGuard<'_, Core> {
        let mut core = self.core.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((message, streams)) = core.handed_on.take() {
            self.keep(&mut core, message, &streams);
        }
        core
    }

    /// Does what publishing left for when the message is out at its subscribers; whoever looks at
    /// anything before finds it done.
    pub fn settle(&self) {
        if self.owes.load(Ordering::Relaxed) && self.owes.swap(false, Ordering::Relaxed) {
            drop(self.core());
        }
    }

    /// Has somebody told of what is refused for who asked, or how often.
    pub fn audit(&self, auditor: impl Fn(&Principal, &Fault) + Send + Sync + 'static) {
        // The first stays.
        let _told_already = self.auditor.set(Box::new(auditor));
    }

    /// Has the way of messages traced.
    pub fn trace(&self, tracer: Arc<dyn Tracer>) {
        // The first stays.
        let _traced_already = self.tracer.set(tracer);
    }

    /// Says whether traces are made: only then need a binding say how a message came.
    pub fn is_traced(&self) -> bool {
        self.tracer.get().is_some()
    }

    pub(crate) fn audited<T>(
        &self,
        principal: &Principal,
        asked: Result<T, Fault>,
    ) -> Result<T, Fault> {
        if let Err(fault) = &asked {
            self.tell_auditor(principal, fault);
        }
        asked
    }

    /// Tells the auditor of a refusal for who it is.
    pub(crate) fn tell_auditor(&self, principal: &Principal, fault: &Fault) {
        let auditor = self.auditor.get().filter(|_| fault.is_of_access());
        auditor
            .into_iter()
            .for_each(|auditor| auditor(principal, fault));
    }

    pub(crate) fn latest(
        &self,
        principal: &Principal,
        filters: &[Filter],
    ) -> Result<Latest, Fault> {
        check_filters(principal, filters)?;
        let mut builder = BatchBuilder::new();
        // What the catalog learned before this run has no cursor any more: the run's begin stands for it.
        let mut newest = self.started;
        let head = self.visit_readable(&principal.grants, filters, &mut |entry| {
            if let Some(last) = &entry.last {
                newest = newest.max(last.cursor).max(entry.changed);
            }
            push_last(&mut builder, entry);
        });
        Ok(Latest {
            batch: builder.finish(),
            newest,
            head,
        })
    }

    pub(crate) fn describe(
        &self,
        principal: &Principal,
        filters: &[Filter],
    ) -> Result<Vec<Entry>, Fault> {
        check_filters(principal, filters)?;
        let entries = self.entries(principal, filters);
        match filters {
            [one] if one.is_topic() && entries.is_empty() => {
                Err(Fault::Unknown(one.as_str().into()))
            }
            _ => Ok(entries),
        }
    }

    pub(crate) fn entries(&self, principal: &Principal, filters: &[Filter]) -> Vec<Entry> {
        let mut entries = Vec::new();
        self.visit_readable(&principal.grants, filters, &mut |entry| {
            entries.push(entry.clone());
        });
        entries
    }

    /// The datastreams that match and may be read, by topic: what is known of them is shared with the catalog.
    fn known(&self, principal: &Principal, filters: &[Filter]) -> Vec<(Arc<str>, Arc<Datastream>)> {
        let mut known = Vec::new();
        self.visit_readable(&principal.grants, filters, &mut |entry| {
            known.push((entry.topic.clone(), entry.datastream.clone()));
        });
        known
    }

    /// Visits the entries that match and may be read, by topic; says the log's head as of the first.
    ///
    /// The lock is given back between pages, so a long list is not of one instant: what changes
    /// meanwhile may be seen as of later than the head, never as of before.
    fn visit_readable(
        &self,
        grants: &Grants,
        filters: &[Filter],
        visit: &mut dyn FnMut(&Entry),
    ) -> Cursor {
        let (mut head, mut after) = (None, None);
        loop {
            let core = self.core();
            let head = *head.get_or_insert_with(|| self.log.head());
            let (found, next) = core.catalog.page(filters, after.as_deref());
            let may_be_read = |entry: &&&Entry| grants.allow(Verb::Read, &entry.topic);
            found
                .iter()
                .filter(may_be_read)
                .for_each(|entry| visit(entry));
            if next.is_none() {
                return head;
            }
            after = next;
        }
    }

    pub(crate) fn past(&self, principal: &Principal, past: &Past) -> Result<Page, Fault> {
        check_filters(principal, &past.filters)?;
        self.feed()?;
        let known = self.known(principal, &past.filters);
        let topics: Vec<&str> = known.iter().map(|(topic, _)| &**topic).collect();
        let hidden = past.aggregate.map(|_| self.hidden_of(&topics, past));
        let named = match &past.unit {
            InUnit::Named(unit) => Some(&**unit),
            InUnit::AsMade | InUnit::Own | InUnit::Compared(_) => None,
        };
        let datastreams = known
            .iter()
            .map(|(topic, datastream)| (&**topic, &**datastream));
        let units = past.aggregate.map(|_| Units::of(datastreams, named));
        let read = self.history.read(&Range {
            topics: &topics,
            from: past.from,
            to: past.to,
            limit: past.limit.clamp(1, PAGE_OBSERVATIONS_MAX),
            page: past.page.as_deref(),
            aggregate: past.aggregate,
            hidden: hidden.as_ref(),
            units: units.as_ref(),
        })?;
        let mut page = self.visible(past, read);
        // The last of a window is an observation; what others come to is of what the datastream is now.
        let function = past.aggregate.map(|it| it.function);
        let is_computed = function.is_some_and(|it| it != Function::Last);
        let is_count = function == Some(Function::Count);
        for index in 0..page.batch.stream_count() {
            let topic = page.batch.stream(index).topic;
            if let Ok(at) = known.binary_search_by(|(known, _)| (**known).cmp(topic)) {
                let datastream = &known[at].1;
                if is_computed {
                    page.batch.describe(index, datastream.number());
                    let unit = named.or(datastream.last_unit());
                    unit.into_iter()
                        .for_each(|unit| page.batch.set_unit(index, unit));
                }
                page.batch.fill(index, datastream);
            }
            if is_count {
                page.batch.without_unit(index);
            }
        }
        if !is_count {
            page.batch = in_unit(page.batch, &past.unit)?;
        }
        Ok(page)
    }

    /// Refuses a unit that datastreams which are asked for now cannot be converted to.
    pub(crate) fn check_unit(
        &self,
        principal: &Principal,
        filters: &[Filter],
        unit: &InUnit,
    ) -> Result<(), Fault> {
        let InUnit::Named(asked) = unit else {
            return Ok(());
        };
        let mut refused = Ok(());
        self.visit_readable(&principal.grants, filters, &mut |entry| {
            let own = entry.datastream.unit.as_deref();
            if let (Ok(()), Err(why)) = (&refused, conversion(&entry.topic, own, asked)) {
                refused = Err(why.into());
            }
        });
        refused
    }

    /// A ticket for a cursor of this log.
    pub(crate) fn ticket(&self, cursor: Cursor) -> Ticket {
        self.ticket_of(InLog::Known(cursor))
    }

    pub(crate) fn ticket_of(&self, place: InLog) -> Ticket {
        Ticket {
            place,
            log: self.log.clone(),
            unpromised: false,
            stood: None,
            trace: Traced::default(),
            others: Vec::new(),
        }
    }

    /// What was counted since the start.
    pub fn counts(&self) -> Counts {
        self.counters.now()
    }

    /// Number of datastreams, of groups, and bytes held in queues.
    pub fn gauges(&self) -> (usize, usize, usize) {
        let core = self.core();
        let bytes = core
            .groups
            .iter()
            .map(|(_, slot)| slot.group.bytes_held())
            .sum();
        (core.catalog.len(), core.groups.len(), bytes)
    }

    /// The last cursors given and committed.
    pub fn positions(&self) -> (Cursor, Cursor) {
        (self.log.head(), self.log.committed())
    }

    /// Why the log keeps nothing just now, where that is known.
    pub fn trouble(&self) -> Option<String> {
        self.log.trouble()
    }

    /// How many damages were found in the log and in the history, at the start and since.
    pub fn damage(&self) -> [u64; 2] {
        [self.log.damage(), self.history.damage()]
    }

    /// Up to where the history keeps what was published, for good.
    pub fn applied(&self) -> Cursor {
        self.history.applied()
    }

    /// Limits on messages.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// When [`Hub::tick`] is due next, Unix nanoseconds.
    pub fn next_tick(&self) -> Option<i64> {
        let unasked = self.commit_due();
        let expiry = self.core().retained.next_expiry().map(Time::nanos);
        let groups = self.paced_groups();
        let closes = groups.iter().filter_map(|group| group.next_close());
        closes.chain(expiry).chain(unasked).min()
    }

    /// When what nobody waits for is committed, Unix nanoseconds.
    fn commit_due(&self) -> Option<i64> {
        let since = self.unasked.load(Ordering::Relaxed);
        (since != i64::MAX).then(|| since.saturating_add(UNASKED_NANOS_MAX))
    }

    /// Commits what nobody waits for, forgets the retained messages that expired, and closes the windows
    /// of `every` and `agg` subscriptions that end at or before now.
    pub fn tick(&self, now: Time) {
        self.expire_retained(&mut self.core(), now);
        if self.commit_due().is_some_and(|due| due <= now.nanos()) {
            self.unasked.store(i64::MAX, Ordering::Relaxed);
            self.log.commit();
        }
        let mut wakers = Wakers::new();
        for group in self.paced_groups() {
            group.close_windows(now.nanos(), &mut wakers);
        }
        wakers.into_iter().for_each(Waker::wake);
    }

    fn paced_groups(&self) -> Vec<Arc<Group>> {
        let core = self.core();
        let groups = core.groups.iter().map(|(_, slot)| &slot.group);
        groups
            .filter(|group| group.interest.aggregate.is_some())
            .cloned()
            .collect()
    }

    /// Ends the subscriptions of those whose [`crate::Standing`] was revoked.
    pub fn end_revoked(&self) {
        let groups: Vec<_> = {
            let core = self.core();
            let groups = core.groups.iter().map(|(_, slot)| &slot.group);
            groups.cloned().collect()
        };
        let mut wakers = Wakers::new();
        groups.iter().for_each(|group| group.rouse(&mut wakers));
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Ends every subscription and refuses what comes after; what was accepted is still committed.
    pub fn stop(&self) {
        let groups: Vec<_> = {
            let mut core = self.core();
            core.stopping = true;
            core.groups
                .iter()
                .map(|(_, slot)| slot.group.clone())
                .collect()
        };
        let mut wakers = Wakers::new();
        groups.iter().for_each(|group| group.end(&mut wakers));
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// `every=1s`: the last observation of each second.
pub fn every(window: std::time::Duration) -> Aggregate {
    Aggregate {
        function: Function::Last,
        window,
    }
}
