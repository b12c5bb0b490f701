//! How datastreams stood just before a message.

use crate::fault::Fault;
use crate::hub::Hub;
use crate::limits::PAGE_OBSERVATIONS_MAX;
use crate::message::Message;
use crate::state::catalog::{Entry, Last};
use crate::state::stood::{Newest, SPAN_PAGES_MAX, Stood};
use crate::ticket::Ticket;
use std::collections::{BTreeSet, HashMap};
use weir_model::{Cursor, Time};
use weir_storage::Range;

impl Entry {
    /// Counts an observation, which may have become the last one; says whether it is newer than all before.
    pub(crate) fn count(&mut self, cursor: Cursor, time: Time) -> bool {
        let is_newer = self.newest.count(time);
        let last = self.last.as_mut();
        if let Some(last) = last.filter(|last| (last.cursor, last.time) == (cursor, time)) {
            last.ordinal = match self.newest {
                Newest {
                    time: Some(newest),
                    count: Some(count),
                    ..
                } if newest == time => count.checked_sub(1),
                _ => None,
            };
        }
        is_newer
    }

    pub(crate) fn stood(&self) -> Option<Stood> {
        Some(Stood {
            number: self.datastream.number?,
            newest: self.newest,
        })
    }
}

impl Hub {
    /// How the datastream of a topic stood just before a message that was taken from a shared log: only then
    /// it has a place, and a ticket cannot say it. What it had may not be known any more.
    pub fn stood_before(&self, topic: &str, taken: &Ticket) -> Option<Stood> {
        let now = self.stood(topic)?;
        let newest = self.core().before.of(taken.cursor());
        Some(Stood {
            newest: newest.unwrap_or(Newest::uncounted(None)),
            ..now
        })
    }

    /// How the datastream of a topic stands; `None` where there is none.
    pub fn stood(&self, topic: &str) -> Option<Stood> {
        let core = self.core();
        let id = core.catalog.find(topic)?;
        core.catalog.entry(id).stood()
    }

    /// Whether each observation of a message was newer than all that its datastream had when it came: then it
    /// is the first of its time. Of what was read back from the log that is not known.
    pub fn came_in_order(&self, message: &Message) -> bool {
        self.settle();
        message.is_in_order()
    }

    /// The last observation of a datastream, as far as it is known without a look at the past.
    pub fn last_of(&self, topic: &str) -> Option<Last> {
        let core = self.core();
        core.catalog.entry(core.catalog.find(topic)?).last.clone()
    }

    /// The last of the observations of a datastream's newest time, and whether there may be others; `None`
    /// where only the history can say.
    pub fn newest_of(&self, topic: &str) -> Option<(Last, bool)> {
        let core = self.core();
        let entry = core.catalog.entry(core.catalog.find(topic)?);
        let last = entry.last.as_ref()?;
        let is_newest = entry.newest.time == Some(last.time);
        // An ordinal that was not counted since a start is not guessed.
        let ordinal = last.ordinal?;
        let others = entry.newest.others || ordinal > 0;
        is_newest.then(|| (last.clone(), others))
    }

    /// How many observations of some times the history has of a topic, those withdrawn too; what is not
    /// committed yet is not in it.
    pub fn counted(
        &self,
        topic: &str,
        times: &BTreeSet<Time>,
    ) -> Result<HashMap<Time, u32>, Fault> {
        let mut counts = HashMap::new();
        let (Some(&first), Some(&last)) = (times.first(), times.last()) else {
            return Ok(counts);
        };
        self.feed()?;
        // Few times far apart are looked up one by one.
        let is_whole = self.each_time(topic, (first, last), SPAN_PAGES_MAX, &mut |time| {
            if times.contains(&time) {
                *counts.entry(time).or_insert(0) += 1;
            }
        })?;
        if !is_whole {
            counts.clear();
            for &time in times {
                let mut count = 0;
                self.each_time(topic, (time, time), usize::MAX, &mut |_| count += 1)?;
                counts.insert(time, count);
            }
        }
        Ok(counts)
    }

    /// Visits the time of each observation of a span; says whether so many pages were enough.
    fn each_time(
        &self,
        topic: &str,
        (first, last): (Time, Time),
        pages_max: usize,
        visit: &mut dyn FnMut(Time),
    ) -> Result<bool, Fault> {
        let mut token: Option<String> = None;
        for _ in 0..pages_max {
            let page = self.history.read(&Range {
                topics: &[topic],
                from: first,
                to: last.plus_nanos(1),
                limit: PAGE_OBSERVATIONS_MAX,
                page: token.as_deref(),
                aggregate: None,
                hidden: None,
                units: None,
            })?;
            let times = page.batch.times().iter();
            times.for_each(|&time| visit(Time::from_nanos(time)));
            token = page.next;
            if token.is_none() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
