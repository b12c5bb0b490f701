//! From a message to the groups that want a part of it.

use crate::access::{Grants, Verb};
use crate::catalog::StreamId;
use crate::group::Interest;
use crate::hub::{Core, GroupSlot, Wakers};
use crate::limits::PUBLISHED_ROUTES_MAX;
use crate::message::{Item, Message, Rows};
use slab::Slab;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::sync::Arc;
use weir_model::Batch;
use weir_storage::units::{Converted, InUnit};

/// Raw groups by the topics that messages are published at, as of a generation of the subscriptions.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    known: HashMap<Arc<str>, (u64, Arc<[u32]>)>,
}

/// Gives every group its part of a message; those to be woken are added to `wakers`.
pub(crate) fn distribute(
    core: &mut Core,
    message: &Arc<Message>,
    streams: &[StreamId],
    wakers: &mut Wakers,
) {
    if core.groups.is_empty() {
        return;
    }
    let whole = takers(core, message);
    for &id in &whole {
        offer(&core.groups, id, wakers, |interest| {
            part(message, interest, true, true, |_| true)
        });
    }
    let mut wanted: SmallVec<[(u32, u32); 8]> = SmallVec::new();
    for (index, &stream) in streams.iter().enumerate() {
        let groups = routes(core, stream);
        wanted.extend(groups.iter().map(|&group| (group, index as u32)));
    }
    wanted.sort_unstable();
    for of_group in wanted.chunk_by(|a, b| a.0 == b.0) {
        let id = of_group[0].0;
        if whole.binary_search(&id).is_ok() {
            continue;
        }
        let all = of_group.len() == streams.len();
        let wants = |stream| {
            let among = of_group.binary_search_by_key(&(stream as u32), |(_, index)| *index);
            among.is_ok()
        };
        offer(&core.groups, id, wakers, |interest| {
            part(message, interest, false, all, wants)
        });
    }
}

fn item(message: &Arc<Message>, rows: Rows, whole: bool) -> Item {
    Item {
        message: message.clone(),
        rows,
        whole,
        retained: false,
    }
}

/// Offers a group what is made for its interest.
fn offer(
    groups: &Slab<GroupSlot>,
    id: u32,
    wakers: &mut Wakers,
    make: impl FnOnce(&Interest) -> Option<Item>,
) {
    let Some(slot) = groups.get(id as usize) else {
        return;
    };
    if let Some(item) = make(&slot.group.interest) {
        slot.group.offer(item, wakers);
    }
}

/// The raw groups that get a message whole, by id; none is looked for where no group is raw.
fn takers(core: &mut Core, message: &Message) -> SmallVec<[u32; 8]> {
    if core.raw_groups == 0 {
        return SmallVec::new();
    }
    let matching = published_at(core, &message.topic);
    let mut last: Option<(*const Grants, bool)> = None;
    let mut may_read_all = |id: &u32| {
        let Some(slot) = core.groups.get(*id as usize) else {
            return false;
        };
        // Groups of one role stand together often enough that asking once serves many.
        let grants = &slot.group.interest.grants;
        match last {
            Some((same, allowed)) if std::ptr::eq(same, Arc::as_ptr(grants)) => allowed,
            _ => {
                let allowed = reads_all(grants, message);
                last = Some((Arc::as_ptr(grants), allowed));
                allowed
            }
        }
    };
    let taking = matching.iter().copied();
    taking.filter(|id| may_read_all(id)).collect()
}

/// Says whether every datastream of a message may be read, its own topic aside.
pub(crate) fn reads_all(grants: &Grants, message: &Message) -> bool {
    let Some(batch) = message.batch() else {
        return true;
    };
    let mut topics = (0..batch.stream_count()).map(|index| batch.stream(index).topic);
    topics.all(|topic| topic == &*message.topic || grants.allow(Verb::Read, topic))
}

/// The raw groups that want what is published at a topic, remembered until the subscriptions change.
fn published_at(core: &mut Core, topic: &Arc<str>) -> Arc<[u32]> {
    let generation = core.generation;
    if let Some((known, groups)) = core.published.known.get(topic)
        && *known == generation
    {
        return groups.clone();
    }
    let groups = matching(core, topic, |interest| interest.raw);
    let known = &mut core.published.known;
    if known.len() >= PUBLISHED_ROUTES_MAX {
        known.clear();
    }
    known.insert(topic.clone(), (generation, groups.clone()));
    groups
}

