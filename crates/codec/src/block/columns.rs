//! A chunk as columns in memory, whose rows are views.

use super::chunk::Chunk;
use super::encoder::origin;
use super::few::Few;
use super::series::{get_kinds, get_numbers, get_times};
use super::texts::{self, Arena, Budget};
use super::{NO_TIME, Span, bytes::Input, column, ints, kind, numbers, order, runs};
use crate::error::DecodeError;
use alloc::vec::Vec;
use weir_model::batch::{Naming, StreamView};
use weir_model::{Extra, Limits, Place, Time, Value};

#[derive(Clone, Copy, Default)]
struct Series {
    naming: Naming,
    /// Topic, sensor, property, unit.
    texts: [Span; 4],
}

/// The rows of a chunk, series after series; reusable, so that reading in steady state allocates
/// nothing.
#[derive(Default)]
pub struct Columns {
    series: Few<Series, 64>,
    /// How many rows each series has, where the observations were series after series, else empty.
    sizes: Few<u32, 64>,
    /// Of each row in the order of the observations: its series, and where it stands; places are
    /// empty where the rows stand in that order.
    series_of: Few<u32, 256>,
    place_of: Few<u32, 256>,
    times: Few<i64, 256>,
    /// Empty where all results are numbers.
    kinds: Few<u8, 256>,
    numbers: Few<f64, 256>,
    truths: Few<u8, 256>,
    texts: Few<Span, 256>,
    /// Empty where no row has a place.
    latitudes: Few<f64, 256>,
    longitudes: Few<f64, 256>,
    /// Ends, result times, begins and ends of validity; each empty where no row has one.
    spans: [Vec<i64>; 4],
    /// Quality, feature, parameters; each empty where no row has one.
    members: [Vec<Span>; 3],
    /// Empty where all were made under the first description, or no store wrote them.
    descriptions: Few<u8, 256>,
    arena: Arena,
    table: Vec<i64>,
}

impl Columns {
    /// Takes the rows of a chunk in the place of those before.
    pub fn read(&mut self, chunk: &Chunk<'_>, limits: &Limits) -> Result<(), DecodeError> {
        let mut budget = Budget {
            limits,
            left: limits.message_bytes,
        };
        self.arena.clear();
        self.times.fill(chunk.rows(), NO_TIME);
        get_times(chunk, &mut self.times)?;
        get_kinds(chunk, &mut self.kinds)?;
        self.numbers.fill(chunk.rows(), 0.0);
        get_numbers(chunk, &self.kinds, &mut self.table, &mut self.numbers)?;
        self.read_truths(chunk)?;
        self.read_texts(chunk, &mut budget)?;
        self.read_places(chunk)?;
        self.read_extras(chunk, &mut budget)?;
        self.read_descriptions(chunk)?;
        self.read_series(chunk, &mut budget)?;
        self.read_order(chunk)
    }

    fn read_truths(&mut self, chunk: &Chunk<'_>) -> Result<(), DecodeError> {
        let is = |kinds: &[u8], row: usize| kinds[row] == kind::BOOL;
        let count = self
            .kinds
            .iter()
            .filter(|kind| **kind == kind::BOOL)
            .count();
        self.truths.clear();
        if count == 0 {
            return Ok(());
        }
        let (truths, kinds) = (&mut self.truths, &self.kinds);
        let found = chunk.column(column::TRUTHS, |input| runs::get(input, count, 1, truths))?;
        if found.is_none() {
            return Err(DecodeError::expected(chunk.begin(), "a column of truths"));
        }
        (count..kinds.len()).for_each(|_| truths.push(0));
        runs::spread(truths, count, |row| is(kinds, row), 0);
        Ok(())
    }

    fn read_texts(
        &mut self,
        chunk: &Chunk<'_>,
        budget: &mut Budget<'_>,
    ) -> Result<(), DecodeError> {
        let is = |kind: &u8| matches!(*kind, kind::TEXT | kind::JSON);
        let count = self.kinds.iter().filter(|kind| is(kind)).count();
        self.texts.clear();
        if count == 0 {
            return Ok(());
        }
        self.texts.fill(self.kinds.len(), Span::ABSENT);
        let (spans, arena) = (&mut self.texts, &mut self.arena);
        let found = chunk.column(column::TEXTS, |input| {
            texts::get(input, budget, arena, &mut spans[..count])
        })?;
        if found.is_none() || self.texts[..count].contains(&Span::ABSENT) {
            return Err(DecodeError::expected(
                chunk.begin(),
                "a column of all texts",
            ));
        }
        let kinds = &self.kinds;
        runs::spread(&mut self.texts, count, |row| is(&kinds[row]), Span::ABSENT);
        Ok(())
    }

