//! From a message to the groups that want it.

use crate::access::{Grants, Verb};
use crate::group::Group;
use crate::hub::{Core, GroupSlot};
use crate::interest::Interest;
use crate::limits::PUBLISHED_ROUTES_MAX;
use crate::message::{Item, Message};
use crate::queue::Wakers;
use crate::selection::{part, reads_all};
use crate::state::numbers::StreamId;
use slab::Slab;
use smallvec::SmallVec;
use std::sync::Arc;

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
        offer(&core.groups, id, wakers, |group| {
            part(message, group, true, true, |_| true)
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
        offer(&core.groups, id, wakers, |group| {
            part(message, group, false, all, wants)
        });
    }
}

/// Offers a group what is made for it.
fn offer(
    groups: &Slab<GroupSlot>,
    id: u32,
    wakers: &mut Wakers,
    make: impl FnOnce(&Group) -> Option<Item>,
) {
    let Some(slot) = groups.get(id as usize) else {
        return;
    };
    if let Some(item) = make(&slot.group) {
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
