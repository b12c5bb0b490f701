//! Making a batch, row by row, as a decoder meets the members in any order.

mod bulk;
mod mend;

use crate::batch::{Bag, Batch, Cell, Extra, NO_TIME, Naming, Observation, Place, Span, Stream};
use crate::datastream::is_blank;
use crate::flaw::Flaw;
use crate::time::Time;
use crate::topic::{self, TopicError};
use crate::value::Value;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::hash::BuildHasher;
use hashbrown::{DefaultHashBuilder, HashTable};

/// Collects observations into a [`Batch`]; reusable, so that a decoder in steady state allocates nothing.
///
/// Between [`begin`](Self::begin) and [`end`](Self::end) the members of one observation are set, in any order.
#[derive(Debug, Default)]
pub struct BatchBuilder {
    batch: Batch,
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
    row: Row,
    previous: usize,
    flaws: Vec<Flaw>,
    /// Whether a part that is wrong is to cost itself and no more.
    forgiving: bool,
}

/// Rows of a batch that is short.
const COPIED_ROWS_MAX: usize = 64;
/// Bytes of names and texts of a batch that is short.
const COPIED_TEXT_BYTES_MAX: usize = 4096;
/// Datastreams of a batch that are looked through one by one.
const SCANNED_STREAMS_MAX: usize = 8;

#[derive(Debug)]
struct Row {
    stream: Stream,
    names_mark: usize,
    texts_mark: usize,
    value: Option<Cell>,
    time: i64,
    place: Place,
    bag: Bag,
}

impl Default for Row {
    fn default() -> Self {
        Self {
            stream: Stream::EMPTY,
            names_mark: 0,
            texts_mark: 0,
            value: None,
            time: NO_TIME,
            place: Place::NOWHERE,
            bag: EMPTY_BAG,
        }
    }
}

const EMPTY_BAG: Bag = Bag::empty(0);

/// Names of a datastream that rows to come share; of [`BatchBuilder::keep`].
#[derive(Clone, Copy, Debug)]
pub struct KeptNames {
    stream: Stream,
    /// Its index in the batch, once a row of many is of it.
    index: Option<u32>,
}

impl KeptNames {
    /// No names: the topic that the message was sent to, and nothing else.
    pub const NONE: Self = Self::of(Stream::EMPTY);

    const fn of(stream: Stream) -> Self {
        Self {
            stream,
            index: None,
        }
    }
}

/// Why an observation cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchError {
    /// It has no `value`.
    NoValue,
    /// It has a latitude without a longitude, or the reverse, or one out of range.
    Place,
    /// Its topic is none.
    Topic(TopicError),
    /// Its topic does not lie at or under the one that the message was sent to.
    Elsewhere {
        /// The observation's topic.
        topic: String,
        /// The message's topic.
        sent_to: String,
    },
    /// It, or its validity, ends before it begins.
    Period {
        /// The observation's topic.
        topic: String,
        /// When it begins.
        begin: Time,
        /// When it ends.
        end: Time,
    },
    /// The number is not finite.
    NotFinite,
    /// A message holds no observation at all.
    Nothing,
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BatchError::NoValue => f.write_str("an observation needs a `value`"),
            BatchError::Place => f.write_str(
                "a place needs both a latitude from -90 to 90 and a longitude from -180 to 180",
            ),
            BatchError::Topic(error) => write!(f, "bad topic: {error}"),
            BatchError::Elsewhere { topic, sent_to } => {
                write!(f, "topic `{topic}` does not lie at or under `{sent_to}`")
            }
            BatchError::Period { topic, begin, end } => {
                write!(
                    f,
                    "a period of `{topic}` ends ({end}) before it begins ({begin})"
                )
            }
            BatchError::NotFinite => f.write_str("a number must be finite"),
            BatchError::Nothing => f.write_str("no observation in the message"),
        }
    }
}

impl core::error::Error for BatchError {}

impl BatchBuilder {
    /// An empty builder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of observations so far.
    pub fn len(&self) -> usize {
        self.batch.len()
    }

    /// Says whether there are no observations yet.
    pub fn is_empty(&self) -> bool {
        self.batch.is_empty()
    }

    /// Drops what was collected and keeps the memory.
    pub fn clear(&mut self) {
        let batch = &mut self.batch;
        batch.names.clear();
        batch.texts.clear();
        batch.streams.clear();
        batch.stream.clear();
        batch.time.clear();
        batch.value.clear();
        batch.place.clear();
        batch.bags.clear();
        self.index.clear();
        self.previous = 0;
        self.flaws.clear();
        self.forgiving = false;
    }

