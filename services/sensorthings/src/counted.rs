//! How many observations of a time the history has: the place that the next one of it takes.

use crate::entity::Entity;
use crate::fault::Result;
use crate::node::Context;
use crate::observations::{filter_of, ordinal, read};
use std::collections::{BTreeSet, HashMap};
use weir_hub::{Exchange, Request};
use weir_model::{Filter, Time};

/// How many observations of a datastream and time the history has, those withdrawn too.
pub(crate) fn count_at(context: &Context<'_>, filter: Filter, time: Time) -> Result<u32> {
    let entries = match context.hub.open(
        context.now,
        context.principal,
        Request::Describe(vec![filter.clone()]),
    ) {
        Ok(Exchange::Entries(entries)) => entries,
        _ => return Ok(0),
    };
    let last = entries.first().and_then(|entry| entry.last.as_ref());
    if last.is_none_or(|last| last.time < time) {
        return Ok(0);
    }
    let span = (time, time.plus_nanos(1));
    let (mut count, mut token) = (0, None);
    loop {
        let page = read(
            context,
            std::slice::from_ref(&filter),
            span,
            usize::MAX,
            token,
        )?;
        if let Some(last) = page.batch.len().checked_sub(1) {
            count = ordinal(&page, last) + 1;
        }
        token = page.next;
        if token.is_none() {
            return Ok(count);
        }
    }
}

/// How many observations there are of each time that some more are to be published of.
pub(crate) struct Counted {
    counts: HashMap<Time, u32>,
}

impl Counted {
    /// Looks the times up in the history, where it has any of their span.
    pub(crate) fn of(
        context: &Context<'_>,
        datastream: &Entity,
        times: impl Iterator<Item = Time> + Clone,
    ) -> Result<Self> {
        let mut counts = HashMap::new();
        let (Some(first), Some(last)) = (times.clone().min(), times.clone().max()) else {
            return Ok(Self { counts });
        };
        let filter = filter_of(&datastream.key)?;
        let span = (first, last.plus_nanos(1));
        let any = read(context, std::slice::from_ref(&filter), span, 1, None)?;
        if !any.batch.is_empty() {
            let times: BTreeSet<_> = times.collect();
            for time in times {
                counts.insert(time, count_at(context, filter.clone(), time)?);
            }
        }
        Ok(Self { counts })
    }

    /// How many came before the next one of a time.
    pub(crate) fn next(&mut self, time: Time) -> u32 {
        let count = self.counts.entry(time).or_insert(0);
        *count += 1;
        *count - 1
    }
}
