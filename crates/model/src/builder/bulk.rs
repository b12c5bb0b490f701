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
    /// Adds observations that are numbers without a place or extras: of each the index of its names
    /// among `names`, its time and the number.
    ///
    /// Those before one that is not finite are added. Panics where an index is beyond `names`.
    pub fn extend_numbers(
        &mut self,
        names: &[KeptNames],
        rows: impl Iterator<Item = (usize, Option<Time>, f64)>,
    ) -> Result<(), BatchError> {
        let added = self.extend_columns(names, rows);
        if !self.batch.place.is_empty() {
            self.batch
                .place
                .resize(self.batch.value.len(), Place::NOWHERE);
        }
        added
    }

    fn extend_columns(
        &mut self,
        names: &[KeptNames],
        rows: impl Iterator<Item = (usize, Option<Time>, f64)>,
    ) -> Result<(), BatchError> {
        let mut last = None;
        for (index, time, number) in rows {
            let stream = match last {
                Some((known, stream)) if known == index => stream,
                _ => {
                    self.begin_as(names[index]);
                    self.intern()
                }
            };
            last = Some((index, stream));
            if !number.is_finite() {
                return Err(BatchError::NotFinite);
            }
            self.batch.stream.push(stream);
            self.batch.time.push(time.map_or(NO_TIME, Time::nanos));
            self.batch.value.push(Cell::Number(number));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::batch::Naming;
    use crate::value::Value;

    #[test]
    fn numbers_added_at_once_are_those_added_one_by_one() {
        let rows = [
            (0, Some(Time::from_nanos(7)), 1.5),
            (1, None, 2.5),
            (0, None, -0.0),
        ];
        let mut one_by_one = BatchBuilder::new();
        for (index, time, number) in rows {
            one_by_one.begin();
            one_by_one.topic(Naming::Topic, ["a", "b"][index]);
            time.into_iter().for_each(|time| one_by_one.time(time));
            one_by_one.value(Value::Number(number));
            one_by_one.end().unwrap();
        }
        let mut at_once = BatchBuilder::new();
        let names = ["a", "b"].map(|topic| {
            at_once.begin();
            at_once.topic(Naming::Topic, topic);
            at_once.keep()
        });
        at_once.extend_numbers(&names, rows.into_iter()).unwrap();
        assert_eq!(at_once.finish(), one_by_one.finish());
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
        let added = builder.extend_numbers(&[KeptNames::NONE], rows[..2].iter().copied());
        assert_eq!(added, Ok(()));
        let places: alloc::vec::Vec<_> = builder.batch().rows().map(|row| row.place).collect();
        assert_eq!(places.iter().flatten().count(), 1);
        let added = builder.extend_numbers(&[KeptNames::NONE], rows.into_iter());
        assert_eq!((added, builder.len()), (Err(BatchError::NotFinite), 5));
    }
}
