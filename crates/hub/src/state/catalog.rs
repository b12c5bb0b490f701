//! The catalog: every datastream with what is known of it and its last observation, in memory.

use crate::limits::{COMPARISONS_MAX, DATASTREAMS_MAX};
use crate::problem::EntryProblem;
use crate::state::numbers::{Numbers, Said, StreamId};
use crate::state::stood::Newest;
use crate::weight;
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;
use weir_model::{BatchBuilder, Cursor, Datastream, Extra, Filter, Observation, Time, Value};
use weir_storage::takes_over;
use weir_storage::units::Conversion;

/// A datastream as the gateway knows it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its topic.
    pub topic: Arc<str>,
    /// Sensor, property, unit, place; shared with those who read the past while it changes.
    pub datastream: Arc<Datastream>,
    /// Its last observation.
    pub last: Option<Last>,
    /// When something last arrived, observation or opaque.
    pub last_seen: Option<Time>,
    /// Smoothed time between arrivals, nanoseconds.
    pub interval: Option<i64>,
    /// Content type of the last message where it was opaque.
    pub opaque: Option<Arc<str>>,
    /// Place in the log of what was last learned of it in this run.
    pub changed: Cursor,
    /// The newest time that it has observations of, and how many.
    pub newest: Newest,
    /// What was not understood of a message to it last, in this run.
    pub problem: Option<Box<EntryProblem>>,
}

/// The last observation of a datastream.
#[derive(Clone, Debug)]
pub struct Last {
    /// Its record's place in the log.
    pub cursor: Cursor,
    /// Its time.
    pub time: Time,
    /// What it is ordered by ([`takes_over`]).
    rank: Time,
    /// How many observations of that time came before it; `None` where that was not counted.
    pub ordinal: Option<u32>,
    /// The gateway or bridge that it came through, or empty; `None` where that is not known any more, since
    /// the history does not keep it.
    origin: Option<Arc<str>>,
    /// Under which description of the datastream it was made.
    pub description: u8,
    value: Kept,
    extra: Option<Box<KeptExtra>>,
}

/// What few observations carry, as [`Extra`] has it.
#[derive(Clone, Debug)]
struct KeptExtra {
    times: Extra<'static>,
    quality: Option<Box<str>>,
    feature: Option<Box<str>>,
    parameters: Option<Box<str>>,
}

#[derive(Clone, Debug)]
enum Kept {
    Number(f64),
    Bool(bool),
    Null,
    Text(Arc<str>),
    Json(Arc<str>),
}

impl Last {
    /// Its result.
    pub fn value(&self) -> Value<'_> {
        match &self.value {
            Kept::Number(number) => Value::Number(*number),
            Kept::Bool(truth) => Value::Bool(*truth),
            Kept::Null => Value::Null,
            Kept::Text(text) => Value::Text(text),
            Kept::Json(json) => Value::Json(json),
        }
    }

    /// Bytes of its texts.
    fn weight(&self) -> usize {
        let result = match &self.value {
            Kept::Text(text) | Kept::Json(text) => text.len(),
            Kept::Number(_) | Kept::Bool(_) | Kept::Null => 0,
        };
        result
            + self.extra.as_ref().map_or(0, |kept| {
                let texts = [&kept.quality, &kept.feature, &kept.parameters];
                weight::of_texts(texts.map(Option::as_deref))
            })
    }

    /// Whether it is known not to have come through this gateway or bridge.
    pub(crate) fn is_of_others(&self, than: &str) -> bool {
        self.origin.as_deref().is_some_and(|origin| origin != than)
    }

    /// What it carries beside its result.
    pub fn extra(&self) -> Extra<'_> {
        let kept = self.extra.as_ref();
        kept.map_or(Extra::default(), |kept| Extra {
            quality: kept.quality.as_deref(),
            feature: kept.feature.as_deref(),
            parameters: kept.parameters.as_deref(),
            ..kept.times
        })
    }
}

