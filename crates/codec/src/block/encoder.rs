//! Rows to the columns of a chunk.

use super::bytes::put_varint;
use super::chunk::{self, put_column};
use super::few::Few;
use super::numbers::Numbers;
use super::series::put_times;
use super::texts::Texts;
use super::{NO_TIME, column, ints, kind, order, runs};
use alloc::vec::Vec;
use weir_model::batch::{Naming, StreamView};
use weir_model::{Extra, Place, Time, Value};

/// Observations to be written: series after series, each in its order.
pub trait Rows {
    /// Number of rows.
    fn len(&self) -> usize;
    /// Says whether there are no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// A row's time.
    fn time(&self, row: usize) -> Option<Time>;
    /// A row's result.
    fn value(&self, row: usize) -> Value<'_>;
    /// Where the sensor was.
    fn place(&self, row: usize) -> Option<Place>;
    /// What else a row carries.
    fn extra(&self, row: usize) -> Extra<'_>;
    /// Number of series that the rows are of.
    fn series_count(&self) -> usize {
        1
    }
    /// What a series is called.
    fn series(&self, _index: usize) -> StreamView<'_> {
        NAMELESS
    }
    /// The order of the observations to be restored, where there are several series.
    fn order(&self) -> Order<'_> {
        Order::Rounds
    }
    /// All times, nanoseconds since the Unix epoch or [`NO_TIME`], where they lie so in memory.
    fn times(&self) -> Option<&[i64]> {
        None
    }
    /// Copies the results into as many places; says whether all are numbers, without which what was
    /// copied is of no use.
    fn copy_numbers(&self, numbers: &mut [f64]) -> bool {
        numbers
            .iter_mut()
            .enumerate()
            .all(|(row, place)| match self.value(row) {
                Value::Number(number) => {
                    *place = number;
                    true
                }
                _ => false,
            })
    }
    /// `false` where surely no row has a place.
    fn may_have_places(&self) -> bool {
        true
    }
    /// `false` where surely no row has extras.
    fn may_have_extras(&self) -> bool {
        true
    }
    /// Which description of its datastream each row was made under, where a store keeps that and any was made
    /// under another than the first.
    fn descriptions(&self) -> Option<&[u8]> {
        None
    }
}