    /// The batch collected; the builder is empty again.
    ///
    /// A short one is copied to its measure: it is kept in the least memory, and the builder need not
    /// grow its columns anew for the next.
    pub fn finish(&mut self) -> Batch {
        let batch = if self.is_short() {
            self.batch.clone()
        } else {
            core::mem::take(&mut self.batch)
        };
        self.clear();
        batch
    }

    fn is_short(&self) -> bool {
        let batch = &self.batch;
        let texts = batch.names.len() + batch.texts.len();
        batch.len() <= COPIED_ROWS_MAX && texts <= COPIED_TEXT_BYTES_MAX
    }

    /// Completes the batch collected, which then is to be finished: see [`Batch::complete`].
    ///
    /// Names below a message's topic that can be no levels of one are escaped; what can be nowhere is left out of a
    /// builder that forgives, where anything else is in it.
    pub fn complete(&mut self, sent_to: &str, arrival: Time) -> Result<(), BatchError> {
        let completed = self.batch.complete(sent_to, arrival);
        completed.or_else(|error| self.mend(sent_to, arrival, error))
    }

    /// The batch collected so far, to look at.
    pub fn batch(&self) -> &Batch {
        &self.batch
    }

    /// Starts an observation, dropping one that was begun and not ended.
    pub fn begin(&mut self) {
        self.row = Row {
            names_mark: self.batch.names.len(),
            texts_mark: self.batch.texts.len(),
            ..Row::default()
        };
    }

    /// Ends the observation begun without adding it, but keeps its names for observations to come.
    pub fn keep(&mut self) -> KeptNames {
        self.batch.texts.truncate(self.row.texts_mark);
        KeptNames::of(self.row.stream)
    }

    /// Starts an observation of a datastream whose names were kept, which need not be said again.
    ///
    /// Names are kept until the builder is cleared or finished.
    #[inline]
    pub fn begin_as(&mut self, names: KeptNames) {
        self.begin();
        self.row.stream = names.stream;
    }

    /// Drops the observation begun.
    pub fn abandon(&mut self) {
        self.batch.names.truncate(self.row.names_mark);
        self.batch.texts.truncate(self.row.texts_mark);
    }

    /// Names the datastream.
    pub fn topic(&mut self, naming: Naming, name: &str) {
        self.row.stream.naming = naming;
        self.row.stream.topic = Span::append(&mut self.batch.names, name);
    }

    /// Sets the sensor's URI; a blank one says nothing.
    pub fn sensor(&mut self, uri: &str) {
        if !is_blank(uri) {
            self.row.stream.sensor = Span::append(&mut self.batch.names, uri);
        }
    }

    /// Sets the observed property; a blank one says nothing.
    pub fn property(&mut self, name: &str) {
        if !is_blank(name) {
            self.row.stream.property = Span::append(&mut self.batch.names, name);
        }
    }

    /// Sets the unit of measurement; a blank one says nothing: what has the dimension one is in `1` (UCUM).
    pub fn unit(&mut self, code: &str) {
        if !is_blank(code) {
            self.row.stream.unit = Span::append(&mut self.batch.names, code);
        }
    }

    /// Whether the observation begun says its unit.
    pub fn has_unit(&self) -> bool {
        !self.row.stream.unit.is_none()
    }

    /// Says under which description of its datastream it was made.
    pub fn description(&mut self, number: u8) {
        self.row.stream.description = number;
    }

    /// Sets the result.
    #[inline]
    pub fn value(&mut self, value: Value<'_>) {
        self.row.value = Some(match value {
            Value::Number(number) => Cell::Number(number),
            Value::Bool(truth) => Cell::Bool(truth),
            Value::Null => Cell::Null,
            Value::Text(text) => Cell::Text(Span::append(&mut self.batch.texts, text)),
            Value::Json(json) => Cell::Json(Span::append(&mut self.batch.texts, json)),
        });
    }

    /// Sets the phenomenon time.
    #[inline]
    pub fn time(&mut self, time: Time) {
        self.row.time = time.nanos();
    }

    /// Sets the latitude, degrees.
    pub fn latitude(&mut self, degrees: f64) {
        self.row.place.latitude = degrees;
    }

    /// Sets the longitude, degrees.
    pub fn longitude(&mut self, degrees: f64) {
        self.row.place.longitude = degrees;
    }

    /// Adds what else the observation carries; members that are `None` stay as they were, and so do those that a
    /// blank text is given for.
    pub fn extra(&mut self, extra: Extra<'_>) {
        let texts = &mut self.batch.texts;
        let bag = &mut self.row.bag;
        bag.end = extra.end.or(bag.end);
        bag.result_time = extra.result_time.or(bag.result_time);
        bag.valid = extra.valid.or(bag.valid);
        for (span, text) in [
            (&mut bag.quality, extra.quality),
            (&mut bag.feature, extra.feature),
            (&mut bag.parameters, extra.parameters),
        ] {
            if let Some(text) = text.filter(|text| !is_blank(text)) {
                *span = Span::append(texts, text);
            }
        }
    }