    fn read_places(&mut self, chunk: &Chunk<'_>) -> Result<(), DecodeError> {
        self.latitudes.clear();
        self.longitudes.clear();
        let (table, rows) = (&mut self.table, chunk.rows());
        let degrees = [&mut self.latitudes, &mut self.longitudes];
        chunk.column(column::PLACES, |input| {
            let mut there = Few::<u8, 256>::default();
            let count = runs::get(input, rows, 1, &mut there)?;
            for degrees in degrees {
                degrees.fill(rows, f64::NAN);
                numbers::get(input, table, &mut degrees[..count])?;
                runs::spread(degrees, count, |row| there[row] != 0, f64::NAN);
            }
            Ok(())
        })?;
        Ok(())
    }

    fn read_extras(
        &mut self,
        chunk: &Chunk<'_>,
        budget: &mut Budget<'_>,
    ) -> Result<(), DecodeError> {
        let times = &self.times;
        let [ends, results, from, to] = &mut self.spans;
        for (number, span) in [(column::ENDS, ends), (column::RESULT_TIMES, results)] {
            span.clear();
            chunk.column(number, |input| {
                let there = get_presence(input, times.len())?;
                get_spans(input, &there, |row| origin(times[row]), span)
            })?;
        }
        from.clear();
        to.clear();
        chunk.column(column::VALID, |input| {
            let there = get_presence(input, times.len())?;
            get_spans(input, &there, |row| origin(times[row]), from)?;
            get_spans(input, &there, |row| from[row], to)
        })?;
        let numbers = [column::QUALITY, column::FEATURE, column::PARAMETERS];
        for (number, spans) in numbers.into_iter().zip(&mut self.members) {
            spans.clear();
            let arena = &mut self.arena;
            chunk.column(number, |input| {
                spans.resize(times.len(), Span::ABSENT);
                texts::get(input, budget, arena, spans)
            })?;
        }
        Ok(())
    }

    fn read_descriptions(&mut self, chunk: &Chunk<'_>) -> Result<(), DecodeError> {
        self.descriptions.clear();
        let (numbers, rows) = (&mut self.descriptions, chunk.rows());
        chunk.column(column::DESCRIPTIONS, |input| {
            runs::get(input, rows, u8::MAX, numbers)
        })?;
        Ok(())
    }

    fn read_series(
        &mut self,
        chunk: &Chunk<'_>,
        budget: &mut Budget<'_>,
    ) -> Result<(), DecodeError> {
        let (series, arena) = (&mut self.series, &mut self.arena);
        let nameless = Series {
            naming: Naming::Sent,
            texts: [Span::ABSENT; 4],
        };
        series.fill(1, nameless);
        chunk.column(column::NAMES, |input| {
            let start = input.place();
            let count = input.count(chunk.rows(), "series")?;
            let mut numbers = Few::<i64, 64>::default();
            numbers.fill(count, 0);
            ints::get(input, &mut numbers)?;
            series.fill(count, nameless);
            for (series, &number) in series.iter_mut().zip(numbers.iter()) {
                let naming = naming(number);
                series.naming = naming.ok_or(DecodeError::expected(start, "a known naming"))?;
            }
            let mut spans = Few::<Span, 64>::default();
            spans.fill(count, Span::ABSENT);
            for member in 0..4 {
                texts::get(input, budget, arena, &mut spans)?;
                for (series, &span) in series.iter_mut().zip(spans.iter()) {
                    series.texts[member] = span;
                }
            }
            Ok(())
        })?;
        Ok(())
    }

