//! Observations withdrawn: the past shows them no more, in whatever protocol asks.
//!
//! What was logged stays as it was published; a withdrawal is a record beside it, and the history is read
//! through all of them. A correction is a withdrawal and a new observation. Windows of `agg` and `every`
//! over the past do not count what was withdrawn; windows that a subscriber was sent already do.

use crate::fault::Fault;
use crate::limits::WITHDRAWN_MAX;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use weir_model::{Batch, Time};
use weir_storage::Page;

/// Which observation of the past is meant: of one datastream and time, the how manieth that came.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Topic of its datastream.
    pub topic: String,
    /// Its time.
    pub time: Time,
    /// How many of that datastream and time came before it.
    pub ordinal: u32,
}

/// What was withdrawn, by topic.
#[derive(Debug, Default)]
pub(crate) struct Withdrawn {
    pub(crate) by_topic: HashMap<Arc<str>, BTreeSet<(i64, u32)>>,
    pub(crate) count: usize,
}

impl Withdrawn {
    pub(crate) fn check_room(&self) -> Result<(), Fault> {
        match self.count >= WITHDRAWN_MAX {
            false => Ok(()),
            true => Err(Fault::Crowded {
                what: "withdrawn observations",
                limit: WITHDRAWN_MAX,
            }),
        }
    }

    /// Takes what a record of this key says.
    pub(crate) fn put(&mut self, key: &str, is_withdrawn: bool) {
        let Some((topic, time, ordinal)) = read_key(key) else {
            return;
        };
        if is_withdrawn {
            let places = self.by_topic.entry(topic.into()).or_default();
            self.count += usize::from(places.insert((time, ordinal)));
        } else if let Some(places) = self.by_topic.get_mut(topic) {
            self.count -= usize::from(places.remove(&(time, ordinal)));
        }
    }

    /// Whether an observation of a topic and time was withdrawn.
    pub(crate) fn is_any_of(&self, topic: &str, time: Time) -> bool {
        let places = self.by_topic.get(topic);
        let of_time = (time.nanos(), 0)..=(time.nanos(), u32::MAX);
        places.is_some_and(|places| places.range(of_time).next().is_some())
    }

    /// What was withdrawn of a topic, which is forgotten with it.
    pub(crate) fn take(&mut self, topic: &str) -> Vec<String> {
        let places = self.by_topic.remove(topic).unwrap_or_default();
        self.count -= places.len();
        let keys = places
            .iter()
            .map(|(time, ordinal)| key(topic, *time, *ordinal));
        keys.collect()
    }
}

pub(crate) fn key(topic: &str, time: i64, ordinal: u32) -> String {
    format!("{topic}\n{time};{ordinal}")
}

pub(crate) fn read_key(key: &str) -> Option<(&str, i64, u32)> {
    let (topic, place) = key.split_once('\n')?;
    let (time, ordinal) = place.split_once(';')?;
    Some((topic, time.parse().ok()?, ordinal.parse().ok()?))
}

/// Rows that are not the first of their datastream and time, and the how manieth each is.
pub(crate) fn ordinals(batch: &Batch, before: u32) -> Vec<(u32, u32)> {
    let mut ordinals = Vec::new();
    let (streams, times) = (batch.streams(), batch.times());
    let topic = |row: usize| batch.stream(streams[row] as usize).topic;
    let is_of_one = |a, b| streams[a] == streams[b] || topic(a) == topic(b);
    let mut count = before;
    for row in 0..batch.len() {
        let repeats = row > 0 && times[row] == times[row - 1] && is_of_one(row, row - 1);
        if row > 0 {
            count = if repeats { count + 1 } else { 0 };
        }
        if count > 0 {
            ordinals.push((row as u32, count));
        }
    }
    ordinals
}

/// The rows withdrawn, ascending.
pub(crate) fn hidden(withdrawn: &Withdrawn, page: &Page) -> Vec<u32> {
    let batch = &page.batch;
    let of = |index| withdrawn.by_topic.get(batch.stream(index).topic);
    let places: Vec<_> = (0..batch.stream_count()).map(of).collect();
    if places.iter().all(Option::is_none) {
        return Vec::new();
    }
    let times = batch.times();
    let is_hidden = |&row: &usize| {
        let places = places[batch.stream_of(row)];
        places.is_some_and(|places| places.contains(&(times[row], page.ordinal(row))))
    };
    let rows = (0..batch.len()).filter(is_hidden);
    rows.map(|row| row as u32).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use weir_model::{BatchBuilder, Value};

    fn batch(times: &[i64]) -> Batch {
        let mut builder = BatchBuilder::new();
        for &time in times {
            builder.begin();
            builder.value(Value::Number(0.0));
            builder.time(Time::from_nanos(time));
            builder.end().unwrap();
        }
        let mut batch = builder.finish();
        batch.complete("a", Time::from_nanos(0)).unwrap();
        batch
    }

    #[test]
    fn observations_of_one_time_are_told_apart_across_pages() {
        assert_eq!(
            ordinals(&batch(&[1, 1, 2, 2, 2]), 0),
            [(1, 1), (3, 1), (4, 2)]
        );
        assert_eq!(ordinals(&batch(&[1, 1, 2]), 3), [(0, 3), (1, 4)]);
    }

    #[test]
    fn two_descriptions_at_one_time_are_of_one_datastream() {
        let mut builder = BatchBuilder::new();
        for description in [0, 1, 0] {
            builder.begin();
            builder.description(description);
            builder.value(Value::Null);
            builder.time(Time::from_nanos(4));
            builder.end().unwrap();
        }
        let mut batch = builder.finish();
        batch.complete("a", Time::from_nanos(0)).unwrap();
        assert_eq!(batch.stream_count(), 2);
        assert_eq!(ordinals(&batch, 0), [(1, 1), (2, 2)]);
    }

    #[test]
    fn rows_that_are_picked_keep_what_tells_them_apart() {
        let rows = batch(&[1, 1, 2, 2, 2]);
        let page = Page {
            ordinals: ordinals(&rows, 4),
            batch: rows,
            ..Page::default()
        };
        let picked = page.select(|row| row != 0 && row != 3);
        assert_eq!(picked.ordinals, [(0, 5), (2, 2)]);
        let told: Vec<_> = (0..picked.batch.len())
            .map(|row| picked.ordinal(row))
            .collect();
        assert_eq!(told, [5, 0, 2]);
    }

    #[test]
    fn what_is_withdrawn_is_hidden_until_its_topic_is_forgotten() {
        let mut withdrawn = Withdrawn::default();
        withdrawn.put(&key("a", 2, 1), true);
        withdrawn.put(&key("a", 1, 0), true);
        withdrawn.put(&key("b", 1, 0), true);
        let rows = batch(&[1, 2, 2]);
        let page = Page {
            ordinals: ordinals(&rows, 0),
            batch: rows,
            ..Page::default()
        };
        let hidden = |withdrawn: &Withdrawn| hidden(withdrawn, &page);
        assert_eq!(hidden(&withdrawn), [0, 2]);
        withdrawn.put(&key("a", 1, 0), false);
        assert_eq!(hidden(&withdrawn), [2]);
        assert_eq!(withdrawn.take("a"), [key("a", 2, 1)]);
        assert_eq!((hidden(&withdrawn).len(), withdrawn.count), (0, 1));
    }
}
