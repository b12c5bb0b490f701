//! Under which description of its datastream an observation was made, and what a message makes known of it.
//!
//! What an observation says of itself chooses a description, or makes one from its time on; what it leaves out is that
//! of its time. So nobody who publishes changes what was observed before. The decision worth arguing: a datastream of
//! which nothing was observed yet learns what is said of it, since there is no past that it could change.

use crate::fault::Fault;
use crate::state::catalog::{Catalog, Entry};
use crate::state::numbers::StreamId;
use smallvec::SmallVec;
use weir_model::batch::StreamView;
use weir_model::limits::DESCRIPTIONS_MAX;
use weir_model::{Batch, Datastream, Described, Time};
use weir_storage::units::Conversion;

/// Of each part of a message the datastream that it is of, where that is known.
pub(crate) type Known = SmallVec<[Option<StreamId>; 4]>;

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
        let number = known.in_force(begin(batch, index, arrival), arrival);
        batch.describe(index, number);
    }
}

/// Has a part made under the description that says what it does; `false` where none does.
fn is_described(known: &Datastream, batch: &mut Batch, index: usize, arrival: Time) -> bool {
    if Described::of(&batch.stream(index)).is_empty() {
        batch.describe_rows(index, |time| {
            known.in_force(Time::from_nanos(time), arrival)
        });
        return true;
    }
    let number = known.number_of(whole(known, batch, index, arrival));
    number
        .into_iter()
        .for_each(|number| batch.describe(index, number));
    number.is_some()
}

/// What a part says, with what it leaves out as it was at its first time.
fn whole<'a>(
    known: &'a Datastream,
    batch: &'a Batch,
    index: usize,
    arrival: Time,
) -> Described<'a> {
    let at = begin(batch, index, arrival);
    let held = known.described(known.in_force(at, arrival));
    held.with(Described::of(&batch.stream(index)))
}

fn begin(batch: &Batch, index: usize, arrival: Time) -> Time {
    batch.begin_of(index).unwrap_or(arrival)
}

/// Has a part made under a new description, which says what it does.
fn described(entry: &Entry, batch: &mut Batch, index: usize, arrival: Time) -> Option<Datastream> {
    let known = &entry.datastream;
    let mut datastream = known.clone();
    let last = entry.last.as_ref().map(|last| last.time);
    let from = begin(batch, index, arrival);
    let whole = whole(known, batch, index, arrival);
    match datastream.describe((from, last), arrival, whole) {
        Some(number) => {
            batch.describe(index, number);
            Some(datastream)
        }
        None => {
            // It is refused before, but for what another gateway has put into a shared log.
            settle(known, batch, index, arrival);
            None
        }
    }
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
/// does not.
fn check_declared(known: &Datastream, view: &StreamView<'_>) -> Result<(), Fault> {
    if !known.declared {
        return Ok(());
    }
    match known.says().contradicted(Described::of(view)) {
        Some(it) if it.what != "unit" || Conversion::between(it.said, it.declared).is_none() => {
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

/// Refuses a message that contradicts what a datastream was declared to be, or would bring it more descriptions than
/// it may have; gives which of its datastreams are known.
pub(crate) fn check(catalog: &Catalog, batch: &Batch, arrival: Time) -> Result<Known, Fault> {
    let count = batch.stream_count();
    let mut known = Known::with_capacity(count);
    for index in 0..count {
        let view = batch.stream(index);
        let found = catalog.find(view.topic);
        known.push(found);
        if let Some(id) = found {
            let datastream = &catalog.entry(id).datastream;
            check_declared(datastream, &view)?;
            check_count(datastream, batch, index, arrival)?;
        }
    }
    Ok(known)
}

fn check_count(
    known: &Datastream,
    batch: &Batch,
    index: usize,
    arrival: Time,
) -> Result<(), Fault> {
    let had = known.descriptions.len();
    // How many a message makes at most: each part one.
    if had == 0 || had + batch.stream_count() < DESCRIPTIONS_MAX {
        return Ok(());
    }
    let is_told = Described::of(&batch.stream(index)).is_empty()
        || known
            .number_of(whole(known, batch, index, arrival))
            .is_some();
    match is_told || had + index < DESCRIPTIONS_MAX {
        true => Ok(()),
        false => Err(Fault::OverLimit {
            what: "descriptions (sensor, type, unit) of a datastream",
            limit: DESCRIPTIONS_MAX,
        }),
    }
}
