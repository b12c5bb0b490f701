//! Under which description of its datastream an observation was made, and what a message makes known of it.
//!
//! What an observation says of itself chooses a description, or makes one from its time on; what it leaves out is that
//! of its time. So nobody who publishes changes what was observed before. The decision worth arguing: a datastream of
//! which nothing was observed yet learns what is said of it, since there is no past that it could change.

use crate::fault::Fault;
use crate::state::catalog::{Catalog, Entry};
use crate::state::numbers::StreamId;
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};
use weir_model::limits::DESCRIPTIONS_MAX;
use weir_model::{Batch, Datastream, Described, Time};
use weir_storage::units::Conversion;

/// Of each part of a message the datastream that it is of, where that is known.
pub(crate) type Known = SmallVec<[Option<StreamId>; 4]>;

/// Descriptions that held at the times of rows, each with the first of those times.
type Held = SmallVec<[(u8, Time); 4]>;

/// Finds under which descriptions a part of a message was made; gives the datastream as it is known from now on,
/// where the part says something new. A part of a datastream that is not known is made under its first.
pub(crate) fn hear(
    entry: Option<&Entry>,
    batch: &mut Batch,
    index: usize,
    arrival: Time,
) -> Option<Datastream> {
    let said = Described::of(&batch.stream(index));
    let Some(entry) = entry else {
        let mut datastream = Datastream::default();
        datastream.learn(said);
        return Some(datastream);
    };
    let known = &entry.datastream;
    if known.descriptions.is_empty() {
        if said.beyond(known.says()).is_empty() {
            return entry.had_but_bytes().then(|| known.clone());
        }
        let is_first = entry.last.is_none() && !is_met_before(batch, index);
        if is_first && may_learn(known, said) {
            let mut datastream = known.clone();
            datastream.learn(said);
            return Some(datastream);
        }
    }
    match is_described(known, batch, index, arrival) {
        true => None,
        false => described(entry, batch, index, arrival),
    }
}

/// The same where nothing is learned: of a message that was taken before.
pub(crate) fn settle(known: &Datastream, batch: &mut Batch, index: usize, arrival: Time) {
    if !known.descriptions.is_empty() && !is_described(known, batch, index, arrival) {
        describe_by_time(known, batch, index, arrival);
    }
}

/// Has each row of a part made under the description of its time.
fn describe_by_time(known: &Datastream, batch: &mut Batch, index: usize, arrival: Time) {
    batch.describe_rows(index, |time| {
        known.in_force(Time::from_nanos(time), arrival)
    });
}

/// Has each row of a part made under the description that says what the part does, with what it leaves out as it was
/// at the row's time; `false` where some rows have none.
fn is_described(known: &Datastream, batch: &mut Batch, index: usize, arrival: Time) -> bool {
    let said = Described::of(&batch.stream(index));
    if said.is_empty() {
        describe_by_time(known, batch, index, arrival);
        return true;
    }
    let held = held(known, batch, index, arrival);
    let told = held.iter().map(|(number, _)| {
        let told = known.number_of(known.described(*number).with(said))?;
        Some((*number, told))
    });
    match told.collect::<Option<SmallVec<[_; 4]>>>().as_deref() {
        None => return false,
        Some([(_, one)]) => batch.describe(index, *one),
        Some(told) => batch.describe_rows(index, |time| {
            let held = known.in_force(Time::from_nanos(time), arrival);
            let found = told.iter().find(|(number, _)| *number == held);
            found.map_or(held, |(_, told)| *told)
        }),
    }
    true
}

/// The descriptions that held at the times of a part's rows, each with the first of those times.
fn held(known: &Datastream, batch: &Batch, index: usize, arrival: Time) -> Held {
    let mut held = Held::new();
    let own = (0..batch.len()).filter(|row| batch.stream_of(*row) == index);
    for time in own.map(|row| batch.time(row).unwrap_or(arrival)) {
        let number = known.in_force(time, arrival);
        match held.iter_mut().find(|(known, _)| *known == number) {
            Some((_, first)) => *first = time.min(*first),
            None => held.push((number, time)),
        }
    }
    held
}

/// Those of which no description says what a part does, each with its first time.
fn untold(known: &Datastream, batch: &Batch, index: usize, arrival: Time) -> Held {
    let said = Described::of(&batch.stream(index));
    let mut held = held(known, batch, index, arrival);
    held.sort_unstable_by_key(|(_, first)| *first);
    held.retain(|(number, _)| {
        let whole = known.described(*number).with(said);
        known.number_of(whole).is_none()
    });
    held
}

