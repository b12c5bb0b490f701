//! From a message to the groups that want a part of it.

use crate::access::Verb;
use crate::catalog::StreamId;
use crate::group::{Interest, Shape};
use crate::hub::Core;
use crate::message::{Item, Message, Rows};
use std::sync::Arc;
use std::task::Waker;
use weir_model::Batch;

/// Gives every group its part of a message; those to be woken are added to `wakers`.
pub(crate) fn distribute(
    core: &mut Core,
    message: &Arc<Message>,
    streams: &[StreamId],
    wakers: &mut Vec<Waker>,
) {
    if core.groups.is_empty() {
        return;
    }
    let mut wanted: Vec<(u32, u32)> = Vec::new();
    for (index, &stream) in streams.iter().enumerate() {
        let groups = routes(core, stream);
        wanted.extend(groups.iter().map(|&group| (group, index as u32)));
    }
    wanted.sort_unstable();
    for of_group in wanted.chunk_by(|a, b| a.0 == b.0) {
        let Some(slot) = core.groups.get(of_group[0].0 as usize) else {
            continue;
        };
        let interest = &slot.group.interest;
        let all = of_group.len() == streams.len();
        if let Some(rows) = rows(message, interest, all, |stream| {
            of_group
                .binary_search_by_key(&(stream as u32), |(_, index)| *index)
                .is_ok()
        }) {
            slot.group.offer(
                Item {
                    message: message.clone(),
                    rows,
                },
                wakers,
            );
        }
    }
}

/// The groups that get a datastream, remembered until the subscriptions change.
fn routes(core: &mut Core, stream: StreamId) -> Arc<[u32]> {
    let generation = core.generation;
    let slot = core.catalog.slot(stream);
    if slot.routes.0 == generation {
        return slot.routes.1.clone();
    }
    let topic = slot.entry.topic.clone();
    let mut found = Vec::new();
    core.tree.matching(&topic, &mut found);
    found.retain(|&id| {
        let slot = core.groups.get(id as usize);
        slot.is_some_and(|slot| slot.group.interest.grants.allow(Verb::Read, &topic))
    });
    let routes: Arc<[u32]> = found.into();
    core.catalog.slot(stream).routes = (generation, routes.clone());
    routes
}

/// The part of a message that an interest has, by filter, grant and condition; `None` where nothing is.
pub(crate) fn project(message: &Message, interest: &Interest) -> Option<Rows> {
    let wants = |topic: &str| {
        interest.filters.iter().any(|filter| filter.matches(topic))
            && interest.grants.allow(Verb::Read, topic)
    };
    let Some(batch) = message.batch() else {
        return rows(message, interest, wants(&message.topic), |_| false);
    };
    let wanted: Vec<bool> = (0..batch.stream_count())
        .map(|index| wants(batch.stream(index).topic))
        .collect();
    let all = wanted.iter().all(|&wanted| wanted);
    rows(message, interest, all, |stream| wanted[stream])
}

/// The rows of the datastreams that are wanted (`all` says that every one is) and satisfy the condition.
fn rows(
    message: &Message,
    interest: &Interest,
    all: bool,
    wanted: impl Fn(usize) -> bool,
) -> Option<Rows> {
    let Some(batch) = message.batch() else {
        let raw = matches!(interest.shape, Shape::Items) && interest.condition.is_none();
        return (all && raw).then_some(Rows::All);
    };
    if all && interest.condition.is_none() {
        return Some(Rows::All);
    }
    let holds = |batch: &Batch, row: usize| {
        interest
            .condition
            .as_ref()
            .is_none_or(|condition| condition.holds(&batch.value(row)))
    };
    let due =
        (0..batch.len()).filter(|&row| (all || wanted(batch.stream_of(row))) && holds(batch, row));
    let due: Vec<u32> = due.map(|row| row as u32).collect();
    match due.len() {
        0 => None,
        n if n == batch.len() => Some(Rows::All),
        _ => Some(Rows::Some(due.into())),
    }
}