    fn read_order(&mut self, chunk: &Chunk<'_>) -> Result<(), DecodeError> {
        let (rows, count) = (chunk.rows(), self.series.len());
        self.sizes.clear();
        self.place_of.clear();
        let (sizes, of) = (&mut self.sizes, &mut self.series_of);
        let read = |input: &mut Input<'_>| read_series_of(input, count, rows, sizes, of);
        if chunk.column(column::ORDER, read)?.is_none() {
            if count != 1 && rows > 0 {
                return Err(DecodeError::expected(
                    chunk.begin(),
                    "a column of the order",
                ));
            }
            of.fill(rows, 0);
            sizes.fill(count, rows as u32);
        }
        if self.sizes.is_empty() && !self.series_of.is_sorted() {
            self.place_rows(count);
        }
        Ok(())
    }

    fn place_rows(&mut self, count: usize) {
        // Where the rows of each series begin, then where its next row stands.
        let mut next = Few::<u32, 64>::default();
        next.fill(count, 0);
        for &series in self.series_of.iter() {
            next[series as usize] += 1;
        }
        let mut begin = 0;
        for next in next.iter_mut() {
            begin += core::mem::replace(next, begin);
        }
        self.place_of.fill(self.series_of.len(), 0);
        for (place, &series) in self.place_of.iter_mut().zip(self.series_of.iter()) {
            *place = next[series as usize];
            next[series as usize] += 1;
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Says whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Number of series.
    pub fn series_count(&self) -> usize {
        self.series.len()
    }

    /// What a series is called; panics beyond [`Columns::series_count`].
    pub fn series(&self, index: usize) -> StreamView<'_> {
        let Series { naming, texts } = self.series[index];
        let [topic, sensor, property, unit] = texts.map(|span| span.of(&self.arena));
        StreamView {
            naming,
            topic: topic.unwrap_or_default(),
            sensor,
            property,
            unit,
            description: 0,
        }
    }

    /// Of each observation in its order: the index of its series, and the row where it stands.
    pub fn order(&self) -> impl ExactSizeIterator<Item = (usize, usize)> {
        let (series_of, place_of) = (&self.series_of[..], &self.place_of[..]);
        let place = move |row| place_of.get(row).map_or(row, |&place| place as usize);
        (0..series_of.len()).map(move |row| (series_of[row] as usize, place(row)))
    }

    /// How many rows each series has, where the observations were series after series.
    pub fn sizes(&self) -> Option<&[u32]> {
        Some(&self.sizes[..]).filter(|sizes| !sizes.is_empty())
    }

    /// Says whether the rows stand in the order of the observations.
    pub fn is_in_order(&self) -> bool {
        self.place_of.is_empty()
    }

    /// All times, nanoseconds since the Unix epoch, [`NO_TIME`] where there is none.
    pub fn times(&self) -> &[i64] {
        &self.times
    }

    /// All results, NaN where one is no number.
    pub fn numbers(&self) -> &[f64] {
        &self.numbers
    }

    /// A row's time.
    pub fn time(&self, row: usize) -> Option<Time> {
        Some(self.times[row])
            .filter(|&nanos| nanos != NO_TIME)
            .map(Time::from_nanos)
    }

    /// A row's result.
    pub fn value(&self, row: usize) -> Value<'_> {
        let text = || self.texts[row].of(&self.arena).unwrap_or_default();
        match self.kinds.get(row) {
            None | Some(&kind::NUMBER) => Value::Number(self.numbers[row]),
            Some(&kind::BOOL) => Value::Bool(self.truths[row] != 0),
            Some(&kind::TEXT) => Value::Text(text()),
            Some(&kind::JSON) => Value::Json(text()),
            Some(_) => Value::Null,
        }
    }

    /// Which description of its datastream a row was made under, of what a store wrote.
    pub fn description(&self, row: usize) -> u8 {
        self.descriptions.get(row).copied().unwrap_or_default()
    }

    /// Where the sensor was.
    pub fn place(&self, row: usize) -> Option<Place> {
        let (&latitude, &longitude) = self.latitudes.get(row).zip(self.longitudes.get(row))?;
        (!latitude.is_nan()).then_some(Place {
            latitude,
            longitude,
        })
    }

    /// Says whether all results are numbers, and no row has a place or extras.
    pub fn has_only_numbers(&self) -> bool {
        self.kinds.is_empty() && self.latitudes.is_empty() && !self.has_extras()
    }

