//! Observations of the past, page by page, with the names that the service gives them.

use crate::ask::Ask;
use crate::back::{Back, up_to};
use crate::comparison::Comparison;
use crate::exception::Exception;
use crate::inventory::Series;
use crate::limits::{NAMED_MAX, PAGE_MIN, PAGE_OBSERVATIONS};
use crate::moment::{Span, Temporal};
use crate::region::{LookedUp, Region};
use std::collections::HashMap;
use std::sync::Arc;
use weir_codec::Model;
use weir_hub::units::comparable;
use weir_hub::{Caller, Hub, InUnit, Page, Past, Principal};
use weir_model::{Batch, Datastream, Filter, Time};

/// What of the observations of some datastreams is wanted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    pub(crate) temporal: Temporal,
    pub(crate) region: Region,
    pub(crate) comparison: Option<Comparison>,
    /// Features of interest; all where there are none.
    pub(crate) features: Vec<String>,
    /// Only what is of this model (SOS 1.0.0).
    pub(crate) model: Option<Model>,
    /// Topics, and which of the observations of one time; all where there are none.
    pub(crate) places: Vec<(String, u32)>,
}

impl Wanted {
    /// What a request's filters say.
    pub(crate) fn of(ask: &Ask) -> Self {
        Self {
            temporal: ask.params.temporal.clone(),
            region: ask.params.region.clone(),
            comparison: ask.params.comparison.clone(),
            features: ask.params.all("featureOfInterest").to_vec(),
            model: None,
            places: Vec::new(),
        }
    }

    /// Whether each observation must be looked at, whatever its times are.
    fn is_by_row(&self) -> bool {
        let by_value = self.comparison.is_some() || self.model.is_some();
        let by_value = by_value || !self.places.is_empty();
        !self.region.is_everywhere() || by_value || !self.features.is_empty()
    }

    /// Observations of a page, so that none takes much longer to look through than another.
    fn page(&self) -> usize {
        (PAGE_OBSERVATIONS / self.region.cost()).max(PAGE_MIN)
    }

    /// Whether an observation is wanted, wherever it is.
    fn has(&self, page: &Page, row: usize, series: &Series) -> bool {
        let batch = &page.batch;
        let extra = batch.extra(row);
        let value = batch.value(row);
        let unit = batch.stream(batch.stream_of(row)).unit;
        let of_model = self.model.is_none() || Model::of(&value, unit) == self.model;
        let compares = self.comparison.as_ref().is_none_or(|own| {
            let value = comparable(batch, row);
            value.is_some_and(|value| own.holds(&value))
        });
        let feature = extra.feature.unwrap_or_else(|| series.feature());
        let of_feature = self.features.is_empty() || self.features.iter().any(|own| own == feature);
        let at_place = self.places.is_empty() || {
            let ordinal = page.ordinal(row);
            let is = |(topic, at): &(String, u32)| *at == ordinal && **topic == *series.topic;
            self.places.iter().any(is)
        };
        of_model
            && compares
            && of_feature
            && at_place
            && self.temporal.holds(batch.time(row), &extra)
    }

    /// Whether the last or the first observation of a datastream may be another than the one that is wanted.
    fn is_searched(&self) -> bool {
        self.is_by_row() || !self.temporal.is_everything()
    }
}

/// The pages of one answer.
pub(crate) struct Pages {
    hub: Arc<Hub>,
    now: Time,
    principal: Principal,
    series: HashMap<Arc<str>, Series>,
    wanted: Wanted,
    /// Filters that are still to be read; of the first the page of this token comes next.
    left: Vec<Vec<Filter>>,
    token: Option<String>,
    /// How far the first of these was looked through, for the latest of it that is wanted.
    back: Option<Back>,
    looked_at: usize,
}

impl Pages {
    /// Begins to read the observations of datastreams.
    pub(crate) fn new(ask: &Ask, series: Vec<Series>, wanted: Wanted) -> Self {
        let Temporal { latest, first, .. } = wanted.temporal;
        let each = first || (latest && wanted.is_searched());
        let left = filters(&series, each);
        let by_topic = series.into_iter().map(|one| (one.topic.clone(), one));
        Self {
            hub: ask.hub.clone(),
            now: ask.now,
            principal: ask.principal.clone(),
            series: by_topic.collect(),
            wanted,
            left,
            token: None,
            back: None,
            looked_at: 0,
        }
    }

