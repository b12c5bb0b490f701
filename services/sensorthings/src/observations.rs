//! Observations out of the history: which rows a query means, in their order, a page at a time.
//!
//! A filter is used twice: what it says of datastreams and of the phenomenon time bounds what is read, and
//! then all of it is asked of each row. Whatever order but that of time is asked for needs all matching
//! rows at once, so there are limits to it.

use crate::ended::Ended;
use crate::entity::Entity;
use crate::fault::{Fault, Result};
use crate::filter::{Expression, Operator, Value, eval, holds, order};
use crate::id::{At, Id};
use crate::join::Join;
use crate::kind::Kind;
use crate::limits::{RENDERED_MAX, SCANNED_MAX};
use crate::members;
use crate::node::{Asked, Context, Node, Observed};
use crate::placed::{BEGIN, END};
use crate::query::Query;
use crate::scope::{filters_of, of_datastreams, sources};
use std::cmp::Ordering;
use std::sync::Arc;
use weir_hub::limits::{FILTERS_MAX, PAGE_OBSERVATIONS_MAX};
use weir_hub::{InUnit, Page, Past, Verb};
use weir_model::{Filter, Time};

/// Whose observations are meant.
#[derive(Clone)]
pub(crate) enum Of {
    All,
    Datastream(Arc<Entity>),
    Feature(Arc<Entity>),
}

/// What was found beside the rows.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) count: Option<usize>,
    /// The option that says where the next page begins.
    pub(crate) next: Option<String>,
}