/// The groups that get a datastream, remembered until the subscriptions change.
fn routes(core: &mut Core, stream: StreamId) -> Arc<[u32]> {
    let generation = core.generation;
    let slot = core.catalog.slot(stream);
    if slot.routes.0 == generation {
        return slot.routes.1.clone();
    }
    let topic = slot.entry.topic.clone();
    let routes = matching(core, &topic, |_| true);
    core.catalog.slot(stream).routes = (generation, routes.clone());
    routes
}

/// The groups whose filters match a topic that they may read, by id.
fn matching(core: &Core, topic: &str, wanted: impl Fn(&Interest) -> bool) -> Arc<[u32]> {
    let mut found = Vec::new();
    core.tree.matching(topic, &mut found);
    found.retain(|&id| {
        let interest = core
            .groups
            .get(id as usize)
            .map(|slot| &slot.group.interest);
        interest.is_some_and(|it| wanted(it) && it.grants.allow(Verb::Read, topic))
    });
    found.into()
}

/// The part of a message that an interest has, by filter, grant and condition; `None` where nothing is.
pub(crate) fn project(message: &Arc<Message>, interest: &Interest) -> Option<Item> {
    let wants = |topic: &str| {
        interest.filters.iter().any(|filter| filter.matches(topic))
            && interest.grants.allow(Verb::Read, topic)
    };
    if interest.raw && wants(&message.topic) && reads_all(&interest.grants, message) {
        return part(message, interest, true, true, |_| true);
    }
    let batch = message.batch()?;
    let wanted: Vec<bool> = (0..batch.stream_count())
        .map(|index| wants(batch.stream(index).topic))
        .collect();
    let all = wanted.iter().all(|&wanted| wanted);
    part(message, interest, false, all, |stream| wanted[stream])
}

/// The rows of a message made for an interest that satisfy its condition.
pub(crate) fn selected(message: &Arc<Message>, interest: &Interest) -> Option<Item> {
    let is_empty = message.batch().is_none_or(Batch::is_empty);
    let due = !is_empty && (interest.condition.is_some() || interest.unit != InUnit::AsMade);
    match due {
        true => part(message, interest, false, true, |_| true),
        false => (!is_empty).then(|| Item::all(message.clone())),
    }
}

/// The part of a message (`whole` says that it counts as all of it) whose datastreams are wanted (`all` says that
/// every one is), and whose rows satisfy the condition, in the unit that is asked for.
fn part(
    message: &Arc<Message>,
    interest: &Interest,
    whole: bool,
    all: bool,
    wanted: impl Fn(usize) -> bool,
) -> Option<Item> {
    let converted = message.batch().and_then(|batch| interest.converted(batch));
    let rows = rows(message, interest, converted.as_ref(), all, wanted)?;
    // A condition alone changes nothing of what satisfies it.
    let is_given = interest.is_of_a_unit() || interest.unit != InUnit::AsMade;
    Some(match converted.filter(|_| is_given) {
        Some(converted) => item(&Arc::new(message.with(converted.batch)), rows, false),
        None => item(message, rows, whole),
    })
}

/// The rows of the datastreams that are wanted (`all` says that every one is) and satisfy the condition, as they were
/// converted; those that could not be do not.
fn rows(
    message: &Message,
    interest: &Interest,
    converted: Option<&Converted>,
    all: bool,
    wanted: impl Fn(usize) -> bool,
) -> Option<Rows> {
    let condition = interest.condition.as_ref();
    let Some(batch) = message.batch() else {
        let due = all && interest.raw && condition.is_none();
        return due.then_some(Rows::All);
    };
    if all && condition.is_none() && converted.is_none() {
        return Some(Rows::All);
    }
    let seen = converted.map_or(batch, |converted| &converted.batch);
    let is_due = |row: &usize| {
        let stream = batch.stream_of(*row);
        (all || wanted(stream))
            && converted.is_none_or(|converted| !converted.is_as_it_was(stream))
            && condition.is_none_or(|condition| condition.holds(&seen.value(*row)))
    };
    let due = (0..batch.len()).filter(is_due);
    let due: Vec<u32> = due.map(|row| row as u32).collect();
    match due.len() {
        0 => None,
        n if n == batch.len() => Some(Rows::All),
        _ => Some(Rows::Some(due.into())),
    }
}
