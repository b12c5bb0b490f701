//! Many numbers at once, from columns to columns.

use super::{BatchBuilder, BatchError, KeptNames};
use crate::batch::{Cell, NO_TIME, Place};
use crate::time::Time;

impl Default for KeptNames {
    fn default() -> Self {
        Self::NONE
    }
}

impl BatchBuilder {
    /// Adds observations of one datastream that are numbers without a place or extras: their times,
    /// nanoseconds since the Unix epoch or [`NO_TIME`], and as many numbers.
    ///
    /// Those before one that is not finite are added. Panics where the slices differ in length.
    pub fn extend_series(
        &mut self,
        names: KeptNames,
        times: &[i64],
        numbers: &[f64],
    ) -> Result<(), BatchError> {
        assert_eq!(times.len(), numbers.len(), "a time for each number");
        let finite = finite(numbers);
        let numbers = &numbers[..finite];
        if finite > 0 {
            self.begin_as(names);
            let stream = self.intern();
            let batch = &mut self.batch;
            batch.stream.resize(batch.stream.len() + finite, stream);
            batch.time.extend_from_slice(&times[..finite]);
            let cells = numbers.iter().map(|&number| Cell::Number(number));
            batch.value.extend(cells);
            self.fill_places();
        }
        if finite == times.len() {
            Ok(())
        } else {
            Err(BatchError::NotFinite)
        }
    }

    /// Adds observations that are numbers without a place or extras: of each the index of its names
    /// among `names`, its time and the number.
    ///
    /// Names are the same from call to call until the builder is cleared or finished. Those before a
    /// number that is not finite are added. Panics where an index is beyond `names`.
    pub fn extend_numbers(
        &mut self,
        names: &mut [KeptNames],
        rows: impl Iterator<Item = (usize, Option<Time>, f64)>,
    ) -> Result<(), BatchError> {
        let added = self.extend_columns(names, rows);
        self.fill_places();
        added
    }

    fn extend_columns(
        &mut self,
        names: &mut [KeptNames],
        rows: impl Iterator<Item = (usize, Option<Time>, f64)>,
    ) -> Result<(), BatchError> {
        for (index, time, number) in rows {
            if !number.is_finite() {
                return Err(BatchError::NotFinite);
            }
            let stream = self.index_of(&mut names[index]);
            self.batch.stream.push(stream);
            self.batch.time.push(time.map_or(NO_TIME, Time::nanos));
            self.batch.value.push(Cell::Number(number));
        }
        Ok(())
    }

    /// The index of kept names, which is looked for once.
    fn index_of(&mut self, names: &mut KeptNames) -> u32 {
        let count = self.batch.streams.len();
        match names.index {
            Some(index) if (index as usize) < count => index,
            _ => {
                self.begin_as(*names);
                *names.index.insert(self.intern())
            }
        }
    }

    /// Rows added without a place have none, where others have one.
    fn fill_places(&mut self) {
        if !self.batch.place.is_empty() {
            let len = self.batch.value.len();
            self.batch.place.resize(len, Place::NOWHERE);
        }
    }
}