/// Before all times.
const NEVER: Time = Time::from_nanos(i64::MIN);
/// Silence of so many intervals makes the next interval no longer.
const INTERVALS_MAX: i64 = 16;
/// Least silence after which a datastream counts as stale, nanoseconds.
const STALE_NANOS_MIN: i64 = 15_000_000_000;
/// Intervals of silence after which it does.
const STALE_INTERVALS: i64 = 5;

impl Entry {
    /// Bytes of all of it, about.
    pub(crate) fn weight(&self) -> usize {
        weight::of_topic(&self.topic)
            + weight::of_datastream(&self.datastream)
            + self.last_weight()
            + self.problem_weight()
    }

    pub(crate) fn new(topic: Arc<str>) -> Self {
        Self {
            topic,
            datastream: Arc::default(),
            last: None,
            last_seen: None,
            interval: None,
            opaque: None,
            changed: Cursor::START,
            newest: Newest::NOTHING,
            problem: None,
        }
    }

    /// Says whether it was heard of lately: within five of its usual intervals, at least 15 s.
    pub fn is_online(&self, now: Time) -> bool {
        let patience = self.interval.unwrap_or(0).saturating_mul(STALE_INTERVALS);
        let patience = patience.max(STALE_NANOS_MIN);
        // What is said to have come much later than now came by a clock that was ahead.
        let lately = -STALE_NANOS_MIN..=patience;
        self.last_seen
            .is_some_and(|seen| lately.contains(&now.nanos().saturating_sub(seen.nanos())))
    }

    /// Whether nothing came that is an observation, and something else did: it is told of from its first
    /// observation on.
    pub(crate) fn had_but_bytes(&self) -> bool {
        self.last.is_none() && self.opaque.is_some()
    }

    /// Its last result in the unit that it has now; of one that cannot be converted to that, the unit that it was
    /// made in.
    pub fn last_value(&self) -> Option<Result<Value<'_>, &str>> {
        let last = self.last.as_ref()?;
        let value = last.value();
        let made_in = self.datastream.described(last.description).unit;
        let own = self.datastream.unit.as_deref();
        let number = value.number().filter(|_| value.is_numeric());
        let (Some(number), Some(made_in), Some(own)) = (number, made_in, own) else {
            return Some(Ok(value));
        };
        if made_in == own {
            return Some(Ok(value));
        }
        let converted = Conversion::between(made_in, own);
        let converted = converted.map(|it| it.apply(number));
        let converted = converted.filter(|number| number.is_finite());
        let converted = converted.map(Value::Number);
        Some(converted.ok_or(made_in))
    }

    /// Bytes of its last value's texts.
    pub(crate) fn last_weight(&self) -> usize {
        self.last.as_ref().map_or(0, Last::weight)
    }

    /// Bytes of its problem's text.
    pub(crate) fn problem_weight(&self) -> usize {
        self.problem.as_ref().map_or(0, |of| of.what.len())
    }

    /// Takes what it is now said to be.
    fn describe(&mut self, cursor: Cursor, datastream: Datastream) {
        self.datastream = Arc::new(datastream);
        self.changed = cursor;
    }

    /// Notes an arrival.
    pub(crate) fn seen(&mut self, arrival: Time) {
        if let Some(before) = self.last_seen.replace(arrival) {
            let gap = arrival.nanos().saturating_sub(before.nanos()).max(0);
            self.interval = Some(self.interval.map_or(gap, |smooth| {
                let most = smooth.max(STALE_NANOS_MIN).saturating_mul(INTERVALS_MAX);
                smooth + (gap.min(most) - smooth) / 8
            }));
        }
    }

    /// Takes an observation as the last one unless a later one is known.
    fn observe(&mut self, cursor: Cursor, arrival: Time, row: &Observation<'_>) {
        let time = row.time.unwrap_or(arrival);
        let mut rank = self.last.as_ref().map_or(NEVER, |last| last.rank);
        let is_newest = takes_over(&mut rank, time, arrival);
        // Late data are of where the sensor was, and do not move it back there.
        let is_news = is_newest || self.datastream.place.is_none();
        if is_news && row.place.is_some() && row.place != self.datastream.place {
            Arc::make_mut(&mut self.datastream).place = row.place;
            self.changed = cursor;
        }
        if !is_newest {
            self.last.iter_mut().for_each(|last| last.rank = rank);
            return;
        }
        self.last = Some(Last {
            cursor,
            time,
            rank,
            ordinal: None,
            origin: None,
            description: row.description,
            value: keep(&row.value),
            extra: keep_extra(&row.extra),
        });
        self.opaque = None;
    }

    /// Notes through what a message came, where the last observation is one of it.
    pub(crate) fn came_through(&mut self, cursor: Cursor, origin: &Arc<str>) {
        let last = self.last.as_mut();
        if let Some(last) = last.filter(|last| last.cursor == cursor) {
            last.origin = Some(origin.clone());
        }
    }
}

