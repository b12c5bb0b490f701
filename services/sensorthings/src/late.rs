//! What comes late: how many observations there are of each time that only the history knows, together with what was
//! told lately and is on no disk yet.

use crate::fault::Result;
use crate::id::At;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use weir_hub::{Hub, Stood, Ticket};
use weir_model::{Cursor, Time};

/// How many observations of a time a datastream had, where that is known without a look at the past.
pub(crate) fn counted(stood: Option<Stood>, time: Time) -> Option<u32> {
    stood.map_or(Some(0), |stood| stood.newest.of(time))
}

/// The places; `None` where one of them cannot be told.
pub(crate) fn places(
    stood: Option<Stood>,
    times: &[Time],
    counts: &HashMap<Time, u32>,
) -> Option<Vec<At>> {
    let number = stood.map_or(u32::MAX, |stood| stood.number);
    let is_ascending = times.windows(2).all(|pair| pair[0] < pair[1]);
    let mut passed: HashMap<Time, u32> = HashMap::new();
    let place = |&time: &Time| {
        let before = counted(stood, time).or_else(|| counts.get(&time).copied())?;
        let within = if is_ascending {
            0
        } else {
            let passed = passed.entry(time).or_default();
            *passed += 1;
            *passed - 1
        };
        Some(At {
            datastream: number,
            time,
            ordinal: before + within,
        })
    };
    times.iter().map(place).collect()
}

type Key = (Arc<str>, Time);

/// What was told of times that are not the newest, and may be on no disk yet.
#[derive(Default)]
pub(crate) struct Late {
    /// How many observations there are of each, and the cursor of the last one.
    told: HashMap<Key, (u32, Cursor)>,
    order: VecDeque<(Cursor, Key)>,
}

impl Late {
    /// How many there are of each time that only the history knows.
    pub(crate) fn counts(
        &mut self,
        hub: &Hub,
        topic: &str,
        stood: Option<Stood>,
        times: &[Time],
    ) -> Result<HashMap<Time, u32>> {
        self.forget(hub.positions().1);
        let unknown = |time: &&Time| counted(stood, **time).is_none();
        let wanted: BTreeSet<Time> = times.iter().filter(unknown).copied().collect();
        let mut counts = hub.counted(topic, &wanted)?;
        let topic: Arc<str> = topic.into();
        for time in wanted {
            let told = self.told.get(&(topic.clone(), time));
            let count = counts.entry(time).or_default();
            *count = (*count).max(told.map_or(0, |(count, _)| *count));
        }
        Ok(counts)
    }

    /// The places of what is published already: where the history has it by now, it is counted with the
    /// others and taken off again.
    pub(crate) fn places(
        &mut self,
        hub: &Hub,
        topic: &str,
        (ticket, stood): (&Ticket, Option<Stood>),
        times: &[Time],
    ) -> Result<Vec<At>> {
        let is_committed = || hub.positions().1 >= ticket.cursor();
        let mut was_committed = is_committed();
        let mut counts = self.counts(hub, topic, stood, times)?;
        if was_committed != is_committed() {
            was_committed = true;
            counts = self.counts(hub, topic, stood, times)?;
        }
        for time in times.iter().filter(|_| was_committed) {
            let count = counts.get_mut(time).into_iter();
            count.for_each(|count| *count = count.saturating_sub(1));
        }
        Ok(places(stood, times, &counts).unwrap_or_default())
    }

    pub(crate) fn note(&mut self, topic: &str, cursor: Cursor, places: &[At]) {
        let topic: Arc<str> = topic.into();
        for at in places {
            let key = (topic.clone(), at.time);
            let (count, last) = self.told.entry(key.clone()).or_insert((0, cursor));
            (*count, *last) = ((*count).max(at.ordinal + 1), cursor);
            self.order.push_back((cursor, key));
        }
    }

    /// Forgets what the history has by now.
    fn forget(&mut self, committed: Cursor) {
        while self
            .order
            .front()
            .is_some_and(|(cursor, _)| *cursor <= committed)
        {
            let Some((_, key)) = self.order.pop_front() else {
                return;
            };
            if self
                .told
                .get(&key)
                .is_some_and(|(_, last)| *last <= committed)
            {
                self.told.remove(&key);
            }
        }
    }
}
