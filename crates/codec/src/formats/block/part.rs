//! Rows of a batch as a chunk has them: series after series.
//!
//! What comes series after series already, as history does, is taken as it lies; all else is told by
//! places. It deliberately looks for no better order: that of the observations is kept.

use crate::block::few::Few;
use crate::block::{Order, Rows};
use core::ops::Range;
use weir_model::batch::StreamView;
use weir_model::{Batch, Extra, Place, Time, Value};

/// A datastream of which no row was met yet.
const NONE: u32 = u32::MAX;

/// Rows of a batch, series after series.
pub(super) struct Part<'a> {
    batch: &'a Batch,
    range: Range<usize>,
    /// The batch's index of each series.
    streams: Few<u32, 64>,
    /// How many rows each series has.
    sizes: Few<u32, 64>,
    arrangement: Arrangement,
    /// The series of each observation, where they are not series after series.
    order: Few<u32, 256>,
    /// The batch's row of each row, where they are not series after series.
    rows: Few<u32, 256>,
}

/// How the observations lie in the batch.
#[derive(PartialEq, Eq)]
enum Arrangement {
    /// Series after series.
    Series,
    /// By turns.
    Rounds,
    /// Anyhow.
    Mixed,
}

impl<'a> Part<'a> {
    /// Tells the series of these rows apart; `number_of` is memory for it.
    pub(super) fn of(batch: &'a Batch, range: Range<usize>, number_of: &mut Few<u32, 256>) -> Self {
        number_of.fill(batch.stream_count(), NONE);
        let mut part = Self {
            batch,
            range,
            streams: Few::default(),
            sizes: Few::default(),
            arrangement: Arrangement::Series,
            order: Few::default(),
            rows: Few::default(),
        };
        if !part.find_series(number_of) {
            part.find_places(number_of);
        }
        part
    }

    /// Finds the series where they follow each other; says whether they do, and are not by turns.
    fn find_series(&mut self, number_of: &mut [u32]) -> bool {
        let mut rest = &self.batch.streams()[self.range.clone()];
        while let Some(&stream) = rest.first() {
            let number = &mut number_of[stream as usize];
            if *number != NONE {
                return false;
            }
            *number = self.streams.len() as u32;
            let size = run_len(rest);
            self.streams.push(stream);
            self.sizes.push(size as u32);
            rest = &rest[size..];
        }
        // One observation of each series: that is a round, which needs no sizes.
        self.streams.len() == 1 || self.streams.len() < self.range.len()
    }

    fn find_places(&mut self, number_of: &mut [u32]) {
        let streams = &self.batch.streams()[self.range.clone()];
        self.sizes.fill(self.streams.len(), 0);
        for (number, &stream) in self.order.room(streams.len()).iter_mut().zip(streams) {
            let known = &mut number_of[stream as usize];
            if *known == NONE {
                *known = self.streams.len() as u32;
                self.streams.push(stream);
                self.sizes.push(0);
            }
            self.sizes[*known as usize] += 1;
            *number = *known;
        }
        let turns = (0..self.streams.len() as u32).cycle();
        let mut in_turns = self.order.iter().zip(turns);
        self.arrangement = if in_turns.all(|(&number, turn)| number == turn) {
            Arrangement::Rounds
        } else {
            Arrangement::Mixed
        };
        self.place_rows();
    }

    fn place_rows(&mut self) {
        let mut next = Few::<u32, 64>::default();
        let mut before = 0;
        for &size in self.sizes.iter() {
            next.push(before);
            before += size;
        }
        let places = self.rows.room(self.order.len());
        for (row, &number) in (self.range.start as u32..).zip(self.order.iter()) {
            let next = &mut next[number as usize];
            places[*next as usize] = row;
            *next += 1;
        }
    }

    fn is_in_series(&self) -> bool {
        self.arrangement == Arrangement::Series
    }

    #[inline]
    fn row(&self, row: usize) -> usize {
        if self.is_in_series() {
            self.range.start + row
        } else {
            self.rows[row] as usize
        }
    }
}

/// How many items at the beginning are the same.
fn run_len(items: &[u32]) -> usize {
    let Some(first) = items.first() else {
        return 0;
    };
    let differs = |items: &[u32]| items.iter().fold(0, |all, item| all | item ^ first) != 0;
    // Without a way out of it, the loop over a piece is done for several items at once.
    let whole = items.chunks(64).take_while(|piece| !differs(piece));
    let len = whole.map(<[u32]>::len).sum();
    len + items[len..]
        .iter()
        .take_while(|item| *item == first)
        .count()
}

impl Rows for Part<'_> {
    fn len(&self) -> usize {
        self.range.len()
    }

    fn time(&self, row: usize) -> Option<Time> {
        self.batch.time(self.row(row))
    }

    fn value(&self, row: usize) -> Value<'_> {
        self.batch.value(self.row(row))
    }

    fn place(&self, row: usize) -> Option<Place> {
        self.batch.place(self.row(row))
    }

    fn extra(&self, row: usize) -> Extra<'_> {
        self.batch.extra(self.row(row))
    }

    fn series_count(&self) -> usize {
        self.streams.len()
    }

    fn series(&self, index: usize) -> StreamView<'_> {
        self.batch.stream(self.streams[index] as usize)
    }

    fn order(&self) -> Order<'_> {
        match self.arrangement {
            Arrangement::Series => Order::Series(&self.sizes),
            Arrangement::Rounds => Order::Rounds,
            Arrangement::Mixed => Order::Mixed(&self.order),
        }
    }

    fn times(&self) -> Option<&[i64]> {
        let times = &self.batch.times()[self.range.clone()];
        Some(times).filter(|_| self.is_in_series())
    }

    fn copy_numbers(&self, numbers: &mut [f64]) -> bool {
        if self.is_in_series() {
            return self.batch.copy_numbers(self.range.start, numbers);
        }
        let mut all = true;
        for (number, &row) in numbers.iter_mut().zip(self.rows.iter()) {
            match self.batch.value(row as usize) {
                Value::Number(found) => *number = found,
                _ => all = false,
            }
        }
        all
    }

    fn may_have_places(&self) -> bool {
        self.batch.has_places()
    }

    fn may_have_extras(&self) -> bool {
        self.batch.has_extras()
    }
}
