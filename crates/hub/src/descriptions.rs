//! Under which description of its datastream an observation was made, and what a message makes known of it.
//!
//! What an observation says of itself chooses a description, or makes one from its time on; what it leaves out is that
//! of its time. So nobody who publishes changes what was observed before. The decision worth arguing: a datastream of
//! which nothing was observed yet learns what is said of it, since there is no past that it could change.

use crate::fault::Fault;
use crate::state::catalog::{Catalog, Entry};
use crate::state::numbers::StreamId;
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use weir_model::limits::DESCRIPTIONS_MAX;
use weir_model::{Batch, Datastream, Described, Time};
use weir_storage::units::Conversion;

/// Of each part of a message the datastream that it is of, where that is known.
pub(crate) type Known = SmallVec<[Option<StreamId>; 4]>;

/// Descriptions that held at the times of rows, each with the first of those times.
type Held = SmallVec<[(u8, Time); 4]>;

/// A datastream of which a message makes something known.
pub(crate) struct Learned {
    /// It, where it was known before.
    pub(crate) id: Option<StreamId>,
    pub(crate) topic: Arc<str>,
    /// As it is from now on.
    pub(crate) datastream: Datastream,
}

/// The rows of each part of a message, and which datastreams came before a part: found once, however many there are.
#[derive(Default)]
struct RowsByPart {
    /// Rows by part, and where each part's begin.
    rows: SmallVec<[u32; 8]>,
    begins: SmallVec<[u32; 8]>,
    /// The datastreams of the parts before this one.
    met: HashSet<StreamId>,
    met_before: usize,
}

impl RowsByPart {
    /// The rows of a part.
    fn rows(&mut self, batch: &Batch, index: usize) -> &[u32] {
        if self.begins.is_empty() {
            self.sort(batch);
        }
        let [begin, end] = [index, index + 1].map(|at| self.begins[at] as usize);
        &self.rows[begin..end]
    }

    /// Counts the rows of each part, then puts each in its place.
    fn sort(&mut self, batch: &Batch) {
        self.begins.resize(batch.stream_count() + 1, 0);
        for &part in batch.streams() {
            self.begins[part as usize + 1] += 1;
        }
        for part in 1..self.begins.len() {
            self.begins[part] += self.begins[part - 1];
        }
        let mut next = self.begins.clone();
        self.rows.resize(batch.len(), 0);
        for (row, &part) in batch.streams().iter().enumerate() {
            let at = &mut next[part as usize];
            self.rows[*at as usize] = row as u32;
            *at += 1;
        }
    }

    /// Whether no part before this one is of its datastream.
    fn is_first(&mut self, known: &Known, index: usize) -> bool {
        self.met
            .extend(known[self.met_before..index].iter().flatten());
        self.met_before = index;
        known[index].is_none_or(|id| !self.met.contains(&id))
    }
}

/// A datastream as it is known where a part of a message is heard.
struct KnownNow<'a> {
    datastream: &'a Datastream,
    /// The time of its last observation.
    last: Option<Time>,
    /// Whether nothing was observed of it before this part.
    is_first: bool,
    had_but_bytes: bool,
}

/// Finds under which descriptions a message was made; gives the datastreams of which it says something new, each
/// once, as they are known from now on.
pub(crate) fn hear(
    catalog: &Catalog,
    batch: &mut Batch,
    known: &Known,
    arrival: Time,
) -> Vec<Learned> {
    let mut learned = Vec::<Learned>::new();
    let (mut by_id, mut by_topic) = (HashMap::new(), HashMap::<Arc<str>, usize>::new());
    let mut parts = RowsByPart::default();
    // RowsByPart whose rows were made under several descriptions become more, which are described already.
    for index in 0..batch.stream_count() {
        let id = known.get(index).copied().flatten();
        let before = match id {
            Some(id) if !by_id.is_empty() => by_id.get(&id).copied(),
            None if !by_topic.is_empty() => by_topic.get(batch.stream(index).topic).copied(),
            _ => None,
        };
        let entry = id.map(|id| catalog.entry(id));
        let met = KnownNow::of(entry, before.map(|at| &learned[at]), || {
            parts.is_first(known, index)
        });
        let Some(datastream) = hear_part(met, batch, &mut parts, index, arrival) else {
            continue;
        };
        if let Some(before) = before {
            learned[before].datastream = datastream;
            continue;
        }
        let topic = entry.map_or_else(|| batch.stream(index).topic.into(), |it| it.topic.clone());
        match id {
            Some(id) => drop(by_id.insert(id, learned.len())),
            None => drop(by_topic.insert(Arc::clone(&topic), learned.len())),
        }
        learned.push(Learned {
            id,
            topic,
            datastream,
        });
    }
    learned
}