    /// Says whether any row carries more than a place.
    pub fn has_extras(&self) -> bool {
        self.spans.iter().any(|spans| !spans.is_empty())
            || self.members.iter().any(|spans| !spans.is_empty())
    }

    /// What else a row carries.
    pub fn extra(&self, row: usize) -> Extra<'_> {
        let [end, result_time, from, to] = [0, 1, 2, 3].map(|member: usize| {
            let nanos = self.spans[member].get(row).copied();
            nanos
                .filter(|&nanos| nanos != NO_TIME)
                .map(Time::from_nanos)
        });
        let [quality, feature, parameters] = [0, 1, 2].map(|member: usize| {
            let span = self.members[member].get(row);
            span.and_then(|span| span.of(&self.arena))
        });
        Extra {
            end,
            result_time,
            valid: from.zip(to),
            quality,
            feature,
            parameters,
        }
    }
}

/// Reads the series of each observation into `of`, and how many each has into `sizes` where they
/// follow each other.
fn read_series_of(
    input: &mut Input<'_>,
    count: usize,
    rows: usize,
    sizes: &mut Few<u32, 64>,
    of: &mut Few<u32, 256>,
) -> Result<(), DecodeError> {
    let start = input.place();
    match input.byte()? {
        order::ROUNDS if count > 0 => {
            let rounds = (0..count as u32).cycle();
            let of = of.room(rows).iter_mut().zip(rounds);
            of.for_each(|(of, series)| *of = series);
            Ok(())
        }
        order::SERIES => read_sizes(input, count, rows, sizes, of),
        order::MIXED => {
            let mut numbers = Few::<i64, 256>::default();
            ints::get(input, numbers.room(rows))?;
            for (series, &number) in of.room(rows).iter_mut().zip(numbers.iter()) {
                let known = usize::try_from(number)
                    .ok()
                    .filter(|&number| number < count);
                *series =
                    known.ok_or(DecodeError::expected(start, "a series of the chunk"))? as u32;
            }
            Ok(())
        }
        _ => Err(DecodeError::expected(start, "a known order")),
    }
}

fn read_sizes(
    input: &mut Input<'_>,
    count: usize,
    rows: usize,
    sizes: &mut Few<u32, 64>,
    of: &mut Few<u32, 256>,
) -> Result<(), DecodeError> {
    let start = input.place();
    let mut read = Few::<i64, 64>::default();
    let sum = ints::get_sizes(input, rows, "rows of the series", read.room(count))?;
    if sum != rows {
        return Err(DecodeError::expected(start, "series of all rows"));
    }
    let mut rest = of.room(rows);
    for (series, &size) in read.iter().enumerate() {
        let (rows, behind) = rest.split_at_mut(size as usize);
        rows.fill(series as u32);
        rest = behind;
        sizes.push(size as u32);
    }
    Ok(())
}

fn get_presence(input: &mut Input<'_>, rows: usize) -> Result<Few<u8, 256>, DecodeError> {
    let mut there = Few::default();
    runs::get(input, rows, 1, &mut there)?;
    Ok(there)
}

/// Reads times of some rows as what lies between them and the row's `origin`.
fn get_spans(
    input: &mut Input<'_>,
    there: &[u8],
    origin: impl Fn(usize) -> i64,
    spans: &mut Vec<i64>,
) -> Result<(), DecodeError> {
    let start = input.place();
    let count = there.iter().filter(|there| **there != 0).count();
    spans.resize(there.len(), 0);
    ints::get(input, &mut spans[..count])?;
    runs::spread(spans, count, |row| there[row] != 0, 0);
    for (row, span) in spans.iter_mut().enumerate() {
        match there[row] {
            0 => *span = NO_TIME,
            _ => *span = span.wrapping_add(origin(row)),
        }
        if there[row] != 0 && *span == NO_TIME {
            return Err(DecodeError::expected(start, "times after 1677"));
        }
    }
    Ok(())
}

fn naming(number: i64) -> Option<Naming> {
    match number {
        0 => Some(Naming::Sent),
        1 => Some(Naming::Topic),
        2 => Some(Naming::Below),
        3 => Some(Naming::Name),
        _ => None,
    }
}
