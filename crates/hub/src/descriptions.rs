//! Under which description of its datastream an observation was made, and what a message makes known of it.
//!
//! What an observation says of itself chooses a description, or makes one from its time on; what it leaves out is that
//! of its time. So nobody who publishes changes what was observed before. The decision worth arguing: a datastream of
//! which nothing was observed yet learns what is said of it, since there is no past that it could change.

use crate::fault::Fault;
use crate::state::catalog::{Catalog, Entry};
use weir_model::batch::StreamView;
use weir_model::limits::DESCRIPTIONS_MAX;
use weir_model::{Batch, Datastream, Described, Time};
use weir_storage::units::Conversion;

/// What a part of a message says of its datastream that is not known.
pub(crate) fn heard(view: &StreamView<'_>, known: &Datastream) -> Datastream {
    Datastream {
        sensor: differs(view.sensor, &known.sensor),
        property: differs(view.property, &known.property),
        unit: differs(view.unit, &known.unit),
        ..Datastream::default()
    }
}

fn differs(heard: Option<&str>, known: &Option<Box<str>>) -> Option<Box<str>> {
    heard
        .filter(|heard| known.as_deref() != Some(heard))
        .map(Into::into)
}

/// Finds under which descriptions a part of a message was made; gives the datastream as it is known from now on,
/// where the part says something new. A part of a datastream that is not known is made under its first.
pub(crate) fn hear(
    entry: Option<&Entry>,
    batch: &mut Batch,
    index: usize,
    arrival: Time,
) -> Option<Datastream> {
    let Some(entry) = entry else {
        let mut datastream = Datastream::default();
        datastream.learn(&heard(&batch.stream(index), &Datastream::default()));
        return Some(datastream);
    };
    let known = &entry.datastream;
    let view = batch.stream(index);
    let said = Described::of(&view);
    if known.descriptions.is_empty() {
        let heard = heard(&view, known);
        let is_new = heard != Datastream::default();
        let is_first = entry.last.is_none() && !is_met_before(batch, index);
        return match is_new {
            false => entry.had_but_bytes().then(|| known.clone()),
            true if is_first && may_learn(known, said) => {
                let mut datastream = known.clone();
                datastream.learn(&heard);
                Some(datastream)
            }
            true => described(entry, batch, index, arrival),
        };
    }
    if said.is_empty() {
        settle(known, batch, index, arrival);
        return None;
    }
    described(entry, batch, index, arrival)
}

/// The same where nothing is learned: of a message that was taken before.
pub(crate) fn settle(known: &Datastream, batch: &mut Batch, index: usize, arrival: Time) {
    if known.descriptions.is_empty() {
        return;
    }
    let view = batch.stream(index);
    let said = Described::of(&view);
    let in_force = |time: i64| known.in_force(Time::from_nanos(time), arrival);
    if said.is_empty() {
        return batch.describe_rows(index, in_force);
    }
    let whole = whole(known, batch, index, arrival);
    let number = known.number_of(whole);
    let number = number.unwrap_or_else(|| in_force(begin(batch, index, arrival).nanos()));
    batch.describe(index, number);
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

/// Has a part made under the description that says what it does; a new one, where there is none of it.
fn described(entry: &Entry, batch: &mut Batch, index: usize, arrival: Time) -> Option<Datastream> {
    let known = &entry.datastream;
    let whole = whole(known, batch, index, arrival);
    if let Some(number) = known.number_of(whole) {
        batch.describe(index, number);
        return None;
    }
    let mut datastream = known.clone();
    let last = entry.last.as_ref().map(|last| last.time);
    let from = begin(batch, index, arrival);
    let number = datastream.describe((from, last), arrival, whole);
    let learned = number.map(|_| datastream);
    match number {
        Some(number) => batch.describe(index, number),
        // It is refused before, but for what another gateway has put into a shared log.
        None => settle(known, batch, index, arrival),
    }
    learned
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
/// it may have.
pub(crate) fn check(catalog: &Catalog, batch: &Batch, arrival: Time) -> Result<(), Fault> {
    for index in 0..batch.stream_count() {
        let view = batch.stream(index);
        let Some(id) = catalog.find(view.topic) else {
            continue;
        };
        let known = &catalog.entry(id).datastream;
        check_declared(known, &view)?;
        // How many a message makes at most: each part one.
        let most = known.descriptions.len() + batch.stream_count();
        if known.descriptions.is_empty()
            || most < DESCRIPTIONS_MAX
            || Described::of(&view).is_empty()
        {
            continue;
        }
        let is_new = known
            .number_of(whole(known, batch, index, arrival))
            .is_none();
        if is_new && known.descriptions.len() + index + 1 > DESCRIPTIONS_MAX {
            return Err(Fault::OverLimit {
                what: "descriptions (sensor, type, unit) of a datastream",
                limit: DESCRIPTIONS_MAX,
            });
        }
    }
    Ok(())
}