impl<'a> KnownNow<'a> {
    fn of(
        entry: Option<&'a Entry>,
        learned: Option<&'a Learned>,
        is_first: impl FnOnce() -> bool,
    ) -> Option<Self> {
        let last = entry.and_then(|entry| entry.last.as_ref());
        let known = entry.map(|entry| &*entry.datastream);
        Some(Self {
            datastream: learned.map(|it| &it.datastream).or(known)?,
            last: last.map(|last| last.time),
            is_first: learned.is_none() && last.is_none() && is_first(),
            had_but_bytes: learned.is_none() && entry.is_some_and(Entry::had_but_bytes),
        })
    }
}

/// A part of a datastream that is not known is made under its first description.
fn hear_part(
    met: Option<KnownNow<'_>>,
    batch: &mut Batch,
    parts: &mut RowsByPart,
    index: usize,
    arrival: Time,
) -> Option<Datastream> {
    let said = Described::of(&batch.stream(index));
    let Some(met) = met else {
        let mut datastream = Datastream::default();
        datastream.learn(said);
        return Some(datastream);
    };
    let known = met.datastream;
    if known.descriptions.is_empty() {
        if said.beyond(known.says()).is_empty() {
            return met.had_but_bytes.then(|| known.clone());
        }
        if met.is_first && may_learn(known, said) {
            let mut datastream = known.clone();
            datastream.learn(said);
            return Some(datastream);
        }
    }
    if known.is_ahead(arrival) {
        let mut bounded = known.clone();
        bounded.bound(arrival);
        let told = tell(
            &bounded,
            met.last,
            batch,
            parts.rows(batch, index),
            index,
            arrival,
        );
        return Some(told.unwrap_or(bounded));
    }
    tell(
        known,
        met.last,
        batch,
        parts.rows(batch, index),
        index,
        arrival,
    )
}

/// Has a part made under descriptions that say what it does; gives the datastream with those that are new.
fn tell(
    known: &Datastream,
    last: Option<Time>,
    batch: &mut Batch,
    rows: &[u32],
    index: usize,
    arrival: Time,
) -> Option<Datastream> {
    let is_told = is_described(known, batch, rows, index, arrival);
    (!is_told).then(|| described(known, last, batch, rows, index, arrival))
}

/// The same where nothing is learned: of a message that was taken before.
pub(crate) fn settle<'a>(
    batch: &mut Batch,
    known: impl Fn(&str) -> Option<&'a Datastream>,
    arrival: Time,
) {
    let mut parts = RowsByPart::default();
    for index in 0..batch.stream_count() {
        let known = known(batch.stream(index).topic);
        if let Some(known) = known.filter(|known| !known.descriptions.is_empty()) {
            let rows = parts.rows(batch, index);
            settle_part(known, batch, rows, index, arrival);
        }
    }
}

fn settle_part(known: &Datastream, batch: &mut Batch, rows: &[u32], index: usize, arrival: Time) {
    if !is_described(known, batch, rows, index, arrival) {
        describe_by_time(known, batch, rows, index, arrival);
    }
}

/// Has each row of a part made under the description of its time.
fn describe_by_time(
    known: &Datastream,
    batch: &mut Batch,
    rows: &[u32],
    index: usize,
    arrival: Time,
) {
    batch.describe_rows(index, rows, |time| {
        known.in_force(Time::from_nanos(time), arrival)
    });
}

/// Has each row of a part made under the description that says what the part does, with what it leaves out as it was
/// at the row's time; `false` where some rows have none.
fn is_described(
    known: &Datastream,
    batch: &mut Batch,
    rows: &[u32],
    index: usize,
    arrival: Time,
) -> bool {
    let said = Described::of(&batch.stream(index));
    if said.is_empty() {
        describe_by_time(known, batch, rows, index, arrival);
        return true;
    }
    let held = held(known, batch, rows, arrival);
    let told = held.iter().map(|(number, _)| {
        let told = known.number_of(known.described(*number).with(said))?;
        Some((*number, told))
    });
    match told.collect::<Option<SmallVec<[_; 4]>>>().as_deref() {
        None => return false,
        Some([(_, one)]) => batch.describe(index, *one),
        Some(told) => batch.describe_rows(index, rows, |time| {
            let held = known.in_force(Time::from_nanos(time), arrival);
            let found = told.iter().find(|(number, _)| *number == held);
            found.map_or(held, |(_, told)| *told)
        }),
    }
    true
}

/// The descriptions that held at the times of rows, each with the first of those times.
fn held(known: &Datastream, batch: &Batch, rows: &[u32], arrival: Time) -> Held {
    let mut held = Held::new();
    for &row in rows {
        let time = batch.time(row as usize).unwrap_or(arrival);
        let number = known.in_force(time, arrival);
        match held.iter_mut().find(|(known, _)| *known == number) {
            Some((_, first)) => *first = time.min(*first),
            None => held.push((number, time)),
        }
    }
    held
}

/// Those of which no description says what a part does, each with its first time.
fn untold(
    known: &Datastream,
    batch: &Batch,
    rows: &[u32],
    said: Described<'_>,
    arrival: Time,
) -> Held {
    let mut held = held(known, batch, rows, arrival);
    held.sort_unstable_by_key(|(_, first)| *first);
    held.retain(|(number, _)| {
        let whole = known.described(*number).with(said);
        known.number_of(whole).is_none()
    });
    held
}

