//! The observations of one message, column by column.

use crate::time::Time;
use crate::value::Value;
use alloc::string::String;
use alloc::vec::Vec;

/// A place in a string arena; `start == ABSENT` stands for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) len: u32,
}

const ABSENT: u32 = u32::MAX;

impl Span {
    pub(crate) const NONE: Self = Self {
        start: ABSENT,
        len: 0,
    };

    pub(crate) fn is_none(self) -> bool {
        self.start == ABSENT
    }

    pub(crate) fn of(self, arena: &str) -> Option<&str> {
        arena.get(self.start as usize..self.start as usize + self.len as usize)
    }

    pub(crate) fn append(arena: &mut String, text: &str) -> Self {
        let start = arena.len() as u32;
        arena.push_str(text);
        Self {
            start,
            len: text.len() as u32,
        }
    }
}

/// How an observation names its datastream, until the message knows where it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Naming {
    /// Not at all: the topic that the message was sent to.
    #[default]
    Sent,
    /// By its full topic, at or under the one that the message was sent to.
    Topic,
    /// By what follows the topic that the message was sent to (flat JSON's members).
    Below,
    /// By a name that is a topic where it lies under the one sent to, and else what follows it
    /// (SenML, RFC 8428 section 4.5.1).
    Name,
}

/// One sensor, property and unit at one topic: what rows of a message share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stream {
    pub(crate) naming: Naming,
    pub(crate) topic: Span,
    pub(crate) sensor: Span,
    pub(crate) property: Span,
    pub(crate) unit: Span,
    /// Which description of the datastream it was made under.
    pub(crate) description: u8,
    /// The datastream's own unit, where that is another.
    pub(crate) own_unit: Span,
}

impl Stream {
    pub(crate) const EMPTY: Self = Self {
        naming: Naming::Sent,
        topic: Span::NONE,
        sensor: Span::NONE,
        property: Span::NONE,
        unit: Span::NONE,
        description: 0,
        own_unit: Span::NONE,
    };
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cell {
    Number(f64),
    Bool(bool),
    Null,
    Text(Span),
    Json(Span),
}

/// Degrees WGS 84.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Degrees north, -90 to 90.
    pub latitude: f64,
    /// Degrees east, -180 to 180.
    pub longitude: f64,
}

impl Place {
    pub(crate) const NOWHERE: Self = Self {
        latitude: f64::NAN,
        longitude: f64::NAN,
    };

    fn known(self) -> Option<Self> {
        (!self.latitude.is_nan() && !self.longitude.is_nan()).then_some(self)
    }
}

/// What few observations carry (O&M, ISO 19156 section 7.2.2), kept beside the columns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Extra<'a> {
    /// End of the phenomenon time where it is an interval; its begin is the observation's time.
    pub end: Option<Time>,
    /// When the result became available.
    pub result_time: Option<Time>,
    /// From when to when the result may be used.
    pub valid: Option<(Time, Time)>,
    /// Quality of the result, as text.
    pub quality: Option<&'a str>,
    /// URI of the feature of interest.
    pub feature: Option<&'a str>,
    /// Further parameters, as a compact JSON object.
    pub parameters: Option<&'a str>,
}

impl Extra<'_> {
    /// Says whether nothing is there.
    pub fn is_empty(&self) -> bool {
        *self == Extra::default()
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bag {
    pub(crate) row: u32,
    pub(crate) end: Option<Time>,
    pub(crate) result_time: Option<Time>,
    pub(crate) valid: Option<(Time, Time)>,
    pub(crate) quality: Span,
    pub(crate) feature: Span,
    pub(crate) parameters: Span,
}

impl Bag {
    /// Of a row that carries nothing.
    pub(crate) const fn empty(row: u32) -> Self {
        Self {
            row,
            end: None,
            result_time: None,
            valid: None,
            quality: Span::NONE,
            feature: Span::NONE,
            parameters: Span::NONE,
        }
    }
}

/// Marks a row without a time in the column of times.
pub const NO_TIME: i64 = i64::MIN;

/// The observations of a message in their order, columnar; made by a `BatchBuilder`.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    pub(crate) names: String,
    pub(crate) texts: String,
    pub(crate) streams: Vec<Stream>,
    pub(crate) stream: Vec<u32>,
    pub(crate) time: Vec<i64>,
    pub(crate) value: Vec<Cell>,
    /// Empty where no row has a place.
    pub(crate) place: Vec<Place>,
    /// Sorted by row.
    pub(crate) bags: Vec<Bag>,
}

/// A row of a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation<'a> {
    /// How `topic` is to be read; [`Naming::Topic`] once the batch is complete.
    pub naming: Naming,
    /// Topic of the datastream; empty under [`Naming::Sent`].
    pub topic: &'a str,
    /// URI of the sensor.
    pub sensor: Option<&'a str>,
    /// Observed property; `type` on the wire.
    pub property: Option<&'a str>,
    /// Unit of measurement, UCUM.
    pub unit: Option<&'a str>,
    /// Which description of its datastream it was made under, where a catalog counts them.
    pub description: u8,
    /// The result.
    pub value: Value<'a>,
    /// Phenomenon time, or its begin.
    pub time: Option<Time>,
    /// Where the sensor was.
    pub place: Option<Place>,
    /// What else it carries.
    pub extra: Extra<'a>,
}