fn keep_extra(extra: &Extra<'_>) -> Option<Box<KeptExtra>> {
    let kept = |text: Option<&str>| text.map(Into::into);
    let times = Extra {
        quality: None,
        feature: None,
        parameters: None,
        end: extra.end,
        result_time: extra.result_time,
        valid: extra.valid,
    };
    (!extra.is_empty()).then(|| {
        Box::new(KeptExtra {
            times,
            quality: kept(extra.quality),
            feature: kept(extra.feature),
            parameters: kept(extra.parameters),
        })
    })
}

fn keep(value: &Value<'_>) -> Kept {
    match *value {
        Value::Number(number) => Kept::Number(number),
        Value::Bool(truth) => Kept::Bool(truth),
        Value::Null => Kept::Null,
        Value::Text(text) => Kept::Text(text.into()),
        Value::Json(json) => Kept::Json(json.into()),
    }
}

/// All datastreams, by topic.
#[derive(Debug)]
pub(crate) struct Catalog {
    /// How many there may be.
    pub(crate) most: usize,
    /// Bytes of memory that they take, and may take.
    weight: usize,
    pub(crate) weight_max: usize,
    slots: Vec<Slot>,
    by_topic: HashMap<Arc<str>, StreamId>,
    sorted: BTreeMap<Arc<str>, StreamId>,
    free: Vec<StreamId>,
    numbers: Numbers,
}

#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) entry: Entry,
    /// Groups that get this datastream, as of a generation of the subscriptions.
    pub(crate) routes: (u64, Arc<[u32]>),
}

impl Default for Catalog {
    fn default() -> Self {
        Self {
            most: DATASTREAMS_MAX,
            weight: 0,
            weight_max: usize::MAX,
            slots: Vec::new(),
            by_topic: HashMap::new(),
            sorted: BTreeMap::new(),
            free: Vec::new(),
            numbers: Numbers::default(),
        }
    }
}

impl Catalog {
    pub(crate) fn len(&self) -> usize {
        self.by_topic.len()
    }

    /// Whether there may be so many more.
    pub(crate) fn has_room(&self, more: usize) -> bool {
        self.len() + more <= self.most
    }

    /// Bytes of memory that they take.
    pub(crate) fn weight(&self) -> usize {
        self.weight
    }

    /// Whether they may take so many more.
    pub(crate) fn may_weigh(&self, more: usize) -> bool {
        self.weight.saturating_add(more) <= self.weight_max
    }

    pub(crate) fn find(&self, topic: &str) -> Option<StreamId> {
        self.by_topic.get(topic).copied()
    }

    pub(crate) fn slot(&mut self, id: StreamId) -> &mut Slot {
        &mut self.slots[id as usize]
    }

    pub(crate) fn entry(&self, id: StreamId) -> &Entry {
        &self.slots[id as usize].entry
    }

    /// The datastream of a topic, made where there is none. Whether there is room is asked before a message
    /// is logged; what the log has is taken.
    pub(crate) fn intern(&mut self, topic: &str) -> StreamId {
        if let Some(id) = self.find(topic) {
            return id;
        }
        let topic: Arc<str> = topic.into();
        let slot = Slot {
            entry: Entry::new(topic.clone()),
            routes: (0, [].into()),
        };
        let id = match self.free.pop() {
            Some(id) => {
                self.slots[id as usize] = slot;
                id
            }
            None => {
                self.slots.push(slot);
                (self.slots.len() - 1) as StreamId
            }
        };
        self.weight += weight::of_topic(&topic);
        self.by_topic.insert(topic.clone(), id);
        self.sorted.insert(topic, id);
        id
    }