/// Has a part's rows made under descriptions that say what it does, new ones where there are none; gives the
/// datastream with those.
fn described(
    known: &Datastream,
    last: Option<Time>,
    batch: &mut Batch,
    rows: &[u32],
    index: usize,
    arrival: Time,
) -> Datastream {
    let mut datastream = known.clone();
    // What begins at one row may hold at a later one, and say something else than what held there.
    while !is_described(&datastream, batch, rows, index, arrival) {
        let known = datastream.clone();
        let said = Described::of(&batch.stream(index));
        for (number, from) in untold(&known, batch, rows, said, arrival) {
            let whole = known.described(number).with(said);
            let is_told = datastream.number_of(whole).is_some();
            if !is_told && datastream.describe((from, last), arrival, whole).is_none() {
                // They are refused before, but for what another gateway has put into a shared log.
                settle_part(&datastream, batch, rows, index, arrival);
                return datastream;
            }
        }
    }
    datastream
}

/// What a datastream is from now on where somebody who may change it says what it is, or what it was all along.
pub(crate) fn declare(
    entry: Option<&Entry>,
    said: &Datastream,
    is_correction: bool,
    now: Time,
) -> Result<Datastream, Fault> {
    let known = entry.map(|entry| &*entry.datastream);
    let mut datastream = known.cloned().unwrap_or_default();
    let is_observed = entry.is_some_and(|entry| entry.last.is_some());
    let of = said.says();
    if is_correction {
        datastream.correct(of, now);
    } else if !datastream.declare(of, now, is_observed) {
        return Err(too_many());
    }
    datastream.name.clone_from(&said.name);
    datastream.place = said.place;
    datastream.maximum = said.maximum;
    if said.about.is_some() {
        datastream.about.clone_from(&said.about);
    }
    Ok(datastream)
}

/// What was declared is not learned otherwise.
fn may_learn(known: &Datastream, said: Described<'_>) -> bool {
    !known.declared || known.says().contradicted(said).is_none()
}

/// Refuses what contradicts what a datastream was declared to be. A unit that can be converted to the declared one
/// does not, nor does what was so before that.
fn check_declared(
    known: &Datastream,
    batch: &Batch,
    parts: &mut RowsByPart,
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
                && !was_so(known, batch, parts.rows(batch, index), index, arrival) =>
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
fn was_so(known: &Datastream, batch: &Batch, rows: &[u32], index: usize, arrival: Time) -> bool {
    let said = Described::of(&batch.stream(index));
    rows.iter().all(|&row| {
        let time = batch.time(row as usize).unwrap_or(arrival);
        let held = known.described(known.in_force(time, arrival));
        held.with(said) == held
    })
}

/// Refuses a message that contradicts what a datastream was declared to be, or would bring it more descriptions than
/// it may have; gives which of its datastreams are known.
pub(crate) fn check(catalog: &Catalog, batch: &Batch, arrival: Time) -> Result<Known, Fault> {
    let count = batch.stream_count();
    let (mut known, mut most) = (Known::with_capacity(count), 0);
    let mut parts = RowsByPart::default();
    for index in 0..count {
        let view = batch.stream(index);
        let found = catalog.find(view.topic);
        known.push(found);
        if let Some(id) = found {
            let datastream = &catalog.entry(id).datastream;
            check_declared(datastream, batch, &mut parts, index, arrival)?;
            most = datastream.descriptions.len().max(most);
        }
    }
    // Each part makes at most one for each that there is: nearly all messages are far from the limit.
    if most + count * (most + 1) > DESCRIPTIONS_MAX {
        check_count(catalog, batch, (&known, &mut parts), arrival)?;
    }
    Ok(known)
}

/// Refuses a message that would bring a datastream more descriptions than it may have.
fn check_count(
    catalog: &Catalog,
    batch: &Batch,
    (known, parts): (&Known, &mut RowsByPart),
    arrival: Time,
) -> Result<(), Fault> {
    let (mut told, mut made) = (BTreeSet::new(), BTreeMap::<&str, usize>::new());
    for (index, id) in known.iter().enumerate() {
        let view = batch.stream(index);
        let said = Described::of(&view);
        if said.is_empty() || !told.insert((view.topic, said.sensor, said.property, said.unit)) {
            continue;
        }
        let datastream = id.map(|id| &catalog.entry(id).datastream);
        let had = datastream.map_or(0, |it| it.descriptions.len().max(1));
        let rows = parts.rows(batch, index);
        let new = datastream.map_or(1, |it| untold(it, batch, rows, said, arrival).len());
        let all = made.entry(view.topic).or_insert(had);
        *all += new;
        if *all > DESCRIPTIONS_MAX {
            return Err(too_many());
        }
    }
    Ok(())
}

fn too_many() -> Fault {
    Fault::OverLimit {
        what: "descriptions (sensor, type, unit) of a datastream",
        limit: DESCRIPTIONS_MAX,
    }
}
