//! Observations out of the history in the order of time, up or down, and the one at a place.
//!
//! What the history has of the components of a multi-datastream is joined on the way.

use crate::context::Context;
use crate::entity::Entity;
use crate::fault::{Fault, Result};
use crate::history::{filter_of, filters_of, read, sources};
use crate::id::{At, Id};
use crate::join::Join;
use crate::kind::Kind;
use crate::limits::{SCANNED_MAX, TOP_DEFAULT};
use crate::observed::Observed;
use crate::stays::{BEGIN, END};
use weir_hub::limits::{FILTERS_MAX, PAGE_OBSERVATIONS_MAX};
use weir_hub::{Page, Verb};
use weir_model::{Filter, Time};

/// What is asked of each observation: whether to go on.
pub(crate) type Take<'t> = &'t mut dyn FnMut(&Observed<'_>) -> Result<bool>;

/// Which observations are walked through.
pub(crate) struct Walk<'a> {
    context: &'a Context<'a>,
    filters: Vec<Filter>,
    feature: Option<Id>,
    /// From this time, up to that, it excluded.
    pub(crate) span: (Time, Time),
    /// How many are read at first.
    pub(crate) first: usize,
}

impl<'a> Walk<'a> {
    /// All at some topics.
    pub(crate) fn at(context: &'a Context<'a>, filters: Vec<Filter>) -> Result<Self> {
        let filters = if filters.len() > FILTERS_MAX {
            vec![filter_of("#")?]
        } else {
            filters
        };
        Ok(Self {
            context,
            filters,
            feature: None,
            span: (BEGIN, END),
            first: usize::MAX,
        })
    }

    /// Those of a datastream or multi-datastream, or of a feature.
    pub(crate) fn of(context: &'a Context<'a>, entity: &Entity) -> Result<Self> {
        match entity.kind {
            Kind::FeatureOfInterest => Self::of_feature(context, entity),
            _ => Self::at(context, filters_of(context.grants(), entity)?),
        }
    }

    fn of_feature(context: &'a Context<'a>, feature: &Entity) -> Result<Self> {
        let mut filters = Vec::new();
        let things = context.view.things_at(feature);
        for datastream in sources(context) {
            let names_it = feature
                .topics
                .iter()
                .any(|topic| **topic == *datastream.key);
            let thing = datastream.links["Thing"].first();
            let is_there = thing.is_some_and(|thing| things.contains(thing));
            if names_it || is_there || datastream.origin.as_ref() == Some(&feature.id) {
                filters.extend(filters_of(context.grants(), datastream)?);
            }
        }
        Ok(Self {
            feature: Some(feature.id.clone()),
            ..Self::at(context, filters)?
        })
    }

    /// Whether an observation is one of those, which counts as a look at it.
    pub(crate) fn is_meant(&self, observed: &Observed<'_>) -> Result<bool> {
        let Some(left) = self.context.scans_left.get().checked_sub(1) else {
            let problem = format!("more than {SCANNED_MAX} observations would be looked at");
            return Err(Fault::bad(
                problem + ": ask for one datastream or a span of time",
            ));
        };
        self.context.scans_left.set(left);
        let mut feature = self.feature.iter();
        Ok(feature.all(|feature| observed.is_of(self.context.view, feature)))
    }