    /// Ends the observation; on an error it is dropped and the builder is as before it.
    #[inline]
    pub fn end(&mut self) -> Result<(), BatchError> {
        let checked = self.checked();
        if checked.is_err() {
            self.abandon();
        }
        let value = checked?;
        let stream = self.intern();
        let row = self.batch.value.len();
        self.batch.stream.push(stream);
        self.batch.time.push(self.row.time);
        self.batch.value.push(value);
        self.push_place(row);
        if self.row.bag != EMPTY_BAG {
            self.batch.bags.push(Bag {
                row: row as u32,
                ..self.row.bag
            });
        }
        Ok(())
    }

    /// Adds a whole observation, as a view of another batch gives it.
    pub fn push(&mut self, observation: &Observation<'_>) -> Result<(), BatchError> {
        self.begin();
        if observation.naming != Naming::Sent {
            self.topic(observation.naming, observation.topic);
        }
        observation
            .sensor
            .into_iter()
            .for_each(|uri| self.sensor(uri));
        observation
            .property
            .into_iter()
            .for_each(|name| self.property(name));
        observation
            .unit
            .into_iter()
            .for_each(|code| self.unit(code));
        self.description(observation.description);
        self.value(observation.value);
        observation
            .time
            .into_iter()
            .for_each(|time| self.time(time));
        if let Some(place) = observation.place {
            self.row.place = place;
        }
        if !observation.extra.is_empty() {
            self.extra(observation.extra);
        }
        self.end()
    }

    #[inline]
    fn checked(&self) -> Result<Cell, BatchError> {
        let Place {
            latitude,
            longitude,
        } = self.row.place;
        let nowhere = latitude.is_nan() && longitude.is_nan();
        let on_earth = (-90.0..=90.0).contains(&latitude) && (-180.0..=180.0).contains(&longitude);
        if !nowhere && !on_earth {
            return Err(BatchError::Place);
        }
        match self.row.value {
            None => Err(BatchError::NoValue),
            Some(Cell::Number(number)) if !number.is_finite() => Err(BatchError::NotFinite),
            Some(cell) => Ok(cell),
        }
    }

    #[inline]
    fn push_place(&mut self, row: usize) {
        let nowhere = self.row.place.latitude.is_nan();
        if nowhere && self.batch.place.is_empty() {
            return;
        }
        self.batch.place.resize(row, Place::NOWHERE);
        self.batch.place.push(self.row.place);
    }

    /// Says which unit the datastream of the row added last has now, where that row is of another.
    pub fn own_unit(&mut self, unit: &str) {
        if let Some(&last) = self.batch.stream.last() {
            let span = Span::append(&mut self.batch.names, unit);
            self.batch.streams[last as usize].own_unit = span;
        }
    }

    /// The index of the row's datastream: most often the one after the last row's, or the same again.
    fn intern(&mut self) -> u32 {
        let count = self.batch.streams.len();
        for guess in [self.previous + 1, self.previous, 0] {
            if guess < count && same(&self.batch, &self.batch.streams[guess], &self.row.stream) {
                return self.known(guess);
            }
        }
        if count < SCANNED_STREAMS_MAX {
            return self.intern_by_scan();
        }
        if self.index.is_empty() {
            (0..count).for_each(|stream| self.remember(stream));
        }
        let hash = hash_of(&self.hasher, &self.batch, &self.row.stream);
        let (batch, row) = (&self.batch, &self.row.stream);
        let found = self
            .index
            .find(hash, |&i| same(batch, &batch.streams[i as usize], row));
        if let Some(&index) = found {
            return self.known(index as usize);
        }
        self.batch.streams.push(self.row.stream);
        self.remember(count);
        self.previous = count;
        count as u32
    }

    /// The same while there are few, which are sooner looked through than remembered.
    fn intern_by_scan(&mut self) -> u32 {
        let (batch, row) = (&self.batch, &self.row.stream);
        let known = batch.streams.iter().position(|of| same(batch, of, row));
        if let Some(index) = known {
            return self.known(index);
        }
        self.previous = self.batch.streams.len();
        self.batch.streams.push(self.row.stream);
        self.previous as u32
    }

    /// Makes a datastream one that is found by its names.
    fn remember(&mut self, stream: usize) {
        let (batch, hasher) = (&self.batch, &self.hasher);
        let hash = |index: u32| hash_of(hasher, batch, &batch.streams[index as usize]);
        let index = stream as u32;
        self.index.insert_unique(hash(index), index, |&of| hash(of));
    }

    /// A datastream met before: its names need not be kept again.
    fn known(&mut self, index: usize) -> u32 {
        self.batch.names.truncate(self.row.names_mark);
        self.previous = index;
        index as u32
    }
}

