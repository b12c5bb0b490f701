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
use weir_hub::units::{comparable_in, in_unit};
use weir_hub::{Caller, Extent, Hub, InUnit, Made, Page, Past, Principal};
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
    /// The one unit of all numbers; each in its own where there is none.
    pub(crate) unit: Option<Arc<str>>,
}

impl Wanted {
    /// What a request's filters say.
    pub(crate) fn of(ask: &Ask) -> Self {
        Self {
            temporal: ask.params.temporal.clone(),
            region: ask.params.region.clone(),
            comparison: ask.params.comparison.clone(),
            features: ask.params.all("featureOfInterest").to_vec(),
            ..Self::default()
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
            let value = comparable_in(batch, row, series.unit.as_deref());
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

/// What is read at once.
#[derive(Clone, Debug)]
struct Reading {
    filters: Vec<Filter>,
    /// Of what else than all of its datastreams' observations is wanted.
    parts: Vec<Made>,
    /// Whether one observation is wanted of one of the series.
    is_one: bool,
}

impl Reading {
    /// Whether a series is among what is read.
    fn has(&self, series: &Series) -> bool {
        !self.is_one || self.parts.iter().all(|part| part.under == series.under())
    }
}

/// The pages of one answer.
pub(crate) struct Pages {
    hub: Arc<Hub>,
    now: Time,
    principal: Principal,
    /// By topic; several of one are of descriptions of their own.
    series: HashMap<Arc<str>, Vec<Series>>,
    wanted: Wanted,
    /// What is still to be read; of the last the page of this token comes next.
    left: Vec<Reading>,
    token: Option<String>,
    /// Where what is wanted of that can lie.
    span: Option<Span>,
    /// How far the first of these was looked through, for the latest of it that is wanted.
    back: Option<Back>,
    looked_at: usize,
}

impl Pages {
    /// Begins to read the observations of datastreams.
    pub(crate) fn new(ask: &Ask, series: Vec<Series>, wanted: Wanted) -> Self {
        let mut by_topic: HashMap<Arc<str>, Vec<Series>> = HashMap::new();
        let is_new = |one: &Series| {
            let own = by_topic.entry(one.topic.clone()).or_default();
            let is_new = own.iter().all(|other| other.under() != one.under());
            own.extend(is_new.then(|| one.clone()));
            is_new
        };
        let series: Vec<Series> = series.into_iter().filter(is_new).collect();
        Self {
            hub: ask.hub.clone(),
            now: ask.now,
            principal: ask.principal.clone(),
            left: readings(&series, &wanted),
            series: by_topic,
            wanted,
            token: None,
            span: None,
            back: None,
            looked_at: 0,
        }
    }

    /// What the observations of a topic are called that were made under a description.
    pub(crate) fn series(&self, topic: &str, description: u8) -> Option<&Series> {
        let own = self.series.get(topic)?;
        own.iter().find(|own| own.has(description))
    }

    /// Observations read so far, wanted or not.
    pub(crate) fn looked_at(&self) -> usize {
        self.looked_at
    }

    /// The next page; it may be empty, and is `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Page>, Exception> {
        let Some(reading) = self.left.last().cloned() else {
            return Ok(None);
        };
        let Temporal { latest, first, .. } = self.wanted.temporal;
        let page = match (latest, first) {
            (true, _) if reading.is_one => self.back(&reading)?,
            (true, _) => self.latest(&reading)?,
            (false, true) => self.first(&reading)?,
            (false, false) => self.all(&reading)?,
        };
        Ok(Some(page))
    }

    fn all(&mut self, reading: &Reading) -> Result<Page, Exception> {
        let span = self.span_of(reading)?;
        let page = self.past(reading, span, self.wanted.page())?;
        self.pop_at_end();
        Ok(page)
    }

    fn pop_at_end(&mut self) {
        if self.token.is_none() {
            self.pop();
        }
    }

    fn pop(&mut self) {
        self.left.pop();
        self.span = None;
    }

    /// A page on the way to the first observation of a datastream that is wanted, or that one.
    fn first(&mut self, reading: &Reading) -> Result<Page, Exception> {
        let is_searched = self.wanted.is_searched() || !reading.parts.is_empty();
        let is_next = !is_searched && self.token.is_none();
        let limit = if is_next { 1 } else { self.wanted.page() };
        let span = self.span_of(reading)?;
        let page = self.past(reading, span, limit)?;
        if !page.batch.is_empty() {
            self.token = None;
        }
        self.pop_at_end();
        Ok(page.select(|row| row == 0))
    }

    /// A page on the way back to the last observation of a datastream that is wanted; empty but for the last of these.
    // [SOS2-8.3-9]
    fn back(&mut self, reading: &Reading) -> Result<Page, Exception> {
        let mut back = match self.back.take() {
            Some(back) => back,
            None => Back::through(self.span_of(reading)?),
        };
        let Some(window) = back.window() else {
            self.pop();
            return Ok(Page::default());
        };
        let page = self.past(reading, window, self.wanted.page())?;
        back.keep(page);
        if self.token.is_none() {
            if !back.found.batch.is_empty() {
                self.pop();
                return Ok(back.found);
            }
            back.step();
        }
        self.back = Some(back);
        Ok(Page::default())
    }

    /// Where what is wanted can lie: up to the end of what there is for who looks back, within what there is of parts
    /// of datastreams.
    fn span_of(&mut self, reading: &Reading) -> Result<Span, Exception> {
        if let Some(span) = self.span {
            return Ok(span);
        }
        let begins = self.wanted.temporal.begins;
        let is_back = self.wanted.temporal.latest;
        let made = match &reading.parts[..] {
            [] if !is_back => return Ok(*self.span.insert(begins)),
            [] => {
                let topics = reading
                    .filters
                    .iter()
                    .map(|filter| filter.as_str().to_owned());
                topics.map(Made::from).collect()
            }
            parts => parts.to_vec(),
        };
        let made: Vec<Made> = made;
        let extents = self.caller()?.extents(&made)?;
        let extent = extents.into_iter().flatten().reduce(Extent::joined);
        let span = up_to(extent.map(|extent| extent.last), begins);
        let first = extent.filter(|_| !reading.parts.is_empty());
        Ok(*self.span.insert(Span {
            from: first.map_or(span.from, |extent| span.from.max(extent.first)),
            ..span
        }))
    }

    /// Counts what was read, and leaves what is wanted of it.
    fn look_at(&mut self, mut page: Page, reading: &Reading) -> Result<Page, Exception> {
        self.looked_at += page.batch.len();
        self.name(&mut page.batch);
        let mut kept = self.kept(page, reading);
        if let Some(unit) = &self.wanted.unit {
            let converted = in_unit(kept.batch, &InUnit::Named(unit.clone()));
            kept.batch = converted
                .map_err(|refused| Exception::invalid("observedProperty", refused.to_string()))?;
        }
        Ok(kept)
    }

    fn latest(&mut self, reading: &Reading) -> Result<Page, Exception> {
        self.pop();
        let latest = self.caller()?.latest(&reading.filters)?;
        let ordinals = self.ordinals(&latest.batch)?;
        let page = Page {
            batch: latest.batch,
            ordinals,
            ..Page::default()
        };
        self.look_at(page, reading)
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
        reading: &Reading,
        Span { from, to }: Span,
        limit: usize,
    ) -> Result<Page, Exception> {
        let past = Past {
            filters: reading.filters.clone(),
            from,
            to,
            limit,
            page: self.token.take(),
            aggregate: None,
            unit: InUnit::AsMade,
        };
        let mut page = self.page(past)?;
        self.token = page.next.take();
        self.look_at(page, reading)
    }

    fn page(&self, past: Past) -> Result<Page, Exception> {
        Ok(self.caller()?.history(&past)?)
    }

    fn caller(&self) -> Result<Caller<'_>, Exception> {
        Ok(self.hub.caller_again(self.now, &self.principal)?)
    }

    /// Says of each datastream what it is called here.
    fn name(&self, batch: &mut Batch) {
        for index in 0..batch.stream_count() {
            let view = batch.stream(index);
            let Some(series) = self.series(view.topic, view.description) else {
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
    fn kept(&mut self, page: Page, reading: &Reading) -> Page {
        let batch = &page.batch;
        let views = (0..batch.stream_count()).map(|index| batch.stream(index));
        let series = views.map(|view| self.series(view.topic, view.description));
        let series: Vec<_> = series
            .map(|own| own.filter(|own| reading.has(own)))
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

/// What is asked of the hub: each by itself where one of each is wanted, all by name where they are few. The last
/// observation of all is known of a datastream, not of a part of one.
fn readings(series: &[Series], wanted: &Wanted) -> Vec<Reading> {
    let Temporal { latest, first, .. } = wanted.temporal;
    let each = first || (latest && wanted.is_searched());
    let is_one = |one: &&Series| each || (latest && one.is_part());
    let part = |one: &Series| one.is_part().then(|| one.made());
    let named = |one: &Series| {
        let filter = Filter::parse(&one.topic).ok()?;
        Some(Reading {
            filters: vec![filter],
            parts: part(one).into_iter().collect(),
            is_one: true,
        })
    };
    let ones = series.iter().rev().filter(is_one).filter_map(named);
    let mut readings: Vec<Reading> = ones.collect();
    let others: Vec<&Series> = series.iter().filter(|one| !is_one(one)).collect();
    if others.is_empty() {
        return readings;
    }
    let parts: Vec<Made> = others.iter().filter_map(|one| part(one)).collect();
    let mut topics: Vec<&str> = others.iter().map(|one| &*one.topic).collect();
    topics.dedup();
    let filters = if topics.len() <= NAMED_MAX {
        topics
            .into_iter()
            .filter_map(|topic| Filter::parse(topic).ok())
            .collect()
    } else {
        Filter::parse("#").into_iter().collect()
    };
    readings.push(Reading {
        filters,
        parts: if parts.len() == others.len() {
            parts
        } else {
            Vec::new()
        },
        is_one: false,
    });
    readings
}