/// Has a part's rows made under descriptions that say what it does, new ones where there are none; gives the
/// datastream with those.
fn described(entry: &Entry, batch: &mut Batch, index: usize, arrival: Time) -> Option<Datastream> {
    let mut datastream = entry.datastream.clone();
    let last = entry.last.as_ref().map(|last| last.time);
    // What begins at one row may hold at a later one, and say something else than what held there.
    while !is_described(&datastream, batch, index, arrival) {
        let known = datastream.clone();
        let said = Described::of(&batch.stream(index));
        for (number, from) in untold(&known, batch, index, arrival) {
            let whole = known.described(number).with(said);
            let is_told = datastream.number_of(whole).is_some();
            if !is_told && datastream.describe((from, last), arrival, whole).is_none() {
                // They are refused before, but for what another gateway has put into a shared log.
                settle(&datastream, batch, index, arrival);
                return Some(datastream);
            }
        }
    }
    Some(datastream)
}

/// What was declared is not learned otherwise.
fn may_learn(known: &Datastream, said: Described<'_>) -> bool {
    !known.declared || known.says().contradicted(said).is_none()
}

/// Whether a part before this one is of the same datastream.
fn is_met_before(batch: &Batch, index: usize) -> bool {
    let topic = batch.stream(index).topic;
    (0..index).any(|before| batch.stream(before).topic == topic)
}

/// Refuses what contradicts what a datastream was declared to be. A unit that can be converted to the declared one
/// does not, nor does what was so before that.
fn check_declared(
    known: &Datastream,
    batch: &Batch,
    index: usize,
    arrival: Time,
) -> Result<(), Fault> {
    if !known.declared {
        return Ok(());
    }
    let view = batch.stream(index);
    match known.says().contradicted(Described::of(&view)) {
        Some(it)
            if (it.what != "unit" || Conversion::between(it.said, it.declared).is_none())
                && !was_so(known, batch, index, arrival) =>
        {
            Err(Fault::Contradicted {
                topic: view.topic.into(),
                what: it.what,
                declared: it.declared.into(),
                said: it.said.into(),
            })
        }
        _ => Ok(()),
    }
}

/// Whether a part says of each of its observations what held at its time.
fn was_so(known: &Datastream, batch: &Batch, index: usize, arrival: Time) -> bool {
    let said = Described::of(&batch.stream(index));
    let mut rows = (0..batch.len()).filter(|row| batch.stream_of(*row) == index);
    rows.all(|row| {
        let time = batch.time(row).unwrap_or(arrival);
        let held = known.described(known.in_force(time, arrival));
        held.with(said) == held
    })
}

/// Refuses a message that contradicts what a datastream was declared to be, or would bring it more descriptions than
/// it may have; gives which of its datastreams are known.
pub(crate) fn check(catalog: &Catalog, batch: &Batch, arrival: Time) -> Result<Known, Fault> {
    let count = batch.stream_count();
    let (mut known, mut most) = (Known::with_capacity(count), 0);
    for index in 0..count {
        let view = batch.stream(index);
        let found = catalog.find(view.topic);
        known.push(found);
        if let Some(id) = found {
            let datastream = &catalog.entry(id).datastream;
            check_declared(datastream, batch, index, arrival)?;
            most = datastream.descriptions.len().max(most);
        }
    }
    // Each part makes at most one for each that there is: nearly all messages are far from the limit.
    if most + count * (most + 1) > DESCRIPTIONS_MAX {
        check_count(catalog, batch, &known, arrival)?;
    }
    Ok(known)
}

/// Refuses a message that would bring a datastream more descriptions than it may have.
fn check_count(
    catalog: &Catalog,
    batch: &Batch,
    known: &Known,
    arrival: Time,
) -> Result<(), Fault> {
    let (mut parts, mut made) = (BTreeSet::new(), BTreeMap::<&str, usize>::new());
    for (index, id) in known.iter().enumerate() {
        let view = batch.stream(index);
        let said = Described::of(&view);
        if said.is_empty() || !parts.insert((view.topic, said.sensor, said.property, said.unit)) {
            continue;
        }
        let datastream = id.map(|id| &catalog.entry(id).datastream);
        let had = datastream.map_or(0, |it| it.descriptions.len().max(1));
        let new = datastream.map_or(1, |it| untold(it, batch, index, arrival).len());
        let all = made.entry(view.topic).or_insert(had);
        *all += new;
        if *all > DESCRIPTIONS_MAX {
            return Err(Fault::OverLimit {
                what: "descriptions (sensor, type, unit) of a datastream",
                limit: DESCRIPTIONS_MAX,
            });
        }
    }
    Ok(())
}
