//! Observations of the past that are hidden.

use crate::access::{Principal, Verb, denied};
use crate::fault::Fault;
use crate::hub::{Core, Hub};
use crate::limits::PAGE_OBSERVATIONS_MAX;
use crate::requests::{Made, Past};
use crate::state::catalog::Last;
use crate::state::withdrawn::{Place, hidden, key, ordinals, read_key};
use crate::ticket::Ticket;
use std::collections::BTreeSet;
use weir_model::{Batch, Cursor, Time};
use weir_storage::units::InUnit;
use weir_storage::{Hidden, Page, Range};
use weir_storage::{Kind, Record};

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
            core.reread(&*self.log);
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
        let made = Made::from(topic.to_owned());
        let newest = self.newest_before(&made, time.plus_nanos(1), interval.unwrap_or(0))?;
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
        made: &Made,
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
                    topics: &[&*made.topic],
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
                found = Some(made.of(page.batch))
                    .filter(|batch| !batch.is_empty())
                    .or(found);
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