    /// The datastream of a topic.
    pub(crate) fn series(&self, topic: &str) -> Option<&Series> {
        self.series.get(topic)
    }

    /// Observations read so far, wanted or not.
    pub(crate) fn looked_at(&self) -> usize {
        self.looked_at
    }

    /// The next page; it may be empty, and is `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Page>, Exception> {
        let Some(filters) = self.left.last() else {
            return Ok(None);
        };
        let filters = filters.clone();
        let Temporal { latest, first, .. } = self.wanted.temporal;
        let page = match (latest, first) {
            (true, _) if self.wanted.is_searched() => self.back(filters)?,
            (true, _) => self.latest(filters)?,
            (false, true) => self.first(filters)?,
            (false, false) => self.all(filters)?,
        };
        Ok(Some(page))
    }

    fn all(&mut self, filters: Vec<Filter>) -> Result<Page, Exception> {
        let page = self.past(filters, self.wanted.temporal.begins, self.wanted.page())?;
        self.pop_at_end();
        Ok(page)
    }

    fn pop_at_end(&mut self) {
        if self.token.is_none() {
            self.left.pop();
        }
    }

    /// A page on the way to the first observation of a datastream that is wanted, or that one.
    fn first(&mut self, filters: Vec<Filter>) -> Result<Page, Exception> {
        let is_next = !self.wanted.is_searched() && self.token.is_none();
        let limit = if is_next { 1 } else { self.wanted.page() };
        let page = self.past(filters, self.wanted.temporal.begins, limit)?;
        if !page.batch.is_empty() {
            self.token = None;
        }
        self.pop_at_end();
        Ok(page.select(|row| row == 0))
    }

    /// A page on the way back to the last observation of a datastream that is wanted; empty but for the last of these.
    // [SOS2-8.3-9]
    fn back(&mut self, filters: Vec<Filter>) -> Result<Page, Exception> {
        let mut back = match self.back.take() {
            Some(back) => back,
            None => Back::through(self.past_of(&filters)?),
        };
        let Some(window) = back.window() else {
            self.left.pop();
            return Ok(Page::default());
        };
        let page = self.past(filters, window, self.wanted.page())?;
        back.keep(page);
        if self.token.is_none() {
            if !back.found.batch.is_empty() {
                self.left.pop();
                return Ok(back.found);
            }
            back.step();
        }
        self.back = Some(back);
        Ok(Page::default())
    }

    /// What of a datastream's past is wanted, up to its end.
    fn past_of(&self, filters: &[Filter]) -> Result<Span, Exception> {
        let topics = filters.iter().map(|filter| filter.as_str().to_owned());
        let topics: Vec<_> = topics.collect();
        let extents = self.caller()?.extents(&topics)?;
        let lasts = extents.into_iter().flatten().map(|extent| extent.last);
        Ok(up_to(lasts.max(), self.wanted.temporal.begins))
    }

    /// Counts what was read, and leaves what is wanted of it.
    fn look_at(&mut self, mut page: Page) -> Page {
        self.looked_at += page.batch.len();
        self.name(&mut page.batch);
        self.kept(page)
    }

    fn latest(&mut self, filters: Vec<Filter>) -> Result<Page, Exception> {
        self.left.pop();
        let latest = self.caller()?.latest(&filters)?;
        let ordinals = self.ordinals(&latest.batch)?;
        Ok(self.look_at(Page {
            batch: latest.batch,
            ordinals,
            ..Page::default()
        }))
    }

    /// What tells the last observations of datastreams apart from others of their times; the history is asked
    /// only where nothing came since a start.
    fn ordinals(&self, latest: &Batch) -> Result<Vec<(u32, u32)>, Exception> {
        let mut ordinals = Vec::new();
        for (row, observation) in latest.rows().enumerate() {
            let (topic, time) = (observation.topic, observation.time.unwrap_or(self.now));
            let known = self.hub.last_of(topic).filter(|last| last.time == time);
            let ordinal = match known.and_then(|last| last.ordinal) {
                Some(ordinal) => ordinal,
                None => self.last_ordinal(topic, time)?,
            };
            if ordinal > 0 {
                ordinals.push((row as u32, ordinal));
            }
        }
        Ok(ordinals)
    }

    /// The same of one, from the history.
    fn last_ordinal(&self, topic: &str, time: Time) -> Result<u32, Exception> {
        let filters = Filter::parse(topic).into_iter().collect();
        let mut past = Past {
            filters,
            from: time,
            to: time.plus_nanos(1),
            limit: PAGE_OBSERVATIONS,
            page: None,
            aggregate: None,
            unit: InUnit::AsMade,
        };
        let mut last = 0;
        loop {
            let page = self.page(past.clone())?;
            if let Some(row) = page.batch.len().checked_sub(1) {
                last = page.ordinal(row);
            }
            match page.next {
                Some(_) => past.page = page.next,
                None => return Ok(last),
            }
        }
    }

    /// The next page of a span.
    fn past(
        &mut self,
        filters: Vec<Filter>,
        Span { from, to }: Span,
        limit: usize,
    ) -> Result<Page, Exception> {
        let past = Past {
            filters,
            from,
            to,
            limit,
            page: self.token.take(),
            aggregate: None,
            unit: InUnit::AsMade,
        };
        let mut page = self.page(past)?;
        self.token = page.next.take();
        Ok(self.look_at(page))
    }

    fn page(&self, past: Past) -> Result<Page, Exception> {
        Ok(self.caller()?.history(&past)?)
    }

    fn caller(&self) -> Result<Caller<'_>, Exception> {
        Ok(self.hub.caller(self.now, &self.principal)?)
    }

    /// Says of each datastream what it is called here.
    fn name(&self, batch: &mut Batch) {
        for index in 0..batch.stream_count() {
            let Some(series) = self.series.get(batch.stream(index).topic) else {
                continue;
            };
            let known = Datastream {
                sensor: Some(series.procedure.as_str().into()),
                property: Some(series.property.as_str().into()),
                ..Datastream::default()
            };
            batch.fill(index, &known);
            if series.moves() {
                batch.name_features(index, |time| series.feature_at(time));
            }
        }
    }

    // [SOS2-12.0-1]
    /// The rows that are wanted; what it costs to look places up counts as observations do.
    fn kept(&mut self, page: Page) -> Page {
        let batch = &page.batch;
        let series: Vec<Option<&Series>> = (0..batch.stream_count())
            .map(|index| self.series.get(batch.stream(index).topic))
            .collect();
        let Wanted { temporal, .. } = &self.wanted;
        let told = temporal.is_told_by_begin(batch.has_extras());
        if !self.wanted.is_by_row()
            && told
            && !temporal.latest
            && series.iter().all(Option::is_some)
        {
            return page;
        }
        let mut places = LookedUp::default();
        let kept = page.select(|row| {
            series[batch.stream_of(row)].is_some_and(|series| {
                let place = batch
                    .place(row)
                    .or_else(|| series.place_at(batch.time(row)));
                self.wanted.has(&page, row, series) && places.has(&self.wanted.region, place)
            })
        });
        self.looked_at += places.count * (self.wanted.region.cost() - 1);
        kept
    }
}

/// What is asked of the hub: each by itself for the first of each, all by name where they are few.
fn filters(series: &[Series], each: bool) -> Vec<Vec<Filter>> {
    let named = |one: &Series| Filter::parse(&one.topic).ok();
    match (series.is_empty(), each, series.len() <= NAMED_MAX) {
        (true, ..) => Vec::new(),
        (_, true, _) => {
            let each = series.iter().rev().filter_map(named);
            each.map(|filter| vec![filter]).collect()
        }
        (_, false, true) => vec![series.iter().filter_map(named).collect()],
        (_, false, false) => vec![Filter::parse("#").into_iter().collect()],
    }
}