/// In which order the observations of several series were.
#[derive(Clone, Copy, Debug)]
pub enum Order<'a> {
    /// Series after series; the sizes of them.
    Series(&'a [u32]),
    /// Observation r is of series r mod s.
    Rounds,
    /// The index of each observation's series.
    Mixed(&'a [u32]),
}

/// A text of the extras.
type Member = fn(Extra<'_>) -> Option<&str>;

const NAMELESS: StreamView<'_> = StreamView {
    naming: Naming::Sent,
    topic: "",
    sensor: None,
    property: None,
    unit: None,
    description: 0,
};

/// Writes chunks; holds the memory for it.
#[derive(Default)]
pub struct Encoder {
    times: Few<i64, 256>,
    others: Few<i64, 256>,
    bytes: Few<u8, 256>,
    values: Few<f64, 256>,
    numbers: Numbers,
    texts: Texts,
}

impl Encoder {
    /// Appends a chunk of these rows, at most [`super::ROWS_MAX`].
    pub fn encode(&mut self, rows: &impl Rows, out: &mut Vec<u8>) {
        chunk::put(out, |out| self.encode_body(rows, out));
    }

    /// Appends what a chunk has behind its head, for who has a checksum and a length already.
    pub fn encode_body(&mut self, rows: &impl Rows, out: &mut Vec<u8>) {
        chunk::put_rows(rows.len(), out);
        self.put_names(rows, out);
        self.put_times(rows, out);
        self.put_results(rows, out);
        if rows.may_have_places() {
            self.put_places(rows, out);
        }
        if rows.may_have_extras() {
            self.put_extras(rows, out);
        }
        if let Some(numbers) = rows.descriptions() {
            put_column(column::DESCRIPTIONS, out, |out| runs::put(numbers, out));
        }
    }

    fn put_names(&mut self, rows: &impl Rows, out: &mut Vec<u8>) {
        let count = rows.series_count();
        if count > 1 || (count == 1 && rows.series(0) != NAMELESS) {
            put_column(column::NAMES, out, |out| self.put_series(rows, out));
        }
        if count > 1 {
            put_column(column::ORDER, out, |out| self.put_order(rows.order(), out));
        }
    }

    fn put_series(&mut self, rows: &impl Rows, out: &mut Vec<u8>) {
        let count = rows.series_count();
        put_varint(out, count as u64);
        self.others.clear();
        for index in 0..count {
            self.others.push(naming_number(rows.series(index).naming));
        }
        ints::put(&self.others, out);
        let texts = &mut self.texts;
        let topic = |index: usize| {
            let series = rows.series(index);
            (series.naming != Naming::Sent).then_some(series.topic)
        };
        texts.put(count, topic, out);
        texts.put(count, |index| rows.series(index).sensor, out);
        texts.put(count, |index| rows.series(index).property, out);
        texts.put(count, |index| rows.series(index).unit, out);
    }

    fn put_order(&mut self, order: Order<'_>, out: &mut Vec<u8>) {
        let (tag, numbers) = match order {
            Order::Rounds => return out.push(order::ROUNDS),
            Order::Series(sizes) => (order::SERIES, sizes),
            Order::Mixed(series) => (order::MIXED, series),
        };
        out.push(tag);
        self.others.clear();
        for &number in numbers {
            self.others.push(i64::from(number));
        }
        ints::put(&self.others, out);
    }

    fn put_times(&mut self, rows: &impl Rows, out: &mut Vec<u8>) {
        if let Some(times) = rows.times() {
            return put_times(times, out);
        }
        for (row, place) in self.times.room(rows.len()).iter_mut().enumerate() {
            *place = rows.time(row).map_or(NO_TIME, Time::nanos);
        }
        put_times(&self.times, out);
    }

    fn put_results(&mut self, rows: &impl Rows, out: &mut Vec<u8>) {
        let all_numbers = rows.copy_numbers(self.values.room(rows.len()));
        if !all_numbers {
            self.put_kinds(rows, out);
        }
        if !self.values.is_empty() {
            let (numbers, values) = (&mut self.numbers, &self.values);
            put_column(column::NUMBERS, out, |out| numbers.put(values, out));
        }
        if !all_numbers {
            self.put_truths_and_texts(rows, out);
        }
    }

    /// Appends the column of kinds and gathers the numbers among the results.
    fn put_kinds(&mut self, rows: &impl Rows, out: &mut Vec<u8>) {
        self.values.clear();
        self.bytes.clear();
        for row in 0..rows.len() {
            let kind = match rows.value(row) {
                Value::Null => kind::NULL,
                Value::Number(number) => {
                    self.values.push(number);
                    kind::NUMBER
                }
                Value::Bool(_) => kind::BOOL,
                Value::Text(_) => kind::TEXT,
                Value::Json(_) => kind::JSON,
            };
            self.bytes.push(kind);
        }
        put_column(column::KINDS, out, |out| runs::put(&self.bytes, out));
    }

    fn put_truths_and_texts(&mut self, rows: &impl Rows, out: &mut Vec<u8>) {
        let mut at = Few::<u32, 64>::default();
        self.bytes.clear();
        for row in 0..rows.len() {
            match rows.value(row) {
                Value::Bool(truth) => self.bytes.push(u8::from(truth)),
                Value::Text(_) | Value::Json(_) => at.push(row as u32),
                Value::Number(_) | Value::Null => {}
            }
        }
        if !self.bytes.is_empty() {
            put_column(column::TRUTHS, out, |out| runs::put(&self.bytes, out));
        }
        if !at.is_empty() {
            let text = |index: usize| match rows.value(at[index] as usize) {
                Value::Text(text) | Value::Json(text) => Some(text),
                _ => None,
            };
            put_column(column::TEXTS, out, |out| {
                self.texts.put(at.len(), text, out)
            });
        }
    }

    fn put_places(&mut self, rows: &impl Rows, out: &mut Vec<u8>) {
        let mut longitudes = Few::<f64, 256>::default();
        self.values.clear();
        self.bytes.clear();
        for row in 0..rows.len() {
            let place = rows.place(row);
            self.bytes.push(u8::from(place.is_some()));
            if let Some(place) = place {
                self.values.push(place.latitude);
                longitudes.push(place.longitude);
            }
        }
        if !self.values.is_empty() {
            put_column(column::PLACES, out, |out| {
                runs::put(&self.bytes, out);
                self.numbers.put(&self.values, out);
                self.numbers.put(&longitudes, out);
            });
        }
    }

    fn put_extras(&mut self, rows: &impl Rows, out: &mut Vec<u8>) {
        if (0..rows.len()).all(|row| rows.extra(row).is_empty()) {
            return;
        }
        self.put_spans(column::ENDS, rows, |extra| extra.end, out);
        self.put_spans(column::RESULT_TIMES, rows, |extra| extra.result_time, out);
        self.put_valid(rows, out);
        let members: [(u8, Member); 3] = [
            (column::QUALITY, |extra| extra.quality),
            (column::FEATURE, |extra| extra.feature),
            (column::PARAMETERS, |extra| extra.parameters),
        ];
        for (number, member) in members {
            let text = |row: usize| member(rows.extra(row));
            if (0..rows.len()).any(|row| text(row).is_some()) {
                put_column(number, out, |out| self.texts.put(rows.len(), text, out));
            }
        }
    }

    /// Appends times as what lies between them and the row's.
    fn put_spans(
        &mut self,
        number: u8,
        rows: &impl Rows,
        member: impl Fn(Extra<'_>) -> Option<Time>,
        out: &mut Vec<u8>,
    ) {
        self.others.clear();
        self.bytes.clear();
        for row in 0..rows.len() {
            let time = member(rows.extra(row));
            self.bytes.push(u8::from(time.is_some()));
            if let Some(time) = time {
                self.others.push(since(time, rows.time(row)));
            }
        }
        if !self.others.is_empty() {
            put_column(number, out, |out| {
                runs::put(&self.bytes, out);
                ints::put(&self.others, out);
            });
        }
    }

    fn put_valid(&mut self, rows: &impl Rows, out: &mut Vec<u8>) {
        let mut spans = Few::<i64, 64>::default();
        self.others.clear();
        self.bytes.clear();
        for row in 0..rows.len() {
            let valid = rows.extra(row).valid;
            self.bytes.push(u8::from(valid.is_some()));
            if let Some((from, to)) = valid {
                self.others.push(since(from, rows.time(row)));
                spans.push(to.nanos().wrapping_sub(from.nanos()));
            }
        }
        if !spans.is_empty() {
            put_column(column::VALID, out, |out| {
                runs::put(&self.bytes, out);
                ints::put(&self.others, out);
                ints::put(&spans, out);
            });
        }
    }
}

/// What lies between a time of a row and the row's.
fn since(time: Time, of_row: Option<Time>) -> i64 {
    time.nanos().wrapping_sub(of_row.map_or(0, Time::nanos))
}

/// From where the other times of a row count.
pub(super) fn origin(time: i64) -> i64 {
    if time == NO_TIME { 0 } else { time }
}

fn naming_number(naming: Naming) -> i64 {
    match naming {
        Naming::Sent => 0,
        Naming::Topic => 1,
        Naming::Below => 2,
        Naming::Name => 3,
    }
}