    fn each(
        &self,
        page: &Page,
        rows: &mut dyn Iterator<Item = usize>,
        join: &mut Join,
        take: Take<'_>,
    ) -> Result<bool> {
        let (context, view) = (self.context, self.context.view);
        for row in rows {
            let observation = page.batch.row(row);
            let time = observation.time.unwrap_or(context.now);
            if join.is_whole_at(time) && !join.drain(context, take)? {
                return Ok(false);
            }
            if let Some(multi) = view.component(observation.topic) {
                if context.grants().allow(Verb::Read, &multi.key) {
                    join.take(multi, &observation, page.ordinal(row));
                }
                continue;
            }
            let Some(datastream) = self.context.view.datastream(observation.topic) else {
                continue;
            };
            let at = At {
                datastream: datastream.id.as_u32(),
                time,
                ordinal: page.ordinal(row),
            };
            let observed = Observed {
                row: observation,
                at,
                datastream,
            };
            if !take(&observed)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Rows in the order of time, until one is not taken.
    pub(crate) fn walk(&self, down: bool, take: Take<'_>) -> Result<()> {
        if self.filters.is_empty() || self.span.0 >= self.span.1 {
            return Ok(());
        }
        if down {
            self.walk_down(take)
        } else {
            self.walk_up(take)
        }
    }

    fn walk_up(&self, take: Take<'_>) -> Result<()> {
        let mut limit = self.first;
        let (mut token, mut join) = (None, Join::default());
        loop {
            let page = read(self.context, &self.filters, self.span, limit, token)?;
            if !self.each(&page, &mut (0..page.batch.len()), &mut join, take)? {
                return Ok(());
            }
            token = page.next;
            // Who goes on behind what the answer has room for, as who sorts does, goes far.
            limit = usize::MAX;
            if token.is_none() {
                return join.drain(self.context, take).map(drop);
            }
        }
    }

    /// Windows of time backwards: longer ones where there was little, shorter ones where there was much.
    fn walk_down(&self, take: Take<'_>) -> Result<()> {
        let (from, mut end) = (self.span.0, self.newest()?.min(self.span.1));
        let mut length = self.first_window();
        while end > from {
            let begin = end.plus_nanos(-length).max(from);
            let first = read(self.context, &self.filters, (begin, end), usize::MAX, None)?;
            if first.next.is_some() && length > 1 {
                length = (length / 8).max(1);
                continue;
            }
            let mut pages = vec![first];
            while let Some(token) = pages.last().and_then(|page| page.next.clone()) {
                let span = (begin, end);
                pages.push(read(
                    self.context,
                    &self.filters,
                    span,
                    usize::MAX,
                    Some(token),
                )?);
                if pages.len() * PAGE_OBSERVATIONS_MAX > SCANNED_MAX {
                    return Err(Fault::bad("too many observations of one time"));
                }
            }
            let rows: usize = pages.iter().map(|page| page.batch.len()).sum();
            let mut join = Join::default();
            for page in pages.iter().rev() {
                if !self.each(page, &mut (0..page.batch.len()).rev(), &mut join, take)? {
                    return Ok(());
                }
            }
            if !join.drain(self.context, take)? {
                return Ok(());
            }
            if rows < PAGE_OBSERVATIONS_MAX / 16 {
                length = length.saturating_mul(8);
            }
            end = begin;
        }
        Ok(())
    }

    /// Behind the last observation of all that are asked for.
    fn newest(&self) -> Result<Time> {
        let mut newest = BEGIN;
        let caller = self.context.caller()?;
        match caller.entries(&self.filters) {
            Ok(entries) => {
                let lasts = entries.iter().filter_map(|entry| entry.last.as_ref());
                lasts.for_each(|last| newest = newest.max(last.time));
                // A clock that ran ahead may have left something later than the last value.
                let ahead = self.context.now.plus_nanos(1);
                let page = read(
                    self.context,
                    &self.filters,
                    (newest.max(ahead), END),
                    1,
                    None,
                )?;
                if page.batch.is_empty() {
                    Ok(newest.max(BEGIN).plus_nanos(1))
                } else {
                    Ok(END)
                }
            }
            Err(weir_hub::Fault::Unknown(_)) => Ok(BEGIN),
            Err(fault) => Err(fault.into()),
        }
    }

    /// A minute, and what a page takes of it.
    fn first_window(&self) -> i64 {
        60_000_000_000
    }
}

/// Visits the observations of an entity in the order of time, until one is not taken.
pub(crate) fn visit(context: &Context<'_>, entity: &Entity, take: Take<'_>) -> Result<()> {
    let walk = Walk {
        first: TOP_DEFAULT + 1,
        ..Walk::of(context, entity)?
    };
    walk.walk(false, &mut |observed| {
        if walk.is_meant(observed)? {
            take(observed)
        } else {
            Ok(true)
        }
    })
}

/// The observation at a place.
pub(crate) fn one<T>(
    context: &Context<'_>,
    at: At,
    show: impl FnOnce(&Observed<'_>) -> Result<T>,
) -> Result<Option<T>> {
    let Some(datastream) = context.view.of_number(at.datastream) else {
        return Ok(None);
    };
    if !context.grants().allow(Verb::Read, &datastream.key) {
        return Ok(None);
    }
    let filters = filters_of(context.grants(), datastream)?;
    let (mut token, mut join) = (None, Join::default());
    while !filters.is_empty() {
        let page = read(
            context,
            &filters,
            (at.time, at.time.plus_nanos(1)),
            usize::MAX,
            token,
        )?;
        for row in 0..page.batch.len() {
            if page.ordinal(row) == at.ordinal {
                let row = page.batch.row(row);
                if datastream.kind == Kind::MultiDatastream {
                    join.take(datastream, &row, at.ordinal);
                    continue;
                }
                let observed = Observed {
                    row,
                    at,
                    datastream,
                };
                return show(&observed).map(Some);
            }
        }
        token = page.next;
        if token.is_none() {
            break;
        }
    }
    let (mut show, mut shown) = (Some(show), None);
    join.drain(context, &mut |observed| {
        shown = show.take().map(|show| show(observed)).transpose()?;
        Ok(false)
    })?;
    Ok(shown)
}