    /// Takes an observation as the last one of a datastream unless a later one is known.
    pub(crate) fn observe(
        &mut self,
        id: StreamId,
        cursor: Cursor,
        arrival: Time,
        row: &Observation<'_>,
    ) -> &mut Entry {
        let entry = &mut self.slots[id as usize].entry;
        let before = entry.last_weight();
        entry.observe(cursor, arrival, row);
        self.weight = self.weight + entry.last_weight() - before;
        entry
    }

    /// Notes what was not understood of a message; `false` where the topic has no datastream.
    pub(crate) fn note_problem(&mut self, topic: &str, problem: EntryProblem) -> bool {
        let Some(id) = self.find(topic) else {
            return false;
        };
        let room = self.may_weigh(problem.what.len());
        let entry = &mut self.slots[id as usize].entry;
        let before = entry.problem_weight();
        match &mut entry.problem {
            Some(known) => known.again(problem, room),
            None if room => entry.problem = Some(Box::new(problem)),
            None => {}
        }
        self.weight = self.weight + entry.problem_weight() - before;
        true
    }

    /// Has no last observation of a datastream any more.
    pub(crate) fn forget_last(&mut self, id: StreamId) {
        let entry = &mut self.slots[id as usize].entry;
        self.weight -= entry.last_weight();
        entry.last = None;
    }

    /// Takes what a datastream is now said to be.
    pub(crate) fn describe(&mut self, id: StreamId, cursor: Cursor, datastream: Datastream) {
        let entry = &mut self.slots[id as usize].entry;
        self.weight += weight::of_datastream(&datastream);
        self.weight -= weight::of_datastream(&entry.datastream);
        entry.describe(cursor, datastream);
    }

    fn datastream(&mut self, id: StreamId) -> &mut Datastream {
        Arc::make_mut(&mut self.slots[id as usize].entry.datastream)
    }

    /// Every entry.
    pub(crate) fn entries_mut(&mut self) -> impl Iterator<Item = &mut Entry> {
        self.slots.iter_mut().map(|slot| &mut slot.entry)
    }

    /// The number that a topic's datastream has or is to be given, and what services know of it.
    pub(crate) fn known(&self, topic: &str) -> (u32, Option<Box<str>>) {
        let entry = self.find(topic).map(|id| self.entry(id));
        let number = entry.and_then(|entry| entry.datastream.number);
        let about = entry.and_then(|entry| entry.datastream.about.clone());
        (number.unwrap_or_else(|| self.numbers.next()), about)
    }

    /// The number of a datastream, given where it has none: bytes that are no observation need none.
    pub(crate) fn number(&mut self, id: StreamId) -> u32 {
        let datastream = &mut self.slots[id as usize].entry.datastream;
        if let Some(number) = datastream.number {
            return number;
        }
        let number = self.numbers.give(id);
        Arc::make_mut(datastream).number = Some(number);
        number
    }

    #[cfg(test)]
    /// Whether the log says which number a datastream has.
    pub(crate) fn is_numbered(&self, id: StreamId) -> bool {
        let number = self.entry(id).datastream.number;
        number.is_some_and(|number| self.numbers.is_logged(number))
    }

    /// Takes the number that the log says, unless it had said it of another one.
    pub(crate) fn take_number(&mut self, id: StreamId, number: u32) -> bool {
        match self.numbers.say(number, id) {
            Said::Refused => return false,
            Said::TakenFrom(other) => {
                self.datastream(other).number = None;
                self.number(other);
            }
            Said::Taken => {}
        }
        let before = self.datastream(id).number.replace(number);
        if let Some(before) = before.filter(|before| *before != number) {
            self.numbers.leave(before);
        }
        true
    }