pub(crate) type Show<'s> = &'s mut dyn FnMut(&Observed<'_>) -> Result<()>;

/// Shows a page of observations.
pub(crate) fn page(context: &Context<'_>, of: &Of, query: &Query, show: Show<'_>) -> Result<Found> {
    if let Some(found) = crate::newest::page(context, of, query, show)? {
        return Ok(found);
    }
    let scan = Scan::of(context, of, query)?;
    match by_time(&query.order) {
        Some(down) => scan.in_time(down, show),
        None => scan.sorted(show),
    }
}

/// Visits the observations of a collection in the order of time, until one is not taken.
pub(crate) fn visit(context: &Context<'_>, of: &Of, take: Take<'_>) -> Result<()> {
    let query = Query::default();
    let scan = Scan::of(context, of, &query)?;
    scan.walk(false, &mut |observed| match scan.is_meant(observed)? {
        true => take(observed),
        false => Ok(true),
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

/// Whether an order is that of the phenomenon time alone, and downwards.
pub(crate) fn by_time(order: &[(Expression, bool)]) -> Option<bool> {
    match order {
        [] => Some(false),
        [(Expression::Path(path), down)] if *path == ["phenomenonTime"] => Some(*down),
        _ => None,
    }
}

pub(crate) fn filter_of(topic: &str) -> Result<Filter> {
    Filter::parse(topic).map_err(|error| Fault::new(500, error.to_string()))
}

pub(crate) fn read(
    context: &Context<'_>,
    filters: &[Filter],
    (from, to): (Time, Time),
    limit: usize,
    page: Option<String>,
) -> Result<Page> {
    let past = Past {
        filters: filters.to_vec(),
        from,
        to,
        limit: limit.min(PAGE_OBSERVATIONS_MAX),
        page,
        aggregate: None,
        unit: InUnit::Own,
    };
    let caller = context.hub.caller(context.now, context.principal)?;
    Ok(caller.history(&past)?)
}

struct Scan<'a> {
    context: &'a Context<'a>,
    query: &'a Query,
    filters: Vec<Filter>,
    feature: Option<Id>,
    /// From this time, up to that, it excluded.
    span: (Time, Time),
}

impl<'a> Scan<'a> {
    fn of(context: &'a Context<'a>, of: &Of, query: &'a Query) -> Result<Self> {
        let mut span = (BEGIN, END);
        let mut filters = Vec::new();
        let terms = query.filter.as_ref().map_or(Vec::new(), conjuncts);
        terms.iter().for_each(|term| narrow(&mut span, term));
        let mut feature = None;
        match of {
            Of::Datastream(datastream) => filters = filters_of(context.grants(), datastream)?,
            Of::Feature(entity) => {
                feature = Some(entity.id.clone());
                let things = context.view.things_at(entity);
                for datastream in sources(context) {
                    let names_it = entity.topics.iter().any(|topic| **topic == *datastream.key);
                    let thing = datastream.links["Thing"].first();
                    let is_there = thing.is_some_and(|thing| things.contains(thing));
                    if names_it || is_there || datastream.origin.as_ref() == Some(&entity.id) {
                        filters.extend(filters_of(context.grants(), datastream)?);
                    }
                }
            }
            Of::All => filters = of_datastreams(context, &terms)?,
        }
        if filters.len() > FILTERS_MAX {
            filters = vec![filter_of("#")?];
        }
        Ok(Self {
            context,
            query,
            filters,
            feature,
            span,
        })
    }

    /// Whether a row is meant.
    fn is_meant(&self, observed: &Observed<'_>) -> Result<bool> {
        let Some(left) = self.context.scans_left.get().checked_sub(1) else {
            let problem = format!("more than {SCANNED_MAX} observations would be looked at");
            return Err(Fault::bad(
                problem + ": ask for one datastream or a span of time",
            ));
        };
        self.context.scans_left.set(left);
        if let Some(feature) = &self.feature
            && !observed.is_of(self.context.view, feature)
        {
            return Ok(false);
        }
        match &self.query.filter {
            None => Ok(true),
            Some(filter) => holds(filter, &asked(self.context, observed)),
        }
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
                datastream: u32::try_from(number(&datastream.id)).unwrap_or(u32::MAX),
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
    fn walk(&self, down: bool, take: Take<'_>) -> Result<()> {
        if self.filters.is_empty() || self.span.0 >= self.span.1 {
            return Ok(());
        }
        match down {
            false => self.walk_up(take),
            true => self.walk_down(take),
        }
    }

    fn walk_up(&self, take: Take<'_>) -> Result<()> {
        let wanted = self.query.skip.saturating_add(self.query.page()) + 1;
        let simple = self.query.filter.is_none() && !self.query.count && self.query.token.is_none();
        let mut limit = if simple { wanted } else { usize::MAX };
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
        let caller = self
            .context
            .hub
            .caller(self.context.now, self.context.principal)?;
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
                match page.batch.is_empty() {
                    true => Ok(newest.max(BEGIN).plus_nanos(1)),
                    false => Ok(END),
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

    fn in_time(&self, down: bool, show: Show<'_>) -> Result<Found> {
        let mut narrowed = Scan {
            context: self.context,
            query: self.query,
            filters: self.filters.clone(),
            feature: self.feature.clone(),
            span: self.span,
        };
        let begin = self.query.token.as_deref().map(Place::parse).transpose()?;
        if let Some(place) = &begin {
            match down {
                false => narrowed.span.0 = narrowed.span.0.max(place.time),
                true => narrowed.span.1 = narrowed.span.1.min(place.time.plus_nanos(1)),
            }
        }
        narrowed.pages(down, begin, show)
    }

    fn pages(&self, down: bool, begin: Option<Place>, show: Show<'_>) -> Result<Found> {
        let (page, mut skip) = (self.query.page(), self.query.skip);
        if begin.is_some() {
            skip = 0;
        }
        let (mut matched, mut shown, mut more) = (0_usize, 0_usize, false);
        let mut here = Place {
            time: Time::from_nanos(i64::MIN),
            count: 0,
        };
        let mut end = None;
        self.walk(down, &mut |observed| {
            here.pass(observed.at.time);
            let given = |place: &Place| place.time == here.time && here.count <= place.count;
            if begin.as_ref().is_some_and(given) || !self.is_meant(observed)? {
                return Ok(true);
            }
            matched += 1;
            if matched <= skip {
                return Ok(true);
            }
            if shown < page {
                show(observed)?;
                shown += 1;
                end = Some(here.print());
                return Ok(true);
            }
            more = true;
            Ok(self.query.count)
        })?;
        Ok(Found {
            count: self.query.count.then_some(matched),
            next: end.filter(|_| more),
        })
    }

    /// All that match, sorted, and a page of them.
    fn sorted(&self, show: Show<'_>) -> Result<Found> {
        let mut keys: Vec<(Vec<Value<'static>>, At)> = Vec::new();
        self.walk(false, &mut |observed| {
            if self.is_meant(observed)? {
                if keys.len() >= RENDERED_MAX {
                    return Err(Fault::over("observations to be sorted", RENDERED_MAX));
                }
                let asked = asked(self.context, observed);
                keys.push((sort_keys(&self.query.order, &asked)?, observed.at));
            }
            Ok(true)
        })?;
        keys.sort_by(|(a, _), (b, _)| by_keys(&self.query.order, a, b));
        let view = self.context.view;
        let begin = match &self.query.token {
            Some(token) => {
                let ended = Ended::parse(token)?;
                let last = view.place_of(&ended.last);
                ended.behind(keys.iter().position(|(_, at)| Some(*at) == last))
            }
            None => self.query.skip,
        };
        let end = begin.saturating_add(self.query.page()).min(keys.len());
        for (_, at) in keys.get(begin..end).unwrap_or_default() {
            one(self.context, *at, |observed| show(observed))?;
        }
        let goes_on = begin < end && end < keys.len();
        let next = goes_on.then(|| {
            let last = Id::of_text(&view.id_of(keys[end - 1].1));
            Ended { count: end, last }.print()
        });
        Ok(Found {
            count: self.query.count.then_some(keys.len()),
            next,
        })
    }
}

pub(crate) type Take<'t> = &'t mut dyn FnMut(&Observed<'_>) -> Result<bool>;

fn asked<'a>(context: &'a Context<'a>, observed: &'a Observed<'a>) -> Asked<'a> {
    Asked {
        context,
        node: Node::Observed(observed),
    }
}

pub(crate) fn number(id: &Id) -> u64 {
    match id {
        Id::Number(number) => *number,
        Id::Text(_) => u64::MAX,
    }
}

/// What a node is sorted by.
pub(crate) fn sort_keys(
    orders: &[(Expression, bool)],
    asked: &Asked<'_>,
) -> Result<Vec<Value<'static>>> {
    let keys = orders.iter().map(|(key, _)| {
        let key = eval(key, asked)?.into_owned();
        asked.context.keep(&key)?;
        Ok(key)
    });
    keys.collect()
}

/// The order of two lists of keys.
pub(crate) fn by_keys(orders: &[(Expression, bool)], a: &[Value<'_>], b: &[Value<'_>]) -> Ordering {
    let each = orders
        .iter()
        .zip(a.iter().zip(b))
        .map(|((_, down), (a, b))| match down {
            true => order(b, a),
            false => order(a, b),
        });
    each.fold(Ordering::Equal, Ordering::then)
}

/// Begins the option that says where to begin.
const TOKEN: &[u8] = b"$skiptoken=";

/// Where a page ended: a time, and how many rows of it were passed.
pub(crate) struct Place {
    pub(crate) time: Time,
    pub(crate) count: usize,
}

impl Place {
    fn pass(&mut self, time: Time) {
        self.count = if time == self.time { self.count + 1 } else { 1 };
        self.time = time;
    }

    /// As an option.
    pub(crate) fn print(&self) -> String {
        let mut option = Vec::with_capacity(40);
        option.extend_from_slice(TOKEN);
        members::number(&mut option, self.time.nanos());
        option.push(b'.');
        members::number(&mut option, self.count as i64);
        String::from_utf8(option).unwrap_or_default()
    }

    fn parse(text: &str) -> Result<Self> {
        let parts = text
            .split_once('.')
            .and_then(|(time, count)| Some((time.parse().ok()?, count.parse().ok()?)));
        let (nanos, count) = parts.ok_or_else(|| Fault::bad("$skiptoken is none of this query"))?;
        let time = Time::from_nanos(nanos);
        Ok(Self { time, count })
    }
}

/// The terms all of which must hold.
fn conjuncts(expression: &Expression) -> Vec<&Expression> {
    match expression {
        Expression::Binary(Operator::And, left, right) => {
            let mut terms = conjuncts(left);
            terms.extend(conjuncts(right));
            terms
        }
        other => vec![other],
    }
}

/// Bounds the span by a term on the phenomenon time.
fn narrow(span: &mut (Time, Time), term: &Expression) {
    let Expression::Binary(operator, left, right) = term else {
        return;
    };
    let is_time =
        |side: &Expression| matches!(side, Expression::Path(path) if *path == ["phenomenonTime"]);
    let (operator, literal) = match (is_time(left), is_time(right)) {
        (true, false) => (*operator, right),
        (false, true) => (turned(*operator), left),
        _ => return,
    };
    let Expression::Literal(value) = &**literal else {
        return;
    };
    let Some((from, to)) = value.span() else {
        return;
    };
    match operator {
        Operator::Greater | Operator::GreaterOrEqual => span.0 = span.0.max(from),
        Operator::Less | Operator::LessOrEqual => span.1 = span.1.min(to.plus_nanos(1)),
        Operator::Equal => {
            span.0 = span.0.max(from);
            span.1 = span.1.min(from.plus_nanos(1));
        }
        _ => {}
    }
}

fn turned(operator: Operator) -> Operator {
    match operator {
        Operator::Greater => Operator::Less,
        Operator::GreaterOrEqual => Operator::LessOrEqual,
        Operator::Less => Operator::Greater,
        Operator::LessOrEqual => Operator::GreaterOrEqual,
        other => other,
    }
}
