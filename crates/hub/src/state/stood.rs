//! How many observations of its newest time a datastream has: what tells observations of one time apart as
//! they come, without a look at the past.
//!
//! Of older times nothing is kept: there the history counts.

use std::collections::VecDeque;
use weir_model::{Cursor, Time};

/// How a datastream stood at an instant: just before a message, where a ticket says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stood {
    /// Its number.
    pub number: u32,
    /// What it had.
    pub newest: Newest,
}

/// The newest time that a datastream has observations of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Newest {
    /// That time, at the latest; `None` where it is not known.
    pub(crate) time: Option<Time>,
    /// How many there are of it, those withdrawn too; `None` where they were not counted.
    pub(crate) count: Option<u32>,
    /// Whether there may be some of other times.
    pub(crate) others: bool,
}

/// Pages of the history in which many times are counted at once.
pub(crate) const SPAN_PAGES_MAX: usize = 4;
/// Before all times.
const NEVER: Time = Time::from_nanos(i64::MIN);

impl Newest {
    /// Of a datastream that has none.
    pub(crate) const NOTHING: Self = Self {
        time: Some(NEVER),
        count: Some(0),
        others: false,
    };

    /// Of one whose observations of this time were not counted.
    pub(crate) fn uncounted(time: Option<Time>) -> Self {
        match time {
            Some(NEVER) => Self::NOTHING,
            time => Self {
                time,
                count: None,
                others: true,
            },
        }
    }

    /// Takes one more; says whether it is newer than all before.
    pub(crate) fn count(&mut self, time: Time) -> bool {
        match self.time {
            Some(newest) if time == newest => self.count = self.count.map(|count| count + 1),
            Some(newest) if time > newest => {
                *self = Self {
                    time: Some(time),
                    count: Some(1),
                    others: newest != NEVER,
                };
                return true;
            }
            _ => self.others = true,
        }
        false
    }

    /// How many observations of a time there were; `None` where only the history can say.
    pub fn of(&self, time: Time) -> Option<u32> {
        match self.time? {
            newest if time > newest => Some(0),
            newest if time == newest => self.count,
            _ => None,
        }
    }
}

/// What the first datastreams of the last messages of a shared log had, just before each was taken.
#[derive(Debug, Default)]
pub(crate) struct Before(VecDeque<(Cursor, Newest)>);

/// Messages of which it is remembered.
const BEFORE_MAX: usize = 1 << 13;

impl Before {
    pub(crate) fn note(&mut self, cursor: Cursor, newest: Newest) {
        if self.0.len() == BEFORE_MAX {
            self.0.pop_front();
        }
        self.0.push_back((cursor, newest));
    }

    pub(crate) fn of(&self, cursor: Cursor) -> Option<Newest> {
        let found = self.0.binary_search_by_key(&cursor, |(of, _)| *of);
        found.ok().map(|at| self.0[at].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn observations_of_the_newest_time_are_counted_others_unknown() {
        let mut newest = Newest::NOTHING;
        let time = Time::from_nanos;
        for nanos in [5, 5, 3, 7, 7, 7] {
            newest.count(time(nanos));
        }
        assert_eq!(
            [3, 5, 7, 8].map(|nanos| newest.of(time(nanos))),
            [None, None, Some(3), Some(0)]
        );
        let mut found = Newest::uncounted(Some(time(7)));
        found.count(time(7));
        assert_eq!([7, 8].map(|nanos| found.of(time(nanos))), [None, Some(0)]);
        found.count(time(8));
        assert_eq!(found.of(time(8)), Some(1));
        assert_eq!(Newest::uncounted(None).of(time(8)), None);
    }
}
