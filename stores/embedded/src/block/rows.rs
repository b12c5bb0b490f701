//! Observations of one datastream in memory, column by column.

use weir_model::batch::Naming;
use weir_model::{Batch, Extra, Observation, Place, Time, Value};

/// A text in the arena of a [`Rows`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) len: u32,
}

impl Span {
    fn of(self, texts: &str) -> &str {
        texts
            .get(self.start as usize..(self.start + self.len) as usize)
            .unwrap_or_default()
    }
}

/// A result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cell {
    Number(f64),
    Bool(bool),
    Text(Span),
    Null,
    Json(Span),
}

/// What few rows carry.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Bag {
    pub(crate) row: u32,
    pub(crate) end: Option<i64>,
    pub(crate) result_time: Option<i64>,
    pub(crate) valid: Option<(i64, i64)>,
    pub(crate) quality: Option<Span>,
    pub(crate) feature: Option<Span>,
    pub(crate) parameters: Option<Span>,
}

/// Observations of one datastream: time, result, place and extras of each.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    pub(crate) times: Vec<i64>,
    pub(crate) cells: Vec<Cell>,
    pub(crate) texts: String,
    /// Empty where no row has a place.
    pub(crate) places: Vec<Option<Place>>,
    /// Sorted by row.
    pub(crate) bags: Vec<Bag>,
    /// Which description of the datastream each was made under; empty where all were under the first.
    pub(crate) descriptions: Vec<u8>,
}

impl Rows {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Says whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// A row's time, nanoseconds since the Unix epoch.
    pub fn time(&self, row: usize) -> i64 {
        self.times[row]
    }

    /// A row's result.
    pub fn value(&self, row: usize) -> Value<'_> {
        match self.cells[row] {
            Cell::Number(number) => Value::Number(number),
            Cell::Bool(truth) => Value::Bool(truth),
            Cell::Null => Value::Null,
            Cell::Text(span) => Value::Text(span.of(&self.texts)),
            Cell::Json(span) => Value::Json(span.of(&self.texts)),
        }
    }

    /// Where the sensor was.
    pub fn place(&self, row: usize) -> Option<Place> {
        self.places.get(row).copied().flatten()
    }

    /// Which description of the datastream a row was made under.
    pub fn description(&self, row: usize) -> u8 {
        self.descriptions.get(row).copied().unwrap_or_default()
    }

    /// What else a row carries.
    pub fn extra(&self, row: usize) -> Extra<'_> {
        let Ok(index) = self.bags.binary_search_by_key(&(row as u32), |bag| bag.row) else {
            return Extra::default();
        };
        let bag = &self.bags[index];
        let text = |span: Option<Span>| span.map(|span| span.of(&self.texts));
        Extra {
            end: bag.end.map(Time::from_nanos),
            result_time: bag.result_time.map(Time::from_nanos),
            valid: bag
                .valid
                .map(|(from, to)| (Time::from_nanos(from), Time::from_nanos(to))),
            quality: text(bag.quality),
            feature: text(bag.feature),
            parameters: text(bag.parameters),
        }
    }

    /// A row as an observation of this topic.
    pub fn observation<'a>(&'a self, row: usize, topic: &'a str) -> Observation<'a> {
        Observation {
            naming: Naming::Topic,
            topic,
            sensor: None,
            property: None,
            unit: None,
            description: self.description(row),
            value: self.value(row),
            time: Some(Time::from_nanos(self.times[row])),
            place: self.place(row),
            extra: self.extra(row),
        }
    }

    /// Says under which description the row added last was made.
    pub fn describe(&mut self, description: u8) {
        let others = self.len() - 1;
        if description != 0 || !self.descriptions.is_empty() {
            self.descriptions.resize(others, 0);
            self.descriptions.push(description);
        }
    }

    /// Adds a row, made under the first description.
    pub fn push(&mut self, time: i64, value: Value<'_>, place: Option<Place>, extra: &Extra<'_>) {
        let row = self.len();
        let cell = match value {
            Value::Number(number) => Cell::Number(number),
            Value::Bool(truth) => Cell::Bool(truth),
            Value::Null => Cell::Null,
            Value::Text(text) => Cell::Text(self.keep(text)),
            Value::Json(text) => Cell::Json(self.keep(text)),
        };
        self.times.push(time);
        self.cells.push(cell);
        if place.is_some() || !self.places.is_empty() {
            self.places.resize(row, None);
            self.places.push(place);
        }
        if !extra.is_empty() {
            self.push_extra(row, extra);
        }
    }

    fn push_extra(&mut self, row: usize, extra: &Extra<'_>) {
        let bag = Bag {
            row: row as u32,
            end: extra.end.map(Time::nanos),
            result_time: extra.result_time.map(Time::nanos),
            valid: extra.valid.map(|(from, to)| (from.nanos(), to.nanos())),
            quality: extra.quality.map(|text| self.keep(text)),
            feature: extra.feature.map(|text| self.keep(text)),
            parameters: extra.parameters.map(|text| self.keep(text)),
        };
        self.bags.push(bag);
    }

    pub(crate) fn keep(&mut self, text: &str) -> Span {
        let start = self.texts.len() as u32;
        self.texts.push_str(text);
        Span {
            start,
            len: text.len() as u32,
        }
    }

    /// Drops all rows and keeps the memory.
    pub fn clear(&mut self) {
        self.times.clear();
        self.cells.clear();
        self.texts.clear();
        self.places.clear();
        self.bags.clear();
        self.descriptions.clear();
    }

    /// Adds a row of a batch whose times are complete.
    pub fn push_batch_row(&mut self, time: i64, batch: &Batch, row: usize) {
        self.push(time, batch.value(row), batch.place(row), &batch.extra(row));
        self.describe(batch.description(row));
    }

    /// Adds a row of another.
    pub fn push_row(&mut self, other: &Rows, row: usize) {
        self.push(
            other.times[row],
            other.value(row),
            other.place(row),
            &other.extra(row),
        );
        self.describe(other.description(row));
    }

    /// The rows in the order of their times, equal times in the order they were added.
    pub fn sorted(self) -> Self {
        if self.times.is_sorted() {
            return self;
        }
        let mut order: Vec<_> = (0..self.len()).collect();
        order.sort_by_key(|&row| self.times[row]);
        let mut sorted = Rows::default();
        order
            .into_iter()
            .for_each(|row| sorted.push_row(&self, row));
        sorted
    }

    /// Bytes of memory held, roughly.
    pub fn memory_bytes(&self) -> usize {
        self.times.capacity() * (size_of::<i64>() + size_of::<Cell>())
            + self.texts.capacity()
            + self.places.capacity() * size_of::<Option<Place>>()
            + self.bags.capacity() * size_of::<Bag>()
            + self.descriptions.capacity()
    }
}

/// Rows are equal where what they say is, however their texts are laid out.
impl PartialEq for Rows {
    fn eq(&self, other: &Self) -> bool {
        let row = |rows: &Self, row| rows.observation(row, "") == other.observation(row, "");
        self.len() == other.len() && (0..self.len()).all(|index| row(self, index))
    }
}