fn parts<'a>(batch: &'a Batch, stream: &Stream) -> [Option<&'a str>; 4] {
    [stream.topic, stream.sensor, stream.property, stream.unit].map(|span| span.of(&batch.names))
}

/// Whether two name the same: their topics tell most apart.
fn same(batch: &Batch, a: &Stream, b: &Stream) -> bool {
    let alike =
        |a: Span, b: Span| a == b || a.len == b.len && a.of(&batch.names) == b.of(&batch.names);
    alike(a.topic, b.topic)
        && alike(a.sensor, b.sensor)
        && alike(a.property, b.property)
        && alike(a.unit, b.unit)
        && (a.naming, a.description) == (b.naming, b.description)
}

fn hash_of(hasher: &DefaultHashBuilder, batch: &Batch, stream: &Stream) -> u64 {
    hasher.hash_one(parts(batch, stream))
}

/// SenML times before this count from now, nanoseconds (2^28 s, RFC 8428 section 4.5.3).
const RELATIVE_NANOS_END: i64 = (1 << 28) * 1_000_000_000;

impl Batch {
    /// Makes the batch say in full what the message left to its surroundings: topics that lie at or
    /// under `sent_to`, and `arrival` for a missing time.
    ///
    /// A SenML time before 2^28 seconds counts from now (RFC 8428 section 4.5.3).
    pub fn complete(&mut self, sent_to: &str, arrival: Time) -> Result<(), BatchError> {
        self.complete_times(arrival);
        for index in 0..self.streams.len() {
            let full = self.full_topic(index, sent_to)?;
            let stream = &mut self.streams[index];
            stream.naming = Naming::Topic;
            if let Some(full) = full {
                stream.topic = Span::append(&mut self.names, &full);
            }
        }
        Ok(())
    }

    fn complete_times(&mut self, arrival: Time) {
        self.count_from(arrival);
        for time in self.time.iter_mut().filter(|time| **time == NO_TIME) {
            *time = arrival.nanos();
        }
    }

    /// Makes SenML times that count from now the instants that they are; times that are missing stay so.
    pub fn count_from(&mut self, now: Time) {
        let streams = &self.streams;
        // Times may be relative where rows are named as SenML does.
        if streams.iter().all(|stream| stream.naming != Naming::Name) {
            return;
        }
        let relative = |stream: u32| streams[stream as usize].naming == Naming::Name;
        for (time, &stream) in self.time.iter_mut().zip(&self.stream) {
            if *time != NO_TIME && *time < RELATIVE_NANOS_END && relative(stream) {
                *time = now.nanos().saturating_add(*time);
            }
        }
    }

    /// The topic that a datastream of the batch has, where it is another than the one written.
    fn full_topic<'t>(
        &self,
        index: usize,
        sent_to: &'t str,
    ) -> Result<Option<Cow<'t, str>>, BatchError> {
        let stream = self.stream(index);
        let name = stream.topic;
        let full = match stream.naming {
            Naming::Sent => return Ok(Some(sent_to.into())),
            Naming::Name if name.is_empty() => return Ok(Some(sent_to.into())),
            Naming::Topic | Naming::Name if topic::lies_under(name, sent_to) => None,
            Naming::Topic => {
                topic::check(name).map_err(BatchError::Topic)?;
                return Err(BatchError::Elsewhere {
                    topic: name.into(),
                    sent_to: sent_to.into(),
                });
            }
            Naming::Below | Naming::Name => Some(format!("{sent_to}/{name}")),
        };
        topic::check(full.as_deref().unwrap_or(name)).map_err(BatchError::Topic)?;
        Ok(full.map(Cow::Owned))
    }

    /// Gives a row without a place this one.
    pub fn fill_place(&mut self, row: usize, place: Place) {
        if self.place.len() < self.len() {
            self.place.resize(self.len(), Place::NOWHERE);
        }
        if self.place(row).is_none() {
            self.place[row] = place;
        }
    }

    /// One row as a batch of its own, whatever the number of rows; panics beyond [`Batch::len`].
    pub fn only(&self, row: usize) -> Batch {
        let mut builder = BatchBuilder::new();
        // A row of a batch was checked when it was made.
        let _checked_before = builder.push(&self.row(row));
        builder.finish()
    }

    /// The rows for which `keep` holds, as a batch of its own.
    pub fn select(&self, mut keep: impl FnMut(usize) -> bool) -> Batch {
        let mut builder = BatchBuilder::new();
        for row in (0..self.len()).filter(|&row| keep(row)) {
            // A row of a batch was checked when it was made.
            let _checked_before = builder.push(&self.row(row));
        }
        builder.finish()
    }
}

#[cfg(test)]
mod tests;
