//! Observations out of the history: which rows a query means, in their order, a page at a time.
//!
//! A filter is used twice: what it says of datastreams and of the phenomenon time bounds what is read, and
//! then all of it is asked of each row. Whatever order but that of time is asked for needs all matching
//! rows at once, so there are limits to it.

use crate::asked::{Asked, by_keys, sort_keys};
use crate::context::Context;
use crate::ended::Ended;
use crate::fault::{Fault, Result};
use crate::filter::{Expression, Operator, Value, holds};
use crate::history::Of;
use crate::id::{At, Id};
use crate::limits::RENDERED_MAX;
use crate::newest;
use crate::node::Node;
use crate::observed::Observed;
use crate::page::{Found, Place, Show, by_time};
use crate::query::Query;
use crate::scope::of_datastreams;
use crate::walk::{Walk, one};
use weir_model::Time;

/// Shows a page of observations.
pub(crate) fn page(context: &Context<'_>, of: &Of, query: &Query, show: Show<'_>) -> Result<Found> {
    if let Some(found) = newest::page(context, of, query, show)? {
        return Ok(found);
    }
    let scan = Scan::of(context, of, query)?;
    match by_time(&query.order) {
        Some(down) => scan.in_time(down, show),
        None => scan.sorted(show),
    }
}

/// Which observations of a walk a query means.
struct Scan<'a> {
    context: &'a Context<'a>,
    query: &'a Query,
    walk: Walk<'a>,
}

impl<'a> Scan<'a> {
    fn of(context: &'a Context<'a>, of: &Of, query: &'a Query) -> Result<Self> {
        let terms = query.filter.as_ref().map_or(Vec::new(), conjuncts);
        let mut walk = match of {
            Of::All => Walk::at(context, of_datastreams(context, &terms)?)?,
            Of::Datastream(entity) | Of::Feature(entity) => Walk::of(context, entity)?,
        };
        terms.iter().for_each(|term| narrow(&mut walk.span, term));
        if query.filter.is_none() && !query.count && query.token.is_none() {
            walk.first = query.skip.saturating_add(query.page()) + 1;
        }
        Ok(Self {
            context,
            query,
            walk,
        })
    }

    /// Whether a row is meant.
    fn is_meant(&self, observed: &Observed<'_>) -> Result<bool> {
        let filter = self.query.filter.as_ref();
        let holds = |filter| holds(filter, &asked(self.context, observed));
        Ok(self.walk.is_meant(observed)? && filter.map_or(Ok(true), holds)?)
    }

    fn in_time(mut self, down: bool, show: Show<'_>) -> Result<Found> {
        let begin = self.query.token.as_deref().map(Place::parse).transpose()?;
        let span = &mut self.walk.span;
        if let Some(place) = &begin {
            if down {
                span.1 = span.1.min(place.time.plus_nanos(1))
            } else {
                span.0 = span.0.max(place.time)
            }
        }
        self.pages(down, begin, show)
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
        self.walk.walk(down, &mut |observed| {
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
        self.walk.walk(false, &mut |observed| {
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

fn asked<'a>(context: &'a Context<'a>, observed: &'a Observed<'a>) -> Asked<'a> {
    Asked {
        context,
        node: Node::Observed(observed),
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
