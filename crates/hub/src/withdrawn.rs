//! Observations withdrawn: the past shows them no more, in whatever protocol asks.
//!
//! What was logged stays as it was published; a withdrawal is a record beside it, and the history is read
//! through all of them. A correction is a withdrawal and a new observation. Windows of `agg` and `every`
//! over the past do not count what was withdrawn; windows that a subscriber was sent already do.

use crate::access::{Principal, Verb};
use crate::catalog::Last;
use crate::exchange::{Fault, Past, Ticket};
use crate::hub::{Core, Hub, denied};
use crate::limits::{PAGE_OBSERVATIONS_MAX, WITHDRAWN_MAX};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use weir_model::{Batch, Cursor, Time};
use weir_storage::units::InUnit;
use weir_storage::{Hidden, Page, Range};
use weir_storage::{Kind, Record};

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
    by_topic: HashMap<Arc<str>, BTreeSet<(i64, u32)>>,
    count: usize,
}

impl Withdrawn {
    fn check_room(&self) -> Result<(), Fault> {
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

fn key(topic: &str, time: i64, ordinal: u32) -> String {
    format!("{topic}\n{time};{ordinal}")
}

fn read_key(key: &str) -> Option<(&str, i64, u32)> {
    let (topic, place) = key.split_once('\n')?;
    let (time, ordinal) = place.split_once(';')?;
    Some((topic, time.parse().ok()?, ordinal.parse().ok()?))
}

impl Hub {
    /// Hides an observation of the past, and shows the one before it as the last where it was that.
    pub(crate) fn withdraw(
        &self,
        now: Time,
        principal: &Principal,
        place: &Place,
    ) -> Result<Ticket, Fault> {
        self.check_withdrawal(principal, place)?;
        let topic = place.topic.as_str();
        let key = key(topic, place.time.nanos(), place.ordinal);
        let ticket = {
            let mut core = self.core();
            let ticket = self.append_withdrawal(now, &key, b"1")?;
            if self.log.shared().is_some() {
                return Ok(ticket);
            }
            core.withdrawn.put(&key, true);
            ticket
        };
        if self.last_at(topic, place.time).is_some() {
            self.feed()?;
            self.recall_last(topic, place.time)?;
        }
        Ok(ticket)
    }

    /// Where a datastream's last value stands, and how often one comes, if it is of this time: only then is the past
    /// needed.
    fn last_at(&self, topic: &str, time: Time) -> Option<(Cursor, Option<i64>)> {
        let core = self.core();
        let entry = core.catalog.entry(core.catalog.find(topic)?);
        let last = entry.last.as_ref().filter(|last| last.time == time)?;
        Some((last.cursor, entry.interval))
    }

    /// Says why an observation would not be hidden.
    pub(crate) fn check_withdrawal(
        &self,
        principal: &Principal,
        place: &Place,
    ) -> Result<(), Fault> {
        let topic = place.topic.as_str();
        if !principal.grants.allow(Verb::Change, topic) {
            return Err(denied(principal, Verb::Change, topic));
        }
        let core = self.core();
        match core.catalog.find(topic) {
            None => Err(Fault::Unknown(topic.into())),
            Some(_) => core.withdrawn.check_room(),
        }
    }

    /// Forgets, with a topic, what was withdrawn of it; gives the ticket of all of it.
    pub(crate) fn forget_withdrawn(
        &self,
        core: &mut Core,
        now: Time,
        topic: &str,
        mut all: Ticket,
    ) -> Result<Ticket, Fault> {
        for key in core.withdrawn.take(topic) {
            all = self.append_withdrawal(now, &key, b"")?.with(all);
        }
        Ok(all)
    }

    fn append_withdrawal(&self, now: Time, key: &str, body: &[u8]) -> Result<Ticket, Fault> {
        let record = Record {
            kind: Kind::Withdrawn,
            arrival: now,
            topic: key,
            media: "",
            key: &[],
            origin: "",
            attributes: &[],
            body,
        };
        if let Some(ticket) = self.submit(&record)? {
            return Ok(ticket);
        }
        Ok(self.ticket(self.log.append(&record)?))
    }

    /// Looks the last observation of a datastream up anew, as somebody withdrew the one of this key.
    pub(crate) fn recall_withdrawn(&self, key: &str) -> Result<(), Fault> {
        match read_key(key) {
            Some((topic, time, _)) => self.recall_last(topic, Time::from_nanos(time)),
            None => Ok(()),
        }
    }

    /// Looks up anew each last value that was withdrawn: at a start it comes from where nothing is hidden.
    pub(crate) fn recall_hidden(&self) -> Result<(), Fault> {
        let core = self.core();
        let hidden = core.withdrawn.by_topic.keys().filter_map(|topic| {
            let last = core
                .catalog
                .entry(core.catalog.find(topic)?)
                .last
                .as_ref()?;
            let is_hidden = core.withdrawn.is_any_of(topic, last.time);
            is_hidden.then(|| (topic.clone(), last.time))
        });
        let hidden: Vec<_> = hidden.collect();
        drop(core);
        if !hidden.is_empty() {
            self.feed()?;
        }
        let mut each = hidden.iter();
        each.try_for_each(|(topic, time)| self.recall_last(topic, *time))
    }

    /// What of a span was withdrawn, by the index of its topic.
    pub(crate) fn hidden_of(&self, topics: &[&str], past: &Past) -> Hidden {
        let core = self.core();
        let span = (past.from.nanos(), 0)..(past.to.nanos(), 0);
        let within = |(index, topic): (usize, &&str)| {
            let places = core.withdrawn.by_topic.get(*topic)?;
            let places: BTreeSet<_> = places.range(span.clone()).copied().collect();
            (!places.is_empty()).then_some((index, places))
        };
        match core.withdrawn.count {
            0 => Hidden::new(),
            _ => topics.iter().enumerate().filter_map(within).collect(),
        }
    }

    /// A page without what was withdrawn, with what tells its rows apart.
    pub(crate) fn visible(&self, past: &Past, mut page: Page) -> Page {
        page.ordinals = ordinals(&page.batch, page.before);
        let core = self.core();
        let hidden = match past.aggregate {
            Some(_) => Vec::new(),
            None => hidden(&core.withdrawn, &page),
        };
        drop(core);
        if hidden.is_empty() {
            return page;
        }
        page.select(|row| hidden.binary_search(&(row as u32)).is_err())
    }

    /// Looks the last observation of a topic up anew, where the one withdrawn may have been it; the history
    /// was fed what came before.
    fn recall_last(&self, topic: &str, time: Time) -> Result<(), Fault> {
        let Some((seen, interval)) = self.last_at(topic, time) else {
            return Ok(());
        };
        let newest = self.newest_before(topic, time.plus_nanos(1), interval.unwrap_or(0))?;
        let mut core = self.core();
        if let Some(id) = core.catalog.find(topic) {
            let cursor = self.log.head();
            let entry = core.catalog.entry(id);
            let is_seen = |last: &Last| (last.cursor, last.time) == (seen, time);
            if !entry.last.as_ref().is_some_and(is_seen) {
                // What came while the past was read is newer than all of it.
                return Ok(());
            }
            core.catalog.forget_last(id);
            if let Some(batch) = newest {
                let row = batch.row(batch.len() - 1);
                let arrival = row.time.unwrap_or(time);
                core.catalog.observe(id, cursor, arrival, &row);
            }
        }
        Ok(())
    }

    /// A page that ends with the newest observation before a time; spans that double are looked through.
    pub(crate) fn newest_before(
        &self,
        topic: &str,
        before: Time,
        interval: i64,
    ) -> Result<Option<Batch>, Fault> {
        let mut span = interval.max(1_000_000_000);
        loop {
            let from = before.plus_nanos(-span);
            let mut past = Past {
                filters: Vec::new(),
                from,
                to: before,
                limit: PAGE_OBSERVATIONS_MAX,
                page: None,
                aggregate: None,
                unit: InUnit::AsMade,
            };
            let mut found = None;
            loop {
                let read = self.history.read(&Range {
                    topics: &[topic],
                    from,
                    to: before,
                    limit: past.limit,
                    page: past.page.as_deref(),
                    aggregate: None,
                    hidden: None,
                    units: None,
                })?;
                let page = self.visible(&past, read);
                past.page.clone_from(&page.next);
                found = Some(page.batch).filter(|batch| !batch.is_empty()).or(found);
                if past.page.is_none() {
                    break;
                }
            }
            if found.is_some() || span == i64::MAX {
                return Ok(found);
            }
            span = span.saturating_mul(8);
        }
    }
}

/// Rows that are not the first of their datastream and time, and the how manieth each is.
fn ordinals(batch: &Batch, before: u32) -> Vec<(u32, u32)> {
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
fn hidden(withdrawn: &Withdrawn, page: &Page) -> Vec<u32> {
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
    fn observations_of_one_time_and_two_descriptions_are_of_one_datastream() {
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
    fn what_is_withdrawn_is_hidden_until_it_is_no_more_or_its_topic_is_forgotten() {
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