/// What the rows of a message that name the same datastream have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamView<'a> {
    /// How `topic` is to be read.
    pub naming: Naming,
    /// Topic of the datastream; empty under [`Naming::Sent`].
    pub topic: &'a str,
    /// URI of the sensor.
    pub sensor: Option<&'a str>,
    /// Observed property.
    pub property: Option<&'a str>,
    /// Unit of measurement.
    pub unit: Option<&'a str>,
    /// Which description of the datastream they were made under, where a catalog counts them.
    pub description: u8,
}

impl Batch {
    /// Number of observations.
    #[inline]
    pub fn len(&self) -> usize {
        self.value.len()
    }

    /// Says whether there are no observations.
    pub fn is_empty(&self) -> bool {
        self.value.is_empty()
    }

    /// Number of distinct datastreams named.
    pub fn stream_count(&self) -> usize {
        self.streams.len()
    }

    /// The datastream with this index; panics beyond [`Batch::stream_count`].
    pub fn stream(&self, index: usize) -> StreamView<'_> {
        let stream = &self.streams[index];
        StreamView {
            naming: stream.naming,
            topic: stream.topic.of(&self.names).unwrap_or_default(),
            sensor: stream.sensor.of(&self.names),
            property: stream.property.of(&self.names),
            unit: stream.unit.of(&self.names),
            description: stream.description,
        }
    }

    /// The unit that the datastream with this index has now, where its rows are of another.
    pub fn own_unit(&self, index: usize) -> Option<&str> {
        self.streams[index].own_unit.of(&self.names)
    }

    /// The index of a row's datastream.
    #[inline]
    pub fn stream_of(&self, row: usize) -> usize {
        self.stream[row] as usize
    }

    /// The index of every row's datastream.
    pub fn streams(&self) -> &[u32] {
        &self.stream
    }

    /// Every row's time, nanoseconds since the Unix epoch, [`NO_TIME`] where there is none.
    pub fn times(&self) -> &[i64] {
        &self.time
    }

    /// Copies the results of the rows from `begin` on, as many as there is room; says whether all
    /// are numbers, without which what was copied is of no use. Panics beyond [`Batch::len`].
    pub fn copy_numbers(&self, begin: usize, numbers: &mut [f64]) -> bool {
        let cells = &self.value[begin..begin + numbers.len()];
        let mut all = true;
        for (number, cell) in numbers.iter_mut().zip(cells) {
            match *cell {
                Cell::Number(found) => *number = found,
                _ => all = false,
            }
        }
        all
    }

    /// A row's result.
    #[inline]
    pub fn value(&self, row: usize) -> Value<'_> {
        match self.value[row] {
            Cell::Number(number) => Value::Number(number),
            Cell::Bool(truth) => Value::Bool(truth),
            Cell::Null => Value::Null,
            Cell::Text(span) => Value::Text(span.of(&self.texts).unwrap_or_default()),
            Cell::Json(span) => Value::Json(span.of(&self.texts).unwrap_or_default()),
        }
    }

    /// A row's time.
    #[inline]
    pub fn time(&self, row: usize) -> Option<Time> {
        Some(self.time[row])
            .filter(|&nanos| nanos != NO_TIME)
            .map(Time::from_nanos)
    }

    /// Which description of its datastream a row was made under.
    #[inline]
    pub fn description(&self, row: usize) -> u8 {
        self.streams[self.stream[row] as usize].description
    }

    /// A row's place.
    #[inline]
    pub fn place(&self, row: usize) -> Option<Place> {
        self.place.get(row).and_then(|place| place.known())
    }

    /// Says whether any row may have a place.
    pub fn has_places(&self) -> bool {
        !self.place.is_empty()
    }

    /// Says whether any row has extras.
    pub fn has_extras(&self) -> bool {
        !self.bags.is_empty()
    }

    /// What else a row carries.
    #[inline]
    pub fn extra(&self, row: usize) -> Extra<'_> {
        let found = self.bags.binary_search_by_key(&(row as u32), |bag| bag.row);
        found.map_or(Extra::default(), |index| self.bag(&self.bags[index]))
    }

    fn bag(&self, bag: &Bag) -> Extra<'_> {
        Extra {
            end: bag.end,
            result_time: bag.result_time,
            valid: bag.valid,
            quality: bag.quality.of(&self.texts),
            feature: bag.feature.of(&self.texts),
            parameters: bag.parameters.of(&self.texts),
        }
    }

    /// The row with this index; panics beyond [`Batch::len`].
    pub fn row(&self, row: usize) -> Observation<'_> {
        let stream = self.stream(self.stream_of(row));
        Observation {
            naming: stream.naming,
            topic: stream.topic,
            sensor: stream.sensor,
            property: stream.property,
            unit: stream.unit,
            description: stream.description,
            value: self.value(row),
            time: self.time(row),
            place: self.place(row),
            extra: self.extra(row),
        }
    }

    /// The rows in their order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = Observation<'_>> {
        (0..self.len()).map(|row| self.row(row))
    }

    /// Bytes of texts: results, qualities, features and parameters, those that several rows share once.
    pub fn text_bytes(&self) -> usize {
        self.texts.len()
    }

    /// Bytes of memory held, for accounting.
    pub fn memory_bytes(&self) -> usize {
        self.names.capacity()
            + self.texts.capacity()
            + self.streams.capacity() * size_of::<Stream>()
            + self.value.capacity() * (size_of::<Cell>() + size_of::<i64>() + size_of::<u32>())
            + self.place.capacity() * size_of::<Place>()
            + self.bags.capacity() * size_of::<Bag>()
    }
}

/// Two batches are equal where their rows are, however their tables are laid out.
impl PartialEq for Batch {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.rows().eq(other.rows())
    }
}
