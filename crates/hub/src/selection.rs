//! From a message to the groups that want a part of it.

use crate::access::{Grants, Verb};
use crate::group::Group;
use crate::interest::Interest;
use crate::message::{Item, Message, Rows};
use std::sync::Arc;
use weir_model::Batch;
use weir_storage::units::{Converted, InUnit};

pub(crate) fn item(message: &Arc<Message>, rows: Rows, whole: bool) -> Item {
    Item {
        message: message.clone(),
        rows,
        whole,
        retained: false,
    }
}

/// Says whether every datastream of a message may be read, its own topic aside.
pub(crate) fn reads_all(grants: &Grants, message: &Message) -> bool {
    let Some(batch) = message.batch() else {
        return true;
    };
    let mut topics = (0..batch.stream_count()).map(|index| batch.stream(index).topic);
    topics.all(|topic| topic == &*message.topic || grants.allow(Verb::Read, topic))
}

/// The part of a message that a group has, by filter, grant and condition; `None` where nothing is.
pub(crate) fn project(message: &Arc<Message>, group: &Group) -> Option<Item> {
    let interest = &group.interest;
    let wants = |topic: &str| {
        interest.filters.iter().any(|filter| filter.matches(topic))
            && interest.grants.allow(Verb::Read, topic)
    };
    if interest.raw && wants(&message.topic) && reads_all(&interest.grants, message) {
        return part(message, group, true, true, |_| true);
    }
    let batch = message.batch()?;
    let wanted: Vec<bool> = (0..batch.stream_count())
        .map(|index| wants(batch.stream(index).topic))
        .collect();
    let all = wanted.iter().all(|&wanted| wanted);
    part(message, group, false, all, |stream| wanted[stream])
}

/// The rows of a message made for a group that satisfy its condition.
pub(crate) fn selected(message: &Arc<Message>, group: &Group) -> Option<Item> {
    let interest = &group.interest;
    let is_empty = message.batch().is_none_or(Batch::is_empty);
    let due = !is_empty && (interest.condition.is_some() || interest.unit != InUnit::AsMade);
    match due {
        true => part(message, group, false, true, |_| true),
        false => (!is_empty).then(|| Item::all(message.clone())),
    }
}

/// The part of a message (`whole` says that it counts as all of it) whose datastreams are wanted (`all` says that
/// every one is), and whose rows satisfy the condition, in the unit that is asked for.
pub(crate) fn part(
    message: &Arc<Message>,
    group: &Group,
    whole: bool,
    all: bool,
    wanted: impl Fn(usize) -> bool,
) -> Option<Item> {
    let interest = &group.interest;
    let converted = message.batch().and_then(|batch| interest.converted(batch));
    if let (Some(converted), Some(batch)) = (&converted, message.batch()) {
        count_uncompared(group, batch, converted, |stream| all || wanted(stream));
    }
    let rows = rows(message, interest, converted.as_ref(), all, wanted)?;
    Some(match converted.filter(|_| interest.is_converted()) {
        Some(converted) => item(&Arc::new(message.with(converted.batch)), rows, false),
        None => item(message, rows, whole),
    })
}

/// Counts the rows that are wanted and left out, since they could not be converted.
fn count_uncompared(
    group: &Group,
    batch: &Batch,
    converted: &Converted,
    wanted: impl Fn(usize) -> bool,
) {
    if converted.is_whole() || !group.interest.is_strict() {
        return;
    }
    for stream in (0..batch.stream_count()).filter(|stream| wanted(*stream)) {
        let rows = (0..batch.len()).filter(|row| batch.stream_of(*row) == stream);
        let refused = rows.filter_map(|row| converted.refusal(row, stream));
        let (mut count, mut last) = (0, None);
        refused.for_each(|why| (count, last) = (count + 1, Some(why)));
        if let Some(why) = last {
            group.note_uncompared(count, why);
        }
    }
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
    let is_strict = interest.is_strict();
    let is_due = |row: &usize| {
        let stream = batch.stream_of(*row);
        (all || wanted(stream))
            && converted.is_none_or(|it| !is_strict || it.refusal(*row, stream).is_none())
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
