//! From when to when there are observations of a datastream: the history knows it without reading, and
//! only where an observation at an end was withdrawn is the past looked through.
//!
//! The ends of intervals and the result times of what was withdrawn are still counted.

use crate::access::{Principal, Verb};
use crate::fault::Fault;
use crate::hub::Hub;
use crate::limits::PAGE_OBSERVATIONS_MAX;
use crate::requests::{Made, Past};
use weir_model::{Batch, Time};
use weir_storage::units::InUnit;
use weir_storage::{Extent, Range};

impl Hub {
    pub(crate) fn extents(
        &self,
        principal: &Principal,
        all: &[Made],
    ) -> Result<Vec<Option<Extent>>, Fault> {
        self.feed()?;
        let of = |made: &Made| match principal.grants.allow(Verb::Read, &made.topic) {
            true => self.extent(made),
            false => Ok(None),
        };
        all.iter().map(of).collect()
    }

    fn extent(&self, made: &Made) -> Result<Option<Extent>, Fault> {
        let topic = &*made.topic;
        let known = match made.under.is_empty() {
            true => self.history.extent(topic),
            false => {
                let each = self.history.extents(topic)?.into_iter();
                let own = each.filter(|(number, _)| made.under.contains(number));
                own.map(|(_, extent)| extent).reduce(Extent::joined)
            }
        };
        let Some(mut extent) = known else {
            return Ok(None);
        };
        let (first_is_gone, last_is_gone) = {
            let core = self.core();
            let is_gone = |time: Time| core.withdrawn.is_any_of(topic, time);
            (is_gone(extent.first), is_gone(extent.last))
        };
        if first_is_gone {
            match self.oldest_from(made, extent.first)? {
                Some(first) => extent.first = first,
                None => return Ok(None),
            }
        }
        if last_is_gone {
            let behind = extent.last.plus_nanos(1);
            let newest = self.newest_before(made, behind, 0)?;
            let last = newest.and_then(|batch| batch.time(batch.len().checked_sub(1)?));
            extent.last = last.unwrap_or(extent.first);
        }
        Ok(Some(extent))
    }

    /// The last of these observations, where any is there still.
    pub fn last_made(&self, made: &Made) -> Result<Option<Batch>, Fault> {
        self.feed()?;
        let Some(extent) = self.extent(made)? else {
            return Ok(None);
        };
        let found = self.newest_before(made, extent.last.plus_nanos(1), 0)?;
        Ok(found.map(|batch| batch.select(|row| row + 1 == batch.len())))
    }

    /// The time of the first observation from a time on that was not withdrawn.
    fn oldest_from(&self, made: &Made, from: Time) -> Result<Option<Time>, Fault> {
        let mut past = Past {
            filters: Vec::new(),
            from,
            to: Time::from_nanos(i64::MAX),
            limit: PAGE_OBSERVATIONS_MAX,
            page: None,
            aggregate: None,
            unit: InUnit::AsMade,
        };
        loop {
            let read = self.history.read(&Range {
                topics: &[&*made.topic],
                from: past.from,
                to: past.to,
                limit: past.limit,
                page: past.page.as_deref(),
                aggregate: None,
                hidden: None,
                units: None,
            })?;
            let page = self.visible(&past, read);
            let batch = made.of(page.batch);
            if !batch.is_empty() {
                return Ok(batch.time(0));
            }
            past.page = page.next;
            if past.page.is_none() {
                return Ok(None);
            }
        }
    }
}