/// How many numbers there are before the first that is not finite.
fn finite(numbers: &[f64]) -> usize {
    // Without a way out the loop is done for several numbers at once.
    let all = numbers
        .iter()
        .fold(true, |all, number| all & number.is_finite());
    if all {
        numbers.len()
    } else {
        numbers.iter().take_while(|n| n.is_finite()).count()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::batch::{Batch, Naming};
    use crate::value::Value;

    /// Of `a` and `b` by turns, as they are added one by one.
    fn one_by_one(rows: &[(usize, Option<Time>, f64)]) -> Batch {
        let mut builder = BatchBuilder::new();
        for &(index, time, number) in rows {
            builder.begin();
            builder.topic(Naming::Topic, ["a", "b"][index]);
            time.into_iter().for_each(|time| builder.time(time));
            builder.value(Value::Number(number));
            builder.end().unwrap();
        }
        builder.finish()
    }

    fn names(builder: &mut BatchBuilder) -> [KeptNames; 2] {
        ["a", "b"].map(|topic| {
            builder.begin();
            builder.topic(Naming::Topic, topic);
            builder.keep()
        })
    }

    const AT: Option<Time> = Some(Time::from_nanos(7));

    #[test]
    fn numbers_added_at_once_are_those_added_one_by_one() {
        let rows = [(0, AT, 1.5), (1, None, 2.5), (0, None, -0.0)];
        let mut at_once = BatchBuilder::new();
        let mut names = names(&mut at_once);
        let (first, rest) = rows.split_at(1);
        at_once
            .extend_numbers(&mut names, first.iter().copied())
            .unwrap();
        at_once
            .extend_numbers(&mut names, rest.iter().copied())
            .unwrap();
        assert_eq!(at_once.finish(), one_by_one(&rows));
    }

    #[test]
    fn series_added_at_once_are_those_added_one_by_one() {
        let rows = [(0, AT, 1.5), (0, None, 2.5), (1, AT, -0.0), (0, AT, 3.0)];
        let mut at_once = BatchBuilder::new();
        let [a, b] = names(&mut at_once);
        at_once.extend_series(b, &[], &[]).unwrap();
        at_once
            .extend_series(a, &[7, NO_TIME], &[1.5, 2.5])
            .unwrap();
        at_once.extend_series(b, &[7], &[-0.0]).unwrap();
        at_once.extend_series(a, &[7], &[3.0]).unwrap();
        let batch = at_once.finish();
        assert_eq!(
            (batch.stream_count(), batch.streams()),
            (2, &[0, 0, 1, 0][..])
        );
        assert_eq!(batch, one_by_one(&rows));
    }

    #[test]
    fn a_series_is_added_up_to_what_is_not_finite() {
        let mut builder = BatchBuilder::new();
        let times = [7, 7, 7];
        let added = builder.extend_series(KeptNames::NONE, &times, &[1.0, f64::INFINITY, 2.0]);
        assert_eq!((added, builder.len()), (Err(BatchError::NotFinite), 1));
        let added = builder.extend_series(KeptNames::NONE, &times[..1], &[f64::NAN]);
        assert_eq!((added, builder.len()), (Err(BatchError::NotFinite), 1));
        assert_eq!(builder.batch().times(), [7]);
    }

    #[test]
    fn numbers_behind_rows_with_places_have_none() {
        let mut builder = BatchBuilder::new();
        builder.begin();
        builder.latitude(44.5);
        builder.longitude(20.5);
        builder.value(Value::Null);
        builder.end().unwrap();
        let rows = [1.0, 2.0, f64::NAN].map(|number| (0, None, number));
        let mut names = [KeptNames::NONE];
        let added = builder.extend_numbers(&mut names, rows[..2].iter().copied());
        assert_eq!(added, Ok(()));
        builder.extend_series(names[0], &[7], &[3.0]).unwrap();
        let places: alloc::vec::Vec<_> = builder.batch().rows().map(|row| row.place).collect();
        assert_eq!((places.len(), places.iter().flatten().count()), (4, 1));
        let added = builder.extend_numbers(&mut names, rows.into_iter());
        assert_eq!((added, builder.len()), (Err(BatchError::NotFinite), 6));
    }

    #[test]
    fn numbers_are_copied_where_all_are_numbers() {
        let mut builder = BatchBuilder::new();
        for value in [Value::Number(1.0), Value::Number(2.0), Value::Null] {
            builder.begin();
            builder.value(value);
            builder.end().unwrap();
        }
        let mut numbers = [0.0; 2];
        assert!(builder.batch().copy_numbers(0, &mut numbers));
        assert_eq!(numbers, [1.0, 2.0]);
        assert!(!builder.batch().copy_numbers(1, &mut numbers));
    }
}