    /// Takes what a record says of a datastream; `false` where it does not say the number that this has now.
    pub(crate) fn take(
        &mut self,
        id: StreamId,
        cursor: Cursor,
        mut datastream: Datastream,
    ) -> bool {
        let said = datastream.number;
        let is_said = said.is_some_and(|number| self.take_number(id, number));
        datastream.number = Some(self.number(id));
        self.describe(id, cursor, datastream);
        is_said
    }

    #[cfg(test)]
    /// Those of which the log does not say the number that they have.
    pub(crate) fn unnumbered(&self) -> impl Iterator<Item = &Entry> {
        let all = self.by_topic.values();
        let all = all.filter(|&&id| !self.is_numbered(id));
        let all = all.map(|&id| self.entry(id));
        all.filter(|entry| entry.datastream.number.is_some())
    }

    /// Forgets a datastream; says whether there was one.
    pub(crate) fn remove(&mut self, topic: &str) -> bool {
        let Some(id) = self.by_topic.remove(topic) else {
            return false;
        };
        if let Some(number) = self.entry(id).datastream.number {
            self.numbers.leave(number);
        }
        self.sorted.remove(topic);
        self.free.push(id);
        let entry = &mut self.slots[id as usize].entry;
        self.weight -= entry.weight();
        *entry = Entry::new(entry.topic.clone());
        true
    }

    /// Entries whose topic one of the filters matches, by topic, those up to `after` left out, as far as
    /// [`COMPARISONS_MAX`] goes; and the topic to go on after, where that is not the end.
    pub(crate) fn page(
        &self,
        filters: &[Filter],
        after: Option<&str>,
    ) -> (Vec<&Entry>, Option<Arc<str>>) {
        if filters.iter().all(Filter::is_topic) {
            return (self.named(filters), None);
        }
        let first = match filters {
            [one] => literal_prefix(one),
            _ => "",
        };
        let begin = after.map_or(Bound::Included(first), Bound::Excluded);
        let mut range = self
            .sorted
            .range::<str, _>((begin, Bound::Unbounded))
            .take_while(|(topic, _)| topic.starts_with(first));
        let mut found = Vec::new();
        let mut last = None;
        for (topic, &id) in range.by_ref().take(COMPARISONS_MAX / filters.len().max(1)) {
            last = Some(topic);
            if filters.iter().any(|filter| filter.matches(topic)) {
                found.push(self.entry(id));
            }
        }
        let next = last.filter(|_| range.next().is_some());
        (found, next.cloned())
    }

    /// The entries of these topics, by topic.
    fn named(&self, topics: &[Filter]) -> Vec<&Entry> {
        let ids = topics.iter().filter_map(|topic| self.find(topic.as_str()));
        let mut found: Vec<_> = ids.map(|id| self.entry(id)).collect();
        found.sort_unstable_by(|a, b| a.topic.cmp(&b.topic));
        found.dedup_by(|a, b| a.topic == b.topic);
        found
    }
}

/// What every topic that the filter matches begins with.
pub(crate) fn literal_prefix(filter: &Filter) -> &str {
    let text = filter.as_str();
    match text.find(['+', '#']) {
        None => text,
        Some(at) => text[..at].trim_end_matches('/'),
    }
}

/// Adds the last observation of a datastream, with all that the catalog knows of it, unless it has none.
pub(crate) fn push_last(builder: &mut BatchBuilder, entry: &Entry) {
    let Some(last) = &entry.last else {
        return;
    };
    let says = entry.datastream.described(last.description);
    let row = Observation {
        naming: weir_model::batch::Naming::Topic,
        topic: &entry.topic,
        sensor: says.sensor,
        property: says.property,
        unit: says.unit,
        description: last.description,
        value: last.value(),
        time: Some(last.time),
        place: entry.datastream.place,
        extra: last.extra(),
    };
    // What the catalog holds was checked when it entered.
    let _checked_before = builder.push(&row);
    let own = entry.datastream.unit.as_deref();
    if let Some(own) = own.filter(|own| says.unit != Some(*own)) {
        builder.own_unit(own);
    }
}

#[cfg(test)]
mod tests;
