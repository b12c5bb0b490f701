//! The past: which of it the observations of an entity are in, and a page of it.

use crate::context::Context;
use crate::entity::Entity;
use crate::fault::{Fault, Result};
use crate::kind::Kind;
use std::sync::Arc;
use weir_hub::limits::PAGE_OBSERVATIONS_MAX;
use weir_hub::{Grants, InUnit, Page, Past, Verb};
use weir_model::{Filter, Time};

/// Whose observations are meant.
#[derive(Clone)]
pub(crate) enum Of {
    All,
    Datastream(Arc<Entity>),
    Feature(Arc<Entity>),
}

impl Of {
    /// Those of an entity.
    pub(crate) fn entity(entity: &Arc<Entity>) -> Self {
        match entity.kind {
            Kind::Datastream | Kind::MultiDatastream => Of::Datastream(entity.clone()),
            _ => Of::Feature(entity.clone()),
        }
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
    Ok(context.caller()?.history(&past)?)
}

/// Filters of the topics that a datastream's observations are published at, of those that the caller may read.
pub(crate) fn filters_of(grants: &Grants, datastream: &Entity) -> Result<Vec<Filter>> {
    let topics = datastream.published_at().into_iter();
    let readable = topics.filter(|topic| grants.allow(Verb::Read, topic));
    readable.map(filter_of).collect()
}

/// The datastreams and multi-datastreams that the caller may read.
pub(crate) fn sources<'a>(context: &'a Context<'_>) -> impl Iterator<Item = &'a Arc<Entity>> {
    let view = context.view;
    let all = view.all(Kind::Datastream);
    let all = all.chain(view.all(Kind::MultiDatastream));
    all.filter(|it| view.may_read(context.grants(), it))
}
